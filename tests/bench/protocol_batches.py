"""Record batches: the rows of ``bench_records``, and construct beside them."""

from __future__ import annotations

import struct
from typing import Any, Final, TypeAlias
from unittest import mock

import construct
from crc32c import crc32c
from fencepost_protocol.records.batch import crc_is_valid, unpack_header
from fencepost_protocol.records.columns import read_columns
from fencepost_protocol.records.writer import build_batch

from tests.bench import bench_records
from tests.bench.protocol_contenders import Operation
from tests.bench.protocol_measure import Effort, measure

BatchRow: TypeAlias = dict[str, Any]
"""``name``, ``unit``, ``ours``, ``peer``, ``peer_name`` and ``ratio``: above 1 is good for us."""

RECORDS: Final = 1000

HEADER: Final = construct.Struct(
    "base_offset" / construct.Int64sb,
    "batch_length" / construct.Int32sb,
    "partition_leader_epoch" / construct.Int32sb,
    "magic" / construct.Int8sb,
    "crc" / construct.Int32ub,
    "attributes" / construct.Int16sb,
    "last_offset_delta" / construct.Int32sb,
    "base_timestamp" / construct.Int64sb,
    "max_timestamp" / construct.Int64sb,
    "producer_id" / construct.Int64sb,
    "producer_epoch" / construct.Int16sb,
    "base_sequence" / construct.Int32sb,
    "record_count" / construct.Int32sb,
)
SIZED: Final = construct.Prefixed(construct.ZigZag, construct.GreedyBytes)
RECORD: Final = construct.Struct(
    "length" / construct.ZigZag,
    "attributes" / construct.Int8sb,
    "timestamp_delta" / construct.ZigZag,
    "offset_delta" / construct.ZigZag,
    "key" / SIZED,
    "value" / SIZED,
    "headers"
    / construct.PrefixedArray(construct.ZigZag, construct.Struct("key" / SIZED, "value" / SIZED)),
)
BATCH: Final = construct.Struct(
    "header" / HEADER, "records" / construct.Array(construct.this.header.record_count, RECORD)
)
CRC_FROM: Final = 21


def _check(view: memoryview) -> bool:
    """The header's checks and the CRC, ours."""
    unpack_header(view)
    return crc_is_valid(view)


def _construct_check(data: bytes) -> bool:
    """The same by declarations."""
    header = HEADER.parse(data)
    assert header.magic == 2
    return bool(header.crc == crc32c(memoryview(data)[CRC_FROM:]))


def _construct_rows(effort: Effort) -> list[BatchRow]:
    """Construct in those of the rows where it makes sense."""
    small = bytes(build_batch(None, [bytes(100)] * 149, 5))
    names = {"check": _check, "buf": memoryview(small)}
    theirs = {"check": _construct_check, "buf": small}
    ours_us, peer_us = _compare(
        Operation("out = check(buf)", names, bool),
        Operation("out = check(buf)", theirs, bool),
        effort,
    )
    size = len(small) / 1e3
    rows = [
        _row("header and CRC, 16 KB", "us a batch", ours_us, peer_us),
        _row("header and CRC, 16 KB", "GB/s", size / ours_us, size / peer_us, peer_us / ours_us),
    ]
    keys: list[bytes | None] = [b"key-%06d" % number for number in range(RECORDS)]
    batch = bytes(build_batch(keys, [struct.pack(">q92x", n) for n in range(RECORDS)], 5))
    ours_us, peer_us = _compare(
        Operation("out = read(buf)", {"read": read_columns, "buf": batch}, _column_values),
        Operation("out = read(buf)", {"read": BATCH.parse, "buf": batch}, _parsed_values),
        effort,
    )
    rows.append(_row("read columns, 100 B", "us a record", ours_us / RECORDS, peer_us / RECORDS))
    return rows


def _compare(ours: Operation, theirs: Operation, effort: Effort) -> tuple[float, float]:
    if ours.run() != theirs.run():
        raise AssertionError("construct reads another batch than we do")
    timings = measure({"ours": ours, "construct": theirs}, effort)
    return timings["ours"].best_us, timings["construct"].best_us


def _column_values(columns: Any) -> list[tuple[Any, ...]]:
    return list(zip(columns.keys, columns.values, strict=True))


def _parsed_values(parsed: Any) -> list[tuple[Any, ...]]:
    return [(record.key, record.value) for record in parsed.records]


def _row(name: str, unit: str, ours: float, peer: float, ratio: float | None = None) -> BatchRow:
    return {
        "name": name,
        "unit": unit,
        "ours": round(ours, 3),
        "peer": round(peer, 3),
        "peer_name": "construct",
        "ratio": round(ratio or peer / ours, 2),
    }


def batch_rows(effort: Effort, *, brief: bool) -> list[BatchRow]:
    """All rows; a smoke run measures each for a moment only."""
    rounds = 1 if brief else bench_records.ROUNDS
    seconds = 0.0 if brief else bench_records.ROUND_SECONDS
    with mock.patch.multiple(bench_records, ROUNDS=rounds, ROUND_SECONDS=seconds):
        rows = bench_records.rows()
    return rows + _construct_rows(effort)
