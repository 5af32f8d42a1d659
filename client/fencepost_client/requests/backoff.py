"""Exponential backoff with jitter (KIP-580)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

Chance: TypeAlias = Callable[[], float]
"""A function that returns a random number from 0 to below 1."""


@dataclass(slots=True)
class Backoff:
    """Pauses that double from ``initial_ms`` to ``max_ms``, with a jitter of 20 %."""

    chance: Chance
    initial_ms: int = 100
    max_ms: int = 1000
    attempts: int = 0

    def next_ms(self) -> int:
        """The pause before the next attempt."""
        # 2 ** 30 ms are twelve days: a larger exponent makes no difference.
        pause_ms = min(self.initial_ms << min(self.attempts, 30), self.max_ms)
        self.attempts += 1
        return max(1, int(pause_ms * (0.8 + 0.4 * self.chance())))

    def reset(self) -> None:
        """Begin again with the first pause."""
        self.attempts = 0
