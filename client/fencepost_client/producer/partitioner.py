"""Which partition a record goes to: as Kafka's own producers decide it.

A record with a key goes where murmur2 says, so that all clients agree. One without a key goes to
the topic's current sticky partition, which changes whenever a batch is full (KIP-480): a record
alone does not spread, a stream of records does, in whole batches.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Final, TypeAlias

Partitioner: TypeAlias = Callable[[str, bytes, int], int]
"""Topic, key and number of partitions -> partition. Only asked about records with a key."""

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
    """Kafka's default: the key's hash; equal keys are remembered, for they come again."""
    del topic
    return _positive_hash(key) % partition_count
