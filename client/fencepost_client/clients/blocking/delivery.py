"""``Delivery`` and ``Deliveries`` for blocking code."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Sequence
from typing import Any, TypeVar, overload

from fencepost_client.clients import delivery as asynchronous
from fencepost_client.clients.blocking.portal import Portal
from fencepost_client.errors import KafkaError
from fencepost_client.types import RecordMetadata

T = TypeVar("T")


async def _within(awaitable: Awaitable[T], seconds: float | None) -> T:
    async with asyncio.timeout(seconds):
        return await awaitable


def _known(outcome: Awaitable[T]) -> T:
    """The outcome of a finished delivery, which needs no loop."""
    try:
        next(outcome.__await__())
    except StopIteration as end:
        found: T = end.value
        return found
    raise AssertionError("a finished delivery does not wait")


class Delivery:
    """The delivery of one record: ``metadata = delivery.result()``.

    There is no need to call it: ``flush``, ``close`` and the commit of a transaction wait for all
    records, and raise errors that no ``Delivery`` has reported.
    """

    __slots__ = ("_portal", "_subject")

    def __init__(self, subject: asynchronous.Delivery, portal: Portal) -> None:
        self._subject = subject
        self._portal = portal

    def result(self, timeout: float | None = None) -> RecordMetadata:
        """Wait for the outcome; ``TimeoutError`` if it takes more than so many seconds."""
        if self._subject.done:
            return _known(self._subject)
        return self._portal.call(_within, self._subject, timeout)

    @property
    def done(self) -> bool:
        """Whether the outcome is known."""
        return self._subject.done

    @property
    def error(self) -> KafkaError | None:
        """The error of a record that was not delivered; ``None`` also while it is under way."""
        return self._subject.error

    def __repr__(self) -> str:
        return repr(self._subject)


class Deliveries(Sequence[Delivery]):
    """The deliveries of many records, in the order of the records.

    deliveries = producer.send_many("orders", values, partition=0)
    deliveries.result()           # all of them; raises the first error
    print(deliveries[0].result().offset)
    """

    __slots__ = ("_portal", "_subject")

    def __init__(self, subject: asynchronous.Deliveries, portal: Portal) -> None:
        self._subject = subject
        self._portal = portal

    def result(self, timeout: float | None = None) -> None:
        """Wait for all outcomes, at most so many seconds; raises the first error."""
        if self._subject.done:
            _known(self._subject)
        else:
            self._portal.call(_within, self._subject, timeout)

    @property
    def done(self) -> bool:
        """Whether all outcomes are known."""
        return self._subject.done

    def __len__(self) -> int:
        return len(self._subject)

    @overload
    def __getitem__(self, index: int) -> Delivery: ...

    @overload
    def __getitem__(self, index: slice) -> list[Delivery]: ...

    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return [Delivery(each, self._portal) for each in self._subject[index]]
        return Delivery(self._subject[index], self._portal)
