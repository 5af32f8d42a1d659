package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// The same hundred tests as tests/bench/suites has in Python; SUITE_BROKER is the broker's address.
func TestRecordsWrittenInATransactionAreReadInAGroup(t *testing.T) {
	for number := range 100 {
		t.Run(fmt.Sprint(number), func(t *testing.T) { writeAndRead(t, os.Getenv("SUITE_BROKER"), number) })
	}
}

func writeAndRead(t *testing.T, bootstrap string, number int) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	topic := fmt.Sprintf("orders-%d", number)
	seed := kgo.SeedBrokers(bootstrap)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}

	producer, err := kgo.NewClient(
		seed, kgo.TransactionalID(fmt.Sprintf("writer-%d", number)), kgo.DefaultProduceTopic(topic))
	must(err)
	defer producer.Close()
	create := kmsg.NewCreateTopicsRequest()
	wanted := kmsg.NewCreateTopicsRequestTopic()
	wanted.Topic, wanted.NumPartitions, wanted.ReplicationFactor = topic, 1, 1
	create.Topics = append(create.Topics, wanted)
	_, err = create.RequestWith(ctx, producer)
	must(err)

	var values []string
	must(producer.BeginTransaction())
	for each := range 10 {
		values = append(values, fmt.Sprint(each))
		producer.Produce(ctx, kgo.StringRecord(values[each]), func(_ *kgo.Record, err error) {
			if err != nil {
				t.Error(err)
			}
		})
	}
	must(producer.Flush(ctx))
	must(producer.EndTransaction(ctx, kgo.TryCommit))

	consumer, err := kgo.NewClient(
		seed, kgo.ConsumerGroup(fmt.Sprintf("readers-%d", number)), kgo.ConsumeTopics(topic),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.DisableAutoCommit(),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()))
	must(err)
	defer consumer.Close()
	var read []string
	for len(read) < len(values) {
		fetches := consumer.PollFetches(ctx)
		must(fetches.Err())
		fetches.EachRecord(func(r *kgo.Record) { read = append(read, string(r.Value)) })
	}
	must(consumer.CommitUncommittedOffsets(ctx))
	if !slices.Equal(read, values) {
		t.Fatalf("read %v", read)
	}

	metadata := kmsg.NewMetadataRequest()
	answer, err := metadata.RequestWith(ctx, consumer)
	must(err)
	if !slices.ContainsFunc(answer.Topics, func(each kmsg.MetadataResponseTopic) bool {
		return each.Topic != nil && *each.Topic == topic
	}) {
		t.Fatalf("%s is not listed", topic)
	}
}
