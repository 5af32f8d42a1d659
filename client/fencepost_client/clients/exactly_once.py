"""``exactly_once``: read, transform, write, commit, as one transaction after the other (KIP-447).

What can go wrong, and what is done about it:

=================================== ===============================================================
the group was rebalanced            before anything else is read: stable offsets of all that is
                                    assigned now, which waits for transactions that others left open
an attempt failed, may be repeated  abort, a pause, again with the same records unless there was a
                                    rebalance
offsets are refused                 likewise, from the offsets that are committed
it took longer than its time-out    likewise, in the next epoch; the coordinator has aborted it
the answer to a commit is lost      commit again until it is known what became of it
the handler raises                  abort, raise; whoever goes on gets the same records
fenced by another, or fatal         abort if that is possible, raise
cancelled                           likewise; a commit under way is settled by the next step
told to stop                        what waits ends at once; a transaction that is open has
                                    ``stop_timeout_ms`` to commit, and is aborted then
=================================== ===============================================================

The group's identity is taken with the records, not when offsets are sent: a member that has come
back in between could otherwise commit what is another's by now.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from types import TracebackType
from typing import Final, NamedTuple, Protocol, Self, TypeAlias

from fencepost_client.clients.consumer import Consumer
from fencepost_client.clients.producer import Producer
from fencepost_client.clients.transaction import Transaction, abort_at_last, say_not_aborted
from fencepost_client.errors import (
    AbortableTransactionError,
    CommitFailedError,
    KafkaError,
    RetriableError,
    timed_out_instead_of,
)
from fencepost_client.producer.sender_settings import TRANSFORMING_MS
from fencepost_client.producer.stages import Stage
from fencepost_client.requests.backoff import Backoff
from fencepost_client.types import (
    ConsumerRecord,
    GroupMetadata,
    OffsetAndMetadata,
    TopicPartition,
)

_TO_BE_ABORTED: Final = {Stage.IN_TRANSACTION, Stage.ABORTABLE_ERROR, Stage.ABORTING}


class TransactionalSource(Protocol):
    """What ``exactly_once`` needs of a consumer; ``Consumer`` has it, and others may."""

    def generation_id(self) -> int:
        """The group's generation that it is a member of; changes with every rebalance."""

    def group_metadata(self) -> GroupMetadata:
        """Who it is in its group."""

    def assignment(self) -> set[TopicPartition]:
        """What it reads."""

    def seek(self, partition: TopicPartition, offset: int) -> None:
        """Read on from this offset."""

    async def block_on_rebalance(self, timeout_ms: int) -> None:
        """Be a member: ask the group, and take part in the rebalance if there is one."""

    async def fetch_offsets(
        self, all_partitions: bool
    ) -> Mapping[TopicPartition, OffsetAndMetadata]:
        """Committed offsets, of all that is assigned or of what has no position yet.

        Waits while one of them is part of an open transaction; what has none is left out.
        """

    async def getmany(self, *, timeout_ms: int) -> Sequence[ConsumerRecord]:
        """The next records; may take part in a rebalance before."""


Handler: TypeAlias = Callable[[Sequence[ConsumerRecord], Transaction], Awaitable[None]]


class Committed(NamedTuple):
    """One transaction that is committed."""

    records: Sequence[ConsumerRecord]
    """What was read for it."""
    offsets: Mapping[TopicPartition, int]
    """What was committed with it."""


class ExactlyOnce:
    """See :func:`exactly_once`."""

    def __init__(
        self,
        consumer: TransactionalSource,
        producer: Producer,
        handler: Handler,
        *,
        poll_timeout_ms: int,
        rebalance_timeout_ms: int,
        stop_timeout_ms: int,
        attempts_max: int,
    ) -> None:
        if isinstance(consumer, Consumer):
            consumer.check_exactly_once()
        self.aborted = 0
        """How many attempts were aborted and made again."""
        self._consumer = consumer
        producer.stage  # noqa: B018 - raises for one without transactional_id
        self._producer = producer
        self._handler = handler
        self._poll_timeout_ms = poll_timeout_ms
        self._rebalance_timeout_ms = rebalance_timeout_ms
        self._attempts_max = attempts_max
        self._generation_id: int | None = None
        """Of which the positions are those that are committed; ``None``: to be looked up."""
        self._under_way: Committed | None = None
        self._again: Committed | None = None
        """An attempt that was aborted. It is kept, since reading it again costs a whole Fetch."""
        self._failures = 0
        self._backoff = Backoff(random.Random().random)  # noqa: S311
        self._owns_producer = False
        self._stop_timeout_ms = stop_timeout_ms
        self._is_stopping = False
        self._stopped_at: float | None = None
        """When the loop heard of it."""
        self._step: _Step | None = None

    # -- beginning and end ---------------------------------------------------------------------

    def __aiter__(self) -> Self:
        return self

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        try:
            await self.close()
        except KafkaError as why:
            if error is None:
                raise
            say_not_aborted(error, why)

    def stop(self) -> None:
        """End the iteration: behind the transaction that is under way, or else at once.

            asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, transactions.stop)

        Whatever waits for records, for the group or for the offsets of others is cancelled, a
        rebalance listener too. A transaction that is not committed within ``stop_timeout_ms`` from
        now is aborted. May be called from any thread.
        """
        self._is_stopping = True
        step = self._step
        if step is not None:
            with suppress(RuntimeError):  # the loop has ended meanwhile, and the step with it
                step.loop.call_soon_threadsafe(self._hurry)

    def _hurry(self) -> None:
        step = self._step
        if step is None or step.limit.expired():
            return
        now = step.loop.time()
        if self._stopped_at is None:
            self._stopped_at = now
        step.limit.reschedule(max(now, self._stopped_at + step.patience_ms / 1000))

    @property
    def _is_cut(self) -> bool:
        """Whether the patience with the step is over."""
        return self._step is not None and self._step.limit.expired()

    async def _unless_stopped(self, work: Awaitable[None], patience_ms: int = 0) -> bool:
        """Do a part of a step; whether it is done: ``stop`` may come, and its patience be over."""
        limit = asyncio.timeout(None)
        self._step = _Step(limit, patience_ms, asyncio.get_running_loop())
        try:
            async with limit:
                if self._is_stopping:
                    self._hurry()
                await work
        except TimeoutError:
            if limit.expired():
                return False
            raise
        finally:
            self._step = None
        return True

    async def close(self) -> None:
        """Abort what is open; a producer that was started here is closed.

        The abort is waited for some seconds; raises when nobody has answered it by then. It is no
        less aborted: the coordinator does it at the transaction's time-out.
        """
        self._is_stopping = True
        try:
            if self._producer.stage in _TO_BE_ABORTED:
                self._keep()
                await abort_at_last(self._producer)
        finally:
            self._rewind()
            if self._owns_producer:
                await self._producer.close(flush=False)

    # -- one transaction -----------------------------------------------------------------------

    async def __anext__(self) -> Committed:
        while not self._is_stopping:
            try:
                if self._producer.is_started or await self._unless_stopped(self._start()):
                    done = await self._make_one()
                else:
                    done = None
            except (AbortableTransactionError, RetriableError) as error:
                await self._failed(error)
            else:
                if done is not None:
                    self._failures = 0
                    self._backoff.reset()
                    return done
        raise StopAsyncIteration

    async def _start(self) -> None:
        self._producer.prefer_transaction_timeout(TRANSFORMING_MS)
        self._owns_producer = True
        await self._producer.start()

    async def _make_one(self) -> Committed | None:
        """Settle what an attempt before has left; if that was nothing, one more attempt."""
        if not await self._unless_stopped(self._settle(), self._stop_timeout_ms):
            return None
        done = self._take_settled()
        if done is not None:
            return done
        if not await self._unless_stopped(self._read()) or self._under_way is None:
            return None
        if not await self._unless_stopped(self._transform(), self._stop_timeout_ms):
            return None
        return self._take_settled()

    async def _read(self) -> None:
        """Get records of a generation whose positions are known to be the committed ones."""
        consumer = self._consumer
        if self._again is not None and self._generation_id is not None:
            # Nobody polls meanwhile, so this is how a rebalance is heard of.
            await consumer.block_on_rebalance(self._rebalance_timeout_ms)
            if consumer.generation_id() == self._generation_id:
                self._under_way, self._again = self._again, None
                return
            self._generation_id = None
        if self._generation_id is None:
            await consumer.block_on_rebalance(self._rebalance_timeout_ms)
            generation_id = consumer.generation_id()
            committed = await consumer.fetch_offsets(all_partitions=True)
            if consumer.generation_id() != generation_id:
                return
            self._rewind()
            for where, offset in committed.items():
                consumer.seek(where, offset.offset)
            self._generation_id = generation_id
        records = await consumer.getmany(timeout_ms=self._poll_timeout_ms)
        if not records:
            if consumer.generation_id() != self._generation_id:
                self._generation_id = None
            return
        offsets = {TopicPartition(each.topic, each.partition): each.offset + 1 for each in records}
        self._under_way = Committed(records, offsets)
        if consumer.generation_id() != self._generation_id:
            # There was a rebalance before these were read: by whom, up to where?
            self._keep()
            self._generation_id = None

    async def _transform(self) -> None:
        """Write what comes of the records, and commit; raises with the transaction aborted."""
        assert self._under_way is not None
        records, offsets = self._under_way
        group = self._consumer.group_metadata()
        producer = self._producer
        try:
            producer.begin()
            await self._handler(records, Transaction(producer))
            await producer.send_offsets(offsets, group)
            await self._commit()
        except BaseException as error:
            if producer.stage is Stage.COMMITTING:
                raise  # cancelled: whether it is committed will be settled
            self._keep()
            if producer.stage in _TO_BE_ABORTED:
                await self._abort_because(error)
            raise

    async def _commit(self) -> None:
        """Commit, until it is known what became of it."""
        while True:
            try:
                await self._producer.commit()
            except RetriableError:
                if self._producer.stage is not Stage.COMMITTING:
                    raise
                await asyncio.sleep(self._backoff.next_ms() / 1000)
            else:
                return

    async def _abort_because(self, error: BaseException) -> None:
        producer = self._producer
        was_cut = self._is_cut
        try:
            await (abort_at_last(producer) if self._is_stopping else producer.abort())
        except asyncio.CancelledError:
            if was_cut or not self._is_cut:
                raise
            # ``stop`` has cut the abort; what the handler raised is still to be told.
        except RetriableError:
            return  # once more, before anything else is done
        except KafkaError as why:
            if isinstance(error, KafkaError):
                # A refused batch may have been the first sign of what the coordinator knows.
                raise why from error
            say_not_aborted(error, why)
        else:
            if (timed_out := timed_out_instead_of(error)) is not None:
                raise timed_out from error

    async def _settle(self) -> None:
        """End what an attempt before has left open, because nobody answered or it was cancelled."""
        stage = self._producer.stage
        if stage is Stage.COMMITTING:
            try:
                await self._commit()
            except KafkaError:
                self._keep()
                raise
        elif stage in _TO_BE_ABORTED:
            self._keep()
            await self._producer.abort()

    def _take_settled(self) -> Committed | None:
        done, self._under_way = self._under_way, None
        return done

    def _keep(self) -> None:
        """The attempt came to nothing: its records are still to be processed."""
        if self._under_way is not None:
            self._again, self._under_way = self._under_way, None

    def _rewind(self) -> None:
        """What is kept has not been read, as far as the consumer is concerned."""
        attempt, self._again = self._again, None
        if attempt is None:
            return
        first: dict[TopicPartition, int] = {}
        for record in attempt.records:
            first.setdefault(TopicPartition(record.topic, record.partition), record.offset)
        assigned = self._consumer.assignment()
        for where, offset in first.items():
            if where in assigned:
                self._consumer.seek(where, offset)

    async def _failed(self, error: KafkaError) -> None:
        """Go on behind an attempt that was aborted, unless there were too many."""
        self.aborted += 1
        self._failures += 1
        if self._failures >= self._attempts_max:
            self._failures = 0
            raise error
        if isinstance(error, CommitFailedError):
            self._generation_id = None
        await self._unless_stopped(self._pause())

    async def _pause(self) -> None:
        await asyncio.sleep(self._backoff.next_ms() / 1000)


class _Step(NamedTuple):
    """What ``stop`` has to cut short, and how much time it leaves to it."""

    limit: asyncio.Timeout
    patience_ms: int
    loop: asyncio.AbstractEventLoop


def exactly_once(
    consumer: TransactionalSource,
    producer: Producer,
    handler: Handler,
    *,
    poll_timeout_ms: int = 1_000,
    rebalance_timeout_ms: int = 300_000,
    stop_timeout_ms: int = 30_000,
    attempts_max: int = 10,
) -> ExactlyOnce:
    """Read, let ``handler`` write, commit both as one; each step gives a committed transaction.

        async def handler(records, transaction):
            for record in records:
                await transaction.send("invoices", price(record.value), key=record.key)

        consumer = Consumer("localhost:9092", group_id="billing", enable_auto_commit=False,
                            isolation_level="read_committed", auto_offset_reset="earliest")
        producer = Producer("localhost:9092", transactional_id="billing-1")
        async with consumer, exactly_once(consumer, producer, handler) as transactions:
            consumer.subscribe(["orders"])
            async for done in transactions:
                print(len(done.records), "orders are invoiced")

    The handler may be called again with the same records, when the transaction had to be aborted:
    what it does beside ``transaction`` happens as often. An exception of its own aborts and is
    raised; so does the last of ``attempts_max`` failures in a row. A producer that is not started
    is started here, and closed at the end, with a ``transaction_timeout_ms`` of 10 s unless it has
    one: so long others wait for what a crash left open. ``stop()`` ends the iteration: at once
    while it waits, and otherwise when the transaction that is open is committed, or is aborted
    because ``stop_timeout_ms`` are over. ``close()`` (the block's end) aborts what is open, and
    waits ten seconds for that at most.
    """
    return ExactlyOnce(
        consumer,
        producer,
        handler,
        poll_timeout_ms=poll_timeout_ms,
        rebalance_timeout_ms=rebalance_timeout_ms,
        stop_timeout_ms=stop_timeout_ms,
        attempts_max=attempts_max,
    )
