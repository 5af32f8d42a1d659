"""How long the application has not asked for records (``max.poll.interval.ms``, KIP-62)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType


class PollTimer:
    """Runs between two calls for records, and while a rebalance listener runs.

    A call is a ``with`` block of the timer. It does not run while a call waits for the cluster,
    however long that takes: the member is not the one that is slow.
    """

    def __init__(self, now_ms: Callable[[], int], limit_ms: int) -> None:
        self.limit_ms = limit_ms
        self._now_ms = now_ms
        self._calls = 0
        self._since_ms = now_ms()

    @property
    def is_over(self) -> bool:
        """Whether the member has to leave its group."""
        return self._calls <= 0 and self._now_ms() - self._since_ms > self.limit_ms

    def __enter__(self) -> None:
        """Begin a call for records."""
        self._calls += 1

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """End a call. A generator would make an object here, and begin a garbage collection."""
        self._calls -= 1
        self._begin_anew()

    @contextmanager
    def in_listener(self) -> Iterator[None]:
        """A context within a call, in which the application runs."""
        self._calls -= 1
        self._begin_anew()
        try:
            yield
        finally:
            self._calls += 1

    def _begin_anew(self) -> None:
        self._since_ms = self._now_ms()
