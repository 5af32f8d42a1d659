package main

import (
	"context"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

var codecs = []struct {
	name  string
	codec kgo.CompressionCodec
}{
	{"none", kgo.NoCompression()},
	{"gzip", kgo.GzipCompression()},
	{"snappy", kgo.SnappyCompression()},
	{"lz4", kgo.Lz4Compression()},
	{"zstd", kgo.ZstdCompression()},
}

func produceScenario(s *script) error {
	topic := s.name("produce")
	if err := s.createTopic(topic, 30); err != nil {
		return err
	}
	var used int32

	// Writes to a partition that is still empty and expects the same there.
	roundTrip := func(
		ctx context.Context, records []*kgo.Record, options ...kgo.Opt,
	) ([]*kgo.Record, error) {
		partition := used
		used++
		written, err := s.produce(ctx, into(partition, topic, records...), options...)
		if err != nil {
			return nil, err
		}
		actual, err := s.read(ctx, topic, starts{partition: kgo.NewOffset().At(0)})
		if err != nil {
			return nil, err
		}
		return written, expectRecords(actual[partition], written, 0)
	}
	check := func(name string, records []*kgo.Record, options ...kgo.Opt) {
		s.check(name, func(ctx context.Context) error {
			_, err := roundTrip(ctx, records, options...)
			return err
		})
	}

	for _, one := range codecs {
		check("codec-"+one.name, numbered(0, 100, topic), kgo.ProducerBatchCompression(one.codec))
	}
	check("headers", []*kgo.Record{{Key: []byte("key"), Headers: []kgo.RecordHeader{
		{Key: "b", Value: []byte{0, 255}},
		{Key: "a", Value: []byte{1}},
		{Key: "b", Value: []byte{2}},
		{Key: "", Value: []byte{}},
	}}})
	check("null-header", []*kgo.Record{{Key: []byte("key"), Headers: []kgo.RecordHeader{
		{Key: "null", Value: nil},
		{Key: "empty", Value: []byte{}},
	}}})
	value := []byte("value")
	check("null-key", []*kgo.Record{{Key: nil, Value: value}, {Key: []byte{}, Value: value}})
	check("null-value", []*kgo.Record{{Key: value, Value: nil}, {Key: value, Value: []byte{}}})

	choices := map[string]kgo.Acks{"0": kgo.NoAck(), "1": kgo.LeaderAck(), "all": kgo.AllISRAcks()}
	for name, acks := range choices {
		s.check("acks-"+name, func(ctx context.Context) error {
			plain := []kgo.Opt{kgo.DisableIdempotentWrite(), kgo.RequiredAcks(acks)}
			if name == "0" {
				return s.withoutAcknowledgement(ctx, topic, 29, plain)
			}
			written, err := roundTrip(ctx, numbered(0, 10, topic), plain...)
			if err != nil {
				return err
			}
			return expectOffsets(written, 0)
		})
	}
	check("idempotent", numbered(0, 100, topic), kgo.ProducerBatchMaxBytes(1024))
	s.check("partition", func(ctx context.Context) error {
		var records []*kgo.Record
		from := make(starts)
		for range 3 {
			records = append(records, into(used, topic, record(0, topic))...)
			from[used] = kgo.NewOffset().At(0)
			used++
		}
		if _, err := s.produce(ctx, records); err != nil {
			return err
		}
		actual, err := s.read(ctx, topic, from)
		if err != nil {
			return err
		}
		for _, r := range records {
			if err := expectRecords(actual[r.Partition], []*kgo.Record{r}, 0); err != nil {
				return err
			}
		}
		return nil
	})
	check("timestamp", []*kgo.Record{
		{Value: value, Timestamp: time.UnixMilli(1)},
		{Value: value, Timestamp: time.UnixMilli(2)},
	})
	large := make([]byte, 900_000)
	for i := range large {
		large[i] = byte(i % 251 * i)
	}
	check("large-message", []*kgo.Record{{Value: large}})
	s.check("log-append-time", s.logAppendTime)
	s.check("too-large-message", func(ctx context.Context) error {
		topic := s.name("small")
		if err := s.createTopic(topic, 1, "max.message.bytes", "10000"); err != nil {
			return err
		}
		tooLarge := &kgo.Record{Value: make([]byte, 20_000)}
		return s.refusedThenTaken(ctx, topic, tooLarge, kerr.MessageTooLarge)
	})
	s.check("compacted-null-key", func(ctx context.Context) error {
		topic := s.name("compacted")
		if err := s.createTopic(topic, 1, "cleanup.policy", "compact"); err != nil {
			return err
		}
		return s.refusedThenTaken(ctx, topic, &kgo.Record{Value: value}, kerr.InvalidRecord)
	})
	s.check("auto-create", func(ctx context.Context) error {
		topic := s.name("auto-created")
		fresh := record(0, topic)
		fresh.Timestamp = time.Now()
		if _, err := s.produce(ctx, []*kgo.Record{fresh}, kgo.AllowAutoTopicCreation()); err != nil {
			return err
		}
		actual, err := s.read(ctx, topic, fromStart(0))
		if err != nil {
			return err
		}
		return expectRecords(actual[0], []*kgo.Record{fresh}, 0)
	})
	return nil
}

func (s *script) withoutAcknowledgement(
	ctx context.Context, topic string, partition int32, options []kgo.Opt,
) error {
	written, err := s.produce(ctx, into(partition, topic, numbered(0, 10, topic)...), options...)
	if err != nil {
		return err
	}
	var found []*kgo.Record
	if err := eventually(ctx, "10 records are there", func() (bool, error) {
		actual, err := s.read(ctx, topic, fromStart(partition))
		found = actual[partition]
		return len(found) == len(written), err
	}); err != nil {
		return err
	}
	return expectRecords(found, written, 0)
}

func expectOffsets(written []*kgo.Record, first int64) error {
	for i, r := range written {
		if err := expect(r.Offset, first+int64(i), "an acknowledged offset"); err != nil {
			return err
		}
	}
	return nil
}

func (s *script) logAppendTime(ctx context.Context) error {
	topic := s.name("log-append-time")
	if err := s.createTopic(topic, 1, "message.timestamp.type", "LogAppendTime"); err != nil {
		return err
	}
	if _, err := s.produce(ctx, numbered(0, 1, topic)); err != nil {
		return err
	}
	actual, err := s.read(ctx, topic, fromStart(0))
	if err != nil {
		return err
	}
	if err := expect(len(actual[0]), 1, "records"); err != nil {
		return err
	}
	stored := actual[0][0]
	return all(
		expect(stored.Attrs.TimestampType(), int8(1), "the type of the timestamp"),
		expect(stored.Timestamp.UnixMilli() > firstTimestamp, true, "the broker's time is later"),
	)
}

func (s *script) refusedThenTaken(
	ctx context.Context, topic string, bad *kgo.Record, wanted error,
) error {
	// kgo compresses by default, and what is compressed may be small enough.
	none := kgo.ProducerBatchCompression(kgo.NoCompression())
	_, err := s.produce(ctx, into(0, topic, bad), none)
	if err := refused(err, wanted); err != nil {
		return err
	}
	written, err := s.produce(ctx, numbered(0, 1, topic))
	if err != nil {
		return err
	}
	return expectOffsets(written, 0)
}
