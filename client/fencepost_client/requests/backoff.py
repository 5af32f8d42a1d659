"""How long to wait before the next attempt (KIP-580): twice as long each time, not all at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

Chance: TypeAlias = Callable[[], float]
"""A number from 0 to below 1; the one seeded source of the client, handed in."""


@dataclass(slots=True)
class Backoff:
    """Pauses that grow from ``initial_ms`` to ``max_ms``, a fifth more or less by chance."""

    chance: Chance
    initial_ms: int = 100
    max_ms: int = 1000
    attempts: int = 0

    def next_ms(self) -> int:
        """The pause before the next attempt."""
        # 2 ** 30 ms are twelve days: beyond that the exponent says nothing any more.
        pause_ms = min(self.initial_ms << min(self.attempts, 30), self.max_ms)
        self.attempts += 1
        return max(1, int(pause_ms * (0.8 + 0.4 * self.chance())))

    def reset(self) -> None:
        """An attempt has succeeded."""
        self.attempts = 0
