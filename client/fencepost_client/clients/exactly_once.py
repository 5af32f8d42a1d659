"""``exactly_once``: reads, transforms, writes and commits, in one transaction each time (KIP-447).

What can happen, and what follows:

=================================== ===============================================================
a rebalance                         first look up the committed offsets of all assigned partitions,
                                    which waits for open transactions of other producers
a retriable error                   abort, pause, try again with the same records, unless there was
                                    a rebalance
the offsets are refused             abort, try again from the committed offsets
the transaction times out           the same, in the next epoch; the coordinator has aborted it
the answer to a commit is lost      commit again until the outcome is known
the handler raises                  abort and raise; the next step reads the same records
fenced, or a fatal error            abort if that is possible, and raise
cancelled                           the same; the next step settles a commit that was under way
``stop`` is called                  waits end at once; an open transaction has ``stop_timeout_ms``
                                    to commit, and is aborted after that
=================================== ===============================================================

The identity in the group is taken together with the records, not when the offsets are sent.
Otherwise a member that was out of the group meanwhile could commit offsets of partitions that are
another member's now.
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
    """What ``exactly_once`` needs of a consumer. ``Consumer`` is one; other classes can be."""

    def generation_id(self) -> int:
        """The generation of the group, which changes with every rebalance."""

    def group_metadata(self) -> GroupMetadata:
        """The identity of the consumer in its group."""

    def assignment(self) -> set[TopicPartition]:
        """The partitions that it reads."""

    def seek(self, partition: TopicPartition, offset: int) -> None:
        """Read on from an offset."""

    async def block_on_rebalance(self, timeout_ms: int) -> None:
        """Take part in a rebalance, if the group has one."""

    async def fetch_offsets(
        self, all_partitions: bool
    ) -> Mapping[TopicPartition, OffsetAndMetadata]:
        """The committed offsets of all assigned partitions, or of those without a position.

        Waits while one is part of an open transaction. Partitions without an offset are left out.
        """

    async def getmany(self, *, timeout_ms: int) -> Sequence[ConsumerRecord]:
        """Return the next records, after a rebalance if there is one."""


Handler: TypeAlias = Callable[[Sequence[ConsumerRecord], Transaction], Awaitable[None]]


class Committed(NamedTuple):
    """A committed transaction."""

    records: Sequence[ConsumerRecord]
    """The records that it has processed."""
    offsets: Mapping[TopicPartition, int]
    """The offsets that it has committed."""


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
        """The number of attempts that were aborted and repeated."""
        self._consumer = consumer
        producer.stage  # noqa: B018 - raises for one without transactional_id
        self._producer = producer
        self._handler = handler
        self._poll_timeout_ms = poll_timeout_ms
        self._rebalance_timeout_ms = rebalance_timeout_ms
        self._attempts_max = attempts_max
        self._generation_id: int | None = None
        """The generation whose committed offsets are the positions; ``None``: look them up."""
        self._under_way: Committed | None = None
        self._again: Committed | None = None
        """The records of an aborted attempt, which are kept to save a Fetch."""
        self._failures = 0
        self._backoff = Backoff(random.Random().random)  # noqa: S311
        self._owns_producer = False
        self._stop_timeout_ms = stop_timeout_ms
        self._is_stopping = False
        self._stopped_at: float | None = None
        """The time of ``stop`` by the loop's clock."""
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
        """End the iteration: after the open transaction, or else at once.

            asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, transactions.stop)

        Waits for records, for the group and for offsets are cancelled, and so is a rebalance
        listener. A transaction that is not committed within ``stop_timeout_ms`` is aborted. It may
        be called from any thread.
        """
        self._is_stopping = True
        step = self._step
        if step is not None:
            with suppress(RuntimeError):  # the loop has ended meanwhile
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
        """Whether the step has used up its time after ``stop``."""
        return self._step is not None and self._step.limit.expired()

    async def _unless_stopped(self, work: Awaitable[None], patience_ms: int = 0) -> bool:
        """Do a part of a step. Returns False if ``stop`` was called and the time is over."""
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
        """Abort an open transaction, and close the producer if it was started here.

        Raises an error if the abort gets no answer within some seconds. The coordinator then
        aborts the transaction when it times out.
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
        """Settle the last attempt if it is open; otherwise make one."""
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
        """Read records in a generation whose positions are the committed offsets."""
        consumer = self._consumer
        if self._again is not None and self._generation_id is not None:
            # This also joins a rebalance, because nothing polls meanwhile.
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
            # A rebalance came first, so the committed offsets may have changed.
            self._keep()
            self._generation_id = None

    async def _transform(self) -> None:
        """Run the handler and commit; an error is raised after the abort."""
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
                raise  # cancelled: the next step finds out whether it is committed
            self._keep()
            if producer.stage in _TO_BE_ABORTED:
                await self._abort_because(error)
            raise

    async def _commit(self) -> None:
        """Commit until the outcome is known."""
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
            # ``stop`` has ended the abort; the handler's error is still raised.
        except RetriableError:
            return  # once more, before anything else is done
        except KafkaError as why:
            if isinstance(error, KafkaError):
                # The coordinator may know more about the reason than the error of a batch does.
                raise why from error
            say_not_aborted(error, why)
        else:
            if (timed_out := timed_out_instead_of(error)) is not None:
                raise timed_out from error

    async def _settle(self) -> None:
        """End a transaction that got no answer, or whose attempt was cancelled."""
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
        """Keep the records of an attempt that has failed."""
        if self._under_way is not None:
            self._again, self._under_way = self._under_way, None

    def _rewind(self) -> None:
        """Move the consumer back to before the records that are kept."""
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
        """Continue after an aborted attempt, unless there were too many."""
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
    """A step that ``stop`` can end, and the time that it has for that."""

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
    """Read records, pass them to ``handler``, and commit output and offsets in one transaction.

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

    Each step of the iteration is one committed transaction. After an abort the handler is called
    again with the same records, so its effects outside of ``transaction`` may happen more than
    once. An exception of the handler aborts the transaction and is raised; so is the last of
    ``attempts_max`` failures in a row.

    A producer that is not started is started here and closed at the end. Its
    ``transaction_timeout_ms`` is 10 s by default: after a crash, other members wait that long for
    the open transaction. ``stop()`` ends the iteration, at once while it waits, or when the open
    transaction is committed, or aborted after ``stop_timeout_ms``. ``close()``, at the end of the
    block, aborts an open transaction and waits ten seconds for that at most.
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
