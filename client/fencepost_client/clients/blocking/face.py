"""The base of the generated classes: an asyncio object, and a portal to its loop."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Coroutine
from typing import Any, Generic, ParamSpec, Protocol, Self, TypeAlias, TypeVar

from fencepost_client.clients.blocking.portal import Portal, enter, in_calling_thread, leave
from fencepost_client.errors import IllegalStateError
from fencepost_client.types import TopicPartition

P = ParamSpec("P")
R = TypeVar("R")
S = TypeVar("S")

OnChange: TypeAlias = Callable[[set[TopicPartition]], None]
"""A callable that takes a set of partitions, in the thread that asks for records."""


class Face(Generic[S]):
    """A blocking class around an asyncio one."""

    _subject: S
    _portal: Portal | None

    @classmethod
    def _around(cls, subject: S, portal: Portal | None = None) -> Self:
        made = cls.__new__(cls)
        made._subject = subject
        made._portal = portal
        return made

    def _reach(self) -> Portal:
        if self._portal is None:
            name = type(self).__name__
            raise IllegalStateError(
                f"the {name.lower()} is not started, or closed: use `with {name}(...)`"
            )
        return self._portal

    def _wait(self, method: Callable[P, Coroutine[Any, Any, R]], *a: P.args, **kw: P.kwargs) -> R:
        return self._reach().call(method, *a, **kw)

    def _do(self, method: Callable[P, R], *a: P.args, **kw: P.kwargs) -> R:
        """Call a method that is not async; it still runs in the loop, which owns the state."""

        async def plainly() -> R:
            return method(*a, **kw)

        return self._reach().call(plainly)

    def _begin(self, method: Callable[[], Coroutine[Any, Any, None]]) -> None:
        if self._portal is not None:
            self._portal.call(method)  # It was started before, and raises that error itself.
            return
        portal = enter()
        try:
            portal.call(method)
        except BaseException:
            leave(portal)
            raise
        self._portal = portal

    def _end(
        self, method: Callable[P, Coroutine[Any, Any, None]], *a: P.args, **kw: P.kwargs
    ) -> None:
        portal = self._portal
        if portal is None:
            return
        try:
            if portal.is_here:
                portal.call(method, *a, **kw)
        finally:
            if self._portal is not None:  # No other thread has closed it meanwhile.
                self._portal = None
                leave(portal)


class Holds(Protocol):
    """A consumer that holds records for an iteration."""

    @property
    def held(self) -> deque[Any]:
        """Records that the iteration has not returned yet."""

    async def hold(self) -> None:
        """Wait until there are some."""


H = TypeVar("H", bound=Holds)


class ReadingFace(Face[H], Generic[H, R]):
    """``for record in consumer``: one call into the loop for all records that are there."""

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> R:
        self._reach()
        while not self._subject.held:
            self._wait(self._subject.hold)
        # The position moves on before the record is processed, as with `async for`.
        record: R = self._subject.held.popleft()
        return record


def subject_of(thing: R) -> R:
    """The asyncio object of a blocking one; other objects are returned as they are."""
    return thing._subject if isinstance(thing, Face) else thing


def in_caller(callback: OnChange | None) -> Callable[[set[TopicPartition]], Any] | None:
    """A listener that is called in the thread that asks for records."""
    if callback is None:
        return None

    def heard(partitions: set[TopicPartition]) -> Coroutine[Any, Any, None]:
        return in_calling_thread(callback, partitions)

    return heard
