// confluent-kafka-go: orders are read and invoices written in transactions, with the offsets in them.
package main

import (
	"context"
	"log"
	"os"
	"time"

	"github.com/confluentinc/confluent-kafka-go/v2/kafka"
)

const (
	orders = "orders"
	batch  = 50
)

func main() {
	servers := os.Getenv("BOOTSTRAP")
	consumer, err := kafka.NewConsumer(&kafka.ConfigMap{
		"bootstrap.servers":  servers,
		"group.id":           "invoicing",
		"auto.offset.reset":  "earliest",
		"enable.auto.commit": false,
		"isolation.level":    "read_committed",
		"session.timeout.ms": 10000,
	})
	check(err)
	producer, err := kafka.NewProducer(&kafka.ConfigMap{
		"bootstrap.servers": servers,
		"transactional.id":  "invoicing",
	})
	check(err)
	go func() {
		for range producer.Events() {
		}
	}()
	ctx := context.Background()
	check(producer.InitTransactions(ctx))
	check(consumer.Subscribe(orders, nil))
	for {
		invoiceSome(ctx, consumer, producer)
	}
}

// invoiceSome reads what there is, up to a batch, and writes its invoices in one transaction.
func invoiceSome(ctx context.Context, consumer *kafka.Consumer, producer *kafka.Producer) {
	var read []*kafka.Message
	for len(read) < batch {
		message, err := consumer.ReadMessage(100 * time.Millisecond)
		if err != nil {
			break
		}
		read = append(read, message)
	}
	if len(read) == 0 {
		return
	}
	topic := "invoices"
	check(producer.BeginTransaction())
	for _, order := range read {
		check(producer.Produce(&kafka.Message{
			TopicPartition: kafka.TopicPartition{Topic: &topic, Partition: kafka.PartitionAny},
			Key:            order.Key,
			Value:          append([]byte("invoice for "), order.Value...),
		}, nil))
	}
	assigned, err := consumer.Assignment()
	check(err)
	positions, err := consumer.Position(assigned)
	check(err)
	group, err := consumer.GetConsumerGroupMetadata()
	check(err)
	check(producer.SendOffsetsToTransaction(ctx, positions, group))
	check(producer.CommitTransaction(ctx))
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
