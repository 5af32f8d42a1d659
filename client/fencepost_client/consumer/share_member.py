"""A member of a share group (KIP-932): heartbeats, and the partitions that it fetches.

::

    OUT --epoch 0--> IN, with partitions --FENCED_MEMBER_EPOCH, UNKNOWN_MEMBER_ID--> OUT
    IN --epoch -1--> OUT

Several members can have the same partition, so nobody waits until another one has given it up.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from fencepost_protocol.errors import KINDS, RETRIABLE, ErrorCode
from fencepost_protocol.generated.index import ApiKey
from fencepost_protocol.generated.share_group_heartbeat import ShareGroupHeartbeatRequest

from fencepost_client.consumer.topic_names import TopicNames
from fencepost_client.errors import RetriableError, consumer_error
from fencepost_client.requests.backoff import Backoff, Chance
from fencepost_client.requests.procedures import GROUP, Ask, Coordinator, Moved, Procedure
from fencepost_client.types import TopicPartition

_JOINING: Final = 0
_LEAVING: Final = -1
_OUT: Final = {ErrorCode.FENCED_MEMBER_EPOCH, ErrorCode.UNKNOWN_MEMBER_ID}
_DEFAULT_INTERVAL_MS: Final = 3_000


@dataclass(frozen=True, slots=True)
class Assigned:
    """A partition that the member fetches, and the id of its topic."""

    where: TopicPartition
    topic_id: bytes


class ShareGroupMember:
    """A member of a share group."""

    def __init__(self, group_id: str, rack: str | None, chance: Chance) -> None:
        own_id = bytes(int(chance() * 256) for _ in range(16))
        self.member_id = base64.urlsafe_b64encode(own_id).decode().rstrip("=")
        self.epoch = _JOINING
        self.assignment: frozenset[Assigned] = frozenset()
        self._group_id = group_id
        self._rack = rack
        self._backoff = Backoff(chance)
        self._names = TopicNames()
        self._topics: frozenset[str] = frozenset()
        self._sent: frozenset[str] | None = None
        """The topics that the coordinator knows; ``None`` after an error."""
        self._target: dict[bytes, list[int]] = {}
        self._may_be_known = False

    @property
    def has_joined(self) -> bool:
        """Whether the coordinator has answered since this member joined."""
        return self.epoch > _JOINING

    def subscribe(self, topics: Iterable[str]) -> None:
        """Change the subscription."""
        self._topics = frozenset(topics)

    @property
    def _coordinator(self) -> Coordinator:
        return Coordinator(GROUP, self._group_id)

    def heartbeat(self) -> Procedure[int]:
        """Join, or say what is new; gives the ms until the next one."""
        topics, epoch, sent = self._topics, self.epoch, self._sent
        request = ShareGroupHeartbeatRequest(
            self._group_id,
            self.member_id,
            epoch,
            self._rack if sent is None else None,
            None if sent == topics else sorted(topics),
        )
        self._may_be_known = True
        try:
            answer = yield Ask(self._coordinator, ApiKey.SHARE_GROUP_HEARTBEAT, lambda _: request)
        except RetriableError:
            self._sent = None
            yield Moved(self._coordinator)
            return self._backoff.next_ms()
        if epoch != self.epoch:
            return 0  # an answer to what this member was before it left
        code = answer.error_code
        if code == ErrorCode.NONE:
            self._sent = topics
            yield from self._take(answer)
            if any(self._names.name_of(each) is None for each in self._target):
                return self._backoff.next_ms()  # the broker has not heard of a new topic yet
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
        self._fall_out()
        state = f"heartbeat to group {self._group_id!r}"
        raise consumer_error(code, answer.error_message, state=state)

    def _take(self, answer: Any) -> Procedure[None]:
        self.epoch = answer.member_epoch
        if answer.assignment is not None:
            self._target = {
                each.topic_id: list(each.partitions) for each in answer.assignment.topic_partitions
            }
        yield from self._names.learn(self._target)
        self.assignment = frozenset(
            Assigned(TopicPartition(name, number), topic_id)
            for topic_id, numbers in self._target.items()
            if (name := self._names.name_of(topic_id)) is not None
            for number in numbers
        )

    def _fall_out(self) -> None:
        self.epoch = _JOINING
        self._sent = None
        self._target = {}
        self.assignment = frozenset()

    def leave(self) -> Procedure[None]:
        """Leave the group."""
        may_be_known, self._may_be_known = self._may_be_known, False
        self._fall_out()
        if not may_be_known:
            return
        request = ShareGroupHeartbeatRequest(self._group_id, self.member_id, _LEAVING)
        try:
            _: Any = yield Ask(self._coordinator, ApiKey.SHARE_GROUP_HEARTBEAT, lambda _: request)
        except RetriableError:
            return  # its session will expire
