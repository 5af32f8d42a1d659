"""Rows and bytes a second of reading log files and of encoding, on one core, without Spark.

    python -m tests.bench.pipeline.log_files [--megabytes 200] [--rounds 3] [--out PAGE]

CPU seconds of this process are counted: the clock of a machine that others work on says less.
Cases take turns, and each one's best round counts.
"""

from __future__ import annotations

import argparse
import os
import platform
import random
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import pyarrow as pa
from fencepost_pipeline.columns import iter_decode, iter_encode
from fencepost_pipeline.segments import Slice, list_segments, read_batches, read_records
from fencepost_protocol.records.batch import split_batches
from fencepost_protocol.records.columns import read_columns
from fencepost_protocol.records.compression import Compression

from tests.bench.pipeline.rounds import Budget, say
from tests.bench.table import markdown_table, plain_table

PAGE: Final = """# Log files as tables

Written by `make bench-pipeline`, {date}, {machine}, load {load:.1f} at the end. One segment of
{megabytes} MB before compression, in the page cache, for each kind of data; values are half random,
keys of eight bytes. One core and no Spark: rows and bytes of CPU time, the best of up to {rounds}
rounds that took turns. GB are those of the file, of columns in memory where there is none.

{table}

"per record" is `fencepost_protocol.records.columns.read_columns`, a list of Python objects per
field, on the same batches: what there was before (records of one size are its best case). `batches`
reads every byte where CRCs are checked. Without, all blocks are read still: batches are found by
going from one to the next.
"""
MINUTES: Final = 10.0
SIZES: Final = (100, 1000)
BATCHES: Final = (16_384, 1_000_000)
CODECS: Final = (Compression.NONE, Compression.ZSTD)


@dataclass(slots=True)
class Case:
    """Something to measure: what it reads, how much that is, and how long it took at best."""

    what: str
    data: str
    rows: int
    size: int
    run: Callable[[], None]
    seconds: float = float("inf")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--minutes", type=float, default=MINUTES, help="begin no round later")
    parser.add_argument("--out", type=Path, help="write the page there")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="fencepost-bench-") as folder:
        budget = Budget(options.minutes)
        say("writing the files")
        cases = list(all_cases(Path(folder), options.megabytes * 1_000_000))
        for _ in budget.rounds(options.rounds, 1, "log files"):
            for case in cases:
                begin = time.process_time()
                case.run()
                case.seconds = min(case.seconds, time.process_time() - begin)
    head = ("what", "records and batches", "million rows/s", "GB/s")
    rows = [
        (
            case.what,
            case.data,
            f"{case.rows / case.seconds / 1e6:.2f}",
            f"{case.size / case.seconds / 1e9:.2f}",
        )
        for case in cases
    ]
    print(plain_table(head, rows))
    if options.out:
        options.out.write_text(
            PAGE.format(
                date=datetime.now(UTC).date(),
                machine=f"{platform.machine()}, Python {platform.python_version()}",
                load=os.getloadavg()[0],
                megabytes=options.megabytes,
                rounds=options.rounds,
                table=markdown_table(head, rows),
            )
        )


def all_cases(folder: Path, total: int) -> Iterator[Case]:
    """Write the files and say what is to be done with each."""
    for size in SIZES:
        table = some_rows(total, size)
        for batch_bytes in BATCHES:
            for codec in CODECS:
                label = f"{size} B, {batch_bytes // 1000} KB, {codec.name.lower()}"
                path = folder / f"{size}-{batch_bytes}-{int(codec)}" / "orders-0" / f"{0:020d}.log"
                path.parent.mkdir(parents=True)
                with path.open("wb") as file:
                    for batch, _ in iter_encode(
                        table, max_batch_bytes=batch_bytes, codec=codec, timestamp_ms=1
                    ):
                        file.write(batch)
                yield from cases_of(path, label, table.num_rows, codec)
                if codec is Compression.NONE:
                    yield encoding(table, batch_bytes, label)


def some_rows(total: int, size: int) -> pa.Table:
    count = total // size
    chance = random.Random(7)
    values = [chance.randbytes(size // 2) + bytes(size - size // 2) for _ in range(1000)]
    return pa.table(
        {
            "key": pa.array([b"%08d" % number for number in range(count)], pa.binary()),
            "value": pa.array([values[number % 1000] for number in range(count)], pa.binary()),
        }
    )


def cases_of(path: Path, label: str, rows: int, codec: Compression) -> Iterator[Case]:
    (segment,) = list_segments([path])
    part = Slice(segment, 0, segment.size)

    def drain(found: Iterator[pa.RecordBatch], expected: int | None = rows) -> None:
        count = sum(each.num_rows for each in found)
        assert expected is None or count == expected

    if codec is Compression.NONE:
        yield Case("`batches`", label, rows, segment.size, lambda: drain(read_batches(part), None))
        yield Case(
            "`batches`, CRCs not checked",
            label,
            rows,
            segment.size,
            lambda: drain(read_batches(part, check_crcs=False), None),
        )
    yield Case("`records`", label, rows, segment.size, lambda: drain(read_records(part)))
    if codec is Compression.NONE:
        yield Case(
            "`records`, offset and key only",
            label,
            rows,
            segment.size,
            lambda: drain(read_records(part, columns={"offset", "key"})),
        )

        def one_by_one() -> None:
            for _, batch in split_batches(path.read_bytes()):
                read_columns(batch)

        yield Case("per record", label, rows, segment.size, one_by_one)

        def decoding() -> None:
            drain(iter_decode(batch for _, batch in split_batches(path.read_bytes())))

        yield Case("`columns.decode`", label, rows, segment.size, decoding)


def encoding(table: pa.Table, batch_bytes: int, label: str) -> Case:
    def run() -> None:
        for _ in iter_encode(table, max_batch_bytes=batch_bytes, timestamp_ms=1):
            pass

    return Case("`columns.encode`", label, table.num_rows, table.nbytes, run)


if __name__ == "__main__":
    main()
