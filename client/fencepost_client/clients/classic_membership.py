"""A consumer's membership in its group: the heartbeats' clock around a pure member."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator
from collections.abc import Set as AbstractSet
from contextlib import AbstractContextManager, contextmanager
from typing import Final, Protocol

from fencepost_protocol.errors import ErrorCode

from fencepost_client.consumer.classic_member import ClassicMember, MemberSettings
from fencepost_client.consumer.group_protocol import NO_GENERATION
from fencepost_client.consumer.rebalance import AssignmentChange, WantedTopics
from fencepost_client.consumer.topic_pattern import TopicPattern
from fencepost_client.errors import IllegalStateError, KafkaError, RetriableError
from fencepost_client.network import log
from fencepost_client.network.network_client import NetworkClient
from fencepost_client.types import GroupMetadata, TopicPartition

LEAVE_TIMEOUT_MS: Final = 5_000


class Membership(Protocol):
    """What the consumer knows of its membership, whichever protocol its group works by."""

    def metadata(self) -> GroupMetadata:
        """Who this is in its group."""

    def subscribe(self, wanted: WantedTopics) -> None:
        """Want this from now on."""

    async def change(self, owned: AbstractSet[TopicPartition]) -> AssignmentChange | None:
        """What is to be done about what is read; to be called until there is nothing more.

        Raises what ended the membership, once. Who reads nothing waits here for the group; who
        reads goes on, and hears of it later. Nothing is to be done while it is ``leaving``.
        """

    async def has_moved_on(self, then: GroupMetadata) -> bool:
        """Whether this member is another than it was then, when a request of it was refused."""

    def has_kept(self, partitions: Iterable[TopicPartition]) -> bool:
        """Whether these have stayed with this member through the last rebalance."""

    async def ask(self) -> bool:
        """Hear from the group how this member stands; whether ``change`` may have something to do.

        Waits for the end of a rebalance that is being joined.
        """

    def leaving(self) -> AbstractContextManager[None]:
        """Within this nobody waits for the group: the member is about to leave it."""

    async def leave(self) -> None:
        """Leave, so that others need not wait for the session to expire."""


class ClassicMembership:
    """Joins when told, and sends heartbeats from then on."""

    def __init__(
        self,
        client: NetworkClient,
        settings: MemberSettings,
        interval_ms: int,
        wake: Callable[[], None],
    ) -> None:
        self.member = ClassicMember(settings, client.settings.chance)
        self._client = client
        self._settings = settings
        self._interval_ms = interval_ms
        self._wake = wake
        self._polled_ms = 0
        self._seen_updates = 0
        self._pattern: TopicPattern | None = None
        self._matched: frozenset[str] | None = None
        self._heart: asyncio.Task[None] | None = None
        self._joining: asyncio.Task[None] | None = None
        self._is_leaving = False
        self._error: KafkaError | None = None

    def metadata(self) -> GroupMetadata:
        """Who this is in its group."""
        return self.member.metadata()

    def subscribe(self, wanted: WantedTopics) -> None:
        """Want these from now on."""
        regex = wanted.regex
        self._pattern = TopicPattern(regex) if regex is not None else None
        self._client.metadata.want_all_topics(self._pattern is not None)
        if self._pattern is None:
            self.member.subscribe(wanted.topics)
        else:
            self._matched = None

    async def change(self, owned: AbstractSet[TopicPartition]) -> AssignmentChange | None:
        """See ``Membership``; joining a rebalance takes as long as the others take."""
        self._polled_ms = self._client.now_ms()
        error, self._error = self._error, None
        if error is not None:
            raise error
        await self._look_at_pattern()
        self._look_at_topics()
        while not self._is_leaving:
            if self._joining is not None:
                if owned and not self._joining.done():
                    return None
                await self.joined()
                self._polled_ms = self._client.now_ms()
                continue
            change = self.member.change(owned)
            if change is not None or self.member.is_stable:
                return change
            self._joining = self._client.spawn(self._join(frozenset(owned)))
        return None

    async def joined(self) -> bool:
        """Wait for the end of the rebalance that is being joined; whether there was one."""
        task = self._joining
        if task is None:
            return False
        # A waiter that gives up does not end it; the next one goes on waiting.
        await asyncio.wait([task])
        if self._joining is task:
            self._joining = None
            if not task.cancelled():
                task.result()
            elif self._client.closed:
                raise IllegalStateError("the consumer was closed")
        return True

    async def has_moved_on(self, then: GroupMetadata) -> bool:
        """See ``Membership``; a rebalance that is under way is waited for."""
        was_joining = await self.joined()
        return was_joining or self.metadata() != then

    def has_kept(self, partitions: Iterable[TopicPartition]) -> bool:
        """See ``Membership``."""
        return self.member.has_kept(partitions)

    async def ask(self) -> bool:
        """See ``Membership``: by a heartbeat before its time."""
        if await self.joined():
            return True
        await self._client.run(self.member.heartbeat())
        return not self.member.is_stable

    async def _look_at_pattern(self) -> None:
        if self._pattern is None:
            return
        if self._matched is None:
            await self._client.metadata.all_topics()
        matched = self._pattern.topics(self._client.cluster)
        if matched != self._matched:
            self._matched = matched
            self.member.subscribe(matched)

    def _look_at_topics(self) -> None:
        cluster = self._client.cluster
        if cluster.updates != self._seen_updates:
            self._seen_updates = cluster.updates
            known = {name: cluster.topics.get(name) for name in self.member.led_topics}
            self.member.counts_are(
                {
                    name: topic.partition_count
                    for name, topic in known.items()
                    if topic is not None
                    and topic.error_code in {0, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION}
                }
            )

    async def _join(self, owned: AbstractSet[TopicPartition]) -> None:
        # No heartbeat meanwhile: a JoinGroup that waits says that the member is alive.
        await self._stop_heart()
        limit_ms = self._settings.rebalance_timeout_ms + self._client.settings.api_timeout_ms
        try:
            await self._client.run(self.member.join(owned), limit_ms)
        finally:
            self._wake()
        group = self.metadata()
        log.joined(group.group_id, group.member_id, group.generation_id)
        self._heart = self._client.spawn(self._beat())

    async def _beat(self) -> None:
        # Through a rebalance as well: until it is joined, or this member is known no more.
        while self.member.generation_id != NO_GENERATION:
            await asyncio.sleep(self._interval_ms / 1000)
            if self._client.now_ms() - self._polled_ms > self._settings.rebalance_timeout_ms:
                # The connection is alive and the application is not: others shall have its part.
                self.member.is_stable = False
                log.too_slow(self.metadata().group_id, self._settings.rebalance_timeout_ms)
                await self._client.run(self.member.leave(), LEAVE_TIMEOUT_MS)
                return
            try:
                await self._client.run(self.member.heartbeat())
            except RetriableError:
                continue  # nobody answers; that is heard of when records are fetched, too
            except KafkaError as error:
                log.expelled(self.metadata().group_id, error)
                self._error = error
                self._wake()
                return
            if not self.member.is_stable:
                self._wake()

    async def _stop_heart(self) -> None:
        if self._heart is not None:
            self._heart.cancel()
            await asyncio.wait([self._heart])
            self._heart = None

    @contextmanager
    def leaving(self) -> Iterator[None]:
        """See ``Membership``; a JoinGroup that waits is given up with its connection."""
        self._is_leaving = True
        if self._joining is not None:
            self._joining.cancel()
        try:
            yield
        finally:
            self._is_leaving = False

    async def leave(self) -> None:
        """Leave, so that others need not wait for the session to expire."""
        joining, self._joining = self._joining, None
        if joining is not None:
            joining.cancel()
            await asyncio.gather(joining, return_exceptions=True)
        await self._stop_heart()
        try:
            await self._client.run(self.member.leave(), LEAVE_TIMEOUT_MS)
        except RetriableError:
            return  # nobody answers: the session will expire
