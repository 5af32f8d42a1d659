"""Batches read one by one, beside columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fencepost_protocol.records.batch import Buffer, read_header
from fencepost_protocol.records.reader import iter_records


def read_one_by_one(batches: Sequence[Buffer], *, control: bool = True) -> list[dict[str, Any]]:
    """What the columns have to hold, as rows."""
    rows = []
    for batch in batches:
        header = read_header(batch)
        if header.is_control and not control:
            continue
        for record in iter_records(batch):
            sequence = -1
            if header.base_sequence != -1:
                delta = record.offset - header.base_offset
                sequence = (header.base_sequence + delta) % 2**31
            rows.append(
                {
                    "offset": record.offset,
                    "timestamp": record.timestamp,
                    "timestamp_type": int(header.timestamp_type),
                    "producer_id": header.producer_id,
                    "producer_epoch": header.producer_epoch,
                    "sequence": sequence,
                    "transactional": header.is_transactional,
                    "control": header.is_control,
                    "key": None if record.key is None else bytes(record.key),
                    "value": None if record.value is None else bytes(record.value),
                    "headers": [{"key": key, "value": value} for key, value in record.headers]
                    or None,
                }
            )
    return rows
