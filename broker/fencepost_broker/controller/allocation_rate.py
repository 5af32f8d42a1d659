"""Rate limit of producer id blocks for each broker.

A block above the limit is allocated all the same, as with Kafka's quotas: the answer says how long
the broker has to wait, and it does. A second's worth may be taken at once.
"""

from __future__ import annotations

import math

_EPSILON = 1e-9


class AllocationRate:
    """Blocks that each broker has left."""

    def __init__(self) -> None:
        self._left: dict[int, tuple[float, int]] = {}
        """By broker: blocks that it may take at once (negative after too many), and since when."""

    def taken(self, broker_id: int, now_ms: int, blocks_per_second: float) -> int:
        """Count a block; returns after how many milliseconds the broker may ask again."""
        if not blocks_per_second:
            return 0
        most = max(1.0, blocks_per_second)
        left, at_ms = self._left.get(broker_id, (most, now_ms))
        left = min(most, left + max(0, now_ms - at_ms) / 1000 * blocks_per_second) - 1
        self._left[broker_id] = left, now_ms
        return 0 if left > -_EPSILON else math.ceil(-left / blocks_per_second * 1000 - _EPSILON)
