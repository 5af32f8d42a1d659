package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

type transactional struct {
	s     *script
	topic string
}

func transactions(s *script) error {
	t := &transactional{s, s.name("transactions")}
	if err := s.createTopic(t.topic, 8); err != nil {
		return err
	}
	s.check("commit", t.commit)
	s.check("abort", t.abort)
	s.check("open", t.open)
	s.check("alternate", t.alternate)
	s.check("fencing", t.fencing)
	s.check("timeout", t.timeout)
	return t.offsets()
}

func (t *transactional) producer(suffix string, options ...kgo.Opt) (*kgo.Client, error) {
	return t.s.client(append(
		options,
		kgo.TransactionalID(t.s.name(suffix)),
		kgo.RecordPartitioner(kgo.ManualPartitioner()),
	)...)
}

func (t *transactional) values(
	ctx context.Context, partition int32, committed bool,
) ([]string, error) {
	read := t.s.readCommitted
	if !committed {
		read = func(ctx context.Context, topic string, from starts) (reads, error) {
			return t.s.read(ctx, topic, from)
		}
	}
	found, err := read(ctx, t.topic, starts{partition: kgo.NewOffset().At(0)})
	values := []string{}
	for _, r := range found[partition] {
		values = append(values, string(r.Value))
	}
	return values, err
}

// What ends a transaction is answered before its markers are written.
func (t *transactional) seen(ctx context.Context, partition int32, wanted ...string) error {
	what := fmt.Sprintf("a read_committed reader sees exactly %v", wanted)
	return eventually(ctx, what, func() (bool, error) {
		values, err := t.values(ctx, partition, true)
		return slices.Equal(values, wanted), err
	})
}

// Begins a transaction and writes one record.
func (t *transactional) begin(
	ctx context.Context, client *kgo.Client, partition int32, value string,
) error {
	if err := client.BeginTransaction(); err != nil {
		return err
	}
	_, err := send(ctx, client, into(partition, t.topic, text(value)))
	return err
}

func (t *transactional) commit(ctx context.Context) error {
	client, err := t.producer("commit")
	if err != nil {
		return err
	}
	defer client.Close()
	if err := t.begin(ctx, client, 0, "a"); err != nil {
		return err
	}
	if _, err := send(ctx, client, into(1, t.topic, text("b"))); err != nil {
		return err
	}
	return inOrder(
		func() error { return client.EndTransaction(ctx, kgo.TryCommit) },
		func() error { return t.seen(ctx, 0, "a") },
		func() error { return t.seen(ctx, 1, "b") },
	)
}

func (t *transactional) abort(ctx context.Context) error {
	client, err := t.producer("abort")
	if err != nil {
		return err
	}
	defer client.Close()
	if err := inOrder(
		func() error { return t.begin(ctx, client, 2, "aborted") },
		func() error { return client.EndTransaction(ctx, kgo.TryAbort) },
	); err != nil {
		return err
	}
	if _, err := t.s.produce(ctx, into(2, t.topic, text("after"))); err != nil {
		return err
	}
	uncommitted, err := t.values(ctx, 2, false)
	wanted := []string{"aborted", "after"}
	if err := all(err, expect(uncommitted, wanted, "read_uncommitted")); err != nil {
		return err
	}
	return t.seen(ctx, 2, "after")
}

func (t *transactional) open(ctx context.Context) error {
	client, err := t.producer("open")
	if err != nil {
		return err
	}
	defer client.Close()
	if err := t.begin(ctx, client, 3, "open"); err != nil {
		return err
	}
	if _, err := t.s.produce(ctx, into(3, t.topic, text("behind"))); err != nil {
		return err
	}
	committed, err := t.values(ctx, 3, true)
	if err := all(err, expect(committed, []string{}, "read_committed, while it is open")); err != nil {
		return err
	}
	uncommitted, err := t.values(ctx, 3, false)
	wanted := []string{"open", "behind"}
	if err := all(err, expect(uncommitted, wanted, "read_uncommitted")); err != nil {
		return err
	}
	return inOrder(
		func() error { return client.EndTransaction(ctx, kgo.TryCommit) },
		func() error { return t.seen(ctx, 3, wanted...) },
	)
}

func (t *transactional) alternate(ctx context.Context) error {
	client, err := t.producer("alternate")
	if err != nil {
		return err
	}
	defer client.Close()
	var wanted []string
	for i := range 20 {
		end := kgo.TryAbort
		if i%2 == 0 {
			end = kgo.TryCommit
			wanted = append(wanted, strconv.Itoa(i))
		}
		if err := t.begin(ctx, client, 4, strconv.Itoa(i)); err != nil {
			return err
		}
		if err := client.EndTransaction(ctx, end); err != nil {
			return err
		}
	}
	return t.seen(ctx, 4, wanted...)
}

func (t *transactional) fencing(ctx context.Context) error {
	first, err := t.producer("fenced")
	if err != nil {
		return err
	}
	defer first.Close()
	second, err := t.producer("fenced")
	if err != nil {
		return err
	}
	defer second.Close()
	return inOrder(
		func() error { return t.begin(ctx, first, 5, "first") },
		func() error { return t.begin(ctx, second, 5, "second") },
		func() error { return second.EndTransaction(ctx, kgo.TryCommit) },
		func() error { return refused(first.EndTransaction(ctx, kgo.TryCommit), kerr.ProducerFenced) },
		func() error { return t.seen(ctx, 5, "second") },
	)
}

func (t *transactional) timeout(ctx context.Context) error {
	client, err := t.producer("late", kgo.TransactionTimeout(time.Second))
	if err != nil {
		return err
	}
	defer client.Close()
	if err := t.begin(ctx, client, 7, "late"); err != nil {
		return err
	}
	if _, err := t.s.produce(ctx, into(7, t.topic, text("behind"))); err != nil {
		return err
	}
	return inOrder(
		func() error { return t.seen(ctx, 7, "behind") },
		func() error { return refused(client.EndTransaction(ctx, kgo.TryCommit), kerr.InvalidTxnState) },
	)
}

// Offsets belong to a transaction through a session that reads, writes and ends transactions.
func (t *transactional) offsets() error {
	source := t.s.name("transactional-source")
	group := t.s.name("transactional-group")
	if err := t.s.createTopic(source, 1); err != nil {
		return err
	}
	client, err := t.s.admin()
	if err != nil {
		return err
	}
	defer client.Close()
	session, err := kgo.NewGroupTransactSession(
		kgo.SeedBrokers(strings.Split(t.s.bootstrap, ",")...),
		kgo.TransactionalID(t.s.name("send-offsets")),
		kgo.ConsumerGroup(group),
		kgo.ConsumeTopics(source),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.RecordPartitioner(kgo.ManualPartitioner()),
		kgo.FetchMaxWait(50*time.Millisecond),
	)
	if err != nil {
		return err
	}
	defer session.Close()

	// Reads that many new records in a transaction and writes one for them.
	transfer := func(ctx context.Context, count int, end kgo.TransactionEndTry) error {
		if _, err := t.s.produce(ctx, into(0, source, numbered(0, count, source)...)); err != nil {
			return err
		}
		if err := session.Begin(); err != nil {
			return err
		}
		for got := 0; got < count; {
			fetches := session.PollFetches(ctx)
			if err := fetches.Err(); err != nil {
				return err
			}
			got += fetches.NumRecords()
		}
		results := session.ProduceSync(ctx, into(6, t.topic, text("transferred"))...)
		if err := results.FirstErr(); err != nil {
			return err
		}
		committed, err := session.End(ctx, end)
		return all(err, expect(committed, bool(end), "the transaction is committed"))
	}
	committed := func(ctx context.Context) (int64, error) {
		offsets, err := client.FetchOffsets(ctx, group)
		offset, _ := offsets.Lookup(source, 0)
		return offset.At, err
	}
	t.s.check("send-offsets", func(ctx context.Context) error {
		if err := transfer(ctx, 7, kgo.TryCommit); err != nil {
			return err
		}
		return eventually(ctx, "offset 7 is committed", func() (bool, error) {
			offset, err := committed(ctx)
			return offset == 7, err
		})
	})
	t.s.check("send-offsets-abort", func(ctx context.Context) error {
		if err := transfer(ctx, 2, kgo.TryAbort); err != nil {
			return err
		}
		offset, err := committed(ctx)
		return all(err, expect(offset, int64(7), "the committed offset"))
	})
	return nil
}
