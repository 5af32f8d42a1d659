"""The partition of a group or a transactional id, computed as in Kafka."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

_REMEMBERED: Final = 1 << 14
_SIGN: Final = 1 << 31
_WRAP: Final = (1 << 32) - 1


def java_hash(text: str) -> int:
    """Return Java's ``String.hashCode``: over UTF-16 code units, as a signed 32-bit number."""
    units = memoryview(text.encode("utf-16-le", "surrogatepass")).cast("H")
    value = 0
    for unit in units:
        value = (31 * value + unit) & _WRAP
    return value - (value & _SIGN) * 2


@lru_cache(_REMEMBERED)
def partition_of(coordinator_id: str, partition_count: int) -> int:
    """Return the partition of the coordinator's topic that holds this id."""
    value = abs(java_hash(coordinator_id))
    # Kafka's abs returns 0 for the one number whose negative does not fit into 32 bits.
    return 0 if value == _SIGN else value % partition_count
