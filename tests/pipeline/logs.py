"""Data directories made by hand, so that tests know every byte of them."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from pathlib import Path

from fencepost_protocol.records.batch import read_header
from fencepost_protocol.records.writer import BatchOptions, build_batch


def data_batches(count: int, records: int = 3, size: int = 40, **options: object) -> list[bytes]:
    """Batches of one partition whose values say which they are."""
    some = []
    for number in range(count):
        these: BatchOptions = {"base_offset": number * records, **options}  # type: ignore[typeddict-item]
        values = [b"%d/%d" % (number, place) + bytes(size) for place in range(records)]
        some.append(bytes(build_batch([b"k"] * records, values, 1000 + number, **these)))
    return some


def write_segment(
    data_dir: Path,
    batches: Sequence[bytes],
    *,
    folder: str = "orders-0",
    base_offset: int = 0,
    index_every: int = 0,
    tail: bytes = b"",
) -> Path:
    """Write a segment, and its offset index with an entry for every so many batches."""
    path = data_dir / folder / f"{base_offset:020d}.log"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(batches) + tail)
    if index_every:
        entries = bytearray()
        position = 0
        for number, batch in enumerate(batches):
            if number and number % index_every == 0:
                last_offset = read_header(batch).last_offset
                entries += struct.pack(">ii", last_offset - base_offset, position)
            position += len(batch)
        path.with_suffix(".index").write_bytes(entries)
    return path
