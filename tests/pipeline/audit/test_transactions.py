"""Transactions against the coordinator's log, in small logs written by hand."""

from __future__ import annotations

import pytest
from fencepost_client.admin.transactions import NEVER_MS
from fencepost_pipeline.audit.audit_run import Wishes, audit
from fencepost_pipeline.audit.checks.acknowledged_records import ToldRecord, ToldTransaction, Trace
from fencepost_pipeline.audit.coordinator_steps import State
from fencepost_pipeline.audit.findings import Invariant, Status

from tests.pipeline.audit.harness import alone, failing
from tests.pipeline.audit.small_logs import STATE, TIMEOUT_MS, P, SmallLogs

Q = "topic", 1


@pytest.fixture
def logs() -> SmallLogs:
    """Three transactions of one epoch, over two partitions."""
    logs = SmallLogs()
    for number in range(3):
        logs.transaction(P, Q, sequence=number, commit=number != 1)
    return logs


def test_it_is_clean(logs: SmallLogs) -> None:
    found = audit(logs)
    assert failing(found) == {}
    assert found.transactions["outcome"].to_pylist() == ["commit", "abort", "commit"]


def test_a_late_record_of_the_same_epoch(logs: SmallLogs) -> None:
    logs.data(P, sequence=3)
    (text,) = alone(audit(logs), Invariant.LATE)
    assert text.startswith("topic-0 offset 6: ")
    assert "behind the marker at offset 5" in text


def test_a_marker_missing_among_many_of_one_epoch(logs: SmallLogs) -> None:
    """Both transactions' records are one piece then; the coordinator counts two."""
    logs.remove(P, 1)
    (text,) = alone(audit(logs), Invariant.UNMARKED)
    assert "no commit marker here" in text
    assert text.startswith("topic-0 ")


def test_a_marker_that_compaction_may_have_taken(logs: SmallLogs) -> None:
    del logs.places[P][1]
    assert failing(audit(logs)) == {}


def test_a_topic_that_was_made_anew(logs: SmallLogs) -> None:
    """Transactions of the old topic have no marker in the new one."""
    for place in (P, Q):
        logs.places[place] = []
    logs.transaction(P, Q)
    found = audit(logs)
    assert failing(found) == {}
    verdict = next(v for v in found.verdicts if v.invariant is Invariant.UNMARKED)
    assert verdict.notes == ["6 x transaction older than its partition's log"]


def test_an_abort_marker_in_a_partition_without_records_is_fine(logs: SmallLogs) -> None:
    logs.step(State.ONGOING, P, Q)
    logs.end(P, Q, commit=False)
    assert failing(audit(logs)) == {}


def test_a_decision_that_was_completed_otherwise(logs: SmallLogs) -> None:
    logs.step(State.ONGOING, P)
    logs.step(State.PREPARE_COMMIT, P)
    logs.marker(P)
    logs.step(State.COMPLETE_ABORT)
    (text,) = alone(audit(logs), Invariant.ATOMIC)
    assert text.startswith("__transaction_state-0 offset ")


def test_an_open_transaction_is_fine_until_its_timeout(logs: SmallLogs) -> None:
    logs.step(State.ONGOING, P, Q)
    logs.data(P, sequence=3)
    assert failing(audit(logs)) == {}
    assert failing(audit(logs, Wishes(now_ms=logs.now_ms + TIMEOUT_MS))) == {}
    now = logs.now_ms + TIMEOUT_MS + 20_000
    (text,) = alone(audit(logs, Wishes(now_ms=now)), Invariant.HANGING)
    assert "open for 80 s with a timeout of 60 s; it holds back topic-0, topic-1" in text


def test_a_kept_transaction_of_a_two_phase_commit_never_hangs(logs: SmallLogs) -> None:
    logs.step(State.ONGOING, P)
    logs.step(State.ONGOING, P, timeout_ms=NEVER_MS)
    month = Wishes(now_ms=logs.now_ms + NEVER_MS + 20_000)
    assert failing(audit(logs, month)) == {}
    logs.step(State.PREPARE_COMMIT, P, timeout_ms=NEVER_MS)
    (text,) = alone(audit(logs, month), Invariant.HANGING)
    assert "decided but not complete" in text


def test_the_coordinators_own_clock_tells_what_hangs(logs: SmallLogs) -> None:
    logs.step(State.ONGOING, P)
    logs.now_ms += TIMEOUT_MS + 20_000
    logs.step(State.EMPTY, name="somebody else", writer=8)
    alone(audit(logs), Invariant.HANGING)


def test_a_decision_without_completion_hangs_too(logs: SmallLogs) -> None:
    logs.step(State.ONGOING, P)
    logs.step(State.PREPARE_COMMIT, P)
    assert failing(audit(logs)) == {}
    found = audit(logs, Wishes(now_ms=logs.now_ms + TIMEOUT_MS + 20_000))
    (text,) = alone(found, Invariant.HANGING)
    assert "decided but not complete" in text


def test_markers_from_before_the_coordinators_log_are_not_judged(logs: SmallLogs) -> None:
    del logs.places[STATE][:3]
    found = audit(logs)
    assert failing(found) == {}
    verdict = next(v for v in found.verdicts if v.invariant is Invariant.ORPHANS)
    assert verdict.notes == ["2 x older than what is left of the coordinators' log"]


def test_without_a_coordinators_log(logs: SmallLogs) -> None:
    del logs.places[STATE]
    found = audit(logs)
    assert failing(found) == {}
    status = {v.invariant: v.status for v in found.verdicts}
    assert status[Invariant.ATOMIC] is Status.NOT_JUDGED
    assert status[Invariant.GAPS] is Status.HOLDS


def test_one_id_for_two_owners(logs: SmallLogs) -> None:
    from fencepost_pipeline.audit.checks.producer_id_blocks import BlockNote

    logs.notes = [BlockNote(3, 1, 1000)]
    assert failing(audit(logs)) == {}
    logs.step(State.EMPTY, name="another")
    (text,) = alone(audit(logs), Invariant.BLOCKS)
    assert "producer id 7 belongs to another and writer" in text


@pytest.mark.parametrize(
    ("told", "text"),
    [
        (ToldRecord(1, 99), "the log ends with offset 5"),
        (ToldRecord(1, 1), "a control batch is there"),
        (ToldRecord(1, 2, producer_id=8), "a record of producer 7 is there"),
        (ToldRecord(1, 2, 7, 1), "a record of epoch 0 is there"),
        (ToldRecord(1, 2, 7, 0, 5), "the record with sequence number 1 is there"),
        (ToldRecord(1, 2, 7, committed=True), "its transaction is aborted"),
    ],
)
def test_what_was_acknowledged_and_is_not_there(
    logs: SmallLogs, told: ToldRecord, text: str
) -> None:
    kept = [ToldRecord(2, 0, 7, 0, 0, True), ToldRecord(3, 2, 7, 0, 1), ToldRecord(4, 4)]
    assert failing(audit(logs, Wishes(trace=Trace({P: kept})))) == {}
    (said,) = alone(audit(logs, Wishes(trace=Trace({P: [*kept, told]}))), Invariant.ACKNOWLEDGED)
    assert "line 1 of the trace: " in said
    assert text in said


def test_a_partition_that_is_gone(logs: SmallLogs) -> None:
    trace = Trace({("gone", 0): [ToldRecord(1, 0)]})
    (said,) = alone(audit(logs, Wishes(trace=trace)), Invariant.ACKNOWLEDGED)
    assert "gone-0 offset 0: line 1 of the trace: the partition's log is not here" in said


def test_a_commit_that_was_told_and_is_not_in_the_log(logs: SmallLogs) -> None:
    told = [ToldTransaction(1, "writer", 7, 0, True)]
    assert failing(audit(logs, Wishes(trace=Trace({}, told)))) == {}
    told.append(ToldTransaction(2, "writer", 7, 1, True))
    (said,) = alone(audit(logs, Wishes(trace=Trace({}, told))), Invariant.ACKNOWLEDGED)
    assert "line 2 of the trace: told to be committed" in said
