package main

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/twmb/franz-go/pkg/kgo"
)

type load struct {
	bootstrap, topic               string
	partitions, records, valueSize int
}

// Idempotent and acknowledged by all, as franz-go does by default; only compression is off, which
// would hide what the broker has to carry.
func (l load) produce() error {
	client, err := kgo.NewClient(
		kgo.SeedBrokers(l.bootstrap),
		kgo.DefaultProduceTopic(l.topic),
		kgo.ProducerBatchCompression(kgo.NoCompression()),
	)
	if err != nil {
		return err
	}
	defer client.Close()
	value := make([]byte, l.valueSize)
	var failed atomic.Pointer[error]
	promise := func(_ *kgo.Record, err error) {
		if err != nil {
			failed.CompareAndSwap(nil, &err)
		}
	}
	if err := client.ProduceSync(context.Background(), &kgo.Record{Value: value}).FirstErr(); err != nil {
		return err
	}
	fmt.Println("begin")
	for range l.records - 1 {
		client.Produce(context.Background(), &kgo.Record{Value: value}, promise)
	}
	if err := client.Flush(context.Background()); err != nil {
		return err
	}
	if err := failed.Load(); err != nil {
		return *err
	}
	return end(map[string]float64{"records": float64(l.records - 1)})
}

func (l load) consume() error {
	offsets := make(map[int32]kgo.Offset)
	for partition := range l.partitions {
		offsets[int32(partition)] = kgo.NewOffset().At(0)
	}
	client, err := kgo.NewClient(
		kgo.SeedBrokers(l.bootstrap),
		kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{l.topic: offsets}),
	)
	if err != nil {
		return err
	}
	defer client.Close()
	before := 0
	for seen := 0; seen < l.records; {
		fetches := client.PollFetches(context.Background())
		if err := fetches.Err(); err != nil {
			return err
		}
		seen += fetches.NumRecords()
		if before == 0 {
			fmt.Println("begin")
			before = seen
		}
	}
	return end(map[string]float64{"records": float64(l.records - before)})
}
