"""The duration of each phase of transactions, by the times in the logs.

Begin, prepare, markers and completion are brokers' clocks; the first write is the time that the
record carries, which usually is the producer's clock. A phase that ends before it began (clocks
differ) is shown as it is in the tables and left out of the histograms.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import pyarrow as pa

from fencepost_pipeline.audit.batch_headers import NONE
from fencepost_pipeline.audit.checks.transaction_matching import Matched
from fencepost_pipeline.audit.coordinator_log import History
from fencepost_pipeline.audit.partition_scan import Scanned

TRANSACTIONS: Final = pa.schema(
    [
        ("transactional_id", pa.string()),
        ("producer_id", pa.int64()),
        ("producer_epoch", pa.int64()),
        ("outcome", pa.string()),
        ("partitions", pa.int64()),
        ("records", pa.int64()),
        ("bytes", pa.int64()),
        ("timeout_ms", pa.int64()),
        ("begin", pa.int64()),
        ("first_write", pa.int64()),
        ("prepare", pa.int64()),
        ("first_marker", pa.int64()),
        ("last_marker", pa.int64()),
        ("complete", pa.int64()),
        ("log_partition", pa.int64()),
        ("log_offset", pa.int64()),
    ]
)
"""One row per transaction of the coordinators' logs; times in ms since 1970, -1 where unknown."""

PHASES: Final = (
    ("begin to first write", "begin", "first_write"),
    ("first write to prepare", "first_write", "prepare"),
    ("prepare to first marker", "prepare", "first_marker"),
    ("first to last marker", "first_marker", "last_marker"),
    ("last marker to complete", "last_marker", "complete"),
    ("begin to complete", "begin", "complete"),
)


def transactions_table(history: History, matched: Matched, partitions: list[Scanned]) -> pa.Table:
    """All transactions with their times."""
    known, count = history.transactions, len(history)
    records, size = np.zeros(count, np.int64), np.zeros(count, np.int64)
    first_write, first_marker = np.full(count, _FAR), np.full(count, _FAR)
    last_marker = np.full(count, NONE, np.int64)
    for scanned in partitions:
        parts, pieces = matched.parts_of(scanned), scanned.pieces
        parts = parts[matched.piece[parts] != NONE]
        of, row = matched.transaction[parts], matched.piece[parts]
        np.add.at(records, of, pieces.records[row])
        np.add.at(size, of, pieces.bytes[row])
        written = pieces.first_time[row] >= 0
        np.minimum.at(first_write, of[written], pieces.first_time[row[written]])
        marked = pieces.marker_offset[row] != NONE
        np.minimum.at(first_marker, of[marked], pieces.marker_time[row[marked]])
        np.maximum.at(last_marker, of[marked], pieces.marker_time[row[marked]])
    sizes = np.array([len(each) for each in history.places], np.int64)
    columns = {
        "transactional_id": pa.array(history.names, pa.string()).take(pa.array(known.name)),
        "producer_id": known.producer_id,
        "producer_epoch": known.producer_epoch,
        "outcome": pa.array(["open", "abort", "commit"]).take(pa.array(known.committed - NONE)),
        "partitions": sizes[known.places] if count else known.places,
        "records": records,
        "bytes": size,
        "timeout_ms": known.timeout_ms,
        "begin": known.begin_time,
        "first_write": np.where(first_write == _FAR, NONE, first_write),
        "prepare": known.prepare_time,
        "first_marker": np.where(first_marker == _FAR, NONE, first_marker),
        "last_marker": last_marker,
        "complete": known.complete_time,
        "log_partition": known.log_partition,
        "log_offset": known.begin_offset,
    }
    return pa.table([columns[name] for name in TRANSACTIONS.names], TRANSACTIONS)


_FAR: Final = np.iinfo(np.int64).max


def phase_times(transactions: pa.Table) -> dict[str, np.ndarray[tuple[int], np.dtype[np.int64]]]:
    """By phase, how many ms it took wherever both ends are known."""
    result = {}
    for name, start, end in PHASES:
        begun, ended = transactions[start].to_numpy(), transactions[end].to_numpy()
        if end == "first_write":
            # Under transaction version 2 the write itself begins, and is stamped before it is sent.
            ended = np.where(ended >= 0, np.maximum(ended, begun), ended)
        known = (begun >= 0) & (ended >= begun)
        result[name] = (ended - begun)[known]
    return result
