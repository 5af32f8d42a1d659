package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// share acknowledges records of a share group, and says what it is given: BOOTSTRAP TOPIC GROUP.
func share(bootstrap, topic, group string) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := produce(ctx, bootstrap, topic, "a", 9); err != nil {
		return err
	}
	consumer, err := sharing(bootstrap, topic, group)
	if err != nil {
		return err
	}
	types := []kgo.AckStatus{kgo.AckAccept, kgo.AckRelease, kgo.AckReject}
	for number, record := range given(ctx, consumer, 9) {
		consumer.MarkAcks(types[number%len(types)], record)
	}
	if err := flush(ctx, consumer); err != nil {
		return err
	}
	consumer.MarkAcks(kgo.AckAccept, given(ctx, consumer, 3)...)
	if err := flush(ctx, consumer); err != nil {
		return err
	}
	consumer.Close()
	// Each poll accepts what the one before it gave: these three have to come together.
	if err := produce(ctx, bootstrap, topic, "b", 3); err != nil {
		return err
	}
	if consumer, err = sharing(bootstrap, topic, group); err != nil {
		return err
	}
	given(ctx, consumer, 3)
	consumer.Close()
	if consumer, err = sharing(bootstrap, topic, group); err != nil {
		return err
	}
	defer consumer.Close()
	consumer.MarkAcks(kgo.AckAccept, given(ctx, consumer, 3)...)
	return flush(ctx, consumer)
}

func flush(ctx context.Context, client *kgo.Client) error {
	err := client.FlushAcks(ctx)
	if err == nil {
		fmt.Println("committed")
	}
	return err
}

func sharing(bootstrap, topic, group string) (*kgo.Client, error) {
	return kgo.NewClient(
		kgo.SeedBrokers(bootstrap), kgo.ConsumeTopics(topic), kgo.ShareGroup(group),
	)
}

func produce(ctx context.Context, bootstrap, topic, name string, count int) error {
	client, err := kgo.NewClient(kgo.SeedBrokers(bootstrap), kgo.DefaultProduceTopic(topic))
	if err != nil {
		return err
	}
	defer client.Close()
	for number := range count {
		value := fmt.Sprintf("%s%d", name, number)
		if err := client.ProduceSync(ctx, kgo.StringRecord(value)).FirstErr(); err != nil {
			return err
		}
	}
	return nil
}

func given(ctx context.Context, client *kgo.Client, count int) []*kgo.Record {
	var records []*kgo.Record
	for len(records) < count && ctx.Err() == nil {
		records = append(records, client.PollFetches(ctx).Records()...)
	}
	var told []string
	for _, record := range records {
		told = append(told, fmt.Sprintf("%s=%d", record.Value, record.DeliveryCount()))
	}
	slices.Sort(told)
	fmt.Println("given", strings.Join(told, " "))
	return records
}
