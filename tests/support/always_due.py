"""Something that is due again and again while a clock is advanced."""

from __future__ import annotations

from fencepost_broker.server.clock import StateClock


class AlwaysDue:
    """A follower of a clock that keeps an advance from its end until ``is_over`` is set."""

    def __init__(self, clock: StateClock) -> None:
        self._clock = clock
        self.expired = 0
        """How often it was called."""
        self.is_over = False
        clock.follow(self)

    def deadline_ms(self) -> int | None:
        return None if self.is_over else self._clock.now_ms()

    def expire(self) -> None:
        self.expired += 1

    def catch_up(self) -> None:
        """Do nothing."""

    def jumped(self, by_ms: int) -> None:
        """Do nothing."""

    def resumed(self) -> None:
        """Do nothing."""
