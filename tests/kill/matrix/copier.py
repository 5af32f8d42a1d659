"""A copier with our SDK, a process of its own; see ``words``.

A member of a group is ``exactly_once``, as the documentation has it. Who reads a partition without
being a member begins, commits, and aborts by hand.
"""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Protocol

from fencepost_client import Consumer, Producer, TopicPartition, exactly_once
from fencepost_client.errors import FatalError, FencedError, KafkaError, RetriableError
from fencepost_client.types import ConsumerRecord, GroupMetadata

from tests.kill.matrix.words import hear, read_arguments, say

POLL_MS = 200
PATIENCE_SECONDS = 60.0
"""Who is told to end and has not done so by then says what it waits for."""
SMALL_BATCH_BYTES = 512
"""So that a transaction has many requests, several of them under way at the same time."""


class Sends(Protocol):
    """A producer, or its transaction."""

    async def send(self, topic: str, value: bytes | None, *, partition: int) -> object:
        """Hand over a record."""


class Copier:
    """Both kinds."""

    def __init__(self) -> None:
        self.options = read_arguments(
            *("partition", "records", "pace-ms", "session-ms", "transaction-timeout-ms"),
            texts=("group", "source", "sink", "transactional-id", "member"),
        )
        self.consumer = Consumer(
            self.options.bootstrap,
            group_id=self.options.group,
            enable_auto_commit=False,
            isolation_level="read_committed",
            auto_offset_reset="earliest",
            max_poll_records=self.options.records,
            session_timeout_ms=self.options.session_ms,
            heartbeat_interval_ms=self.options.session_ms // 6,
            max_poll_interval_ms=180_000,
        )
        self.producer = Producer(
            self.options.bootstrap,
            transactional_id=self.options.transactional_id,
            transaction_timeout_ms=self.options.transaction_timeout_ms,
            batch_size=SMALL_BATCH_BYTES,
        )
        self.hurries = asyncio.Event()
        self.leaves = False

    async def run(self) -> None:
        """Until it is told to leave, or ended."""
        hear(self._told)
        task = asyncio.current_task()
        assert task is not None
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, self._terminated, task)
        with suppress(asyncio.CancelledError):
            async with self.consumer:
                await (self._as_member() if self.options.member == "true" else self._alone())

    def _terminated(self, task: asyncio.Task[None]) -> None:
        self._shall_end()
        task.cancel()

    def _told(self, word: str) -> None:
        if word == "explain":
            write_stacks()
            say("explained")
            return
        self.hurries.set()
        if word == "leave":
            self._shall_end()
            self.leaves = True
            self.stop()

    @staticmethod
    def _shall_end() -> None:
        asyncio.get_running_loop().call_later(PATIENCE_SECONDS, write_stacks)

    def stop(self) -> None:
        """Told to leave: somebody may have to hear it at once."""

    # -- a member of the group -----------------------------------------------------------------

    async def _as_member(self) -> None:
        async def copy(records: Sequence[ConsumerRecord], transaction: Sends) -> None:
            say("begun")
            await self._write(records, transaction)

        self.consumer.subscribe([self.options.source], on_assigned=self._say_committed)
        transactions = exactly_once(self.consumer, self.producer, copy, poll_timeout_ms=POLL_MS)
        self.stop = transactions.stop  # type: ignore[method-assign]
        if self.leaves:  # told so while it was still connecting
            self.stop()
        async with self.producer, transactions:
            aborted = 0
            async for done in transactions:
                while aborted < transactions.aborted:
                    aborted += 1
                    say("aborted", "and made again")
                say("committed")
                self._say_where(done.offsets)

    async def _say_committed(self, partitions: Iterable[TopicPartition]) -> None:
        committed = await self.consumer.committed(partitions)
        self._say_where({where: found.offset for where, found in committed.items()})

    # -- no member -----------------------------------------------------------------------------

    async def _alone(self) -> None:
        place = TopicPartition(self.options.source, self.options.partition)
        self.consumer.assign([place])
        async with self.producer:
            await self._rewind(place)
            while not self.leaves:
                records = await self.consumer.getmany(timeout_ms=POLL_MS)
                if records:
                    await self._transaction(place, records)

    async def _rewind(self, place: TopicPartition) -> None:
        committed = await self.consumer.committed([place])
        offset = committed[place].offset if place in committed else 0
        self.consumer.seek(place, offset)
        say("at", place.partition, offset)

    async def _transaction(self, place: TopicPartition, records: list[ConsumerRecord]) -> None:
        offsets = {place: records[-1].offset + 1}
        say("begun")
        try:
            self.producer.begin()
            await self._write(records, self.producer)
            await self.producer.send_offsets(offsets, GroupMetadata(self.options.group))
            await self._end(commits=True)
        except (FatalError, FencedError):
            raise
        except KafkaError as error:
            say("aborted", repr(error))
            await self._end(commits=False)
            await self._rewind(place)
        except asyncio.CancelledError:
            await self._end(commits=False)
            raise
        else:
            say("committed")
            self._say_where(offsets)

    async def _end(self, *, commits: bool) -> None:
        """Ask until it is known: an answer may have died with the coordinator."""
        while True:
            with suppress(RetriableError):
                return await (self.producer.commit() if commits else self.producer.abort())

    # -- both ----------------------------------------------------------------------------------

    async def _write(self, records: Sequence[ConsumerRecord], producer: Sends) -> None:
        middle = len(records) // 2
        for number, record in enumerate(records):
            if number == middle:
                with suppress(TimeoutError):
                    async with asyncio.timeout(self.options.pace_ms / 1000):
                        await self.hurries.wait()
            await producer.send(self.options.sink, record.value, partition=record.partition)

    @staticmethod
    def _say_where(offsets: Mapping[TopicPartition, int]) -> None:
        for place, offset in offsets.items():
            say("at", place.partition, offset)


def write_stacks() -> None:
    """What each task waits for."""
    for task in asyncio.all_tasks():
        task.print_stack(file=sys.stderr)
        waiter: Any = task.get_coro()
        while waiter is not None:  # a task's own stack ends at its first frame
            sys.stderr.write(f"  awaits {waiter!r}\n")
            waiter = getattr(waiter, "cr_await", None)
    sys.stderr.flush()


async def main() -> None:
    await Copier().run()


if __name__ == "__main__":
    asyncio.run(main())
