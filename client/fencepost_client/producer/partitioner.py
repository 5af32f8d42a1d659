"""Partitioners: which partition a record goes to, as in Kafka's producers.

The partition of a key is its murmur2 hash, so that all clients agree. A record without a key goes
to the sticky partition of the topic, which changes when a batch is full (KIP-480), so that a stream
of records is spread over partitions in whole batches.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Final, TypeAlias

Partitioner: TypeAlias = Callable[[str, bytes, int], int]
"""Topic, key, number of partitions -> partition. It is called for records with a key only."""

_SEED: Final = 0x9747B28C
_MIX: Final = 0x5BD1E995
_MASK: Final = 0xFFFF_FFFF
REMEMBERED_KEYS: Final = 16_384


def murmur2(data: bytes) -> int:
    """The 32-bit hash of Kafka's partitioner, unsigned."""
    length = len(data)
    hashed = _SEED ^ length
    whole = length & ~3
    for at in range(0, whole, 4):
        word = int.from_bytes(data[at : at + 4], "little") * _MIX & _MASK
        word = (word ^ word >> 24) * _MIX & _MASK
        hashed = hashed * _MIX & _MASK ^ word
    if length != whole:
        hashed = (hashed ^ int.from_bytes(data[whole:], "little")) * _MIX & _MASK
    hashed = (hashed ^ hashed >> 13) * _MIX & _MASK
    return hashed ^ hashed >> 15


@lru_cache(maxsize=REMEMBERED_KEYS)
def _positive_hash(key: bytes) -> int:
    return murmur2(key) & 0x7FFF_FFFF


def by_murmur2(topic: str, key: bytes, partition_count: int) -> int:
    """Kafka's default partitioner; recent keys are cached."""
    del topic
    return _positive_hash(key) % partition_count
