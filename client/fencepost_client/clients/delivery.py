"""``Delivery``: what ``send`` returns, a handle on the outcome of a record.

All records of a batch have the same outcome, so a handle is a batch and a position in it. There is
a future only while a task waits for the batch.
"""

from __future__ import annotations

import asyncio
import operator
from bisect import bisect_right
from collections.abc import Generator, Sequence
from typing import Any, overload

from fencepost_client.errors import KafkaError
from fencepost_client.producer.batch import Batch
from fencepost_client.types import RecordMetadata


class Delivery:
    """The delivery of one record: ``metadata = await delivery``.

    There is no need to await it: ``flush``, ``close`` and the commit of a transaction wait for all
    records, and raise errors that no ``Delivery`` has reported.
    """

    __slots__ = ("_batch", "_index")

    def __init__(self, batch: Batch, index: int) -> None:
        self._batch = batch
        self._index = index

    def __await__(self) -> Generator[Any, None, RecordMetadata]:
        if not self._batch.done:
            yield from outcome_of(self._batch).__await__()
        return self._batch.metadata_of(self._index)

    @property
    def done(self) -> bool:
        """Whether the outcome is known."""
        return self._batch.done

    @property
    def error(self) -> KafkaError | None:
        """The error of a record that was not delivered; ``None`` also while it is under way."""
        return self._batch.error_of(self._index) if self._batch.done else None

    def __repr__(self) -> str:
        state = "failed" if self._batch.error else "done" if self._batch.done else "on its way"
        return f"<Delivery to {self._batch.topic}-{self._batch.partition}: {state}>"


class Deliveries(Sequence[Delivery]):
    """The deliveries of many records, in the order of the records.

    deliveries = await producer.send_many("orders", values, partition=0)
    await deliveries              # all of them; raises the first error
    print((await deliveries[0]).offset)
    """

    __slots__ = ("_ends", "_runs")

    def __init__(self) -> None:
        self._runs: list[tuple[Batch, int]] = []
        """Batches, each with the position of the first record that belongs to this object."""
        self._ends: list[int] = []

    def add(self, batch: Batch, first: int, count: int) -> None:
        """Add a number of records, which are next to each other in a batch."""
        self._runs.append((batch, first))
        self._ends.append(len(self) + count)

    def append(self, delivery: Delivery) -> None:
        """Add one delivery."""
        self.add(delivery._batch, delivery._index, 1)

    @property
    def done(self) -> bool:
        """Whether all outcomes are known."""
        return all(batch.done for batch, _ in self._runs)

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    @overload
    def __getitem__(self, index: int) -> Delivery: ...

    @overload
    def __getitem__(self, index: slice) -> list[Delivery]: ...

    def __getitem__(self, index: int | slice) -> Delivery | list[Delivery]:
        if isinstance(index, slice):
            return [self[each] for each in range(*index.indices(len(self)))]
        place = operator.index(index) + (len(self) if index < 0 else 0)
        if not 0 <= place < len(self):
            raise IndexError(f"{index} of {len(self)} deliveries")
        run = bisect_right(self._ends, place)
        batch, first = self._runs[run]
        return Delivery(batch, first + place - (self._ends[run - 1] if run else 0))

    def __await__(self) -> Generator[Any, None, None]:
        for batch, _ in self._runs:
            if not batch.done:
                yield from outcome_of(batch).__await__()
        for batch, _ in self._runs:
            if batch.error is not None:
                batch.reported = True
                raise batch.error


def batch_of(delivery: Delivery) -> Batch:
    """The batch of a record."""
    return delivery._batch


async def outcome_of(batch: Batch) -> None:
    """Wait for the outcome of a batch."""
    future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    batch.waiters.append(future)
    await future


def tell_waiters(batch: Batch) -> None:
    """Wake all tasks that wait for a batch."""
    for future in batch.waiters:
        if isinstance(future, asyncio.Future) and not future.done():
            future.set_result(None)
    batch.waiters.clear()
