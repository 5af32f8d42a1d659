"""Limiting records per second."""

from __future__ import annotations

from typing import Final

_NO_LIMIT: Final = 0


class Throttle:
    """Computes pauses that keep a rate; a rate below 1 means no limit."""

    def __init__(self, records_per_second: float, started_s: float) -> None:
        self._rate = records_per_second
        self._started_s = started_s

    def pause_seconds(self, sent: int, now_s: float) -> float:
        """The pause after a number of records; 0 for none."""
        if self._rate <= _NO_LIMIT:
            return 0.0
        return max(0.0, self._started_s + sent / self._rate - now_s)
