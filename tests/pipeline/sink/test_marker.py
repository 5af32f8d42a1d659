"""What a marker says about a batch, and what the sink makes of the tasks' reports."""

from __future__ import annotations

from dataclasses import replace

import pytest
from fencepost_client import OffsetAndMetadata
from fencepost_client.producer.shared_transaction import OpenTransaction
from fencepost_pipeline.sink.errors import MarkerError, OwnershipError, TaskError
from fencepost_pipeline.sink.marker import (
    NOTE_BYTES_MAX,
    Allowance,
    Batch,
    Marker,
    marker_after,
    must_be_written,
)
from fencepost_pipeline.sink.task_reports import TaskReport, Work, settle, transaction_of

MARKER = Marker(5, "query", 7, 3)
OPEN = OpenTransaction("spark-orders", 7, 3, 2)
BATCH = Batch(5, "query")


def decide(batch_id: int, marker: Marker | None = MARKER, **allowed: object) -> bool:
    return must_be_written(Batch(batch_id, "query"), marker, "group", Allowance(**allowed))  # type: ignore[arg-type]


def test_the_next_batch_is_written_and_the_last_one_skipped() -> None:
    assert decide(5)
    assert not decide(4)
    assert decide(0, None)


@pytest.mark.parametrize(
    ("batch_id", "marker", "told"),
    [(3, MARKER, "older than the sink"), (6, MARKER, "never committed"), (5, None, "no marker")],
)
def test_what_does_not_go_together_is_refused(
    batch_id: int, marker: Marker | None, told: str
) -> None:
    with pytest.raises(MarkerError, match=told):
        decide(batch_id, marker)


def test_a_missing_marker_can_be_accepted_but_an_old_checkpoint_cannot() -> None:
    assert decide(5, None, missing_marker=True)
    assert decide(6, missing_marker=True)
    with pytest.raises(MarkerError):
        decide(3, missing_marker=True)


def test_another_query_is_refused_unless_it_is_named() -> None:
    other = replace(MARKER, query_id="old", sources='{"0": 17}')
    with pytest.raises(MarkerError, match=r"new sinkId.*17.*continueQuery', 'old'"):
        decide(0, other)
    assert decide(0, other, from_query="old")
    with pytest.raises(MarkerError):
        decide(0, other, from_query="older")


def test_other_sources_of_a_batch_that_is_committed_are_refused() -> None:
    batch = Batch(4, "query", '{"0": 17}')
    marker = marker_after(batch, 7, 3)
    assert not must_be_written(batch, marker, "group")
    with pytest.raises(MarkerError, match="was changed or restored"):
        must_be_written(replace(batch, sources='{"0": 18}'), marker, "group")
    assert not must_be_written(replace(batch, sources=None), marker, "group")


@pytest.mark.parametrize("sources", [None, '{"0": 17}', "\u00e9" * NOTE_BYTES_MAX])
def test_a_marker_comes_back_as_it_was_written(sources: str | None) -> None:
    marker = marker_after(Batch(4, "query", sources), 7, 3)
    written = marker.written()
    assert len(written.metadata.encode()) <= NOTE_BYTES_MAX
    kept = sources if sources is None or len(sources) < NOTE_BYTES_MAX else None
    assert Marker.read(written, "here") == replace(marker, sources=kept)


@pytest.mark.parametrize("note", ["", "{}", "[1]", '{"v": 2, "query": "q", "producer": [1, 2]}'])
def test_somebody_elses_offset_is_refused(note: str) -> None:
    with pytest.raises(MarkerError, match="markerGroup"):
        Marker.read(OffsetAndMetadata(3, note), "here")


def report(task: int, *partitions: int, **others: object) -> TaskReport:
    records = {("orders", partition): 10 for partition in partitions}
    return TaskReport(task, OPEN, BATCH, records, **others)  # type: ignore[arg-type]


def test_reports_that_agree_are_work() -> None:
    assert settle([report(0, 0, 1), report(1, 2)]) == Work(OPEN, BATCH, 30)
    assert settle([report(0)]) == Work(OPEN, BATCH, 0)
    assert settle([report(0, skipped=True), report(1, skipped=True)]) is None


def test_two_writers_of_a_partition_are_named_with_the_line_to_add() -> None:
    failed = report(2, 1, error="OUT_OF_ORDER_SEQUENCE_NUMBER")
    with pytest.raises(OwnershipError, match=r"0 and 2 .*orders-1[\s\S]*repartition\('topic'"):
        settle([report(0, 1), report(1, 0), failed])
    streams = [report(task, 1) for task in (0, 1)]
    with pytest.raises(OwnershipError, match=r"before writeStream [\s\S]*  exactly_once_sink\(df"):
        settle(streams)
    with pytest.raises(OwnershipError, match=r"before write [\s\S]*  df = by_partition\(df"):
        settle([replace(each, batch=None) for each in streams])
    assert settle(streams, transactional=False) == Work(OPEN, BATCH, 20)


def test_what_a_task_met_is_told_with_its_cause() -> None:
    with pytest.raises(TaskError, match=r"Task 1 .*too large"):
        settle([report(0, 0), report(1, 1, error="too large"), None])
    with pytest.raises(MarkerError, match="lost"):
        settle([report(0, error="lost", refused=True)])


@pytest.mark.parametrize(
    "reports",
    [
        [],
        [None],
        [report(0, 0), None],
        [report(0, 0), report(1, 1, skipped=True)],
        [report(0, 0), replace(report(1, 1), transaction=OPEN._replace(producer_epoch=4))],
    ],
)
def test_what_is_not_whole_is_not_committed(reports: list[TaskReport | None]) -> None:
    with pytest.raises(TaskError):
        settle(reports)


def test_what_is_to_be_aborted_is_found_in_any_report() -> None:
    assert transaction_of([None, report(1, error="x")]) == OPEN
    assert transaction_of([None]) is None
    assert transaction_of([report(0, skipped=True)]) is None
