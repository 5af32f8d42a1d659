package main

import (
	"context"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// The threads of an application that reads, works and writes (KIP-447).
const threads = 2

// What all clients of the application have done on the wire.
type traffic struct{ connections, requests atomic.Int64 }

var (
	_ kgo.HookBrokerConnect    = (*traffic)(nil)
	_ kgo.HookBrokerDisconnect = (*traffic)(nil)
	_ kgo.HookBrokerWrite      = (*traffic)(nil)
)

func (t *traffic) OnBrokerConnect(_ kgo.BrokerMetadata, _ time.Duration, _ net.Conn, err error) {
	if err == nil {
		t.connections.Add(1)
	}
}

func (t *traffic) OnBrokerDisconnect(kgo.BrokerMetadata, net.Conn) { t.connections.Add(-1) }

func (t *traffic) OnBrokerWrite(
	_ kgo.BrokerMetadata, _ int16, _ int, _, _ time.Duration, _ error,
) {
	t.requests.Add(1)
}

// A producer and the input partitions that it answers for.
type worker struct {
	id, topic  string
	topicID    [16]byte
	client     *kgo.Client
	partitions []int32
}

// Each thread takes a record of each of its input partitions, writes one for each, and commits
// these and the offsets: a transaction for each of its producers, one after the other, as Kafka
// Streams did with a producer for each partition. Where the records come from is no matter of
// KIP-447, so nothing is read; the offsets are those of a group without members.
func exactlyOnce(bootstrap, topic string, partitions, producers int, duration time.Duration) error {
	var seen traffic
	byThread := make([][]*worker, threads)
	for number := range producers {
		id := fmt.Sprintf("%s-%d", topic, number)
		client, err := transactionalClient(bootstrap, topic, id, &seen)
		if err != nil {
			return err
		}
		defer client.Close()
		mine := &worker{id: id, topic: topic, client: client}
		if mine.topicID, err = topicID(client, topic); err != nil {
			return err
		}
		for partition := number; partition < partitions; partition += producers {
			mine.partitions = append(mine.partitions, int32(partition))
		}
		byThread[number%threads] = append(byThread[number%threads], mine)
	}
	if _, err := runThreads(byThread, 0); err != nil { // once around: all is connected
		return err
	}
	fmt.Println("begin")
	before := seen.requests.Load()
	rounds, err := runThreads(byThread, duration)
	if err != nil {
		return err
	}
	told := map[string]float64{
		"connections": float64(seen.connections.Load()),
		"requests":    float64(seen.requests.Load() - before),
	}
	for thread, workers := range byThread {
		for _, each := range workers {
			told["transactions"] += float64(rounds[thread])
			told["records"] += float64(rounds[thread] * len(each.partitions))
			told["in_all"] += float64((rounds[thread] + 1) * len(each.partitions))
		}
	}
	return end(told)
}

// From version 6 on, offsets are committed by the topic's id.
func topicID(client *kgo.Client, topic string) (id [16]byte, err error) {
	request := kmsg.NewPtrMetadataRequest()
	wanted := kmsg.NewMetadataRequestTopic()
	wanted.Topic = kmsg.StringPtr(topic)
	request.Topics = append(request.Topics, wanted)
	answer, err := request.RequestWith(context.Background(), client)
	if err != nil {
		return id, err
	}
	if len(answer.Topics) != 1 {
		return id, fmt.Errorf("metadata of %d topics instead of one", len(answer.Topics))
	}
	return answer.Topics[0].TopicID, kerr.ErrorForCode(answer.Topics[0].ErrorCode)
}

// Gives how many rounds each thread has made: at least one, and as many as begin in the time.
func runThreads(byThread [][]*worker, duration time.Duration) ([]int, error) {
	rounds, failed := make([]int, threads), make([]error, threads)
	var done sync.WaitGroup
	for thread, workers := range byThread {
		done.Go(func() {
			for start := time.Now(); failed[thread] == nil; {
				failed[thread] = round(workers)
				rounds[thread]++
				if time.Since(start) >= duration {
					return
				}
			}
		})
	}
	done.Wait()
	for _, err := range failed {
		if err != nil {
			return nil, err
		}
	}
	return rounds, nil
}

func round(workers []*worker) error {
	for _, each := range workers {
		if err := each.client.BeginTransaction(); err != nil {
			return err
		}
		for _, partition := range each.partitions {
			record := &kgo.Record{Partition: partition, Value: make([]byte, 100)}
			each.client.Produce(context.Background(), record, nil)
		}
	}
	for _, each := range workers {
		if err := each.client.Flush(context.Background()); err != nil {
			return err
		}
		if err := each.commitOffsets(); err != nil {
			return err
		}
		if err := each.client.EndTransaction(context.Background(), kgo.TryCommit); err != nil {
			return err
		}
	}
	return nil
}

// Version 5 adds the offsets' partition to the transaction by itself (KIP-890).
func (w *worker) commitOffsets() error {
	id, epoch, err := w.client.ProducerID(context.Background())
	if err != nil {
		return err
	}
	request := kmsg.NewPtrTxnOffsetCommitRequest()
	request.TransactionalID, request.Group = w.id, w.topic
	request.ProducerID, request.ProducerEpoch = id, epoch
	topic := kmsg.NewTxnOffsetCommitRequestTopic()
	topic.Topic, topic.TopicID = w.topic, w.topicID
	for _, partition := range w.partitions {
		one := kmsg.NewTxnOffsetCommitRequestTopicPartition()
		one.Partition, one.Offset = partition, 1
		topic.Partitions = append(topic.Partitions, one)
	}
	request.Topics = append(request.Topics, topic)
	answer, err := request.RequestWith(context.Background(), w.client)
	if err != nil {
		return err
	}
	for _, topic := range answer.Topics {
		for _, partition := range topic.Partitions {
			if err := kerr.ErrorForCode(partition.ErrorCode); err != nil {
				return fmt.Errorf("offset of partition %d: %w", partition.Partition, err)
			}
		}
	}
	return nil
}
