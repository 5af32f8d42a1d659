"""Scripts for both group coordinators: what members of share groups can do, and must not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fencepost_protocol.generated.alter_share_group_offsets import (
    AlterShareGroupOffsetsRequest,
    AlterShareGroupOffsetsRequestPartition,
    AlterShareGroupOffsetsRequestTopic,
)
from fencepost_protocol.generated.consumer_group_describe import ConsumerGroupDescribeRequest
from fencepost_protocol.generated.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from fencepost_protocol.generated.create_topics import CreatableTopic, CreateTopicsRequest
from fencepost_protocol.generated.delete_groups import DeleteGroupsRequest
from fencepost_protocol.generated.delete_share_group_offsets import (
    DeleteShareGroupOffsetsRequest,
    DeleteShareGroupOffsetsRequestTopic,
)
from fencepost_protocol.generated.delete_topics import DeleteTopicsRequest, DeleteTopicState
from fencepost_protocol.generated.describe_groups import DescribeGroupsRequest
from fencepost_protocol.generated.describe_share_group_offsets import (
    DescribeShareGroupOffsetsRequest,
    DescribeShareGroupOffsetsRequestGroup,
    DescribeShareGroupOffsetsRequestTopic,
)
from fencepost_protocol.generated.list_groups import ListGroupsRequest
from fencepost_protocol.generated.metadata import MetadataRequest
from fencepost_protocol.generated.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from fencepost_protocol.generated.share_group_describe import ShareGroupDescribeRequest

from tests.conformance.groups_cases import beat as consumer_beat
from tests.conformance.groups_cases import commit, first_beat, join
from tests.conformance.share_peer import ShareSide
from tests.support.waiting import polled


def one_member(side: ShareSide, group: str) -> Iterator[Any]:
    yield side.beat(group, "m", 0, ["t"])
    yield side.beat(group, "m", 2)
    yield side.beat(group, "m", 2)
    yield side.beat(group, "m", 3)
    yield side.beat(group, "m", 3, ["t"])
    yield side.beat(group, "m", 3, None, "r")
    yield described(side, group)
    yield side.beat(group, "m", 3, ["u", "t"])
    yield side.beat(group, "m", 4)
    yield side.beat(group, "m", 0, ["u", "t"])
    yield side.beat(group, "m", 5, [])
    yield side.beat(group, "m", -1)
    yield described(side, group)
    yield side.beat(group, "m", 0, ["t"])
    yield side.beat(group, "m", 8)


def described(side: ShareSide, group: str) -> Any:
    return side.ask(ShareGroupDescribeRequest([group]))


def several_members(side: ShareSide, group: str) -> Iterator[Any]:
    yield side.beat(group, "a", 0, ["t", "u"])
    yield side.beat(group, "a", 2)
    yield side.beat(group, "b", 0, ["t", "u"])
    yield side.beat(group, "a", 3)
    yield side.beat(group, "c", 0, ["t", "u"])
    for member in "abc":
        yield side.beat(group, member, 4)
        yield side.beat(group, member, 5)
    yield described(side, group)
    yield side.beat(group, "a", -1)
    yield side.beat(group, "b", 5)
    yield side.beat(group, "c", 5)
    yield described(side, group)


def refusals(side: ShareSide, group: str) -> Iterator[Any]:
    yield side.beat(group, "m", 0)
    yield side.beat(group, "m", 0, [])
    yield side.beat(group, "", 0, ["t"])
    yield side.beat("", "m", 0, ["t"])
    yield side.beat(group, "m" * 37, 0, ["t"])
    yield side.beat(group, "m", 0, ["t"], "")
    yield side.beat(group, "m", -2, ["t"])
    yield side.beat(group, "m", 3, ["t"])
    yield side.beat(group, "m", -1)
    yield side.ask(ShareGroupDescribeRequest([group]))
    yield side.ask(ShareGroupDescribeRequest([""]))
    yield side.beat(group, "m", 0, ["no-such-topic"])
    yield side.beat(group, "m", 1)
    yield side.beat(group, "m", 3)
    yield side.beat(group, "n", 2)
    yield side.beat(group, "n", -1)


def topics_come_and_go(side: ShareSide, group: str) -> Iterator[Any]:
    topic = f"of-{group}"

    def known(count: int) -> bool:
        answer = side.ask(MetadataRequest(None), 12)
        found = {each.name: each for each in answer.topics}
        side.topic_ids |= {each.name: each.topic_id for each in answer.topics}
        partitions = found[topic].partitions if topic in found else []
        return len(partitions) == count and all(each.leader_id >= 0 for each in partitions)

    yield side.beat(group, "m", 0, [topic])
    side.ask(CreateTopicsRequest([CreatableTopic(topic, 1, 1)], 10_000), 5)
    polled(lambda: known(1), "the topic is not there")
    side.wait(500)
    yield side.beat(group, "m", 2)
    yield side.beat(group, "m", 3)
    side.ask(CreatePartitionsRequest([CreatePartitionsTopic(topic, 3, None)], 10_000), 1)
    polled(lambda: known(3), "the partitions are not there")
    side.wait(500)
    yield side.beat(group, "m", 4)
    yield side.beat(group, "m", 5)
    yield side.beat(group, "m", 6)
    side.ask(DeleteTopicsRequest([DeleteTopicState(topic)], [], 10_000), 6)
    polled(lambda: known(0), "the topic is still there")
    side.wait(500)
    yield side.beat(group, "m", 6)
    yield described(side, group)
    yield side.beat(group, "m", 7)


def other_requests(side: ShareSide, group: str) -> Iterator[Any]:
    yield side.beat(group, "m", 0, ["t"])
    yield from others(side, group)
    yield side.beat(group, "m", -1)
    yield from others(side, group)


def others(side: ShareSide, group: str) -> Iterator[Any]:
    yield side.ask(first_beat(group, "c", "t"))
    yield side.ask(join(group))
    yield side.ask(DescribeGroupsRequest([group]))
    yield side.ask(ConsumerGroupDescribeRequest([group]))
    yield side.ask(commit(group), 9)
    row = OffsetDeleteRequestTopic("t", [OffsetDeleteRequestPartition(0)])
    yield side.ask(OffsetDeleteRequest(group, [row]))
    for types, states in ((["SHARE"], []), (["share"], ["empty"]), ([], ["Stable"])):
        listed = side.ask(ListGroupsRequest(states, types)).groups
        yield [each for each in listed if each.group_id == group]


def groups_of_other_types(side: ShareSide, group: str) -> Iterator[Any]:
    yield side.ask(first_beat(group, "c", "t"))
    yield side.beat(group, "m", 0, ["t"])
    yield side.beat(group, "m", -1)
    yield described(side, group)
    yield offsets(side, group)
    yield alter(side, group, ("t", {0: 5}))
    yield delete(side, group, "t")
    yield side.ask(consumer_beat(group, "c", -1))
    yield side.beat(group, "m", 0, ["t"])


def a_group_is_deleted(side: ShareSide, group: str) -> Iterator[Any]:
    yield side.ask(DeleteGroupsRequest([group]))
    yield side.beat(group, "m", 0, ["t"])
    yield side.ask(DeleteGroupsRequest([group]))
    yield side.beat(group, "m", -1)
    yield side.ask(DeleteGroupsRequest([group]))
    yield described(side, group)
    yield side.state_records(group)
    yield side.beat(group, "m", 0, ["t"])


def offsets(side: ShareSide, group: str, *topics: tuple[str, list[int]], version: int = 1) -> Any:
    asked = DescribeShareGroupOffsetsRequestGroup(group, None)
    if topics:
        asked.topics = [DescribeShareGroupOffsetsRequestTopic(*each) for each in topics]
    (answer,) = side.ask(DescribeShareGroupOffsetsRequest([asked]), version).groups
    for topic in answer.topics:
        topic.partitions.sort(key=lambda each: each.partition_index)
    answer.topics.sort(key=lambda each: each.topic_name)
    return answer


def alter(side: ShareSide, group: str, *topics: tuple[str, dict[int, int]]) -> Any:
    rows = [
        AlterShareGroupOffsetsRequestTopic(
            name, [AlterShareGroupOffsetsRequestPartition(*each) for each in starts.items()]
        )
        for name, starts in topics
    ]
    answer = side.ask(AlterShareGroupOffsetsRequest(group, rows))
    answer.responses.sort(key=lambda each: each.topic_name)
    side.wait_for_shares(group)
    return answer


def delete(side: ShareSide, group: str, *topics: str) -> Any:
    rows = [DeleteShareGroupOffsetsRequestTopic(each) for each in topics]
    answer = side.ask(DeleteShareGroupOffsetsRequest(group, rows))
    answer.responses.sort(key=lambda each: each.topic_name)
    side.wait_for_shares(group)
    return answer


def offsets_of_a_group(side: ShareSide, group: str) -> Iterator[Any]:
    yield side.beat(group, "m", 0, ["t"])
    yield offsets(side, group)
    yield offsets(side, group, ("t", [0, 1]), ("u", [0]), ("no", [0]))
    yield alter(side, group, ("t", {0: 5}))
    yield delete(side, group, "t")
    yield side.beat(group, "m", -1)
    yield alter(side, group, ("t", {0: 5, 9: 5}), ("u", {1: 7}), ("no", {0: 1}))
    yield offsets(side, group)
    yield side.read(group, 0)
    yield side.write(group, (3, 0), 8, (9, 10, 2, 1), complete=2)
    yield offsets(side, group)
    yield offsets(side, group, version=0)
    yield delete(side, group, "t", "no", "u", "u")
    yield offsets(side, group)
    yield side.state_records(group)
    yield side.beat(group, "m", 0, ["t"])
    yield offsets(side, group)


def offsets_of_nobody(side: ShareSide, group: str) -> Iterator[Any]:
    yield offsets(side, group)
    yield delete(side, group, "t")
    yield alter(side, group, ("t", {0: 5}))
    yield offsets(side, group)
    yield described(side, group)
    yield side.beat(group, "m", 0, ["t"])
    yield offsets(side, group)
    yield alter(side, "", ("t", {0: 5}))
    yield delete(side, "", "t")


GROUP_CASES = (
    one_member,
    several_members,
    refusals,
    topics_come_and_go,
    other_requests,
    groups_of_other_types,
    a_group_is_deleted,
    offsets_of_a_group,
    offsets_of_nobody,
)
