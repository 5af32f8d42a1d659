"""Reports of tasks, which the driver checks before it commits.

A task that cannot write does not fail, because Spark would run it again and report only the last
attempt. It reports the error, and the driver aborts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from fencepost_client.producer.shared_transaction import OpenTransaction

from fencepost_pipeline.sink.errors import MarkerError, OwnershipError, TaskError
from fencepost_pipeline.sink.marker import Batch

Where: TypeAlias = tuple[str, int]
"""A topic and a partition."""


@dataclass(slots=True)
class TaskReport:
    """The part of a batch that one task has written."""

    task: int
    transaction: OpenTransaction
    batch: Batch | None = None
    """What a stream writes; ``None`` where there are no batches."""
    records: dict[Where, int] = field(default_factory=dict)
    """Rows by partition, also for partitions with a failed attempt."""
    skipped: bool = False
    """The batch was committed earlier."""
    error: str | None = None
    refused: bool = False
    """The error is one of the marker: it is the batch that cannot be written, not a row."""


@dataclass(frozen=True, slots=True)
class Work:
    """The transaction to commit."""

    transaction: OpenTransaction
    batch: Batch | None
    records: int


def settle(reports: Sequence[TaskReport | None], *, transactional: bool = True) -> Work | None:
    """Check the reports. Returns what to commit; ``None`` if the batch was committed earlier.

    Without a transaction each task has a producer id of its own, and several may write a partition.
    """
    found = [report for report in reports if report is not None]
    for report in found:
        if report.refused:
            raise MarkerError(report.error)
    if transactional:
        _check_owners(found)
    for report in found:
        if report.error is not None:
            raise TaskError(f"Task {report.task} could not write its rows: {report.error}")
    if len(found) < len(reports) or not found:
        raise TaskError(
            f"{len(reports) - len(found)} of {len(reports)} tasks ended without a report; what "
            f"they wrote is not known, so the batch is not committed."
        )
    first = found[0]
    if any(
        (report.transaction, report.batch, report.skipped)
        != (first.transaction, first.batch, first.skipped)
        for report in found
    ):
        raise TaskError("The tasks of the batch wrote in different transactions.")
    if first.skipped:
        return None
    total = sum(sum(report.records.values()) for report in found)
    return Work(first.transaction, first.batch, total)


def _check_owners(reports: Sequence[TaskReport]) -> None:
    owners: dict[Where, int] = {}
    for report in reports:
        for where in report.records:
            if where in owners:
                raise _several_writers(where, owners[where], report)
            owners[where] = report.task


def _several_writers(where: Where, first: int, second: TaskReport) -> OwnershipError:
    topic, partition = where
    place, helper, call = "write", "by_partition", "df = by_partition(df, options)"
    if second.batch is not None:
        place, helper, call = "writeStream", "exactly_once_sink", "exactly_once_sink(df, options)"
    return OwnershipError(
        f"Tasks {first} and {second.task} both wrote to {topic}-{partition}. Under one producer id "
        f"a broker takes one's batches for repetitions of the other's and drops them, so nothing "
        f"of this batch is committed. Add\n"
        f"    df = df.repartition('topic', 'partition')\n"
        f"before {place} if the rows have these columns (leave out what they do not have), "
        f"df = df.coalesce(1) for few rows, or let the sink do it:\n"
        f"    from fencepost_pipeline.spark import {helper}\n"
        f"    {call}"
    )


def transaction_of(reports: Sequence[TaskReport | None]) -> OpenTransaction | None:
    """The transaction to abort; ``None`` if there is none, or no task reported it."""
    for report in reports:
        if report is not None and not report.skipped:
            return report.transaction
    return None
