"""Committing and fetching the offsets of a group, as procedures.

From version 10 both requests name topics by their ids (KIP-848), so that nothing is committed for a
topic that was deleted and made again. Where an id is not known they go by names, as before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, TypeAlias

from fencepost_protocol.errors import KINDS, RETRIABLE, ErrorCode
from fencepost_protocol.generated.index import ApiKey
from fencepost_protocol.generated.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from fencepost_protocol.generated.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
)

from fencepost_client.errors import CommitFailedError, RetriableError, consumer_error
from fencepost_client.requests.backoff import Backoff
from fencepost_client.requests.connection import Build
from fencepost_client.requests.procedures import (
    GROUP,
    Ask,
    Coordinator,
    LeaderOf,
    Moved,
    Pause,
    Procedure,
)
from fencepost_client.types import GroupMetadata, OffsetAndMetadata, TopicPartition

IdOf: TypeAlias = Callable[[str], bytes | None]
"""The id of a topic, as it is known at that time."""
_INSTANCE_FROM: Final = 7
_STABLE_FROM: Final = 7
_GROUPS_FROM: Final = 8
_MEMBER_FROM: Final = 9
_IDS_FROM: Final = 10
_OUT_OF_THE_GROUP: Final = {
    ErrorCode.ILLEGAL_GENERATION,
    ErrorCode.UNKNOWN_MEMBER_ID,
    ErrorCode.REBALANCE_IN_PROGRESS,
    ErrorCode.STALE_MEMBER_EPOCH,
}


def no_ids(_: str) -> None:
    """For who knows topics by name alone."""
    return


def fetch_committed(
    group: GroupMetadata,
    partitions: Iterable[TopicPartition],
    backoff: Backoff,
    *,
    require_stable: bool,
    id_of: IdOf = no_ids,
) -> Procedure[dict[TopicPartition, OffsetAndMetadata]]:
    """What is committed; partitions without a commit are left out.

    Waits while offsets are part of a transaction that is open (KIP-447), where the broker says so:
    by UNSTABLE_OFFSET_COMMIT or, to old versions, COORDINATOR_LOAD_IN_PROGRESS. A member that is
    named by ``group`` is refused with ``CommitFailedError`` when it is in another epoch (KIP-848).
    """
    topics: dict[str, list[int]] = {}
    for where in partitions:
        topics.setdefault(where.topic, []).append(where.partition)
    group_id = group.group_id
    answer, names = yield from _until_decided(
        Coordinator(GROUP, group_id),
        ApiKey.OFFSET_FETCH,
        lambda ids: _fetch_request(group, topics, ids, require_stable=require_stable),
        lambda answer: _codes(_group_of(answer)),
        dict.fromkeys(topics, id_of),
        backoff,
        f"fetching offsets of group {group_id!r}",
    )
    return {
        TopicPartition(name, part.partition_index): OffsetAndMetadata(
            part.committed_offset, part.metadata or "", part.committed_leader_epoch
        )
        for topic in _group_of(answer).topics
        if (name := topic.name or names.get(topic.topic_id))
        for part in topic.partitions
        if part.committed_offset >= 0
    }


def _fetch_request(
    group: GroupMetadata,
    topics: Mapping[str, list[int]],
    ids: Mapping[str, bytes],
    *,
    require_stable: bool,
) -> Build:
    def build(version: int) -> OffsetFetchRequest:
        if version >= _GROUPS_FROM:
            rows = [
                OffsetFetchRequestTopics(topic_id=ids[name], partition_indexes=parts)
                if version >= _IDS_FROM
                else OffsetFetchRequestTopics(name, partition_indexes=parts)
                for name, parts in topics.items()
            ]
            wanted = OffsetFetchRequestGroup(group.group_id, topics=rows)
            if version >= _MEMBER_FROM and group.member_id:
                wanted.member_id, wanted.member_epoch = group.member_id, group.generation_id
            return OffsetFetchRequest(groups=[wanted], require_stable=require_stable)
        request = OffsetFetchRequest(
            group.group_id, [OffsetFetchRequestTopic(name, parts) for name, parts in topics.items()]
        )
        if version >= _STABLE_FROM:
            request.require_stable = require_stable
        return request

    return build


def _group_of(answer: Any) -> Any:
    return answer.groups[0] if answer.groups else answer


def _codes(answer: Any) -> list[int]:
    codes = [part.error_code for topic in answer.topics for part in topic.partitions]
    return [getattr(answer, "error_code", 0), *codes]


def commit_offsets(
    group: GroupMetadata,
    offsets: Mapping[TopicPartition, OffsetAndMetadata],
    backoff: Backoff,
    id_of: IdOf = no_ids,
) -> Procedure[None]:
    """Commit; raises ``CommitFailedError`` when the group has gone on without this member."""
    topics: dict[str, list[OffsetCommitRequestPartition]] = {}
    for where, offset in offsets.items():
        topics.setdefault(where.topic, []).append(
            OffsetCommitRequestPartition(
                where.partition, offset.offset, offset.leader_epoch, offset.metadata
            )
        )
    # What was read of a topic is not said of another one that has its name later.
    ids = {topic: id_of(topic) for topic in topics}
    yield from _until_decided(
        Coordinator(GROUP, group.group_id),
        ApiKey.OFFSET_COMMIT,
        lambda ids: _commit_request(group, topics, ids),
        _codes,
        dict.fromkeys(topics, ids.get),
        backoff,
        f"committing offsets of group {group.group_id!r}",
    )


def _commit_request(
    group: GroupMetadata,
    topics: Mapping[str, list[OffsetCommitRequestPartition]],
    ids: Mapping[str, bytes],
) -> Build:
    def build(version: int) -> OffsetCommitRequest:
        request = OffsetCommitRequest(group.group_id, group.generation_id, group.member_id)
        if version >= _INSTANCE_FROM:
            request.group_instance_id = group.group_instance_id
        request.topics = [
            OffsetCommitRequestTopic(topic_id=ids[name], partitions=parts)
            if version >= _IDS_FROM
            else OffsetCommitRequestTopic(name, partitions=parts)
            for name, parts in topics.items()
        ]
        return request

    return build


def _until_decided(
    to: Coordinator,
    api_key: int,
    build_with: Callable[[Mapping[str, bytes]], Build],
    codes_of: Callable[[Any], list[int]],
    topics: Mapping[str, IdOf],
    backoff: Backoff,
    state: str,
) -> Procedure[tuple[Any, dict[bytes, str]]]:
    """Ask until no code invites a further attempt; gives the answer, and what its ids mean."""
    while True:
        known = {topic: id_of(topic) for topic, id_of in topics.items()}
        ids = {topic: topic_id for topic, topic_id in known.items() if topic_id}
        by_name = None if len(ids) == len(topics) else _IDS_FROM - 1
        try:
            answer = yield Ask(to, api_key, build_with(ids), version_max=by_name)
        except RetriableError:
            yield Moved(to)
            yield Pause(backoff.next_ms())
            continue
        codes = [code for code in codes_of(answer) if code]
        code = next((code for code in codes if code not in RETRIABLE), codes[0] if codes else 0)
        if not code:
            return answer, {topic_id: topic for topic, topic_id in ids.items()}
        if code in _OUT_OF_THE_GROUP:
            raise CommitFailedError(code=code, state=state)
        if code not in RETRIABLE:
            raise consumer_error(code, state=state)
        if code in {ErrorCode.UNKNOWN_TOPIC_ID, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION}:
            yield Moved(LeaderOf(next(iter(topics)), 0))
        elif KINDS[code] == "refresh":
            yield Moved(to)
        yield Pause(backoff.next_ms())
