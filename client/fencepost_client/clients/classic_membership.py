"""``Membership`` in a group, and the one of the classic protocol: a member with heartbeats."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator
from collections.abc import Set as AbstractSet
from contextlib import AbstractContextManager, contextmanager
from typing import Final, Protocol

from fencepost_protocol.errors import ErrorCode

from fencepost_client.clients.poll_timer import PollTimer
from fencepost_client.consumer.classic_member import ClassicMember, MemberSettings
from fencepost_client.consumer.group_protocol import NO_GENERATION
from fencepost_client.consumer.rebalance import AssignmentChange, WantedTopics
from fencepost_client.consumer.topic_pattern import TopicPattern
from fencepost_client.errors import IllegalStateError, KafkaError, RetriableError
from fencepost_client.network import log
from fencepost_client.network.network_client import NetworkClient
from fencepost_client.requests.procedures import Procedure
from fencepost_client.types import GroupMetadata, TopicPartition

LEAVE_TIMEOUT_MS: Final = 5_000
_LONGEST_REBALANCE_MS: Final = 300_000
"""A group waits for its slowest member, which may have the default of ``max_poll_interval_ms``."""


async def leave_group(client: NetworkClient, leaving: Procedure[None]) -> None:
    """Tell the group that a member leaves; without an answer, its session will expire."""
    try:
        await client.run(leaving, LEAVE_TIMEOUT_MS)
    except RetriableError:
        return


class Membership(Protocol):
    """The membership of a consumer, for both group protocols."""

    def metadata(self) -> GroupMetadata:
        """The identity of this member."""

    def subscribe(self, wanted: WantedTopics) -> None:
        """Change the subscription."""

    async def change(
        self, owned: AbstractSet[TopicPartition], until: float | None = None
    ) -> AssignmentChange | None:
        """The next change of the assignment; call it until it returns ``None``.

        Raises the error that ended the membership, once. A consumer without partitions waits here
        for the group, but not longer than ``until``, a time of the loop. One with partitions reads
        on, and gets the change later. While it is ``leaving`` there is no change.
        """

    async def has_moved_on(self, then: GroupMetadata) -> bool:
        """Whether the identity has changed since then."""

    def has_kept(self, partitions: Iterable[TopicPartition]) -> bool:
        """Whether the member has kept these partitions in the last rebalance."""

    async def ask(self) -> bool:
        """Ask the coordinator for news; whether ``change`` may return something.

        Waits for the end of a rebalance that is under way.
        """

    def leaving(self) -> AbstractContextManager[None]:
        """A context in which no call waits for the group, because the member is about to leave."""

    async def leave(self) -> None:
        """Leave the group, so that it need not wait for the session timeout."""


class ClassicMembership:
    """Joins when ``change`` is called, and sends heartbeats from then on."""

    def __init__(
        self,
        client: NetworkClient,
        settings: MemberSettings,
        interval_ms: int,
        timer: PollTimer,
        wake: Callable[[], None],
    ) -> None:
        self.member = ClassicMember(settings, client.settings.chance)
        self._client = client
        self._settings = settings
        self._interval_ms = interval_ms
        self._timer = timer
        self._wake = wake
        self._seen_updates = 0
        self._pattern: TopicPattern | None = None
        self._matched: frozenset[str] | None = None
        self._heart: asyncio.Task[None] | None = None
        self._joining: asyncio.Task[None] | None = None
        self._is_leaving = False
        self._error: KafkaError | None = None

    def metadata(self) -> GroupMetadata:
        """The identity of this member."""
        return self.member.metadata()

    def subscribe(self, wanted: WantedTopics) -> None:
        """Change the subscription."""
        regex = wanted.regex
        self._pattern = TopicPattern(regex) if regex is not None else None
        self._client.metadata.want_all_topics(self._pattern is not None)
        if self._pattern is None:
            self.member.subscribe(wanted.topics)
        else:
            self._matched = None

    async def change(
        self, owned: AbstractSet[TopicPartition], until: float | None = None
    ) -> AssignmentChange | None:
        """See ``Membership``; a rebalance takes as long as its slowest member."""
        error, self._error = self._error, None
        if error is not None:
            raise error
        await self._look_at_pattern()
        self._look_at_topics()
        while not self._is_leaving:
            if self._joining is not None:
                if owned and not self._joining.done():
                    return None
                try:
                    async with asyncio.timeout_at(until):
                        await self.joined()
                except TimeoutError:
                    return None
                continue
            change = self.member.change(owned)
            if change is not None or self.member.is_stable:
                return change
            self._joining = self._client.spawn(self._join(frozenset(owned)))
        return None

    async def joined(self) -> bool:
        """Wait for the end of a rebalance; whether there was one."""
        task = self._joining
        if task is None:
            return False
        # Cancelling a waiter does not end the rebalance; the next call waits for it.
        await asyncio.wait([task])
        if self._joining is task:
            self._joining = None
            if not task.cancelled():
                task.result()
            elif self._client.closed:
                raise IllegalStateError("the consumer was closed")
        return True

    async def has_moved_on(self, then: GroupMetadata) -> bool:
        """See ``Membership``; waits for the end of a rebalance."""
        was_joining = await self.joined()
        return was_joining or self.metadata() != then

    def has_kept(self, partitions: Iterable[TopicPartition]) -> bool:
        """See ``Membership``."""
        return self.member.has_kept(partitions)

    async def ask(self) -> bool:
        """See ``Membership``; sends an extra heartbeat."""
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
        # No heartbeat meanwhile: a waiting JoinGroup shows that the member is alive.
        await self._stop_heart()
        longest_ms = max(self._settings.rebalance_timeout_ms, _LONGEST_REBALANCE_MS)
        limit_ms = longest_ms + self._client.settings.api_timeout_ms
        try:
            await self._client.run(self.member.join(owned), limit_ms)
        finally:
            self._wake()
        group = self.metadata()
        log.joined(group.group_id, group.member_id, group.generation_id)
        self._heart = self._client.spawn(self._beat())

    async def _beat(self) -> None:
        # Also during a rebalance, until it is joined or the group has removed this member.
        while self.member.generation_id != NO_GENERATION:
            await asyncio.sleep(self._interval_ms / 1000)
            if self._timer.is_over:
                # The application does not ask for records: other members shall have its partitions.
                self.member.is_stable = False
                log.too_slow(self.metadata().group_id, self._timer.limit_ms)
                await self._client.run(self.member.leave(), LEAVE_TIMEOUT_MS)
                return
            try:
                await self._client.run(self.member.heartbeat())
            except RetriableError:
                continue  # no answer; fetching records reports this, too
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
        """See ``Membership``; closes the connection of a waiting JoinGroup."""
        self._is_leaving = True
        if self._joining is not None:
            self._joining.cancel()
        try:
            yield
        finally:
            self._is_leaving = False

    async def leave(self) -> None:
        """Leave the group, so that it need not wait for the session timeout."""
        joining, self._joining = self._joining, None
        if joining is not None:
            joining.cancel()
            await asyncio.gather(joining, return_exceptions=True)
        await self._stop_heart()
        await leave_group(self._client, self.member.leave())
