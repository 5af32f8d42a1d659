"""``__transaction_state`` as a table: every state that a coordinator has written."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import pyarrow as pa
from fencepost_protocol.generated.index import TRANSACTION_COORDINATOR_RECORDS
from fencepost_protocol.generated.transaction_log import TransactionLogKey, TransactionLogValue

from fencepost_pipeline.columns.tables import list_of
from fencepost_pipeline.segments.files import Slice
from fencepost_pipeline.segments.internal_records import Row, decode_coordinator_record, read_typed
from fencepost_pipeline.segments.problems import OnProblem, ignore_problem

TRANSACTION_SCHEMA: Final = pa.schema(
    [
        ("partition", pa.int32()),
        ("offset", pa.int64()),
        ("timestamp", pa.int64()),
        ("transactional_id", pa.string()),
        ("state", pa.string()),
        ("producer_id", pa.int64()),
        ("producer_epoch", pa.int16()),
        ("previous_producer_id", pa.int64()),
        ("next_producer_id", pa.int64()),
        ("next_producer_epoch", pa.int16()),
        ("timeout_ms", pa.int32()),
        (
            "partitions",
            list_of(pa.struct([("topic", pa.string()), ("partition_ids", list_of(pa.int32()))])),
        ),
        ("updated_ms", pa.int64()),
        ("started_ms", pa.int64()),
        ("client_transaction_version", pa.int16()),
        ("version", pa.int16()),
    ]
)
"""One row per record, in the order of the log.

Only ``transactional_id`` is not null where the id was deleted. ``partitions`` are those that the
transaction has to do with. ``version`` is that of the record's format.
"""

STATES: Final = (
    "Empty",
    "Ongoing",
    "PrepareCommit",
    "PrepareAbort",
    "CompleteCommit",
    "CompleteAbort",
    "Dead",
    "PrepareEpochFence",
)
"""By the number that the record has."""


def read_transactions(
    part: Slice, *, on_problem: OnProblem = ignore_problem
) -> Iterator[pa.RecordBatch]:
    """Read a slice of ``__transaction_state``."""
    return read_typed(part, TRANSACTION_SCHEMA, _row, on_problem)


def _row(record: Row) -> Row | None:
    decoded = decode_coordinator_record(
        record["key"], record["value"], TRANSACTION_COORDINATOR_RECORDS
    )
    if decoded is None:
        return None
    key, value, version = decoded
    assert isinstance(key, TransactionLogKey)
    # The record's own producer is nobody: a coordinator writes without one.
    row: Row = {"transactional_id": key.transactional_id, "producer_id": None}
    row["producer_epoch"] = None
    if value is None:
        return row
    assert isinstance(value, TransactionLogValue)
    status = value.transaction_status
    partitions = value.transaction_partitions
    return row | {
        "state": STATES[status] if 0 <= status < len(STATES) else f"unknown ({status})",
        "producer_id": value.producer_id,
        "producer_epoch": value.producer_epoch,
        "previous_producer_id": value.previous_producer_id,
        "next_producer_id": value.next_producer_id,
        "next_producer_epoch": value.next_producer_epoch,
        "timeout_ms": value.transaction_timeout_ms,
        "partitions": None
        if partitions is None
        else [{"topic": each.topic, "partition_ids": each.partition_ids} for each in partitions],
        "updated_ms": value.transaction_last_update_timestamp_ms,
        "started_ms": value.transaction_start_timestamp_ms,
        "client_transaction_version": value.client_transaction_version,
        "version": version,
    }
