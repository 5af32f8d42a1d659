"""Batch headers in a file: which bytes can be one, and many of them at once."""

from __future__ import annotations

import struct
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from fencepost_protocol.records.batch import (
    HEADER_SIZE,
    LOG_OVERHEAD,
    MAGIC,
    MAX_SEQUENCE,
    MIN_BATCH_LENGTH,
)

from fencepost_pipeline.columns.tables import HEADER_FIELDS, Bytes, Numbers

_BEGINNING: Final = struct.Struct(">qiib4xhi")
"""Base offset, length, leader epoch, magic, (CRC,) attributes, last offset delta."""
_KNOWN_ATTRIBUTES: Final = 0x7F


def is_plausible(data: bytes | memoryview, pos: int, least_offset: int) -> bool:
    """Whether a batch may begin at ``pos``, whose offsets are not below ``least_offset``."""
    if len(data) - pos < HEADER_SIZE:
        return False
    base_offset, length, _, magic, attributes, last_delta = _BEGINNING.unpack_from(data, pos)
    return (
        magic == MAGIC
        and length >= MIN_BATCH_LENGTH
        and base_offset >= least_offset
        and last_delta >= 0
        and not attributes & ~_KNOWN_ATTRIBUTES
    )


def find_plausible(data: Bytes, start: int, least_offset: int) -> list[int]:
    """Find all places from ``start`` on where a batch may begin, not far above ``least_offset``."""
    if len(data) - start < HEADER_SIZE:
        return []
    magic_at = np.flatnonzero(data[start + 16 : len(data) - HEADER_SIZE + 17] == MAGIC)
    headers = gather(data, magic_at + start)
    offsets = headers["base_offset"]
    fits = (headers["batch_length"] >= MIN_BATCH_LENGTH) & (headers["last_offset_delta"] >= 0)
    fits &= (offsets >= least_offset) & (offsets - least_offset <= MAX_SEQUENCE)
    fits &= headers["attributes"] & ~_KNOWN_ATTRIBUTES == 0
    fits &= headers["record_count"] >= 0
    places: list[int] = (magic_at[fits] + start).tolist()
    return places


def gather(data: Bytes, positions: Numbers) -> npt.NDArray[Any]:
    """Copy the headers at some positions into an array of ``HEADER_FIELDS``."""
    places = positions[:, np.newaxis] + np.arange(HEADER_SIZE)
    headers: npt.NDArray[Any] = data[places].reshape(-1).view(HEADER_FIELDS)
    return headers


def size_of(header: npt.NDArray[Any]) -> Numbers:
    """The sizes of whole batches."""
    return header["batch_length"].astype(np.int64) + LOG_OVERHEAD
