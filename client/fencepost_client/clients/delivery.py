"""What ``send`` gives back: a handle on a record's outcome that costs nothing until it is awaited.

A batch has one outcome for all its records, so a handle is a batch and a position. Futures exist
only for those who are waiting at the moment; whoever asks later is answered at once.
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

    It need not be awaited: ``flush``, ``close`` and a transaction's commit wait for all records,
    and raise the error of one that nobody asked about.
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
        """Why the record was not delivered; ``None`` while that is open, too."""
        return self._batch.error_of(self._index) if self._batch.done else None

    def __repr__(self) -> str:
        state = "failed" if self._batch.error else "done" if self._batch.done else "on its way"
        return f"<Delivery to {self._batch.topic}-{self._batch.partition}: {state}>"


class Deliveries(Sequence[Delivery]):
    """The deliveries of many records, in their order; one is made when it is asked for.

    deliveries = await producer.send_many("orders", values, partition=0)
    await deliveries              # all of them; raises the first error
    print((await deliveries[0]).offset)
    """

    __slots__ = ("_ends", "_runs")

    def __init__(self) -> None:
        self._runs: list[tuple[Batch, int]] = []
        """Batches, and which of their records is the first of the run."""
        self._ends: list[int] = []

    def add(self, batch: Batch, first: int, count: int) -> None:
        """So many records more, which are next to each other in a batch."""
        self._runs.append((batch, first))
        self._ends.append(len(self) + count)

    def append(self, delivery: Delivery) -> None:
        """One more."""
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
    """The batch that a record travels with; all in it have their outcome at once."""
    return delivery._batch


async def outcome_of(batch: Batch) -> None:
    """Wait for a batch; a waiter that is cancelled harms nobody."""
    future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    batch.waiters.append(future)
    await future


def tell_waiters(batch: Batch) -> None:
    """Wake all who wait for a batch."""
    for future in batch.waiters:
        if isinstance(future, asyncio.Future) and not future.done():
            future.set_result(None)
    batch.waiters.clear()
