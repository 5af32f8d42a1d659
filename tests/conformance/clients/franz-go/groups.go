package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

const groupPartitions = 4

func classicGroups(s *script) error {
	group, options := s.name("groups"), []kgo.GroupOpt{kgo.HeartbeatInterval(300 * time.Millisecond)}
	if err := s.groups(group, describeClassic, options...); err != nil {
		return err
	}
	s.check("static", func(ctx context.Context) error {
		return s.staticMembers(ctx, group, options)
	})
	return nil
}

func consumerProtocolGroups(s *script) error {
	byBroker := []kgo.GroupOpt{kgo.ServerSideBalancer(), kgo.Balancers(kgo.RangeBalancer())}
	s.unsupported("static", "franz-go leaves without its instance id, which the broker refuses")
	return s.groups(s.name("groups-848"), describeConsumer, byBroker...)
}

// One member of a group; its assignment is what the client told it of.
type member struct {
	*kgo.Client
	assigned chan []int32 // holds one value: the partitions that are assigned now
	changes  atomic.Int32 // how many partitions came and went
}

// A member of the group that has the name of its topic.
func (s *script) member(group string, options ...kgo.GroupOpt) (*member, error) {
	return s.memberOf(group, group, options...)
}

func (s *script) memberOf(group, topic string, options ...kgo.GroupOpt) (*member, error) {
	m := &member{assigned: make(chan []int32, 1)}
	m.assigned <- nil
	change := func(changes map[string][]int32, apply func(assigned, changed []int32) []int32) {
		m.changes.Add(int32(len(changes[topic])))
		m.assigned <- apply(<-m.assigned, changes[topic])
	}
	all := []kgo.Opt{
		kgo.ConsumerGroup(group),
		kgo.ConsumeTopics(topic),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.DisableAutoCommit(),
		kgo.FetchMaxWait(50 * time.Millisecond),
		kgo.OnPartitionsAssigned(func(_ context.Context, _ *kgo.Client, assigned map[string][]int32) {
			change(assigned, func(now, more []int32) []int32 { return append(now, more...) })
		}),
		kgo.OnPartitionsRevoked(func(_ context.Context, _ *kgo.Client, revoked map[string][]int32) {
			change(revoked, without)
		}),
		kgo.OnPartitionsLost(func(_ context.Context, _ *kgo.Client, lost map[string][]int32) {
			change(lost, without)
		}),
	}
	for _, option := range options {
		all = append(all, option)
	}
	client, err := s.client(all...)
	m.Client = client
	return m, err
}

func without(now, gone []int32) []int32 {
	isGone := func(partition int32) bool { return slices.Contains(gone, partition) }
	return slices.DeleteFunc(now, isGone)
}

func (m *member) partitions() []int32 {
	assigned := <-m.assigned
	m.assigned <- assigned
	return slices.Clone(assigned)
}

// What arrives in a moment, as numbers.
func (m *member) poll(ctx context.Context) ([]int, error) {
	moment, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
	defer cancel()
	var numbers []int
	fetches := m.PollFetches(moment)
	for _, failure := range fetches.Errors() {
		if failure.Err != moment.Err() {
			return nil, failure.Err
		}
	}
	for _, r := range fetches.Records() {
		number, err := strconv.Atoi(string(r.Value))
		if err != nil {
			return nil, err
		}
		numbers = append(numbers, number)
	}
	return numbers, nil
}

func pollNumbers(ctx context.Context, count int, members ...*member) ([]int, error) {
	var numbers []int
	for len(numbers) < count && ctx.Err() == nil {
		for _, m := range members {
			more, err := m.poll(ctx)
			if err != nil {
				return nil, err
			}
			numbers = append(numbers, more...)
		}
	}
	slices.Sort(numbers)
	return numbers, nil
}

// Polls the members, which find their places meanwhile, whatever they read.
func pollAll(ctx context.Context, condition func() bool, members ...*member) error {
	for !condition() {
		if ctx.Err() != nil {
			return fmt.Errorf("the members did not get their partitions: %w", ctx.Err())
		}
		for _, m := range members {
			if _, err := m.poll(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// Polls the members, which find their places meanwhile; there is nothing to read yet.
func pollUntil(ctx context.Context, condition func() bool, members ...*member) error {
	for !condition() {
		if ctx.Err() != nil {
			var now []string
			for _, m := range members {
				now = append(now, fmt.Sprint(m.partitions()))
			}
			return fmt.Errorf("the members did not get their partitions; now %v", now)
		}
		for _, m := range members {
			numbers, err := m.poll(ctx)
			if err := all(err, expect(len(numbers), 0, "records while the group is forming")); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *script) writeNumbers(ctx context.Context, topic string, first, end int) ([]int, error) {
	var records []*kgo.Record
	var numbers []int
	for i := first; i < end; i++ {
		records = append(records, into(int32(i%groupPartitions), topic, text(strconv.Itoa(i)))...)
		numbers = append(numbers, i)
	}
	_, err := s.produce(ctx, records)
	return numbers, err
}

func expectCommitted(ctx context.Context, client *kadm.Client, group string, wanted int64) error {
	offsets, err := client.FetchOffsets(ctx, group)
	if err != nil {
		return err
	}
	committed := make(map[int32]int64)
	offsets.Each(func(offset kadm.OffsetResponse) { committed[offset.Partition] = offset.At })
	all := map[int32]int64{0: wanted, 1: wanted, 2: wanted, 3: wanted}
	return expect(committed, all, "the committed offsets")
}

func (s *script) groups(group string, describe describe, options ...kgo.GroupOpt) error {
	if err := s.createTopic(group, groupPartitions); err != nil {
		return err
	}
	client, err := s.admin()
	if err != nil {
		return err
	}
	defer client.Close()
	first, err := s.member(group, options...)
	if err != nil {
		return err
	}
	defer first.Close()
	second, err := s.member(group, options...)
	if err != nil {
		return err
	}
	defer second.Close()
	listed := func(ctx context.Context) (bool, error) {
		groups, err := client.ListGroups(ctx)
		return slices.Contains(groups.Groups(), group), err
	}

	s.check("share", func(ctx context.Context) error {
		shared := func() bool {
			one, other := first.partitions(), second.partitions()
			together := append(one, other...)
			slices.Sort(together)
			return slices.Equal(together, []int32{0, 1, 2, 3}) && len(one) > 0 && len(other) > 0
		}
		if err := pollUntil(ctx, shared, first, second); err != nil {
			return err
		}
		written, err := s.writeNumbers(ctx, group, 0, 40)
		if err != nil {
			return err
		}
		numbers, err := pollNumbers(ctx, 40, first, second)
		return all(err, expect(numbers, written, "the numbers of the records"))
	})
	s.check("commit", func(ctx context.Context) error {
		return inOrder(
			func() error { return first.CommitUncommittedOffsets(ctx) },
			func() error { return second.CommitUncommittedOffsets(ctx) },
			func() error { return expectCommitted(ctx, client, group, 10) },
		)
	})
	s.check("describe", func(ctx context.Context) error {
		there, err := listed(ctx)
		if err := all(err, expect(there, true, "the group is listed")); err != nil {
			return err
		}
		return describe(ctx, client, group)
	})
	s.check("leave", func(ctx context.Context) error {
		second.Close()
		return pollUntil(ctx, func() bool { return len(first.partitions()) == groupPartitions }, first)
	})
	first.Close()
	s.check("resume", func(ctx context.Context) error {
		written, err := s.writeNumbers(ctx, group, 40, 60)
		if err != nil {
			return err
		}
		third, err := s.member(group, options...)
		if err != nil {
			return err
		}
		defer third.Close()
		numbers, err := pollNumbers(ctx, 20, third)
		return inOrder(
			func() error { return all(err, expect(numbers, written, "the numbers of the new records")) },
			func() error { return third.CommitUncommittedOffsets(ctx) },
			func() error { return expectCommitted(ctx, client, group, 15) },
		)
	})
	s.check("delete", func(ctx context.Context) error {
		if _, err := client.DeleteGroup(ctx, group); err != nil {
			return err
		}
		there, err := listed(ctx)
		return all(err, expect(there, false, "the group is still listed"))
	})
	return nil
}

func (s *script) staticMembers(ctx context.Context, topic string, options []kgo.GroupOpt) error {
	static := func(name string) (*member, error) {
		return s.memberOf(topic+"-static", topic, append(slices.Clone(options),
			kgo.InstanceID(name),
		)...)
	}
	one, err := static("one")
	if err != nil {
		return err
	}
	defer one.Close()
	other, err := static("other")
	if err != nil {
		return err
	}
	const half = groupPartitions / 2
	shared := func() bool { return len(one.partitions()) == half && len(other.partitions()) == half }
	if err := pollAll(ctx, shared, one, other); err != nil {
		return err
	}
	before, changesBefore := other.partitions(), one.changes.Load()
	other.Close()
	other, err = static("other")
	if err != nil {
		return err
	}
	defer other.Close()
	again := func() bool { return slices.Equal(sorted(other.partitions()), sorted(before)) }
	return inOrder(
		func() error { return pollAll(ctx, again, one, other) },
		func() error { return expect(one.changes.Load(), changesBefore, "changes of the other") },
	)
}

func sorted(partitions []int32) []int32 {
	slices.Sort(partitions)
	return partitions
}

// The two protocols have a request each to describe their groups.
type describe func(ctx context.Context, client *kadm.Client, group string) error

func describeClassic(ctx context.Context, client *kadm.Client, group string) error {
	described, err := client.DescribeGroups(ctx, group)
	return all(
		err,
		described.Error(),
		expect(described[group].State, "Stable", "the state"),
		expect(len(described[group].Members), 2, "the number of members"),
	)
}

func describeConsumer(ctx context.Context, client *kadm.Client, group string) error {
	described, err := client.DescribeConsumerGroups(ctx, group)
	return all(
		err,
		described.Error(),
		expect(described[group].State, "Stable", "the state"),
		expect(len(described[group].Members), 2, "the number of members"),
	)
}
