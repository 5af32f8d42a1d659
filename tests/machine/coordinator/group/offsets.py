"""Shorter ways to commit and fetch, and groups that are there already."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping
from typing import Any

from fencepost_broker.coordinator.records import LogRecord
from fencepost_protocol.generated.consumer_protocol_subscription import (
    ConsumerProtocolSubscription,
)
from fencepost_protocol.generated.group_metadata import (
    GroupMetadataKey,
    GroupMetadataValue,
    MemberMetadata,
)
from fencepost_protocol.generated.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from fencepost_protocol.generated.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)
from fencepost_protocol.generated.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)

from tests.machine.coordinator.group.partition import Partition, code


def commit(
    partition: Partition,
    group_id: str,
    offsets: Mapping[tuple[str, int], int],
    generation: int = -1,
    member: str = "",
    instance: str | None = None,
    version: int = 9,
) -> list[str]:
    """Commits, and gives a code for each partition in order."""
    request = OffsetCommitRequest(group_id, generation, member, instance)
    request.topics = [
        OffsetCommitRequestTopic(topic, partitions=[OffsetCommitRequestPartition(number, offset)])
        for (topic, number), offset in offsets.items()
    ]
    answer = partition.ask(request, version)
    return [code(each.error_code) for topic in answer.topics for each in topic.partitions]


def commit_in_transaction(
    partition: Partition,
    group_id: str,
    offsets: Mapping[tuple[str, int], int],
    generation: int = -1,
    member: str = "",
    instance: str | None = None,
    producer_id: int = 7,
) -> list[str]:
    """The same within a producer's transaction."""
    request = TxnOffsetCommitRequest("txn", group_id, producer_id, 3, generation, member, instance)
    request.topics = [
        TxnOffsetCommitRequestTopic(topic, [TxnOffsetCommitRequestPartition(number, offset)])
        for (topic, number), offset in offsets.items()
    ]
    answer = partition.ask(request)
    return [code(each.error_code) for topic in answer.topics for each in topic.partitions]


def fetch(
    partition: Partition, group_id: str, *wanted: tuple[str, int], stable: bool = False
) -> list[Any]:
    """What is committed for these partitions, as the answer has it."""
    topics = [
        OffsetFetchRequestTopics(topic, partition_indexes=[number]) for topic, number in wanted
    ]
    request = OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group_id, topics=topics)])
    request.require_stable = stable
    (group,) = partition.ask(request, 9).groups
    assert group.error_code == 0
    return [each for topic in group.topics for each in topic.partitions]


def committed(partition: Partition, group_id: str, *wanted: tuple[str, int]) -> list[int]:
    """The offsets alone."""
    return [each.committed_offset for each in fetch(partition, group_id, *wanted)]


def subscription(topics: Iterable[str]) -> bytes:
    """What a consumer tells about itself."""
    out = bytearray(struct.pack(">h", 0))
    ConsumerProtocolSubscription(list(topics)).encode(0, out)
    return bytes(out)


def stable_group(
    partition: Partition,
    group_id: str,
    generation: int,
    members: Mapping[str, str | None],
    topics: Iterable[str] = ("t",),
    protocol_type: str = "consumer",
) -> None:
    """A group that the log has: members with their instance ids."""
    stored = [
        MemberMetadata(member, instance, "c", "/h", 60_000, 10_000, subscription(topics), b"a")
        for member, instance in members.items()
    ]
    leader = next(iter(members), None)
    protocol = "range" if members else None
    value = GroupMetadataValue(
        protocol_type, generation, protocol, leader, partition.now_ms, stored
    )
    partition.replay(LogRecord(GroupMetadataKey(group_id), value, 3))
