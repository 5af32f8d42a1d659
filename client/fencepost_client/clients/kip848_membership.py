"""The membership of the consumer group protocol (KIP-848): a member with heartbeats."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator
from collections.abc import Set as AbstractSet
from contextlib import contextmanager

from fencepost_client.clients.classic_membership import LEAVE_TIMEOUT_MS, leave_group
from fencepost_client.clients.poll_timer import PollTimer
from fencepost_client.consumer.kip848_member import ConsumerGroupMember, ConsumerGroupSettings
from fencepost_client.consumer.rebalance import AssignmentChange, WantedTopics
from fencepost_client.errors import IllegalStateError, KafkaError, RetriableError
from fencepost_client.network import log
from fencepost_client.network.network_client import NetworkClient
from fencepost_client.types import GroupMetadata, TopicPartition


class ConsumerGroupMembership:
    """Sends heartbeats from the first call of ``change`` on; see ``Membership``."""

    def __init__(
        self,
        client: NetworkClient,
        settings: ConsumerGroupSettings,
        timer: PollTimer,
        wake: Callable[[], None],
    ) -> None:
        self.member = ConsumerGroupMember(settings, client.settings.chance)
        self._client = client
        self._settings = settings
        self._timer = timer
        self._wake = wake
        self._heart: asyncio.Task[None] | None = None
        self._due = asyncio.Event()
        """Set when a heartbeat is needed before the interval is over."""
        self._beaten = asyncio.Event()
        """Set by the next answer, and then replaced by a new future."""
        self._error: KafkaError | None = None
        self._is_leaving = False

    def metadata(self) -> GroupMetadata:
        """The identity of this member."""
        return self.member.metadata()

    def subscribe(self, wanted: WantedTopics) -> None:
        """Change the subscription."""
        self.member.subscribe(wanted)
        self._due.set()

    async def change(
        self, owned: AbstractSet[TopicPartition], until: float | None = None
    ) -> AssignmentChange | None:
        """See ``Membership``; joining takes one answer, independent of other members."""
        while not self._is_leaving:
            if self._client.closed:
                raise IllegalStateError("the consumer was closed")
            error, self._error = self._error, None
            if error is not None:
                raise error
            if self.member.owns(owned):
                self._due.set()
            if self._heart is None or self._heart.done():
                if self._heart is not None:
                    self._heart.result()  # a bug of the client is raised, not retried
                self._heart = self._client.spawn(self._beat())
            change = self.member.change()
            if change is not None or owned or self.member.has_joined:
                return change
            try:
                async with asyncio.timeout_at(until):
                    await self._beaten.wait()
            except TimeoutError:
                return None
        return None

    async def has_moved_on(self, then: GroupMetadata) -> bool:
        """See ``Membership``; waits for the answer with the new epoch."""
        if self.metadata() == then and self._heart is not None and not self._heart.done():
            self._due.set()
            await self._beaten.wait()
        return self.metadata() != then

    def has_kept(self, partitions: Iterable[TopicPartition]) -> bool:
        """See ``Membership``."""
        return self.member.has_kept(partitions)

    async def ask(self) -> bool:
        """See ``Membership``; sends an extra heartbeat."""
        then = self.metadata()
        if self._heart is not None and not self._heart.done() and not self.member.has_to_give_up:
            self._due.set()
            await self._beaten.wait()
        return self.metadata() != then or self.member.has_to_give_up

    async def _beat(self) -> None:
        try:
            while await self._beat_once():
                pass
        finally:
            self._tell()

    async def _beat_once(self) -> bool:
        """Send a heartbeat and pause; whether to go on."""
        self._due.clear()
        if self._timer.is_over:
            # The application does not ask for records: other members shall have its partitions.
            log.too_slow(self._settings.group_id, self._timer.limit_ms)
            await self._client.run(self.member.leave(), LEAVE_TIMEOUT_MS)
            return False
        pause_ms = None
        if not self.member.has_to_give_up:
            try:
                pause_ms = await self._client.run(self.member.heartbeat())
            except KafkaError as error:
                if isinstance(error, RetriableError) and self.member.has_joined:
                    return True  # no answer for that time
                log.expelled(self._settings.group_id, error)
                self._error = error
                return False
            self._tell()
        try:
            async with asyncio.timeout(None if pause_ms is None else pause_ms / 1000):
                await self._due.wait()
        except TimeoutError:
            pass
        return True

    def _tell(self) -> None:
        self._beaten.set()
        self._beaten = asyncio.Event()
        self._wake()

    @contextmanager
    def leaving(self) -> Iterator[None]:
        """See ``Membership``."""
        self._is_leaving = True
        self._tell()
        try:
            yield
        finally:
            self._is_leaving = False

    async def leave(self) -> None:
        """Leave the group, so that it need not wait for the session timeout."""
        heart, self._heart = self._heart, None
        if heart is not None:
            heart.cancel()
            await asyncio.gather(heart, return_exceptions=True)
        await leave_group(self._client, self.member.leave())
