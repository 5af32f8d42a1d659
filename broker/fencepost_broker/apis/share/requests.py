"""What ShareFetch and ShareAcknowledge have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from fencepost_protocol.errors import ErrorCode

from fencepost_broker.apis.leader_hints import MOVED, addresses_of, leader_of
from fencepost_broker.replication.partition import Partition
from fencepost_broker.replication.share.share_partition import (
    Acknowledge,
    Acknowledgement,
    check,
)
from fencepost_broker.replication.share.share_partitions import SharePartitionKey
from fencepost_broker.security.authorizer.acls import Operation
from fencepost_broker.security.authorizer.authorizer import Rights

if TYPE_CHECKING:
    from fencepost_broker.apis.context import BrokerContext
    from fencepost_broker.apis.request import Request

SHARE_VERSION: Final = "share.version"
_MEMBER_ID_MAX: Final = 36


class Found(NamedTuple):
    """The broker's partition of a share partition, or the error."""

    partition: Partition | None
    error: ErrorCode


def refused_ids(group_id: str | None, member_id: str | None) -> str | None:
    """Return what is wrong with the ids in a request; ``None`` if nothing is."""
    if group_id is None:
        return "the group id is null"
    if not member_id or len(member_id) > _MEMBER_ID_MAX:
        return f"the member id is empty or longer than {_MEMBER_ID_MAX} characters"
    return None


def find(context: BrokerContext, request: Request, key: SharePartitionKey) -> Found:
    """Return the partition if this broker leads it and the client may read it."""
    topic = context.replicas.table.by_id.get(key.topic_id)
    if topic is None:
        return Found(None, ErrorCode.UNKNOWN_TOPIC_ID)
    authorizer, peer = context.access.authorizer, request.peer
    if authorizer is not None:
        rights = Rights(authorizer, peer.user, peer.client_host)
        if not rights.of_topic(Operation.READ, topic.name):
            return Found(None, ErrorCode.TOPIC_AUTHORIZATION_FAILED)
    partition = topic.partition(key.number)
    if partition is None:
        return Found(None, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    error = partition.epoch_error(-1)
    if not error and partition.is_offline:
        error = ErrorCode.KAFKA_STORAGE_ERROR
    return Found(partition, error)


class Acknowledging:
    """The acknowledgements of a request, until all of them are written."""

    def __init__(self, context: BrokerContext, request: Request, member_id: str) -> None:
        self._context = context
        self._request = request
        self._member_id = member_id
        self.results: dict[SharePartitionKey, ErrorCode] = {}
        self._left = 0
        self._then: Callable[[], object] | None = None

    @property
    def is_done(self) -> bool:
        """Whether all results are known."""
        return not self._left

    def when_done(self, then: Callable[[], object]) -> None:
        """Call this when the last result is known."""
        self._then = then

    def begin(self, key: SharePartitionKey, batches: Sequence[Any], *, is_renew: bool) -> None:
        """Acknowledge records of one partition."""
        acknowledgements = [
            Acknowledgement(each.first_offset, each.last_offset, each.acknowledge_types)
            for each in batches
        ]
        error = check(acknowledgements) or self._renew_error(key, acknowledgements, is_renew)
        found = find(self._context, self._request, key)
        error = error or found.error
        led = self._context.shares.get(key)
        if not error and (led is None or led.state is None):
            error = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        if error:
            self.results[key] = error
            return
        assert led is not None
        self._left += 1
        then = partial(self._finish, key)
        self._context.shares.acknowledge(led, self._member_id, acknowledgements, then)

    def _renew_error(
        self, key: SharePartitionKey, all_of: Iterable[Acknowledgement], is_renew: bool
    ) -> ErrorCode:
        if not any(Acknowledge.RENEW in each.types for each in all_of):
            return ErrorCode.NONE
        led = self._context.shares.get(key)
        may = is_renew and (led is None or led.settings.may_renew)
        return ErrorCode.NONE if may else ErrorCode.INVALID_REQUEST

    def _finish(self, key: SharePartitionKey, error: ErrorCode) -> None:
        self.results[key] = error
        self._left -= 1
        if not self._left and self._then is not None:
            self._then()


class Leaders:
    """The new leaders of partitions that have moved, as a client is told them."""

    def __init__(self, context: BrokerContext, request: Request) -> None:
        self._context = context
        self._request = request
        self._ids: dict[int, None] = {}

    def tell(self, data: Any, key: SharePartitionKey, error: int) -> None:
        """Add the leader to the answer for a partition that has moved."""
        topic = self._context.image.topics.by_id.get(key.topic_id)
        if error not in MOVED or topic is None:
            return
        leader = leader_of(self._context, topic.name, key.number)
        data.current_leader.leader_id, data.current_leader.leader_epoch = leader or (-1, -1)
        if leader is not None:
            self._ids[leader.leader_id] = None

    def endpoints(self, make: Callable[..., Any]) -> list[Any]:
        """Return the addresses of these leaders."""
        if not self._ids:
            return []
        listener = self._request.peer.listener
        return [make(*each) for each in addresses_of(self._context, listener, self._ids)]
