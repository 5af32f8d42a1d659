"""What record batches cost us, beside two other Python clients in the same run.

``python tests/bench/bench_records.py`` prints a table; ``rows()`` gives the same as data. Costs are
CPU time, the best of many short rounds with the competitors taking turns, so that other work on the
machine slows all of them or none. A ratio above 1 means that ours is better.
"""

from __future__ import annotations

import gc
import random
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from fencepost_protocol.records.batch import (
    TimestampType,
    assign_offset,
    crc_is_valid,
    read_header,
    set_max_timestamp,
    unpack_header,
)
from fencepost_protocol.records.columns import read_columns
from fencepost_protocol.records.compression import Compression
from fencepost_protocol.records.reader import iter_records
from fencepost_protocol.records.writer import BatchBuilder, build_batch

Work = Callable[[], object]
Row = dict[str, Any]

COUNT = 1000
ROUNDS = 40
ROUND_SECONDS = 0.004


def rows() -> list[Row]:
    """Measure everything."""
    gc.collect()
    return [*_header_rows(), *_reading_rows(), *_building_rows()]


def _measure(works: dict[str, Work]) -> dict[str, float]:
    """Seconds of CPU per call of each, the best of rounds in which they take turns."""
    calls = {}
    for name, work in works.items():
        work()
        started = time.perf_counter()
        work()
        calls[name] = max(1, int(ROUND_SECONDS / max(time.perf_counter() - started, 1e-7)))
    best = dict.fromkeys(works, float("inf"))
    for _ in range(ROUNDS):
        for name, work in works.items():
            turns = range(calls[name])
            started = time.process_time()
            for _ in turns:
                work()
            best[name] = min(best[name], (time.process_time() - started) / len(turns))
    return best


def _compare(
    name: str, unit: str, scale: float, works: dict[str, Work], ours: Work | None = None
) -> list[Row]:
    """One row per peer, or one without a peer; ``scale`` turns seconds into the unit."""
    best = _measure(works if ours is None else {"ours": ours} | works)
    mine = best.pop("ours") * scale
    if not best:
        return [_row(name, unit, mine, None, None)]
    return [_row(name, unit, mine, peer, seconds * scale) for peer, seconds in best.items()]


def _row(name: str, unit: str, ours: float, peer_name: str | None, peer: float | None) -> Row:
    return {
        "name": name,
        "unit": unit,
        "ours": round(ours, 3),
        "peer": None if peer is None else round(peer, 3),
        "peer_name": peer_name,
        "ratio": None if peer is None else round(peer / ours, 2),
    }


# --- the peers --------------------------------------------------------------------------------


def _peer_classes() -> dict[str, tuple[Any, Any]]:
    """Reader and builder classes of the peers that are installed."""
    peers: dict[str, tuple[Any, Any]] = {}
    try:
        from kafka.record import default_records as kafka_python

        peers["kafka-python"] = (
            kafka_python.DefaultRecordBatch,
            kafka_python.DefaultRecordBatchBuilder,
        )
    except ImportError:
        pass
    try:
        from aiokafka.record import default_records as aiokafka

        pure_reader = aiokafka._DefaultRecordBatchPy
        pure_builder = aiokafka._DefaultRecordBatchBuilderPy
        if aiokafka.DefaultRecordBatch is not pure_reader:
            peers["aiokafka (C)"] = (
                aiokafka.DefaultRecordBatch,
                aiokafka.DefaultRecordBatchBuilder,
            )
        peers["aiokafka (Python)"] = (pure_reader, pure_builder)
    except ImportError:
        pass
    return peers


# --- headers ----------------------------------------------------------------------------------


def _header_rows() -> list[Row]:
    small = build_batch(None, [bytes(100)] * 149, 5)
    large = build_batch(None, [bytes(1000)] * 1038, 5)
    view = memoryview(small)
    found = [
        *_compare("unpack_header", "us", 1e6, {"ours": lambda: unpack_header(view)}),
        *_compare("read_header (object)", "us", 1e6, {"ours": lambda: read_header(view)}),
        *_compare("assign_offset", "us", 1e6, {"ours": lambda: assign_offset(small, 5, 1)}),
        *_compare(
            "set_max_timestamp, 16 KB",
            "us",
            1e6,
            {"ours": lambda: set_max_timestamp(small, TimestampType.LOG_APPEND_TIME, 9)},
        ),
    ]
    for label, batch in (("16 KB", small), ("1 MB", large)):
        per_batch = _compare(f"header and CRC, {label}", "us a batch", 1e6, _checks(batch))
        found += per_batch
        size = len(batch) / 1e3
        for row in per_batch:
            found.append(
                row
                | {
                    "unit": "GB/s",
                    "ours": round(size / row["ours"], 2),
                    "peer": None if row["peer"] is None else round(size / row["peer"], 2),
                }
            )
    return found


def _checks(batch: bytearray) -> dict[str, Work]:
    data = bytes(batch)
    view = memoryview(batch)

    def ours() -> bool:
        unpack_header(view)
        return crc_is_valid(view)

    def check(reader: Any) -> None:
        reader(data).validate_crc()

    return {"ours": ours} | {
        peer: partial(check, reader) for peer, (reader, _) in _peer_classes().items()
    }


# --- records ----------------------------------------------------------------------------------


def _sample(size: Callable[[], int]) -> tuple[list[bytes | None], list[bytes], list[int]]:
    rng = random.Random(1)
    keys: list[bytes | None] = [b"key-%06d" % number for number in range(COUNT)]
    values = [rng.randbytes(size()) for _ in range(COUNT)]
    times = [1_700_000_000_000 + number // 30 for number in range(COUNT)]
    return keys, values, times


def _reading_rows() -> list[Row]:
    rng = random.Random(2)
    shapes: list[tuple[str, Callable[[], int], dict[str, Any]]] = [
        ("100 B", lambda: 100, {}),
        ("20 to 300 B", lambda: rng.randrange(20, 300), {}),
        ("100 B, one header", lambda: 100, {"headers": True}),
        ("100 B, LZ4", lambda: 100, {"codec": Compression.LZ4}),
        ("100 B, zstd", lambda: 100, {"codec": Compression.ZSTD}),
    ]
    found = []
    per_record = 1e6 / COUNT
    for label, size, options in shapes:
        keys, values, times = _sample(size)
        headers = {}
        if options.pop("headers", False):
            headers = {number: [("trace-id", b"0123456789")] for number in range(COUNT)}
        batch = bytes(build_batch(keys, values, times, headers, **options))
        works: dict[str, Work] = {
            peer: partial(_take_all, reader, batch)
            for peer, (reader, _) in _peer_classes().items()
            # kafka-python takes LZ4 from a library that nothing else here uses.
            if peer != "kafka-python" or options.get("codec") is not Compression.LZ4
        }
        columns: Work = partial(read_columns, batch)
        found += _compare(f"read columns, {label}", "us a record", per_record, works, columns)
        if not options and not headers:
            each: Work = partial(_take_all, iter_records, batch)
            found += _compare(f"read one by one, {label}", "us a record", per_record, works, each)
    return found


def _take_all(reader: Any, batch: bytes) -> list[tuple[object, ...]]:
    return [(record.offset, record.timestamp, record.key, record.value) for record in reader(batch)]


def _building_rows() -> list[Row]:
    keys, values, times = _sample(lambda: 100)

    def one_by_one() -> bytearray:
        builder = BatchBuilder(1 << 24)
        for key, value, timestamp in zip(keys, values, times, strict=True):
            builder.append(key, value, timestamp)
        return builder.build()

    def theirs(builder_class: Any) -> bytes:
        builder = builder_class(2, 0, 0, -1, -1, -1, 1 << 24)
        for number, (key, value, timestamp) in enumerate(zip(keys, values, times, strict=True)):
            builder.append(number, timestamp, key, value, [])
        return bytes(builder.build())

    peers: dict[str, Work] = {
        peer: partial(theirs, builder_class) for peer, (_, builder_class) in _peer_classes().items()
    }
    per_record = 1e6 / COUNT
    bulk: Work = partial(build_batch, keys, values, times)
    return [
        *_compare("append and build, 100 B", "us a record", per_record, peers, one_by_one),
        *_compare("build in bulk, 100 B", "us a record", per_record, peers, bulk),
    ]


def main() -> None:
    """Print the rows as a table."""
    for row in rows():
        peer = "" if row["peer"] is None else f"{row['peer']:>9} {row['peer_name']:<18}"
        ratio = "" if row["ratio"] is None else f"{row['ratio']:>6} x"
        print(f"{row['name']:<34}{row['ours']:>9} {row['unit']:<12}{peer}{ratio}")


if __name__ == "__main__":
    main()
