"""Flushes with a worker that works when the test says so."""

from __future__ import annotations

import pytest
from fencepost_broker.storage import flush_scheduler as module
from fencepost_broker.storage.flush_scheduler import FlushScheduler, InlineWorker
from fencepost_broker.storage.log import FlushTask, PartitionLog, StorageError, upkeep
from fencepost_protocol.errors import ErrorCode

from tests.machine.storage.harness import NOW, Hands, append, batch, open_log


class Heard:
    """Remembers what it was told."""

    def __init__(self) -> None:
        self.told: list[tuple[PartitionLog, StorageError | None]] = []

    def log_flushed(self, log: PartitionLog, error: StorageError | None) -> None:
        self.told.append((log, error))


def an_unflushed_log() -> PartitionLog:
    log = open_log(flush_messages=1)
    append(log, batch(2))
    assert log.log_end_offset >= log.flush_at_offset
    return log


def test_what_is_asked_for_in_one_turn_is_one_flush() -> None:
    hands, heard = Hands(), Heard()
    flushes = FlushScheduler(hands, hands)
    one, other = an_unflushed_log(), an_unflushed_log()
    flushes.ask([one], heard)
    flushes.ask([one, other], heard)
    flushes.ask([other])
    assert not hands.given
    hands.turn()
    assert len(hands.given) == 1
    assert not heard.told
    hands.work()
    assert heard.told == [(one, None), (one, None), (other, None)]
    assert one.recovery_point == other.recovery_point == 2
    assert one.log_end_offset < one.flush_at_offset
    hands.turn()
    assert not hands.given, "nothing more is asked for"


def test_what_comes_while_a_flush_runs_goes_with_the_next() -> None:
    hands, first, second = Hands(), Heard(), Heard()
    flushes = FlushScheduler(hands, hands)
    log = an_unflushed_log()
    flushes.ask([log], first)
    hands.turn()
    append(log, batch(1))
    flushes.ask([log], second)
    hands.turn()
    assert len(hands.given) == 1, "one at a time"
    hands.work()
    assert (first.told, second.told) == ([(log, None)], [])
    assert log.recovery_point == 2
    hands.turn()
    hands.work()
    assert second.told == [(log, None)]
    assert log.recovery_point == 3


def test_several_flushes_run_at_once_but_one_of_each_log() -> None:
    hands, heard = Hands(at_once=3), Heard()
    flushes = FlushScheduler(hands, hands)
    logs = [an_unflushed_log() for _ in range(5)]
    flushes.ask(logs[:2], heard)
    hands.turn()
    assert len(hands.given) == 2, "a piece of work each"
    append(logs[0], batch(1))
    flushes.ask(logs, heard)
    hands.turn()
    assert len(hands.given) == 3, "one was free, and took all that is not being flushed"
    hands.given.reverse()
    hands.work()
    assert heard.told == [(log, None) for log in logs[2:]]
    hands.turn()
    assert len(hands.given) == 2, "what is asked for again waits for its first flush"
    hands.work()
    hands.work()
    assert logs[0].recovery_point == 2
    hands.turn()
    while hands.given:
        hands.work()
    assert logs[0].recovery_point == 3
    assert [log for log, _ in heard.told[3:]].count(logs[0]) == 2


@pytest.mark.parametrize("problem", [StorageError("sync", "x", "no luck"), RuntimeError("a bug")])
def test_a_sync_that_fails_ends_appending_there_and_nowhere_else(
    problem: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    hands, heard = Hands(), Heard()
    flushes = FlushScheduler(hands, hands)
    good, bad = an_unflushed_log(), an_unflushed_log()

    def fail() -> None:
        raise problem

    def begin(log: PartitionLog) -> FlushTask:
        task = begin_flush(log)
        return task._replace(syncs=[fail]) if log is bad else task

    begin_flush = upkeep.begin_flush
    monkeypatch.setattr(upkeep, "begin_flush", begin)
    flushes.ask([bad, good], heard)
    hands.turn()
    hands.work()
    (failed, error), (fine, none) = heard.told
    assert (failed, fine, none) == (bad, good, None)
    assert str(problem.args[-1]) in str(error)
    assert bad.recovery_point == 0
    assert bad.append_as_leader(batch(1), 0, NOW).error is ErrorCode.KAFKA_STORAGE_ERROR
    assert "flush-failed" in {event.kind for event in bad.take_events()}
    append(good, batch(1))


def test_a_flush_that_cannot_begin_is_told_and_may_be_tried_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    hands, heard = Hands(), Heard()
    flushes = FlushScheduler(hands, hands)
    log = an_unflushed_log()

    def refuse(log: PartitionLog) -> FlushTask:
        raise StorageError("open", "x", "full")

    with monkeypatch.context() as patched:
        patched.setattr(upkeep, "begin_flush", refuse)
        flushes.ask([log], heard)
        hands.turn()
    assert [(each, str(error)) for each, error in heard.told] == [(log, "cannot open x: full")]
    assert log.failure is None
    hands.work()
    flushes.ask([log], heard)
    hands.turn()
    hands.work()
    assert heard.told[1:] == [(log, None)]


def test_without_a_thread_it_is_the_same() -> None:
    hands, heard = Hands(), Heard()
    flushes = FlushScheduler(InlineWorker(), hands)
    log = an_unflushed_log()
    flushes.ask([log], heard)
    hands.turn()
    assert heard.told == [(log, None)]
    assert log.recovery_point == 2


def test_all_logs_are_looked_at_in_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_LOOKED_AT_ONCE", 2)
    hands = Hands()
    flushes = FlushScheduler(InlineWorker(), hands)
    logs = [an_unflushed_log() for _ in range(5)]
    for flushed in (2, 4, 5, 5):
        flushes.look(logs)
        hands.turn()
        assert sum(log.recovery_point == 2 for log in logs) == flushed
