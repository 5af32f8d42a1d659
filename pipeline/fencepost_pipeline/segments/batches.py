"""The table of batches: their headers, and the result of the CRC check."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from fencepost_protocol.exceptions import RemoteProtocolError
from fencepost_protocol.records.batch import (
    CODEC_MASK,
    CONTROL_FLAG,
    MAX_SEQUENCE,
    NO_SEQUENCE,
    TRANSACTIONAL_FLAG,
)
from fencepost_protocol.records.compression import Compression
from fencepost_protocol.records.control import ControlType, read_control_records

from fencepost_pipeline.segments.block_reader import Block, read_blocks
from fencepost_pipeline.segments.files import Slice
from fencepost_pipeline.segments.headers import size_of
from fencepost_pipeline.segments.problems import OnProblem, ignore_problem

BATCH_SCHEMA: Final = pa.schema(
    [
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("segment", pa.string()),
        ("position", pa.int64()),
        ("size", pa.int32()),
        ("base_offset", pa.int64()),
        ("last_offset", pa.int64()),
        ("leader_epoch", pa.int32()),
        ("magic", pa.int8()),
        ("codec", pa.string()),
        ("timestamp_type", pa.int8()),
        ("base_timestamp", pa.int64()),
        ("max_timestamp", pa.int64()),
        ("producer_id", pa.int64()),
        ("producer_epoch", pa.int16()),
        ("base_sequence", pa.int32()),
        ("last_sequence", pa.int32()),
        ("record_count", pa.int32()),
        ("transactional", pa.bool_()),
        ("control", pa.bool_()),
        ("control_type", pa.string()),
        ("coordinator_epoch", pa.int32()),
        ("crc_ok", pa.bool_()),
    ]
)
"""One row per batch. ``segment`` is the file's path and ``position`` where in it the batch begins.

``control_type`` is ``commit``, ``abort`` or ``other``, null for data; ``coordinator_epoch`` is a
marker's. ``crc_ok`` is null without a check.
"""

_CODECS: Final = pa.array(
    [codec.name.lower() for codec in Compression] + [f"unknown ({n})" for n in (5, 6, 7)]
)
_CONTROL_NAMES: Final = {ControlType.COMMIT: "commit", ControlType.ABORT: "abort"}


def read_batches(
    part: Slice, *, check_crcs: bool = True, on_problem: OnProblem = ignore_problem
) -> Iterator[pa.RecordBatch]:
    """Read the headers of all batches of a slice, some thousand at a time.

    Bytes that are not a batch are reported to ``on_problem``. A batch with a wrong CRC is reported,
    and has a row.
    """
    for block in read_blocks(part, on_problem):
        yield _make_columns(block, check_crcs, on_problem)


def _make_columns(block: Block, check_crcs: bool, on_problem: OnProblem) -> pa.RecordBatch:
    headers = block.headers
    count = len(headers)
    segment = block.part.segment
    base_offsets = _native(headers["base_offset"], np.int64)
    deltas = _native(headers["last_offset_delta"], np.int64)
    attributes = _native(headers["attributes"], np.int32)
    sequences = _native(headers["base_sequence"], np.int64)
    last_sequences = np.where(
        sequences == NO_SEQUENCE, NO_SEQUENCE, (sequences + deltas) & MAX_SEQUENCE
    )
    if check_crcs:
        good = block.check_crcs()
        for place in np.flatnonzero(~good).tolist():
            on_problem(block.problem(place, "the batch's CRC is not that of its bytes"))
        crc_ok = pa.array(good)
    else:
        crc_ok = pa.nulls(count, pa.bool_())
    control_types, epochs = _controls(block, attributes & CONTROL_FLAG != 0)
    arrays = [
        pa.repeat(pa.scalar(segment.topic), count),
        pa.repeat(pa.scalar(segment.partition, pa.int32()), count),
        pa.repeat(pa.scalar(segment.path), count),
        pa.array(block.position + block.starts),
        pa.array(size_of(headers).astype(np.int32)),
        pa.array(base_offsets),
        pa.array(base_offsets + deltas),
        pa.array(_native(headers["leader_epoch"], np.int32)),
        pa.array(headers["magic"].astype(np.int8)),
        _CODECS.take(pa.array(attributes & CODEC_MASK)),
        pa.array((attributes >> 3 & 1).astype(np.int8)),
        pa.array(_native(headers["base_timestamp"], np.int64)),
        pa.array(_native(headers["max_timestamp"], np.int64)),
        pa.array(_native(headers["producer_id"], np.int64)),
        pa.array(_native(headers["producer_epoch"], np.int16)),
        pa.array(sequences.astype(np.int32)),
        pa.array(last_sequences.astype(np.int32)),
        pa.array(_native(headers["record_count"], np.int32)),
        pa.array(attributes & TRANSACTIONAL_FLAG != 0),
        pa.array(attributes & CONTROL_FLAG != 0),
        control_types,
        epochs,
        crc_ok,
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=BATCH_SCHEMA)


def _native(column: npt.NDArray[Any], kind: type[np.generic]) -> npt.NDArray[Any]:
    return column.astype(kind)


def _controls(block: Block, is_control: npt.NDArray[np.bool_]) -> tuple[pa.Array, pa.Array]:
    """Read the types of control batches, and the coordinator epochs of markers."""
    count = len(is_control)
    # A quorum's control batches may have several records, and hostile ones very many.
    places = np.flatnonzero(is_control & (block.headers["record_count"] == 1)).tolist()
    if not is_control.any():
        return pa.nulls(count, pa.string()), pa.nulls(count, pa.int32())
    names: list[str | None] = ["other" if control else None for control in is_control.tolist()]
    epochs: list[int | None] = [None] * count
    views = block.views()
    for place in places:
        try:
            (record,) = read_control_records(views[place])
            names[place] = _CONTROL_NAMES.get(record.type, "other")
            if record.type in _CONTROL_NAMES:
                epochs[place] = record.coordinator_epoch
        except (RemoteProtocolError, ValueError):
            continue  # Not one record, or none that can be read: its CRC tells which.
    return pa.array(names, pa.string()), pa.array(epochs, pa.int32())
