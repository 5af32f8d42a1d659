package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

const (
	session               = 4 * time.Second
	heartbeat             = 500 * time.Millisecond
	recordsPerTransaction = 5
	pollFor               = 100 * time.Millisecond
)

// A worker that reads in a group, and writes what it read in transactions with its offsets. How it
// is called, what it is told and what it says stands in transforming.py.
type worker struct {
	options  map[string]string
	assigned string
	holdAt   atomic.Value // of string
	released chan struct{}
	leave    context.Context
}

func transform(bootstrap string, arguments []string) error {
	w := &worker{options: make(map[string]string), released: make(chan struct{}, 1)}
	w.holdAt.Store("")
	for _, argument := range arguments {
		name, value, _ := strings.Cut(strings.TrimPrefix(argument, "--"), "=")
		w.options[name] = value
	}
	timeout, err := strconv.Atoi(w.options["transaction-timeout-ms"])
	if err != nil {
		return err
	}
	options := []kgo.Opt{
		kgo.SeedBrokers(strings.Split(bootstrap, ",")...),
		kgo.ConsumerGroup(w.options["group"]),
		kgo.ConsumeTopics(w.options["source"]),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()),
		kgo.FetchMaxWait(50 * time.Millisecond),
		kgo.TransactionalID(w.options["transactional-id"]),
		kgo.TransactionTimeout(time.Duration(timeout) * time.Millisecond),
		kgo.RecordPartitioner(kgo.ManualPartitioner()),
		kgo.WithHooks(w),
	}
	for _, option := range rebalances[w.options["rebalance"]] {
		options = append(options, option)
	}
	client, err := kgo.NewGroupTransactSession(options...)
	if err != nil {
		return err
	}
	defer client.Close()
	leave, cancel := context.WithCancel(context.Background())
	w.leave = leave
	go w.listen(cancel)
	for leave.Err() == nil {
		if err := w.step(client); err != nil {
			return err
		}
	}
	return nil
}

var rebalances = map[string][]kgo.GroupOpt{
	"eager":             classic(kgo.RangeBalancer()),
	"cooperative":       classic(kgo.CooperativeStickyBalancer()),
	"consumer-protocol": {kgo.ServerSideBalancer(), kgo.Balancers(kgo.RangeBalancer())},
}

func classic(balancer kgo.GroupBalancer) []kgo.GroupOpt {
	return []kgo.GroupOpt{
		kgo.Balancers(balancer),
		kgo.SessionTimeout(session),
		kgo.HeartbeatInterval(heartbeat),
	}
}

// What arrives in a moment, in one transaction.
func (w *worker) step(client *kgo.GroupTransactSession) error {
	moment, cancel := context.WithTimeout(w.leave, pollFor)
	defer cancel()
	records := client.PollRecords(moment, recordsPerTransaction).Records()
	w.tellAssigned(client.Client())
	if len(records) == 0 {
		return nil
	}
	if err := client.Begin(); err != nil {
		return err
	}
	var written []*kgo.Record
	for _, r := range records {
		written = append(written, &kgo.Record{
			Topic: w.options["sink"], Partition: r.Partition, Value: r.Value,
		})
	}
	ctx := context.Background()
	end := kgo.TryCommit
	failure := client.ProduceSync(ctx, written...).FirstErr()
	if failure != nil {
		end = kgo.TryAbort
	}
	w.hold("written")
	// Sends the offsets, too, unless the records' partitions are others' by now.
	committed, err := client.End(ctx, end)
	switch {
	case err != nil:
		say("aborted " + err.Error())
		return err
	case committed:
		say(fmt.Sprintf("committed %d", len(records)))
	default:
		say(fmt.Sprintf("aborted by the session, %v", failure))
	}
	return nil
}

// OnBrokerRead stands still where the session itself goes on: its offsets are sent.
func (w *worker) OnBrokerRead(
	_ kgo.BrokerMetadata, key int16, _ int, _, _ time.Duration, err error,
) {
	if err == nil && key == int16(kmsg.TxnOffsetCommit) {
		w.hold("offsets")
	}
}

// Its partitions: those of which the client keeps an offset.
func (w *worker) tellAssigned(client *kgo.Client) {
	var partitions []int
	for partition := range client.CommittedOffsets()[w.options["source"]] {
		partitions = append(partitions, int(partition))
	}
	slices.Sort(partitions)
	now := strings.Trim(strings.ReplaceAll(fmt.Sprint(partitions), " ", ","), "[]")
	if now != w.assigned {
		w.assigned = now
		say("assigned " + now)
	}
}

func (w *worker) hold(stage string) {
	if w.holdAt.CompareAndSwap(stage, "") {
		say("holding " + stage)
		<-w.released
	}
}

func (w *worker) listen(leave context.CancelFunc) {
	input := bufio.NewScanner(os.Stdin)
	for input.Scan() && input.Text() != "leave" {
		if stage, isHold := strings.CutPrefix(input.Text(), "hold "); isHold {
			w.holdAt.Store(stage)
			say("will hold " + stage)
		} else if input.Text() == "go" {
			w.released <- struct{}{}
		}
	}
	leave()
	close(w.released)
}

func say(line string) { fmt.Println(strings.ReplaceAll(line, "\n", " ")) }
