"""The audit's tables as Parquet files, for further questions."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from fencepost_pipeline.audit.audit_run import Audit
from fencepost_pipeline.audit.checks.last_stable_offset import stable_offset_now
from fencepost_pipeline.audit.checks.transaction_pieces import FIELDS, PIECES
from fencepost_pipeline.audit.findings import Finding
from fencepost_pipeline.audit.partition_scan import Scanned

FINDINGS: Final = pa.schema(
    [(each.name, pa.int64() if each.type == "int" else pa.string()) for each in fields(Finding)]
)
VERDICTS: Final = pa.schema(
    [
        ("invariant", pa.string()),
        ("meaning", pa.string()),
        ("status", pa.string()),
        ("checked", pa.int64()),
        ("findings", pa.int64()),
        ("notes", pa.list_(pa.string())),
    ]
)
PARTITIONS: Final = pa.schema(
    [
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("start_offset", pa.int64()),
        ("end_offset", pa.int64()),
        ("stable_offset", pa.int64()),
        ("missing_offsets", pa.int64()),
        ("batches", pa.int64()),
        ("records", pa.int64()),
        ("bytes", pa.int64()),
        ("first_time", pa.int64()),
        ("last_time", pa.int64()),
        ("producers", pa.int64()),
        ("segments", pa.int64()),
    ]
)


def tables(found: Audit) -> dict[str, pa.Table]:
    """All tables by name."""
    return {
        "verdicts": pa.Table.from_pylist([_verdict(v) for v in found.verdicts], VERDICTS),
        "findings": pa.Table.from_pylist(
            [
                {each.name: getattr(finding, each.name) for each in fields(Finding)}
                for verdict in found.verdicts
                for finding in verdict.findings
            ],
            FINDINGS,
        ),
        "partitions": pa.Table.from_pylist([_partition(s) for s in found.partitions], PARTITIONS),
        "pieces": pa.concat_tables([_pieces(s) for s in found.partitions])
        if found.partitions
        else PIECES.empty_table(),
        "transactions": found.transactions,
    }


def write_tables(found: Audit, folder: Path) -> list[Path]:
    """Write all tables; returns the files."""
    paths = []
    for name, table in tables(found).items():
        path = folder / f"{name}.parquet"
        pq.write_table(table, path)
        paths.append(path)
    return paths


def _verdict(verdict: Any) -> dict[str, Any]:
    return {
        "invariant": str(verdict.invariant),
        "meaning": verdict.meaning,
        "status": str(verdict.status),
        "checked": verdict.checked,
        "findings": verdict.count,
        "notes": verdict.notes,
    }


def _partition(scanned: Scanned) -> dict[str, Any]:
    summary = scanned.summary
    return {
        "topic": summary.topic,
        "partition": summary.partition,
        "start_offset": max(summary.start_offset, 0),
        "end_offset": summary.end_offset,
        "stable_offset": stable_offset_now(scanned),
        "missing_offsets": summary.missing - max(summary.start_offset, 0),
        "batches": summary.batches,
        "records": summary.records,
        "bytes": summary.bytes,
        "first_time": summary.first_time,
        "last_time": summary.last_time,
        "producers": len(summary.producer_ids),
        "segments": len(summary.segments),
    }


def _pieces(scanned: Scanned) -> pa.Table:
    summary, pieces = scanned.summary, scanned.pieces
    count = len(pieces.producer_id)
    columns: dict[str, Any] = {
        "topic": pa.repeat(pa.scalar(summary.topic, pa.string()), count),
        "partition": pa.array(np.full(count, summary.partition, np.int32)),
    }
    columns |= {name: pa.array(getattr(pieces, name)) for name in FIELDS}
    return pa.table([columns[name] for name in PIECES.names], PIECES)
