package main

import (
	"context"
	"fmt"
	"strconv"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

func consume(s *script) error {
	topic := s.name("consume")
	if err := s.createTopic(topic, partitionCount); err != nil {
		return err
	}
	if _, err := s.produce(context.Background(), numbered(0, recordCount, topic)); err != nil {
		return err
	}
	wanted := make(reads)
	for _, r := range numbered(0, recordCount, topic) {
		wanted[r.Partition] = append(wanted[r.Partition], r)
	}
	expectFrom := func(ctx context.Context, partition int32, from kgo.Offset, first int64) error {
		actual, err := s.read(ctx, topic, starts{partition: from})
		if err != nil {
			return err
		}
		return expectRecords(actual[partition], wanted[partition][first:], first)
	}

	s.check("beginning", func(ctx context.Context) error {
		actual, err := s.read(ctx, topic, fromStart(0, 1, 2))
		if err != nil {
			return err
		}
		return expectNumbered(actual, 0, recordCount, topic)
	})
	s.check("offset", func(ctx context.Context) error {
		return expectFrom(ctx, 1, kgo.NewOffset().At(42), 42)
	})
	s.check("timestamp", func(ctx context.Context) error {
		// One millisecond behind record 149, which is at offset 49 of partition 2.
		after := record(149, topic).Timestamp.UnixMilli() + 1
		if err := s.expectOffsetAfter(ctx, topic, after, 50); err != nil {
			return err
		}
		return expectFrom(ctx, 2, kgo.NewOffset().AfterMilli(after), 50)
	})
	s.check("timestamp-past-end", func(ctx context.Context) error {
		// kadm gives the end of the partition for "none".
		return s.expectOffsetAfter(ctx, topic, record(recordCount, topic).Timestamp.UnixMilli(), 100)
	})
	s.check("out-of-range", func(ctx context.Context) error {
		reset := kgo.ConsumeResetOffset(kgo.NewOffset().AtStart())
		actual, err := s.read(ctx, topic, starts{0: kgo.NewOffset().At(1_000_000)}, reset)
		if err != nil {
			return err
		}
		return expectRecords(actual[0], wanted[0], 0)
	})
	s.check("end", func(ctx context.Context) error { return s.fromEnd(ctx, topic) })
	s.check("many", s.many)
	return nil
}

func (s *script) expectOffsetAfter(ctx context.Context, topic string, millis, wanted int64) error {
	client, err := s.admin()
	if err != nil {
		return err
	}
	defer client.Close()
	listed, err := client.ListOffsetsAfterMilli(ctx, millis, topic)
	if err != nil {
		return err
	}
	return all(listed.Error(), expect(listed[topic][2].Offset, wanted, "the offset for the timestamp"))
}

func (s *script) fromEnd(ctx context.Context, topic string) error {
	end := map[string]map[int32]kgo.Offset{topic: {0: kgo.NewOffset().AtEnd()}}
	client, err := s.client(kgo.ConsumePartitions(end))
	if err != nil {
		return err
	}
	defer client.Close()
	// The client says nothing when it has found the end, so it is written to until something arrives.
	arrived := make(chan *kgo.Record)
	go func() {
		client.PollFetches(ctx).EachRecord(func(r *kgo.Record) {
			select {
			case arrived <- r:
			case <-ctx.Done():
			}
		})
	}()
	for offset := int64(100); ; offset++ {
		written, err := s.produce(ctx, numbered(0, 1, topic))
		if err != nil {
			return err
		}
		select {
		case first := <-arrived:
			if first.Offset < 100 {
				return fmt.Errorf("offset %d is no end", first.Offset)
			}
			return expectRecords([]*kgo.Record{first}, written, first.Offset)
		case <-ctx.Done():
			return fmt.Errorf("nothing arrived after %d records", offset-99)
		default:
		}
	}
}

func (s *script) many(ctx context.Context) error {
	const count = 10_000
	topic := s.name("many")
	if err := s.createTopic(topic, partitionCount); err != nil {
		return err
	}
	var records []*kgo.Record
	for i := range count {
		records = append(records, into(int32(i%partitionCount), topic, text(fmt.Sprintf("%0500d", i)))...)
	}
	if _, err := s.produce(ctx, records); err != nil {
		return err
	}
	actual, err := s.read(ctx, topic, fromStart(0, 1, 2))
	if err != nil {
		return err
	}
	total := 0
	for partition, read := range actual {
		for i, r := range read {
			number, err := strconv.Atoi(string(r.Value))
			if err := all(
				err,
				expect(r.Offset, int64(i), "the offset"),
				expect(number, partitionCount*i+int(partition), "the number"),
			); err != nil {
				return err
			}
		}
		total += len(read)
	}
	return expect(total, count, "records in all partitions")
}

func restartBefore(s *script) error {
	s.check("write", func(ctx context.Context) error {
		if err := s.createTopic(s.name("restart"), partitionCount); err != nil {
			return err
		}
		_, err := s.produce(ctx, numbered(0, recordCount, s.name("restart")))
		return err
	})
	return nil
}

// So many records are there; as many as the first time are written behind them.
func afterRestart(there int) func(*script) error {
	return func(s *script) error { return goOnBehind(s, there) }
}

func goOnBehind(s *script, there int) error {
	topic := s.name("restart")
	s.check("topic-kept", func(ctx context.Context) error {
		client, err := s.admin()
		if err != nil {
			return err
		}
		defer client.Close()
		partitions, err := partitionsOf(ctx, client, topic)
		if err != nil {
			return err
		}
		values, err := settings(ctx, client, topic)
		return all(
			err,
			expect(len(partitions), partitionCount, "partitions"),
			expect(values["retention.ms"].MaybeValue(), "-1", "retention.ms"),
		)
	})
	s.check("read-back", func(ctx context.Context) error {
		actual, err := s.read(ctx, topic, fromStart(0, 1, 2))
		return all(err, expectNumbered(actual, 0, there, topic))
	})
	s.check("write-more", func(ctx context.Context) error {
		written, err := s.produce(ctx, numbered(there, there+recordCount, topic))
		if err != nil {
			return err
		}
		for i, r := range written {
			wanted := int64((there + i) / partitionCount)
			if err := expect(r.Offset, wanted, "an acknowledged offset"); err != nil {
				return err
			}
		}
		return nil
	})
	s.check("read-all", func(ctx context.Context) error {
		actual, err := s.read(ctx, topic, fromStart(0, 1, 2))
		return all(err, expectNumbered(actual, 0, there+recordCount, topic))
	})
	return nil
}

func partitionsOf(
	ctx context.Context, client *kadm.Client, topic string,
) ([]kadm.PartitionDetail, error) {
	topics, err := client.ListTopics(ctx, topic)
	if err != nil {
		return nil, err
	}
	return topics[topic].Partitions.Sorted(), topics[topic].Err
}
