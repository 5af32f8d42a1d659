"""Committed offsets of groups: listing, setting and deleting."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from fencepost_protocol.errors import RETRIABLE, ErrorCode
from fencepost_protocol.generated.index import ApiKey
from fencepost_protocol.generated.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from fencepost_protocol.generated.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from fencepost_protocol.generated.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
)

from fencepost_client.admin.fan_out import (
    ItemRequest,
    ItemResult,
    ask_at,
    by_topic,
    gather,
    gather_all,
    named,
    require,
    settle,
)
from fencepost_client.admin.routing import Coordinators
from fencepost_client.errors import KafkaError, UnsupportedVersionError, admin_error
from fencepost_client.requests.backoff import Backoff
from fencepost_client.requests.procedures import GROUP, Ask, Coordinator, Procedure, retry
from fencepost_client.types import OffsetAndMetadata, TopicPartition, as_offsets, distinct

_ALL_FROM: Final = 2
_STABLE_FROM: Final = 7
_GROUPS_FROM: Final = 8
_BY_NAME_UP_TO: Final = 9
"""Later versions name topics by id; an administrator may ask for what is deleted, too."""
_NOT_THERE: Final = frozenset({ErrorCode.UNKNOWN_TOPIC_OR_PARTITION})


def list_group_offsets(
    group_id: str,
    partitions: Iterable[TopicPartition] | None,
    backoff: Backoff,
    *,
    require_stable: bool,
) -> Procedure[dict[TopicPartition, OffsetAndMetadata]]:
    """List the offsets of a group in these partitions or all; partitions without are left out."""
    topics = None if partitions is None else list(by_topic(partitions).items())

    def build(version: int) -> OffsetFetchRequest:
        if require_stable:
            require(version, _STABLE_FROM, "waiting for the offsets of open transactions")
        if version >= _GROUPS_FROM:
            group = OffsetFetchRequestGroup(group_id, topics=None)
            if topics is not None:
                group.topics = [
                    OffsetFetchRequestTopics(name, partition_indexes=numbers)
                    for name, numbers in topics
                ]
            return OffsetFetchRequest(groups=[group], require_stable=require_stable)
        request = OffsetFetchRequest(group_id, None)
        if topics is None:
            require(version, _ALL_FROM, "listing all committed offsets of a group")
        else:
            request.topics = [OffsetFetchRequestTopic(name, numbers) for name, numbers in topics]
        if version >= _STABLE_FROM:
            request.require_stable = require_stable
        return request

    ask = Ask(Coordinator(GROUP, group_id), ApiKey.OFFSET_FETCH, build, version_max=_BY_NAME_UP_TO)
    answer = yield from retry(ask, _may_pass, backoff)
    group = _group_of(answer)
    if group.error_code:
        raise admin_error(group.error_code, state=f"listing offsets of group {group_id!r}")
    return settle(*_offsets(group, group_id))


def list_offsets_of_groups(
    group_ids: Iterable[str], backoff: Backoff, *, require_stable: bool
) -> Procedure[dict[str, dict[TopicPartition, OffsetAndMetadata]]]:
    """List the offsets of several groups, by one request for each coordinator."""

    def build(version: int, some: Sequence[str]) -> OffsetFetchRequest:
        require(version, _GROUPS_FROM, "listing the offsets of several groups")
        groups = [OffsetFetchRequestGroup(group_id, topics=None) for group_id in some]
        return OffsetFetchRequest(groups=groups, require_stable=require_stable)

    def read(
        answer: Any, _: object
    ) -> Iterable[ItemResult[str, dict[TopicPartition, OffsetAndMetadata]]]:
        for group in answer.groups:
            done, failed = _offsets(group, group.group_id)
            code = group.error_code or next((each.code for each in failed.values()), 0)
            yield ItemResult(group.group_id, code, None, done)

    wanted = distinct(group_ids)
    doing = "listing offsets of group"
    question = ItemRequest(doing, ApiKey.OFFSET_FETCH, build, read, version_max=_BY_NAME_UP_TO)
    done, failed = yield from gather_all(question, wanted, Coordinators(GROUP), backoff)
    for group_id, error in list(failed.items()):
        if isinstance(error, UnsupportedVersionError):  # before Apache Kafka 3.0: one by one
            del failed[group_id]
            try:
                done[group_id] = yield from list_group_offsets(
                    group_id, None, backoff, require_stable=require_stable
                )
            except KafkaError as refused:
                failed[group_id] = refused
    return settle({each: done[each] for each in wanted if each in done}, failed)


def _offsets(
    group: Any, group_id: str
) -> tuple[dict[TopicPartition, OffsetAndMetadata], dict[TopicPartition, KafkaError]]:
    """What is committed, and what could not be told."""
    done: dict[TopicPartition, OffsetAndMetadata] = {}
    failed: dict[TopicPartition, KafkaError] = {}
    for topic in group.topics:
        for part in topic.partitions:
            where = TopicPartition(topic.name, part.partition_index)
            if part.error_code:
                state = f"listing the offset of group {group_id!r} in {named(where)}"
                failed[where] = admin_error(part.error_code, state=state)
            elif part.committed_offset >= 0:
                done[where] = OffsetAndMetadata(
                    part.committed_offset, part.metadata or "", part.committed_leader_epoch
                )
    return done, failed


def _group_of(answer: Any) -> Any:
    return answer.groups[0] if answer.groups else answer


def _may_pass(answer: Any) -> int:
    group = _group_of(answer)
    if group.error_code:
        return int(group.error_code)
    codes = [part.error_code for topic in group.topics for part in topic.partitions]
    if any(code and code not in RETRIABLE for code in codes):
        return ErrorCode.NONE  # asking again will not help all of them
    return next((code for code in codes if code), ErrorCode.NONE)


def alter_group_offsets(
    group_id: str, offsets: Mapping[TopicPartition, OffsetAndMetadata | int], backoff: Backoff
) -> Procedure[dict[TopicPartition, None]]:
    """Set the offsets of a group without members, in some partitions."""
    given = as_offsets(offsets)

    def build(_: int, some: Sequence[TopicPartition]) -> OffsetCommitRequest:
        topics: dict[str, OffsetCommitRequestTopic] = {}
        for where in some:
            offset = given[where]
            topic = topics.setdefault(where.topic, OffsetCommitRequestTopic(where.topic))
            topic.partitions.append(
                OffsetCommitRequestPartition(
                    where.partition, offset.offset, offset.leader_epoch, offset.metadata
                )
            )
        return OffsetCommitRequest(group_id, topics=list(topics.values()))

    def read(answer: Any, _: object) -> Iterable[ItemResult[TopicPartition, None]]:
        for topic in answer.topics:
            for part in topic.partitions:
                message = None
                if part.error_code == ErrorCode.UNKNOWN_MEMBER_ID:
                    message = f"Group {group_id!r} has members, and only members can commit."
                where = TopicPartition(topic.name, part.partition_index)
                yield ItemResult(where, part.error_code, message, None)

    doing = f"setting the offset of group {group_id!r} in"
    question = ItemRequest(
        doing, ApiKey.OFFSET_COMMIT, build, read, _NOT_THERE, version_max=_BY_NAME_UP_TO
    )
    return gather(question, offsets, ask_at(Coordinator(GROUP, group_id)), backoff)


def delete_group_offsets(
    group_id: str, partitions: Iterable[TopicPartition], backoff: Backoff
) -> Procedure[dict[TopicPartition, None]]:
    """Delete offsets in partitions of topics that no member subscribes to."""

    def build(_: int, some: Sequence[TopicPartition]) -> OffsetDeleteRequest:
        topics = [
            OffsetDeleteRequestTopic(
                name, [OffsetDeleteRequestPartition(number) for number in numbers]
            )
            for name, numbers in by_topic(some).items()
        ]
        return OffsetDeleteRequest(group_id, topics)

    def read(
        answer: Any, asked: Sequence[TopicPartition]
    ) -> Iterable[ItemResult[TopicPartition, None]]:
        if answer.error_code:
            for where in asked:
                yield ItemResult(where, answer.error_code, None, None)
        for topic in answer.topics:
            for part in topic.partitions:
                where = TopicPartition(topic.name, part.partition_index)
                yield ItemResult(where, part.error_code, None, None)

    doing = f"deleting the offset of group {group_id!r} in"
    question = ItemRequest(doing, ApiKey.OFFSET_DELETE, build, read, _NOT_THERE)
    return gather(question, partitions, ask_at(Coordinator(GROUP, group_id)), backoff)
