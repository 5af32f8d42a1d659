"""Topics: creating, growing, listing, describing and deleting them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from fencepost_protocol.errors import RETRIABLE, ErrorCode
from fencepost_protocol.generated.create_partitions import (
    CreatePartitionsAssignment,
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from fencepost_protocol.generated.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from fencepost_protocol.generated.delete_topics import DeleteTopicsRequest, DeleteTopicState
from fencepost_protocol.generated.describe_topic_partitions import (
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsRequestCursor,
    TopicRequest,
)
from fencepost_protocol.generated.index import ApiKey

from fencepost_client.admin.fan_out import (
    ItemRequest,
    ItemResult,
    ask_at,
    gather,
    pieces,
    require,
    settle,
)
from fencepost_client.admin.routing import metadata_of
from fencepost_client.admin.setting_text import setting_text
from fencepost_client.errors import KafkaError, UnsupportedVersionError, admin_error
from fencepost_client.requests.backoff import Backoff
from fencepost_client.requests.procedures import ANY_NODE, Ask, Controller, Procedure, retry
from fencepost_client.types import distinct

_DELETE_BY_STATE_FROM: Final = 6
_NAMES_AT_ONCE: Final = 2000
_NOT_THERE: Final = frozenset({ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.UNKNOWN_TOPIC_ID})
_CONTROLLER: Final = ask_at(Controller())


@dataclass(frozen=True, slots=True)
class NewTopic:
    """A topic to create; -1 means the broker's default.

    ``assignments`` sets the replicas (partition -> brokers, the preferred leader first); both
    counts must then be -1.
    """

    name: str
    partitions: int = -1
    replication_factor: int = -1
    configs: Mapping[str, bool | float | str] = field(default_factory=dict)
    assignments: Mapping[int, Sequence[int]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class NewPartitions:
    """The new number of partitions of a topic, with replicas of the new ones in ``assignments``."""

    count: int
    assignments: Sequence[Sequence[int]] | None = None


@dataclass(frozen=True, slots=True)
class CreatedTopic:
    """A created topic; brokers before Kafka 2.4 report no details (-1, no id, no configs)."""

    name: str
    topic_id: bytes
    partitions: int
    replication_factor: int
    configs: Mapping[str, str | None]
    """All settings, with the broker's defaults."""


@dataclass(frozen=True, slots=True)
class TopicListing:
    """A topic in a list."""

    name: str
    topic_id: bytes
    is_internal: bool


@dataclass(frozen=True, slots=True)
class PartitionDescription:
    """A partition; the leader is -1 during an election."""

    partition: int
    leader: int
    leader_epoch: int
    replicas: tuple[int, ...]
    in_sync_replicas: tuple[int, ...]
    offline_replicas: tuple[int, ...] = ()
    eligible_leader_replicas: tuple[int, ...] = ()
    """Eligible leader replicas (KIP-966); empty if there are none, or the broker reports none."""
    last_known_eligible_leader_replicas: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class TopicDescription:
    """A topic with its partitions."""

    name: str
    topic_id: bytes
    is_internal: bool
    partitions: tuple[PartitionDescription, ...]


# -- changing -------------------------------------------------------------------------------------


def create_topics(
    topics: Iterable[NewTopic], backoff: Backoff, timeout_ms: int, *, validate_only: bool
) -> Procedure[dict[str, CreatedTopic]]:
    """Create topics, as many as possible; raises the first error after that."""
    wanted: dict[str, NewTopic] = {}
    for topic in topics:
        if topic.name in wanted:
            raise ValueError(f"topic {topic.name!r} is given twice: create it once")
        wanted[topic.name] = topic

    def build(_: int, names: Sequence[str]) -> CreateTopicsRequest:
        creatable = [_creatable(wanted[name]) for name in names]
        return CreateTopicsRequest(creatable, timeout_ms, validate_only)

    def read(answer: Any, _: object) -> Iterable[ItemResult[str, CreatedTopic]]:
        for topic in answer.topics:
            configs = {config.name: config.value for config in topic.configs or ()}
            made = CreatedTopic(
                topic.name, topic.topic_id, topic.num_partitions, topic.replication_factor, configs
            )
            yield ItemResult(topic.name, topic.error_code, topic.error_message, made)

    question = ItemRequest("creating topic", ApiKey.CREATE_TOPICS, build, read)
    return gather(question, wanted, _CONTROLLER, backoff)


def _creatable(topic: NewTopic) -> CreatableTopic:
    return CreatableTopic(
        topic.name,
        topic.partitions,
        topic.replication_factor,
        [
            CreatableReplicaAssignment(partition, list(brokers))
            for partition, brokers in topic.assignments.items()
        ],
        [
            CreatableTopicConfig(name, setting_text(name, value))
            for name, value in topic.configs.items()
        ],
    )


def create_partitions(
    counts: Mapping[str, int | NewPartitions],
    backoff: Backoff,
    timeout_ms: int,
    *,
    validate_only: bool,
) -> Procedure[dict[str, None]]:
    """Increase the number of partitions of topics."""

    def build(_: int, names: Sequence[str]) -> CreatePartitionsRequest:
        growing = [_growing(name, counts[name]) for name in names]
        return CreatePartitionsRequest(growing, timeout_ms, validate_only)

    def read(answer: Any, _: object) -> Iterable[ItemResult[str, None]]:
        for topic in answer.results:
            yield ItemResult(topic.name, topic.error_code, topic.error_message, None)

    question = ItemRequest("growing topic", ApiKey.CREATE_PARTITIONS, build, read, _NOT_THERE)
    return gather(question, counts, _CONTROLLER, backoff)


def _growing(name: str, wanted: int | NewPartitions) -> CreatePartitionsTopic:
    if isinstance(wanted, int):
        return CreatePartitionsTopic(name, wanted, None)
    if wanted.assignments is None:
        return CreatePartitionsTopic(name, wanted.count, None)
    assignments = [CreatePartitionsAssignment(list(brokers)) for brokers in wanted.assignments]
    return CreatePartitionsTopic(name, wanted.count, assignments)


def delete_topics(
    topics: Iterable[str | bytes], backoff: Backoff, timeout_ms: int
) -> Procedure[dict[str | bytes, None]]:
    """Delete topics and their records, by name or by id (bytes, KIP-516)."""

    def build(version: int, some: Sequence[str | bytes]) -> DeleteTopicsRequest:
        if version >= _DELETE_BY_STATE_FROM:
            states = [
                DeleteTopicState(topic) if isinstance(topic, str) else DeleteTopicState(None, topic)
                for topic in some
            ]
            return DeleteTopicsRequest(states, timeout_ms=timeout_ms)
        names = [topic for topic in some if isinstance(topic, str)]
        if len(names) < len(some):
            require(version, _DELETE_BY_STATE_FROM, "deleting topics by id")
        return DeleteTopicsRequest(topic_names=names, timeout_ms=timeout_ms)

    def read(answer: Any, _: object) -> Iterable[ItemResult[str | bytes, None]]:
        for topic in answer.responses:
            message = topic.error_message
            # Asked by id, the answer has the name as well; only one of them was asked about.
            for item in (topic.name, bytes(topic.topic_id)):
                if item is not None:
                    yield ItemResult(item, topic.error_code, message, None)

    question = ItemRequest("deleting topic", ApiKey.DELETE_TOPICS, build, read, _NOT_THERE)
    return gather(question, topics, _CONTROLLER, backoff)


# -- looking --------------------------------------------------------------------------------------


def list_topics(backoff: Backoff, *, include_internal: bool) -> Procedure[dict[str, TopicListing]]:
    """List all topics by name."""
    ask = Ask(ANY_NODE, ApiKey.METADATA, metadata_of(None))
    answer = yield from retry(ask, lambda _: ErrorCode.NONE, backoff)
    return {
        topic.name: TopicListing(topic.name, bytes(topic.topic_id), topic.is_internal)
        for topic in sorted(answer.topics, key=lambda topic: topic.name)
        if include_internal or not topic.is_internal
    }


def describe_topics(
    names: Iterable[str] | None, backoff: Backoff
) -> Procedure[dict[str, TopicDescription]]:
    """Describe topics, these or all; by Metadata before Kafka 3.8."""
    wanted = None if names is None else distinct(names)
    try:
        found = yield from _pages(wanted, backoff)
    except UnsupportedVersionError:
        found = yield from _from_metadata(wanted, backoff)
    done: dict[str, TopicDescription] = {}
    failed: dict[str, KafkaError] = {}
    for name in sorted(found) if wanted is None else wanted:
        code, description = found.get(name, (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, None))
        if code == ErrorCode.NONE and description is not None:
            done[name] = description
        else:
            failed[name] = admin_error(code, state=f"describing topic {name!r}")
    return settle(done, failed)


_Found = dict[str, tuple[int, TopicDescription]]


def _pages(wanted: Sequence[str] | None, backoff: Backoff) -> Procedure[_Found]:
    """By DescribeTopicPartitions (KIP-966), which gives a part and a cursor to go on from."""
    found: _Found = {}
    for some in [()] if wanted is None else pieces(wanted, _NAMES_AT_ONCE):
        topics = [TopicRequest(name) for name in some]
        cursor = None
        while True:
            request = DescribeTopicPartitionsRequest(topics, cursor=cursor)
            answer = yield from retry(_page(request), lambda _: ErrorCode.NONE, backoff)
            for topic in answer.topics:
                description = _description(topic)
                if topic.name in found:
                    before = found[topic.name][1]
                    description = _joined(before, description)
                found[topic.name] = topic.error_code, description
            if answer.next_cursor is None:
                break
            place = answer.next_cursor.topic_name, answer.next_cursor.partition_index
            if cursor is not None and place <= (cursor.topic_name, cursor.partition_index):
                raise admin_error(
                    ErrorCode.UNKNOWN_SERVER_ERROR,
                    f"The broker repeats a page of its answer: it is at {place} again.",
                    state="describing topics",
                )
            cursor = DescribeTopicPartitionsRequestCursor(*place)
    return found


def _page(request: DescribeTopicPartitionsRequest) -> Ask:
    return Ask(ANY_NODE, ApiKey.DESCRIBE_TOPIC_PARTITIONS, lambda _: request)


def _joined(before: TopicDescription, more: TopicDescription) -> TopicDescription:
    partitions = before.partitions + more.partitions
    return TopicDescription(before.name, before.topic_id, before.is_internal, partitions)


def _from_metadata(wanted: Sequence[str] | None, backoff: Backoff) -> Procedure[_Found]:
    def may_pass(answer: Any) -> int:
        codes = (topic.error_code for topic in answer.topics)
        return next((code for code in codes if code in RETRIABLE and code not in _NOT_THERE), 0)

    ask = Ask(ANY_NODE, ApiKey.METADATA, metadata_of(wanted))
    answer = yield from retry(ask, may_pass, backoff)
    return {topic.name: (topic.error_code, _description(topic)) for topic in answer.topics}


def _description(topic: Any) -> TopicDescription:
    partitions = (
        PartitionDescription(
            part.partition_index,
            part.leader_id,
            part.leader_epoch,
            tuple(part.replica_nodes),
            tuple(part.isr_nodes),
            tuple(part.offline_replicas),
            tuple(getattr(part, "eligible_leader_replicas", None) or ()),
            tuple(getattr(part, "last_known_elr", None) or ()),
        )
        for part in sorted(topic.partitions, key=lambda part: part.partition_index)
    )
    return TopicDescription(topic.name, bytes(topic.topic_id), topic.is_internal, tuple(partitions))
