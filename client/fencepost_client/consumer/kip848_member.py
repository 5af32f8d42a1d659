"""A member of a consumer group (KIP-848): one request, and the broker decides.

::

    OUT --epoch 0--> IN, told what to have --change--> application --owned partitions--> IN
    IN --FENCED_MEMBER_EPOCH, UNKNOWN_MEMBER_ID--> OUT, what it had is lost
    IN --epoch -1 (or -2: a static member that comes back)--> OUT

Each heartbeat has the epoch of the member, and what has changed since the last answer. An answer
with an assignment replaces the target assignment: the member gives up partitions that are no longer
in it, and the next heartbeat reports that, so that others can get them. After a lost answer, the
next heartbeat contains everything. Answers have topic ids; the client asks for the names.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any, Final

from fencepost_protocol.errors import KINDS, RETRIABLE, ErrorCode
from fencepost_protocol.generated.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatRequestTopicPartitions,
    ConsumerGroupHeartbeatResponse,
)
from fencepost_protocol.generated.index import ApiKey

from fencepost_client.consumer.rebalance import AssignmentChange, WantedTopics
from fencepost_client.consumer.topic_names import TopicNames
from fencepost_client.errors import RetriableError, UnsupportedVersionError, consumer_error
from fencepost_client.requests.backoff import Backoff, Chance
from fencepost_client.requests.procedures import GROUP, Ask, Coordinator, Moved, Procedure
from fencepost_client.types import GroupMetadata, TopicPartition

JOINING: Final = 0
_LEAVING: Final = -1
_LEAVING_FOR_A_WHILE: Final = -2
_OWN_ID_FROM: Final = 1
"""The version from which a member makes up its id itself (KIP-1082), and may send a regex."""
_OUT: Final = {ErrorCode.FENCED_MEMBER_EPOCH, ErrorCode.UNKNOWN_MEMBER_ID}
_DEFAULT_INTERVAL_MS: Final = 3_000


@dataclass(frozen=True, slots=True)
class ConsumerGroupSettings:
    """By Kafka's names: group.id, group.remote.assignor and so on."""

    group_id: str
    group_instance_id: str | None = None
    rebalance_timeout_ms: int = 300_000
    server_assignor: str | None = None
    rack: str | None = None


class ConsumerGroupMember:
    """A member of a consumer group."""

    def __init__(self, settings: ConsumerGroupSettings, chance: Chance) -> None:
        own_id = bytes(int(chance() * 256) for _ in range(16))
        self.member_id = base64.urlsafe_b64encode(own_id).decode().rstrip("=")
        self.epoch = JOINING
        self._settings = settings
        self._backoff = Backoff(chance)
        self._names = TopicNames()
        self._wanted = WantedTopics()
        self._owned: frozenset[TopicPartition] = frozenset()
        self._owned_ids: dict[str, bytes] = {}
        """The ids of topics when they were assigned."""
        self._target: dict[bytes, list[int]] | None = None
        """What the coordinator wants this member to have; ``None`` before it has said so."""
        self._is_announced = False
        """Whether the application has heard of the target."""
        self._may_be_known = False
        """Whether a heartbeat was sent since this member left."""
        self._given_id = ""
        """The id by which a coordinator of version 0 knows this member."""
        self._sent: tuple[WantedTopics, frozenset[TopicPartition]] | None = None
        """What the coordinator knows already."""

    def metadata(self) -> GroupMetadata:
        """Who this is, for commits and for a producer's ``send_offsets``."""
        is_in = self.epoch > JOINING
        return GroupMetadata(
            self._settings.group_id,
            self.epoch if is_in else -1,
            (self._given_id or self.member_id) if is_in else "",
            self._settings.group_instance_id,
        )

    @property
    def _coordinator(self) -> Coordinator:
        return Coordinator(GROUP, self._settings.group_id)

    # -- what the application has to do ----------------------------------------------------------

    def subscribe(self, wanted: WantedTopics) -> None:
        """Change the subscription."""
        self._wanted = wanted

    def owns(self, owned: AbstractSet[TopicPartition]) -> bool:
        """The application reads these now; whether the coordinator should hear of it at once."""
        self._owned = frozenset(owned)
        return self.has_news

    @property
    def has_news(self) -> bool:
        """Whether there is something that the coordinator does not know."""
        return self._sent != (self._wanted, self._owned)

    @property
    def has_joined(self) -> bool:
        """Whether the coordinator has answered since this member joined."""
        return self.epoch > JOINING

    @property
    def has_to_give_up(self) -> bool:
        """Whether the application still reads what this member lost: it cannot join before."""
        return self.epoch == JOINING and bool(self._owned)

    def change(self) -> AssignmentChange | None:
        """What the application has to do before anything else."""
        if self.has_to_give_up:
            return AssignmentChange(self._owned, is_lost=True)
        if self._target is None or not self.has_joined:
            return None
        named = {
            name: topic_id
            for topic_id in self._target
            if (name := self._names.name_of(topic_id)) is not None
        }
        target = frozenset(
            TopicPartition(name, number)
            for name, topic_id in named.items()
            for number in self._target[topic_id]
        )
        made_again = {
            where
            for where in target & self._owned
            if self._owned_ids.get(where.topic) != named[where.topic]
        }
        if made_again:
            # The topic was deleted and made again: what is known of its partitions is of the old.
            self._sent = None
            return AssignmentChange(frozenset(made_again), is_lost=True)
        if target == self._owned and (self._is_announced or self._has_nameless):
            return None
        self._is_announced = not self._has_nameless
        self._owned_ids |= named
        return AssignmentChange(self._owned - target, assigned=target - self._owned)

    def has_kept(self, partitions: Iterable[TopicPartition]) -> bool:
        """Whether these are still this member's."""
        return self.has_joined and self._owned.issuperset(partitions)

    @property
    def _has_nameless(self) -> bool:
        return any(self._names.name_of(topic_id) is None for topic_id in self._target or ())

    def _fall_out(self) -> None:
        self.epoch = JOINING
        self._target = None
        self._sent = None

    # -- heartbeats ------------------------------------------------------------------------------

    def heartbeat(self) -> Procedure[int]:
        """Join, or say what is new; gives the ms until the next one."""
        assert not self.has_to_give_up
        wanted, owned, epoch = self._wanted, self._owned, self.epoch
        self._may_be_known = True
        try:
            answer = yield Ask(
                self._coordinator,
                ApiKey.CONSUMER_GROUP_HEARTBEAT,
                lambda version: self._request(version, wanted, owned, epoch),
            )
        except RetriableError:
            self._sent = None
            yield Moved(self._coordinator)
            return self._backoff.next_ms()
        if epoch != self.epoch:
            return 0  # an answer to what this member was before it left
        code = answer.error_code
        if code == ErrorCode.NONE:
            self._sent = (wanted, owned)
            self._take(answer)
            yield from self._names.learn(self._target or ())
            if self._has_nameless:
                return self._backoff.next_ms()  # a broker that has not heard of a new topic yet
            self._backoff.reset()
            return answer.heartbeat_interval_ms or _DEFAULT_INTERVAL_MS
        self._sent = None
        if code in _OUT:
            self._fall_out()
            return 0
        if code in RETRIABLE:
            if KINDS[code] == "refresh":
                yield Moved(self._coordinator)
            return self._backoff.next_ms()
        # The group goes on without this member, whatever that is about.
        self._fall_out()
        state = f"heartbeat to group {self._settings.group_id!r}"
        raise consumer_error(code, answer.error_message, state=state)

    def _take(self, answer: ConsumerGroupHeartbeatResponse) -> None:
        self.epoch = answer.member_epoch
        if answer.member_id:
            self._given_id = answer.member_id
        if answer.assignment is not None:
            self._target = {
                topic.topic_id: list(topic.partitions)
                for topic in answer.assignment.topic_partitions
            }
            self._is_announced = False

    def _request(
        self, version: int, wanted: WantedTopics, owned: frozenset[TopicPartition], epoch: int
    ) -> ConsumerGroupHeartbeatRequest:
        settings = self._settings
        own_id = self.member_id if version >= _OWN_ID_FROM else ""
        member_id = own_id if epoch == JOINING else self._given_id or own_id
        request = ConsumerGroupHeartbeatRequest(
            settings.group_id, member_id, epoch, settings.group_instance_id
        )
        if wanted.regex is not None and version < _OWN_ID_FROM:
            raise UnsupportedVersionError(
                "The broker does not support ConsumerGroupHeartbeat v1, which a regular "
                "expression: subscribe to topics by name."
            )
        sent = self._sent
        if sent is None:
            request.rack_id = settings.rack
            request.rebalance_timeout_ms = settings.rebalance_timeout_ms
            request.server_assignor = settings.server_assignor
        if sent is None or sent[0] != wanted:
            request.subscribed_topic_names = sorted(wanted.topics)
            if version >= _OWN_ID_FROM:
                # "" takes back a regular expression that was sent before.
                request.subscribed_topic_regex = wanted.regex or (None if sent is None else "")
        if sent is None or sent[1] != owned:
            request.topic_partitions = self._by_id(owned)
        return request

    def _by_id(
        self, owned: Iterable[TopicPartition]
    ) -> list[ConsumerGroupHeartbeatRequestTopicPartitions]:
        topics: dict[str, ConsumerGroupHeartbeatRequestTopicPartitions] = {}
        for where in sorted(owned):
            topic_id = self._owned_ids[where.topic]
            topic = topics.setdefault(
                where.topic, ConsumerGroupHeartbeatRequestTopicPartitions(topic_id)
            )
            topic.partitions.append(where.partition)
        return list(topics.values())

    # -- leaving ---------------------------------------------------------------------------------

    def leave(self) -> Procedure[None]:
        """Leave; a static member's part is kept for it until its session ends."""
        epoch = _LEAVING if self._settings.group_instance_id is None else _LEAVING_FOR_A_WHILE
        member_id, may_be_known = self._given_id or self.member_id, self._may_be_known
        self._fall_out()
        self._may_be_known = False
        if not may_be_known:
            return

        def build(version: int) -> ConsumerGroupHeartbeatRequest:
            del version
            settings = self._settings
            return ConsumerGroupHeartbeatRequest(
                settings.group_id, member_id, epoch, settings.group_instance_id
            )

        try:
            _: Any = yield Ask(self._coordinator, ApiKey.CONSUMER_GROUP_HEARTBEAT, build)
        except RetriableError:
            return  # its session will expire
