"""The hash of Kafka's partitioner for a column of keys, with numpy.

Keys are sorted by length, the longest first, so that those that have a further word are always the
first ones; a step mixes one word into each of them.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from fencepost_client.producer.partitioner import murmur2

from fencepost_pipeline.columns.tables import Bytes, Numbers

Hashes = npt.NDArray[np.uint32]

_SEED: Final = np.uint32(0x9747B28C)
_MIX: Final = np.uint32(0x5BD1E995)
_WORD: Final = 4
_FEW: Final = 32
"""So many keys side by side cost a step as much as one word of each by itself."""


def murmur2_of(keys: pa.Array) -> Hashes:
    """The hash of each key of a binary column; undefined for nulls.

    ::

        >>> murmur2_of(pa.array([b"foobar"], pa.binary())).tolist() == [murmur2(b"foobar")]
        True
    """
    if not len(keys):
        return np.zeros(0, np.uint32)
    starts, lengths, data = _pieces(keys)
    order = np.argsort(-lengths, kind="stable")
    lengths, starts = lengths[order], starts[order]
    found = np.empty(len(order), np.uint32)
    # A few keys that are longer than all others would have their steps for themselves.
    alone = int(np.searchsorted(-lengths, -lengths[min(_FEW, len(lengths) - 1)], side="left"))
    for row in range(alone):
        first = int(starts[row])
        found[row] = murmur2(data[first : first + int(lengths[row])].tobytes())
    found[alone:] = _side_by_side(data, starts[alone:], lengths[alone:])
    hashes = np.empty_like(found)
    hashes[order] = found
    return hashes


def _pieces(keys: pa.Array) -> tuple[Numbers, Numbers, Bytes]:
    """Where each key begins, how long it is, and the bytes that they are in."""
    width = np.int64 if pa.types.is_large_binary(keys.type) else np.int32
    _, offsets, content = keys.buffers()
    first = keys.offset
    bounds = np.frombuffer(offsets, width)[first : first + len(keys) + 1].astype(np.int64)
    data: Bytes = np.frombuffer(content if content is not None else b"", np.uint8)
    return bounds[:-1], np.diff(bounds), data


def _side_by_side(data: Bytes, starts: Numbers, lengths: Numbers) -> Hashes:
    """Hash keys that are sorted by length, the longest first."""
    hashed: Hashes = lengths.astype(np.uint32) ^ _SEED
    fewer = -(lengths // _WORD)
    for step in range(-int(fewer[0])):
        width = int(np.searchsorted(fewer, -step, side="left"))
        word = _bytes_at(data, starts[:width] + _WORD * step, _WORD) * _MIX
        word ^= word >> np.uint32(24)
        word *= _MIX
        mixed = hashed[:width]
        mixed *= _MIX
        mixed ^= word
    rest = lengths % _WORD
    for size in range(1, _WORD):
        rows = np.flatnonzero(rest == size)
        if rows.size:
            tail = _bytes_at(data, starts[rows] + lengths[rows] - size, size)
            hashed[rows] = (hashed[rows] ^ tail) * _MIX
    hashed ^= hashed >> np.uint32(13)
    hashed *= _MIX
    hashed ^= hashed >> np.uint32(15)
    return hashed


def _bytes_at(data: Bytes, at: Numbers, count: int) -> Hashes:
    """So many bytes at each position, the first one lowest."""
    word: Hashes = data[at].astype(np.uint32)
    for place in range(1, count):
        word |= data[at + place].astype(np.uint32) << np.uint32(8 * place)
    return word
