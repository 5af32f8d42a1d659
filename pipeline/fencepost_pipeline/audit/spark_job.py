r"""The audit on a Spark cluster: ``spark-submit spark_job.py DATA_DIR... [--out DIR]``.

::

    spark-submit --py-files fencepost.zip \
        pipeline/fencepost_pipeline/audit/spark_job.py /mnt/kafka-logs --out /mnt/audit

``fencepost.zip`` is a wheel of Fencepost, which is a zip file, for executors that have none.
Options and exit codes are those of ``fencepost audit``. The directories must be where executors see
them under the same path. Batch headers are read a task per slice of a segment, cut by its offset
index; they are brought together by partition and in the order of the log, and each partition is
scanned as on one machine, chunk by chunk. A partition of the coordinators' log has all steps of its
transactional ids, so a task for each makes transactions of them. What the tasks give are columns
with a row per transaction and partition, which the driver joins and compares.
"""

from __future__ import annotations

import argparse
import pickle
import sys
from collections.abc import Iterable, Iterator
from dataclasses import astuple
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa

from fencepost_pipeline.audit.audit_run import Audit, Wishes, compare, read_coordinator
from fencepost_pipeline.audit.batch_headers import COLUMNS, chunks
from fencepost_pipeline.audit.checks.acknowledged_records import watch_offsets
from fencepost_pipeline.audit.command import (
    UNREADABLE,
    add_arguments,
    check_topics,
    conclude,
    make_wishes,
)
from fencepost_pipeline.audit.command import prepare as prepare_out
from fencepost_pipeline.audit.coordinator_log import TOPIC as STATE_TOPIC
from fencepost_pipeline.audit.coordinator_log import History
from fencepost_pipeline.audit.data_directories import DataDirectory
from fencepost_pipeline.audit.findings import Ledger
from fencepost_pipeline.audit.partition_scan import Scanned, scan_partition
from fencepost_pipeline.segments import BATCH_SCHEMA, Problem, Segment, Slice, read_batches

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PLACE: Final = ("topic", "partition")
SLICE_BYTES: Final = 256 << 20
SLICES: Final = (
    "path string, topic string, partition int, base_offset long, size long, start long, stop long"
)
HEADER_ROWS: Final = pa.schema(
    [*(BATCH_SCHEMA.field(name) for name in (*PLACE, *COLUMNS)), pa.field("problem", pa.binary())]
)
RESULT: Final = "topic string, partition int, scanned binary"
HISTORIES: Final = "partition int, history binary"


def audit_with_spark(spark: SparkSession, logs: DataDirectory, wishes: Wishes) -> Audit:
    """The same as :func:`fencepost_pipeline.audit.audit_run.audit`, the scans done by a cluster.

    Example::

        found = audit_with_spark(spark, DataDirectory(["/mnt/kafka-logs"]), Wishes())
    """
    slices = [part for place in logs.partitions() for part in logs.slices(*place, SLICE_BYTES)]
    rows = [(*astuple(part.segment), part.start, part.end) for part in slices]
    headers = (
        spark.createDataFrame(rows, SLICES)
        .repartition(max(len(rows), 1))
        .mapInArrow(_read, _spark_schema(HEADER_ROWS))
        .repartition(*PLACE)
        # Not by offset: that offsets fall is something to find.
        .sortWithinPartitions(*PLACE, "segment", "position")
    )
    ledger = Ledger()
    found: dict[tuple[str, int], Scanned] = {}
    for row in headers.mapInArrow(_Scan(wishes), RESULT).toLocalIterator():
        # These bytes were made by our own tasks a moment ago.
        scanned, told, problems = pickle.loads(row.scanned)  # noqa: S301
        found[row.topic, row.partition] = scanned
        ledger.take(told)
        logs.tell(problems)
    for place in logs.partitions():
        if place not in found:  # an empty log has no rows that a task could have seen
            found[place], told = scan(place, iter(()), wishes)
            ledger.take(told)
    histories = _histories(spark, logs, ledger)
    scans = [found[place] for place in logs.partitions()]
    return compare(logs, scans, wishes, ledger, histories=histories)


def _histories(spark: SparkSession, logs: DataDirectory, ledger: Ledger) -> dict[int, History]:
    """The coordinators' log as transactions, a task for each of its partitions."""
    own = logs.of_topic(STATE_TOPIC)
    rows = [(partition,) for _, partition in own.partitions()]
    found: dict[int, History] = {}
    if not rows:
        return found
    partitions = spark.createDataFrame(rows, "partition int").repartition(len(rows))
    for row in partitions.mapInArrow(_Coordinators(own), HISTORIES).toLocalIterator():
        # These bytes were made by our own tasks a moment ago.
        found[row.partition], told, problems = pickle.loads(row.history)  # noqa: S301
        ledger.take(told)
        logs.take(problems)
    return found


class _Coordinators:
    """What a task does with the numbers of partitions of the coordinators' log."""

    def __init__(self, logs: DataDirectory) -> None:
        self._logs = logs

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for partition in batch.column("partition").to_pylist():
                ledger = Ledger()
                history = read_coordinator(self._logs, partition, ledger)
                result = pickle.dumps((history, ledger, self._logs.problems()))
                yield pa.RecordBatch.from_arrays(
                    [pa.array([partition], pa.int32()), pa.array([result], pa.binary())],
                    ["partition", "history"],
                )


def _read(slices: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """What a task reads: headers, and what cannot be read as rows with nothing but a problem."""
    for each in slices:
        for row in each.to_pylist():
            start, end = row.pop("start"), row.pop("stop")
            problems: list[Problem] = []
            for batch in read_batches(
                Slice(Segment(**row), start, end), on_problem=problems.append
            ):
                columns = [batch.column(name) for name in (*PLACE, *COLUMNS)]
                columns.append(pa.nulls(batch.num_rows, pa.binary()))
                yield pa.RecordBatch.from_arrays(columns, schema=HEADER_ROWS)
            yield pa.RecordBatch.from_pylist([_problem_row(p) for p in problems], HEADER_ROWS)


def _problem_row(problem: Problem) -> dict[str, object]:
    return {
        "topic": problem.topic,
        "partition": problem.partition,
        "segment": problem.path,
        "position": problem.position,
        "problem": pickle.dumps(problem),
    }


def scan(
    place: tuple[str, int], batches: Iterator[pa.RecordBatch], wishes: Wishes
) -> tuple[Scanned, Ledger]:
    """One partition, and what of the trace is missing there."""
    ledger = Ledger()
    rows = chunks(batches)
    told = wishes.trace.records.get(place) if wishes.trace else None
    if told:
        rows = watch_offsets(told, *place, rows, ledger)
    return scan_partition(*place, rows, expiry_ms=wishes.expiry_ms), ledger


class _Scan:
    """What a task does with its partitions' headers, which come one partition after the other."""

    def __init__(self, wishes: Wishes) -> None:
        self._wishes = wishes

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for place, runs in groupby(_cut(batches), key=lambda run: run[0]):
            problems: list[Problem] = []
            rows = (_headers(rows, problems) for _, rows in runs)
            scanned, ledger = scan(place, rows, self._wishes)
            yield pa.RecordBatch.from_arrays(
                [
                    pa.array([place[0]]),
                    pa.array([place[1]], pa.int32()),
                    pa.array([pickle.dumps((scanned, ledger, problems))], pa.binary()),
                ],
                ["topic", "partition", "scanned"],
            )


def _headers(rows: pa.RecordBatch, problems: list[Problem]) -> pa.RecordBatch:
    """Take the rows that stand for problems out."""
    column = rows.column("problem")
    if column.null_count == len(column):
        return rows
    # These bytes were made by our own tasks a moment ago.
    problems += [pickle.loads(each) for each in column.drop_null().to_pylist()]  # noqa: S301
    return rows.filter(column.is_null())


def _cut(batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[tuple[str, int], pa.RecordBatch]]:
    """Cut rows where another partition begins."""
    for batch in batches:
        if not batch.num_rows:
            continue
        topics = batch.column("topic").dictionary_encode()
        numbers = batch.column("partition").to_numpy()
        changes = np.diff(topics.indices.to_numpy()) != 0
        changes |= np.diff(numbers) != 0
        starts = [0, *(np.flatnonzero(changes) + 1).tolist(), batch.num_rows]
        for start, end in pairwise(starts):
            place = topics[start].as_py(), int(numbers[start])
            yield place, batch.slice(start, end - start)


def _spark_schema(schema: pa.Schema) -> str:
    names = {pa.int64(): "long", pa.int32(): "int", pa.int16(): "short", pa.bool_(): "boolean",
             pa.string(): "string", pa.binary(): "binary"}  # fmt: skip
    return ", ".join(f"{each.name} {names[each.type]}" for each in schema)


def main(arguments: list[str] | None = None) -> int:
    """What spark-submit runs; gives the exit code."""
    from pyspark.sql import SparkSession

    from fencepost_pipeline.audit.client_trace import TraceError
    from fencepost_pipeline.audit.command import UsageError
    from fencepost_pipeline.segments import UnreadablePathError

    parser = argparse.ArgumentParser(prog="spark_job.py")
    add_arguments(parser)
    options = parser.parse_args(arguments)
    try:
        wishes, out = make_wishes(options), prepare_out(options.out)
        logs = DataDirectory(options.paths)
        check_topics(wishes, logs.partitions())
    except (UnreadablePathError, TraceError, UsageError) as error:
        sys.stderr.write(f"spark_job.py: {error}\n")
        return UNREADABLE
    spark = SparkSession.builder.appName("fencepost audit").getOrCreate()
    return conclude(audit_with_spark(spark, logs, wishes), out, options.paths)


if __name__ == "__main__":
    sys.exit(main())
