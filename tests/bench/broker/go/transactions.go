package main

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// What a producer has measured of its own transactions, in microseconds.
type took struct {
	mutex      sync.Mutex
	endTxn     []float64
	cycle      []float64
	inAll      int
	failed     error
	partition  int32
	isCounting bool
}

var _ kgo.HookBrokerE2E = (*took)(nil)

// The client's own measurement of each EndTxn: from writing it to having its whole answer.
func (t *took) OnBrokerE2E(_ kgo.BrokerMetadata, key int16, e2e kgo.BrokerE2E) {
	if kmsg.Key(key) != kmsg.EndTxn {
		return
	}
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if t.isCounting {
		t.endTxn = append(t.endTxn, microseconds(e2e.DurationE2E()))
	}
}

// One-record transactions, one after the other by each producer, each to a partition of its own.
// A quarter of the time passes before they are counted.
func transact(bootstrap, topic string, producers int, duration time.Duration, valueSize int) error {
	var measured []*took
	var warm, done sync.WaitGroup
	begin := make(chan struct{})
	for number := range producers {
		mine := &took{partition: int32(number)}
		measured = append(measured, mine)
		client, err := transactionalClient(bootstrap, topic, fmt.Sprintf("%s-%d", topic, number), mine)
		if err != nil {
			return err
		}
		defer client.Close()
		warm.Add(1)
		done.Go(func() {
			mine.failed = mine.cycles(client, valueSize, duration/4)
			warm.Done()
			<-begin
			if mine.failed == nil {
				mine.mutex.Lock()
				mine.isCounting, mine.cycle = true, nil
				mine.mutex.Unlock()
				mine.failed = mine.cycles(client, valueSize, duration)
			}
		})
	}
	warm.Wait()
	fmt.Println("begin")
	close(begin)
	done.Wait()
	var cycle, endTxn []float64
	inAll := 0
	for _, each := range measured {
		if each.failed != nil {
			return each.failed
		}
		cycle, endTxn = append(cycle, each.cycle...), append(endTxn, each.endTxn...)
		inAll += each.inAll
	}
	return end(map[string]float64{
		"records": float64(len(cycle)), "in_all": float64(inAll),
		"p50_us": at(cycle, 0.5), "p99_us": at(cycle, 0.99),
		"end_p50_us": at(endTxn, 0.5), "end_p99_us": at(endTxn, 0.99),
	})
}

// By default it would wait 10 ms for more records before it sends one.
func transactionalClient(bootstrap, topic, id string, hook kgo.Hook) (*kgo.Client, error) {
	return kgo.NewClient(
		kgo.SeedBrokers(bootstrap),
		kgo.DefaultProduceTopic(topic),
		kgo.TransactionalID(id),
		kgo.RecordPartitioner(kgo.ManualPartitioner()),
		kgo.ProducerBatchCompression(kgo.NoCompression()),
		kgo.ProducerLinger(0),
		kgo.WithHooks(hook),
	)
}

func (t *took) cycles(client *kgo.Client, valueSize int, duration time.Duration) error {
	ctx := context.Background()
	value := make([]byte, valueSize)
	for start, last := time.Now(), time.Now(); time.Since(start) < duration; last = time.Now() {
		if err := client.BeginTransaction(); err != nil {
			return err
		}
		record := &kgo.Record{Partition: t.partition, Value: value}
		if err := client.ProduceSync(ctx, record).FirstErr(); err != nil {
			return err
		}
		if err := client.EndTransaction(ctx, kgo.TryCommit); err != nil {
			return err
		}
		t.inAll++
		t.cycle = append(t.cycle, microseconds(time.Since(last)))
	}
	return nil
}

func microseconds(duration time.Duration) float64 {
	return float64(duration.Nanoseconds()) / 1e3
}

// A quantile; sorts what it is given.
func at(values []float64, share float64) float64 {
	if len(values) == 0 {
		return 0
	}
	slices.Sort(values)
	return values[int(share*float64(len(values)-1))]
}
