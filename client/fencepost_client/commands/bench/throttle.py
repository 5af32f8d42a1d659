"""So many records a second, and no more."""

from __future__ import annotations

from typing import Final

_NO_LIMIT: Final = 0


class Throttle:
    """Says how long to wait so that a rate is kept; below 1 there is no limit."""

    def __init__(self, records_per_second: float, started_s: float) -> None:
        self._rate = records_per_second
        self._started_s = started_s

    def pause_seconds(self, sent: int, now_s: float) -> float:
        """How long to wait before the next, after so many; 0 for not at all."""
        if self._rate <= _NO_LIMIT:
            return 0.0
        return max(0.0, self._started_s + sent / self._rate - now_s)
