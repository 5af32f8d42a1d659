"""``SenderLoop``: sends the batches of a producer, and passes on their outcomes.

The loop runs after an event: a batch was opened, an answer came, a connection was made, metadata
changed, or the sender's timer fired. It does not poll, and it has no state that the sender has.
"""

from __future__ import annotations

import asyncio
import contextlib
import warnings
from collections import deque
from typing import TYPE_CHECKING, Any, Final

from fencepost_protocol.generated.index import ApiKey

from fencepost_client.clients.delivery import outcome_of, tell_waiters
from fencepost_client.errors import IllegalStateError, KafkaError, RequestTimedOutError
from fencepost_client.metadata.new_leaders import leaders_of_produce
from fencepost_client.network import log
from fencepost_client.network.link import Link, ReplyCallbacks
from fencepost_client.network.network_client import NetworkClient
from fencepost_client.network.ready_links import ReadyLinks
from fencepost_client.network.wake_time import wake_time
from fencepost_client.producer.accumulator import Accumulator
from fencepost_client.producer.batch import NOBODY, Batch, Identity
from fencepost_client.producer.producer_ids import identity_of_nobody
from fencepost_client.producer.sender import Produce, Sender
from fencepost_client.producer.sender_settings import SenderSettings
from fencepost_client.producer.transaction_manager import VERSION_2, TransactionManager
from fencepost_client.types import TopicPartition

if TYPE_CHECKING:
    from fencepost_client.clients.history import ClientHistory

_PRODUCE_BY_NAME_UP_TO: Final = 12
"""Produce v13 needs topic ids, which brokers before Apache Kafka 2.8 do not have."""
_PRODUCE_BEFORE_VERSION_2: Final = 11
_FAILURES_KEPT: Final = 64


class SenderLoop:
    """The loop of one producer."""

    def __init__(
        self,
        client: NetworkClient,
        accumulator: Accumulator,
        settings: SenderSettings,
        manager: TransactionManager | None,
        history: ClientHistory | None = None,
    ) -> None:
        self.error: Exception | None = None
        """The error that has ended the producer."""
        self.sender = Sender(accumulator, settings, client.settings.chance, self._finished, manager)
        self.unfinished: dict[Batch, None] = {}
        self.failures: deque[Batch] = deque(maxlen=_FAILURES_KEPT)
        """The last batches that failed, for ``flush`` and ``close``."""
        self._client = client
        self._accumulator = accumulator
        self._settings = settings
        self._manager = manager
        self._history = history
        self._timer: asyncio.TimerHandle | None = None
        self._timer_ms = 0
        self._is_due = False
        self._is_stopped = False
        self._return_waiters: list[asyncio.Future[None]] = []
        self._room_waiters: deque[asyncio.Future[None]] = deque()
        self._identifying = False
        self._adding: asyncio.Task[None] | None = None
        client.on_change = self._changed
        if manager is not None:
            manager.on_failure = self._tell_failure

    def begin_epoch(self, identity: Identity) -> None:
        """Send with this producer id and epoch from now on."""
        if self._manager is not None:
            log.identified(self._manager.transactional_id, *identity)
        self.sender.begin_epoch(identity)

    def _tell_failure(self, error: KafkaError) -> None:
        manager = self._manager
        assert manager is not None
        log.transaction_failed(manager.transactional_id, error, f"it is {manager.stage.value}")

    def warn_unclosed(self) -> None:
        """Warn of records that were not sent, when a producer is deleted."""
        records = sum(len(batch.values) for batch in self.unfinished)
        if records:
            text = f"a Producer was deleted without close: {records} records were not sent"
            warnings.warn(text, ResourceWarning, stacklevel=3)

    def opened(self, batch: Batch) -> None:
        """Take a new batch."""
        self.unfinished[batch] = None
        self.run_soon()

    def _changed(self) -> None:
        """Take new partition counts of topics."""
        topics = self._client.cluster.topics
        for name in self._accumulator.topics:
            if name in topics:
                self._accumulator.set_partitions(name, topics[name].partition_count)
        self.run_soon()

    def run_soon(self) -> None:
        """Run in the loop's next turn."""
        if not self._is_due:
            self._is_due = True
            self._client.loop.call_soon(self._run_if_due)

    def run_if_alone(self) -> None:
        """Send now instead of in the next turn, if there is only one batch.

        When many tasks send in one turn, only the first record is sent alone.
        """
        if self._is_due and len(self.unfinished) == 1:
            self.run()

    def _run_if_due(self) -> None:
        if self._is_due:
            self.run()

    def run(self) -> None:
        """Send all batches that can be sent now, and set the timer."""
        self._is_due = False
        client, sender = self._client, self.sender
        if client.closed:
            if self._is_stopped:
                self._drop_waiting()  # it came back after the end
            return
        if sender.identity is None and self._accumulator.active:
            if not self._identifying:
                self._identifying = True
                client.spawn(self._get_identity())
            return
        links = ReadyLinks(client)
        for produce in sender.drain(client.now_ms(), client.cluster.leader, links.is_ready):
            self._send(produce, links.of(produce.node_id))
        if sender.wants_metadata:
            sender.wants_metadata = False
            for node_id in sender.doubted:
                client.cluster.doubt(node_id)
            sender.doubted.clear()
            client.metadata.refresh()
        if self._manager is not None and self._manager.has_to_add and self._adding is None:
            self._adding = client.spawn(self._add_partitions(self._manager))
        self._arm()

    def _arm(self) -> None:
        """Set the timer to the sender's time, unless it fires before."""
        at_ms = self.sender.wake_at_ms
        if at_ms is None:
            return
        if self._timer is not None:
            if self._timer_ms <= at_ms:
                return
            self._timer.cancel()
        self._timer_ms = at_ms
        # Milliseconds are rounded down everywhere: a timer must not be too early.
        self._timer = self._client.loop.call_at(wake_time(at_ms), self._wake)

    def _wake(self) -> None:
        self._timer = None
        self.run()

    def _send(self, produce: Produce, link: Link) -> None:
        is_version_2 = self._manager is None or self._manager.version >= VERSION_2
        ids = {
            batch.topic: self._client.metadata.topic_id(batch.topic) for _, batch in produce.batches
        }
        if self._history is not None:
            for _, batch in produce.batches:
                if batch.values and batch.whole is None:  # the first time
                    self._history.sending(batch)
        known = {name: topic_id for name, topic_id in ids.items() if topic_id is not None}
        version_max = None if len(known) == len(ids) else _PRODUCE_BY_NAME_UP_TO
        if not is_version_2:
            version_max = _PRODUCE_BEFORE_VERSION_2
        try:
            version = link.machine.choose_version(ApiKey.PRODUCE, version_max)
            request = self.sender.request(produce, known)
            timeout_ms = self._settings.request_timeout_ms
            if self._settings.acks == 0:
                link.send(request, version, timeout_ms).cancel()
            else:
                handler = ReplyCallbacks(
                    self._client.loop, produce, self._answered, self._unanswered
                )
                link.send_for(handler, request, version, timeout_ms)
        except KafkaError as error:
            self.sender.failed(self._client.now_ms(), produce, error)
            self.run_soon()
            return
        if self._settings.acks == 0:
            self.sender.answered(self._client.now_ms(), produce, None)
            self.run_soon()

    def _answered(self, produce: Produce, response: Any) -> None:
        """Take the answer to a request."""
        now_ms = self._client.now_ms()
        moved = self._client.cluster.take_leaders(*leaders_of_produce(response, produce.topics))
        self.sender.answered(now_ms, produce, response)
        if moved:
            for _, batch in produce.batches:
                if TopicPartition(batch.topic, batch.partition) in moved:
                    batch.retry_at_ms = now_ms
        self._has_returned()

    def _unanswered(self, produce: Produce, error: KafkaError) -> None:
        """Take the error of a request without an answer."""
        self.sender.failed(self._client.now_ms(), produce, error)
        self._has_returned()

    def _has_returned(self) -> None:
        for waiter in self._return_waiters:
            if not waiter.done():
                waiter.set_result(None)
        self._return_waiters.clear()
        self.run()

    def _finished(self, batch: Batch) -> None:
        self.unfinished.pop(batch, None)
        if self._history is not None:
            self._history.sent(batch)
        if batch.error is not None:
            self.failures.append(batch)
        tell_waiters(batch)
        self._pass_room_on()

    # -- waiting -------------------------------------------------------------------------------

    async def outcomes(self) -> None:
        """Send all batches now, and wait for their outcomes."""
        self.sender.flushing += 1
        try:
            self.run()
            for batch in list(self.unfinished):
                if not batch.done:
                    await outcome_of(batch)
        finally:
            self.sender.flushing -= 1

    async def returned(self) -> None:
        """Wait until no request is under way, because a broker may still write its records."""
        while self.sender.requests_under_way:
            future: asyncio.Future[None] = self._client.loop.create_future()
            self._return_waiters.append(future)
            await future

    async def added(self) -> None:
        """Wait until no partition is being added, which must not happen after an abort."""
        if self._adding is not None:
            await asyncio.wait([self._adding])

    async def room(self) -> None:
        """Wait in a queue until a batch releases its memory."""
        timeout_ms = self._client.settings.api_timeout_ms
        future: asyncio.Future[None] = self._client.loop.create_future()
        self._room_waiters.append(future)
        self.run_soon()
        try:
            async with asyncio.timeout(timeout_ms / 1000):
                await future
        except TimeoutError:
            raise RequestTimedOutError(
                f"No memory for the record within {timeout_ms} ms (max_block_ms): buffer_memory, "
                f"{self._accumulator.buffer_memory} bytes, is full of unacknowledged records."
            ) from None
        except asyncio.CancelledError:
            if future.done() and not future.cancelled():
                self._pass_room_on()  # the memory was for this task, which does not need it
            raise
        finally:
            with contextlib.suppress(ValueError):
                self._room_waiters.remove(future)

    def _pass_room_on(self) -> None:
        while self._room_waiters:
            waiter = self._room_waiters.popleft()
            if not waiter.done():
                waiter.set_result(None)
                return

    # -- who writes ----------------------------------------------------------------------------

    async def _get_identity(self) -> None:
        """Get a producer id for an idempotent producer, at its first batch."""
        client = self._client
        try:
            procedure = identity_of_nobody(self._settings.request_timeout_ms, client.backoff())
            self.sender.identity = await client.run(procedure)
        except KafkaError as error:
            self.error = error
            self.sender.identity = NOBODY
            self.sender.drop_waiting(error)
        finally:
            self._identifying = False
        self.run_soon()

    async def _add_partitions(self, manager: TransactionManager) -> None:
        try:
            await self._client.run(manager.add_partitions())
        except KafkaError as error:
            if manager.error is None:
                manager.batch_failed(error)
            self.sender.drop_waiting(error)
        finally:
            self._adding = None
        self.run_soon()

    def stop(self) -> None:
        """Stop, after the connections are closed."""
        self.error = self.error or IllegalStateError("the producer is closed")
        if self._timer is not None:
            self._timer.cancel()
        self._is_stopped = True
        self._drop_waiting()
        while self._room_waiters:
            self._pass_room_on()

    def _drop_waiting(self) -> None:
        self.sender.drop_waiting(
            KafkaError("The producer was closed before the record was acknowledged.")
        )
