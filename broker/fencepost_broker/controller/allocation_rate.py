"""How many blocks of producer ids a broker gets in a second before it is told to wait.

A block is given all the same, as Kafka's quotas do it: the answer says how long the broker has to
keep still, and it does. A second's worth may be taken at once.
"""

from __future__ import annotations

import math

_EPSILON = 1e-9


class AllocationRate:
    """What each broker has left."""

    def __init__(self) -> None:
        self._left: dict[int, tuple[float, int]] = {}
        """By broker: blocks that it may take at once, negative behind too many; and since when."""

    def taken(self, broker_id: int, now_ms: int, blocks_per_second: float) -> int:
        """A broker was given a block; after how many milliseconds it may ask again, 0 at once."""
        if not blocks_per_second:
            return 0
        most = max(1.0, blocks_per_second)
        left, at_ms = self._left.get(broker_id, (most, now_ms))
        left = min(most, left + max(0, now_ms - at_ms) / 1000 * blocks_per_second) - 1
        self._left[broker_id] = left, now_ms
        return 0 if left > -_EPSILON else math.ceil(-left / blocks_per_second * 1000 - _EPSILON)
