"""The duration of each phase of transactions, by the times in the logs.

Begin, prepare, markers and completion are brokers' clocks; the first write is the time that the
record carries, which usually is the producer's clock. A phase that ends before it began (clocks
differ) is shown as it is in the tables and left out of the histograms.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pyarrow as pa

from fencepost_pipeline.audit.checks.transaction_matching import Matched, Part
from fencepost_pipeline.audit.checks.transaction_pieces import NONE
from fencepost_pipeline.audit.coordinator_log import History, Transaction
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
    here = {(s.summary.topic, s.summary.partition): s for s in partitions}
    parts: dict[int, list[Part]] = {}
    for part in matched.parts:
        parts.setdefault(id(part.transaction), []).append(part)
    rows = [_row(each, parts.get(id(each), []), here) for each in history.transactions]
    return pa.Table.from_pylist(rows, TRANSACTIONS)


def _row(
    transaction: Transaction, parts: list[Part], here: dict[tuple[str, int], Scanned]
) -> dict[str, Any]:
    writes, markers, records, size = [], [], 0, 0
    for part in parts:
        if part.piece == NONE:
            continue
        pieces, i = here[part.where].pieces, part.piece
        records += int(pieces.records[i])
        size += int(pieces.bytes[i])
        if pieces.first_time[i] >= 0:
            writes.append(int(pieces.first_time[i]))
        if pieces.marker_offset[i] != NONE:
            markers.append(int(pieces.marker_time[i]))
    outcome = {None: "open", True: "commit", False: "abort"}[transaction.committed]
    return {
        "transactional_id": transaction.transactional_id,
        "producer_id": transaction.producer_id,
        "producer_epoch": transaction.producer_epoch,
        "outcome": outcome,
        "partitions": len(transaction.partitions),
        "records": records,
        "bytes": size,
        "timeout_ms": transaction.timeout_ms,
        "begin": transaction.begin_time,
        "first_write": min(writes, default=-1),
        "prepare": transaction.prepare_time,
        "first_marker": min(markers, default=-1),
        "last_marker": max(markers, default=-1),
        "complete": transaction.complete_time,
        "log_partition": transaction.log_partition,
        "log_offset": transaction.begin_offset,
    }


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
