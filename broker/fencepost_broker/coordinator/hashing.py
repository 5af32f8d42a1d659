"""Which partition a group or a transactional id belongs to, as Kafka computes it."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

_REMEMBERED: Final = 1 << 14
_SIGN: Final = 1 << 31
_WRAP: Final = (1 << 32) - 1


def java_hash(text: str) -> int:
    """``String.hashCode`` of Java: over UTF-16 code units, wrapping at 32 bits, with a sign."""
    units = memoryview(text.encode("utf-16-le", "surrogatepass")).cast("H")
    value = 0
    for unit in units:
        value = (31 * value + unit) & _WRAP
    return value - (value & _SIGN) * 2


@lru_cache(_REMEMBERED)
def partition_of(coordinator_id: str, partition_count: int) -> int:
    """The partition of the coordinator's topic that holds this id."""
    value = abs(java_hash(coordinator_id))
    # Kafka's abs gives 0 for the one number whose negative does not fit into 32 bits.
    return 0 if value == _SIGN else value % partition_count
