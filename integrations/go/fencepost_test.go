package fencepost

import (
	"context"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

func must[T any](t *testing.T) func(T, error) T {
	return func(value T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

func begun(t *testing.T, broker *Broker, topic, value string) *kgo.Client {
	t.Helper()
	producer := must[*kgo.Client](t)(kgo.NewClient(
		kgo.SeedBrokers(broker.Bootstrap), kgo.TransactionalID("payments"),
		kgo.DefaultProduceTopic(topic), kgo.TransactionTimeout(30*time.Second),
	))
	t.Cleanup(producer.Close)
	if err := producer.BeginTransaction(); err != nil {
		t.Fatal(err)
	}
	if err := producer.ProduceSync(t.Context(), kgo.StringRecord(value)).FirstErr(); err != nil {
		t.Fatal(err)
	}
	return producer
}

func reader(t *testing.T, broker *Broker, topic string) *kgo.Client {
	t.Helper()
	consumer := must[*kgo.Client](t)(kgo.NewClient(
		kgo.SeedBrokers(broker.Bootstrap), kgo.ConsumeTopics(topic),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()), kgo.FetchMaxWait(100*time.Millisecond),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
	))
	t.Cleanup(consumer.Close)
	return consumer
}

func read(t *testing.T, consumer *kgo.Client, count int) []string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	var values []string
	for len(values) < count {
		fetches := consumer.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			t.Fatal(err)
		}
		fetches.EachRecord(func(record *kgo.Record) { values = append(values, string(record.Value)) })
	}
	return values
}

func TestACommitWhoseAnswerIsLostCommitsExactlyOnce(t *testing.T) {
	broker := Start(t, "--topic", "orders:1")
	must[Fault](t)(broker.AddFault(Rule{
		Name: "lost", Match: Fields{"api": "EndTxn"}, Act: Fields{"type": "drop-answer"}, Times: 1,
	}))
	producer := begun(t, broker, "orders", "first")
	if err := producer.EndTransaction(t.Context(), kgo.TryCommit); err != nil {
		t.Fatal(err)
	}
	must[Fault](t)(broker.WaitUntilFired("lost", 1))
	producer.Close()
	last := begun(t, broker, "orders", "second")
	if err := last.EndTransaction(t.Context(), kgo.TryCommit); err != nil {
		t.Fatal(err)
	}
	values := read(t, reader(t, broker, "orders"), 2)
	if !slices.Equal(values, []string{"first", "second"}) {
		t.Fatal(values)
	}
}

func TestReadCommittedWaitsForHeldMarkers(t *testing.T) {
	broker := Start(t, "--topic", "held:1")
	hold := must[int](t)(broker.HoldMarkers(Fields{"topic": "held"}))
	if err := begun(t, broker, "held", "value").EndTransaction(t.Context(), kgo.TryCommit); err != nil {
		t.Fatal(err)
	}
	// The second fetch shows that the first one was answered without a record.
	must[Fault](t)(broker.AddFault(Rule{
		Name: "fetched", Match: Fields{"api": "Fetch"}, Act: Fields{"type": "delay", "ms": 0},
	}))
	consumer := reader(t, broker, "held")
	must[Fault](t)(broker.WaitUntilFired("fetched", 2))
	if count := consumer.BufferedFetchRecords(); count != 0 {
		t.Fatalf("%d records are readable while markers are held", count)
	}
	if err := broker.ReleaseMarkers(hold); err != nil {
		t.Fatal(err)
	}
	read(t, consumer, 1)
}

func TestATransactionTimesOutWhenTheClockIsAdvanced(t *testing.T) {
	broker := Start(t, "--topic", "expired:1")
	producer := begun(t, broker, "expired", "value")
	if err := broker.AdvanceClock(5 * time.Minute); err != nil {
		t.Fatal(err)
	}
	if err := producer.EndTransaction(t.Context(), kgo.TryCommit); err == nil {
		t.Fatal("a transaction that timed out was committed")
	}
}

func TestARuleThatNeverFiredIsNamed(t *testing.T) {
	broker := Start(t)
	must[Fault](t)(broker.AddFault(Rule{
		Name: "unused", Match: Fields{"api": "Produce"}, Act: Fields{"type": "drop-answer"},
	}))
	if err := broker.Check(); err == nil || !strings.Contains(err.Error(), "unused") {
		t.Fatal(err)
	}
	must[Fault](t)(broker.AddFault(Rule{
		Act: Fields{"type": "drop-answer"}, MayStayUnfired: true,
	}))
}

func TestAScenarioHappensAndAResetForgetsIt(t *testing.T) {
	broker := Start(t)
	outcome := must[Outcome](t)(broker.RunScenario("lost-commit-answer"))
	if outcome.Facts["second_answer"] != "NONE" {
		t.Fatal(outcome)
	}
	if err := broker.Reset(); err != nil {
		t.Fatal(err)
	}
	if names := must[[]string](t)(broker.Topics()); slices.Contains(names, "orders") {
		t.Fatal(names)
	}
}

func TestStopLeavesNoProcess(t *testing.T) {
	broker := must[*Broker](t)(Launch())
	if err := broker.CreateTopic("made", 1); err != nil {
		t.Fatal(err)
	}
	if names := must[[]string](t)(broker.Topics()); !slices.Contains(names, "made") {
		t.Fatal(names)
	}
	broker.Stop()
	if err := syscall.Kill(broker.PID, 0); err != syscall.ESRCH {
		t.Fatal("the broker runs on")
	}
}
