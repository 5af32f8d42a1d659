package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

const (
	recordCount    = 300
	partitionCount = 3
	firstTimestamp = 1_600_000_000_000
)

// Record number i of those that every script writes and expects, for its partition of the topic.
func record(i int, topic string) *kgo.Record {
	r := &kgo.Record{
		Topic:     topic,
		Partition: int32(i % partitionCount),
		Timestamp: time.UnixMilli(firstTimestamp + 1000*int64(i)),
	}
	if i%6 != 4 {
		r.Key = fmt.Appendf(nil, "key-%d", i)
	}
	if i%6 != 5 {
		r.Value = fmt.Appendf(nil, "value-%d-", i)
		for j := range i % 200 {
			r.Value = append(r.Value, byte(31*i+7*j))
		}
	}
	switch i % 3 {
	case 1:
		r.Headers = []kgo.RecordHeader{
			{Key: "seq", Value: fmt.Append(nil, i)},
			{Key: "seq", Value: []byte("again")},
		}
	case 2:
		r.Headers = []kgo.RecordHeader{
			{Key: "binary", Value: []byte{0, 255, 10, 195, 40}},
			{Key: "empty", Value: []byte{}},
		}
	}
	return r
}

// The records of these numbers, each for its partition.
func numbered(first, end int, topic string) []*kgo.Record {
	var records []*kgo.Record
	for i := first; i < end; i++ {
		records = append(records, record(i, topic))
	}
	return records
}

// The same records for one partition of the topic.
func into(partition int32, topic string, records ...*kgo.Record) []*kgo.Record {
	for _, r := range records {
		r.Topic, r.Partition = topic, partition
		if r.Timestamp.IsZero() {
			r.Timestamp = time.UnixMilli(firstTimestamp)
		}
	}
	return records
}

func text(value string) *kgo.Record { return &kgo.Record{Value: []byte(value)} }

func (s *script) client(options ...kgo.Opt) (*kgo.Client, error) {
	seeds := kgo.SeedBrokers(strings.Split(s.bootstrap, ",")...)
	return kgo.NewClient(append([]kgo.Opt{seeds}, options...)...)
}

// Without the option a topic that was created or deleted just now is told of up to 5 s later.
func (s *script) adminClient() (*kgo.Client, error) {
	return s.client(kgo.MetadataMinAge(10 * time.Millisecond))
}

func (s *script) admin() (*kadm.Client, error) {
	client, err := s.adminClient()
	if err != nil {
		return nil, err
	}
	return kadm.NewClient(client), nil
}

// Creates it and waits until it can be used; it keeps its records however old they are.
func (s *script) createTopic(topic string, partitions int32, settings ...string) error {
	ctx, cancel := context.WithTimeout(context.Background(), giveUp)
	defer cancel()
	client, err := s.admin()
	if err != nil {
		return err
	}
	defer client.Close()
	configs := map[string]*string{"retention.ms": kadm.StringPtr("-1")}
	for i := 0; i < len(settings); i += 2 {
		configs[settings[i]] = kadm.StringPtr(settings[i+1])
	}
	if _, err := client.CreateTopic(ctx, partitions, 1, configs, topic); err != nil {
		return fmt.Errorf("topic %s: %w", topic, err)
	}
	if err := waitUntilKnown(ctx, client, topic); err != nil {
		return err
	}
	// A broker may tell of a partition before it takes records for it: see FINDINGS.md.
	return eventually(ctx, topic+" can be used", func() (bool, error) {
		listed, err := client.ListEndOffsets(ctx, topic)
		if err == nil {
			err = listed.Error()
		}
		if errors.Is(err, kerr.NotLeaderForPartition) {
			return false, nil
		}
		return true, err
	})
}

func waitUntilKnown(ctx context.Context, client *kadm.Client, topic string) error {
	return eventually(ctx, topic+" is known", func() (bool, error) {
		topics, err := client.ListTopics(ctx, topic)
		if err != nil {
			return false, err
		}
		if errors.Is(topics[topic].Err, kerr.UnknownTopicOrPartition) {
			return false, nil
		}
		return true, topics[topic].Err
	})
}

// Writes the records to the partitions that they name; the records come back with their offsets.
func (s *script) produce(
	ctx context.Context, records []*kgo.Record, options ...kgo.Opt,
) ([]*kgo.Record, error) {
	options = append(options, kgo.RecordPartitioner(kgo.ManualPartitioner()))
	client, err := s.client(options...)
	if err != nil {
		return nil, err
	}
	defer client.Close()
	return send(ctx, client, records)
}

func send(ctx context.Context, client *kgo.Client, records []*kgo.Record) ([]*kgo.Record, error) {
	results := client.ProduceSync(ctx, records...)
	if err := results.FirstErr(); err != nil {
		return nil, err
	}
	written := make(map[*kgo.Record]bool)
	for _, result := range results {
		written[result.Record] = true
	}
	if len(written) != len(records) {
		return nil, fmt.Errorf("%d of %d records were acknowledged", len(written), len(records))
	}
	return records, nil
}

type (
	starts map[int32]kgo.Offset
	reads  map[int32][]*kgo.Record
)

func fromStart(partitions ...int32) starts {
	from := make(starts)
	for _, partition := range partitions {
		from[partition] = kgo.NewOffset().AtStart()
	}
	return from
}

// The records of these partitions to their ends (for read_committed: to the last stable offsets).
func (s *script) read(
	ctx context.Context, topic string, from starts, options ...kgo.Opt,
) (reads, error) {
	return s.readTo(ctx, topic, from, (*kadm.Client).ListEndOffsets, options...)
}

func (s *script) readCommitted(ctx context.Context, topic string, from starts) (reads, error) {
	isolation := kgo.FetchIsolationLevel(kgo.ReadCommitted())
	return s.readTo(ctx, topic, from, (*kadm.Client).ListCommittedOffsets, isolation)
}

type listOffsets func(*kadm.Client, context.Context, ...string) (kadm.ListedOffsets, error)

func (s *script) readTo(
	ctx context.Context, topic string, from starts, list listOffsets, options ...kgo.Opt,
) (reads, error) {
	client, err := s.client(append([]kgo.Opt{
		kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{topic: from}),
		// A client that closes waits for the fetch that it has under way: a short one.
		kgo.FetchMaxWait(10 * time.Millisecond),
		// Without the markers of transactions it would not be known when the end is reached.
		kgo.KeepControlRecords(),
	}, options...)...)
	if err != nil {
		return nil, err
	}
	defer client.Close()
	listed, err := list(kadm.NewClient(client), ctx, topic)
	if err != nil {
		return nil, err
	}
	if err := listed.Error(); err != nil {
		return nil, err
	}

	found := make(reads)
	open := make(map[int32]int64)
	for partition, offset := range from {
		end := listed[topic][partition].Offset
		if at := offset.EpochOffset().Offset; end > 0 && at != end {
			open[partition] = end
		}
	}
	for len(open) > 0 {
		fetches := client.PollFetches(ctx)
		if err := fetches.Err0(); err != nil {
			return nil, fmt.Errorf("ends not reached: %v: %w", open, err)
		}
		for _, failure := range fetches.Errors() {
			return nil, fmt.Errorf("partition %d: %w", failure.Partition, failure.Err)
		}
		fetches.EachRecord(func(r *kgo.Record) {
			if !r.Attrs.IsControl() {
				found[r.Partition] = append(found[r.Partition], r)
			}
			if r.Offset+1 >= open[r.Partition] {
				delete(open, r.Partition)
			}
		})
	}
	return found, nil
}

// Exactly these records (of one partition), with offsets that begin with the given one.
func expectRecords(actual, wanted []*kgo.Record, firstOffset int64) error {
	for i := range min(len(actual), len(wanted)) {
		a, w := actual[i], wanted[i]
		what := fmt.Sprintf("partition %d, offset %d: the ", w.Partition, firstOffset+int64(i))
		if err := all(
			expect(a.Offset, firstOffset+int64(i), what+"offset"),
			expect(a.Key, w.Key, what+"key"),
			expect(a.Value, w.Value, what+"value"),
			expect(a.Timestamp.UnixMilli(), w.Timestamp.UnixMilli(), what+"timestamp"),
			expect(a.Headers, w.Headers, what+"headers"),
		); err != nil {
			return err
		}
	}
	return expect(len(actual), len(wanted), "the number of records")
}

// Exactly the records of these numbers, all from offset 0.
func expectNumbered(actual reads, first, end int, topic string) error {
	wanted := make(reads)
	for _, r := range numbered(first, end, topic) {
		wanted[r.Partition] = append(wanted[r.Partition], r)
	}
	for partition, records := range wanted {
		if err := expectRecords(actual[partition], records, 0); err != nil {
			return err
		}
	}
	return nil
}
