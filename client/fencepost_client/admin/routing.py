"""Routes of items to leaders, coordinators and brokers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, TypeVar

from fencepost_protocol.errors import RETRIABLE, ErrorCode
from fencepost_protocol.generated.find_coordinator import FindCoordinatorRequest
from fencepost_protocol.generated.index import ApiKey
from fencepost_protocol.generated.metadata import MetadataRequest, MetadataRequestTopic

from fencepost_client.admin.fan_out import Route, Routes, named
from fencepost_client.errors import RetriableError, admin_error
from fencepost_client.requests.backoff import Backoff
from fencepost_client.requests.connection import Build
from fencepost_client.requests.procedures import ANY_NODE, Ask, NodeId, Procedure, Target, retry
from fencepost_client.types import TopicPartition

K = TypeVar("K")

_AUTO_CREATION_FROM: Final = 4
_BATCHED_FROM: Final = 4
"""The first version of FindCoordinator with several keys (KIP-699)."""
_ATTEMPTS_FOR_NEWS: Final = 5
"""How often a topic may be unknown before it does not exist: brokers hear of it by and by."""
_NOT_THERE: Final = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def metadata_of(names: Iterable[str] | None) -> Build:
    """A Metadata request for topics, or all, which creates none."""
    topics = None if names is None else [MetadataRequestTopic(name=name) for name in names]

    def build(version: int) -> MetadataRequest:
        request = MetadataRequest(topics)
        if version >= _AUTO_CREATION_FROM:
            request.allow_auto_topic_creation = False
        return request

    return build


class Leaders:
    """Routes partitions to their leaders; an unknown partition fails after some attempts."""

    def __init__(self) -> None:
        self._attempts = 0

    def __call__(self, items: Sequence[TopicPartition]) -> Procedure[Routes[TopicPartition]]:
        routes = Routes[TopicPartition]()
        self._attempts += 1
        topics = sorted({topic for topic, _ in items})
        try:
            answer = yield Ask(ANY_NODE, ApiKey.METADATA, metadata_of(topics))
        except RetriableError as error:
            routes.because = error
            return routes
        found = {topic.name: topic for topic in answer.topics}
        for item in items:
            code, leader_id = _leader(found.get(item.topic), item.partition)
            if code == ErrorCode.NONE:
                routes.by_target.setdefault(NodeId(leader_id), []).append(item)
                continue
            why = admin_error(code, state=f"looking for the leader of {named(item)}")
            missing = code == _NOT_THERE and self._attempts >= _ATTEMPTS_FOR_NEWS
            if missing or code not in RETRIABLE:
                routes.refused[item] = why
            else:
                routes.because = why
        return routes


def _leader(topic: Any, partition: int) -> tuple[int, int]:
    """An error code, or the node that leads a partition."""
    if topic is None:
        return _NOT_THERE, -1
    if topic.error_code:
        return topic.error_code, -1
    for part in topic.partitions:
        if part.partition_index == partition:
            code = ErrorCode.LEADER_NOT_AVAILABLE if part.leader_id < 0 else ErrorCode.NONE
            return code, part.leader_id
    return _NOT_THERE, -1


class Coordinators:
    """Routes group ids or transactional ids to their coordinators."""

    def __init__(self, kind: int) -> None:
        self._kind = kind
        self.node_ids: dict[str, int] = {}
        """Who was found for each key."""

    def __call__(self, items: Sequence[str]) -> Procedure[Routes[str]]:
        routes = Routes[str]()
        waiting = list(items)
        while waiting:
            batched = False

            def build(version: int) -> FindCoordinatorRequest:
                nonlocal batched
                batched = version >= _BATCHED_FROM
                if batched:
                    return FindCoordinatorRequest(key_type=self._kind, coordinator_keys=waiting)
                return FindCoordinatorRequest(waiting[0], self._kind)

            try:
                answer = yield Ask(ANY_NODE, ApiKey.FIND_COORDINATOR, build)
            except RetriableError as error:
                routes.because = error
                return routes
            if batched:
                for place in answer.coordinators:
                    self._route(routes, place.key, place)
                return routes
            self._route(routes, waiting.pop(0), answer)
        return routes

    def _route(self, routes: Routes[str], key: str, place: Any) -> None:
        if place.error_code == ErrorCode.NONE:
            self.node_ids[key] = place.node_id
            routes.by_target.setdefault(NodeId(place.node_id), []).append(key)
            return
        state = f"looking for the coordinator of {key!r}"
        why = admin_error(place.error_code, place.error_message, state=state)
        if place.error_code in RETRIABLE:
            routes.because = why
        else:
            routes.refused[key] = why


def at_brokers(broker_of: Callable[[K], int | None], otherwise: Target = ANY_NODE) -> Route[K]:
    """Routes to the broker that an item names, and refuses those that are no brokers (any more).

    What names none goes to ``otherwise``.
    """

    def route(items: Sequence[K]) -> Procedure[Routes[K]]:
        routes = Routes[K]()
        belonging: dict[int, list[K]] = {}
        for item in items:
            broker_id = broker_of(item)
            if broker_id is None:
                routes.by_target.setdefault(otherwise, []).append(item)
            else:
                belonging.setdefault(broker_id, []).append(item)
        if not belonging:
            return routes
        try:
            answer = yield Ask(ANY_NODE, ApiKey.METADATA, metadata_of([]))
        except RetriableError as error:
            routes.because = error
            return routes
        known = sorted(broker.node_id for broker in answer.brokers)
        for broker_id, those in belonging.items():
            if broker_id in known:
                routes.by_target[NodeId(broker_id)] = those
                continue
            there = ", ".join(map(str, known))
            why = f"There is no broker {broker_id}; the brokers are: {there}."
            routes.refused |= {
                item: admin_error(ErrorCode.BROKER_NOT_AVAILABLE, why) for item in those
            }
        return routes

    return route


def list_brokers(backoff: Backoff) -> Procedure[list[int]]:
    """The node ids of all brokers."""
    ask = Ask(ANY_NODE, ApiKey.METADATA, metadata_of([]))
    answer = yield from retry(ask, lambda _: ErrorCode.NONE, backoff)
    return sorted(broker.node_id for broker in answer.brokers)
