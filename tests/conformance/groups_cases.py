"""Scripts for both group coordinators: what a client can do, and what it must not."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from fencepost_protocol.generated.consumer_group_describe import ConsumerGroupDescribeRequest
from fencepost_protocol.generated.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatRequestTopicPartitions,
)
from fencepost_protocol.generated.consumer_protocol_subscription import (
    ConsumerProtocolSubscription,
    TopicPartition,
)
from fencepost_protocol.generated.delete_groups import DeleteGroupsRequest
from fencepost_protocol.generated.describe_groups import DescribeGroupsRequest
from fencepost_protocol.generated.heartbeat import HeartbeatRequest
from fencepost_protocol.generated.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from fencepost_protocol.generated.leave_group import LeaveGroupRequest, MemberIdentity
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
    OffsetFetchRequestTopics,
)
from fencepost_protocol.generated.sync_group import SyncGroupRequest, SyncGroupRequestAssignment

from tests.conformance.groups_peer import Case, Side
from tests.support.waiting import polled


def subscription(topics: Iterable[str], owned: Mapping[str, list[int]] | None = None) -> bytes:
    version = 0 if owned is None else 1
    rows = [TopicPartition(*each) for each in (owned or {}).items()]
    out = bytearray(struct.pack(">h", version))
    ConsumerProtocolSubscription(list(topics), None, rows).encode(version, out)
    return bytes(out)


def join(
    group: str,
    member: str = "",
    instance: str | None = None,
    *,
    protocols: Iterable[str] = ("range",),
    topics: Iterable[str] = ("t",),
    owned: Mapping[str, list[int]] | None = None,
    protocol_type: str = "consumer",
    session_ms: int = 30_000,
) -> JoinGroupRequest:
    told = [JoinGroupRequestProtocol(name, subscription(topics, owned)) for name in protocols]
    return JoinGroupRequest(group, session_ms, 60_000, member, instance, protocol_type, told)


def sync(
    group: str,
    member: str,
    generation: int,
    assignment: Mapping[str, bytes] | None = None,
    instance: str | None = None,
    protocol: str = "range",
) -> SyncGroupRequest:
    rows = [SyncGroupRequestAssignment(*each) for each in (assignment or {}).items()]
    return SyncGroupRequest(group, generation, member, instance, "consumer", protocol, rows)


def beat(
    group: str,
    member: str,
    epoch: int,
    owned: Mapping[bytes, list[int]] | None = None,
    **fields: Any,
) -> ConsumerGroupHeartbeatRequest:
    if owned is not None:
        fields["topic_partitions"] = [
            ConsumerGroupHeartbeatRequestTopicPartitions(*each) for each in owned.items()
        ]
    return ConsumerGroupHeartbeatRequest(group, member, epoch, **fields)


def first_beat(group: str, member: str, *topics: str, **fields: Any) -> Any:
    values: dict[str, Any] = {"rebalance_timeout_ms": 60_000, "topic_partitions": []}
    values["subscribed_topic_names"] = list(topics)
    return ConsumerGroupHeartbeatRequest(group, member, 0, **(values | fields))


def commit(
    group: str,
    generation: int = -1,
    member: str = "",
    instance: str | None = None,
    topic: str = "t",
) -> OffsetCommitRequest:
    row = OffsetCommitRequestTopic(topic, partitions=[OffsetCommitRequestPartition(0, 5, 2, "m")])
    return OffsetCommitRequest(group, generation, member, instance, topics=[row])


def delete(group: str, topic: str = "t", partition: int = 0) -> OffsetDeleteRequest:
    row = OffsetDeleteRequestTopic(topic, [OffsetDeleteRequestPartition(partition)])
    return OffsetDeleteRequest(group, [row])


def fetch(group: str, member: str | None = None, epoch: int = -1) -> OffsetFetchRequest:
    topics = [OffsetFetchRequestTopics("t", partition_indexes=[0, 1])]
    return OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group, member, epoch, topics)])


def join_stable(side: Side, group: str, instance: str | None = None) -> Any:
    """A group of one member in its first generation."""
    if instance is None:
        asked = side.ask(join(group))
        side.calls(asked.member_id, "first")
        answer = side.ask(join(group, asked.member_id))
    else:
        answer = side.ask(join(group, instance=instance))
        side.calls(answer.member_id, "first")
    synced = side.ask(
        sync(group, answer.member_id, 1, {answer.member_id: b"all"}, instance=instance)
    )
    assert synced.error_code == 0
    return answer


def describe_new(side: Side, group: str) -> Any:
    """What describes a group whose first join was answered just now.

    Apache Kafka answers MEMBER_ID_REQUIRED before the record of the group is committed, and
    describes the group only after that.
    """

    def described() -> Any:
        answer = side.ask(DescribeGroupsRequest([group]))
        return answer if answer.groups[0].group_state != "Dead" else None

    return polled(described, f"{group} is not described")


# -- offsets -------------------------------------------------------------------------------------


def plain_offsets(side: Side, group: str) -> Iterator[Any]:
    yield side.ask(fetch(group), 9)
    yield side.ask(commit(group), 9)
    yield side.ask(commit(group), 2)
    yield side.ask(fetch(group), 9)
    yield side.ask(fetch(group, "m", 3), 9)
    yield side.ask(commit(group, 3, "m"), 9)
    yield side.ask(commit(group, -1, "", "i"), 9)
    for _ in range(2):
        yield side.ask(delete(group))
    yield side.ask(DeleteGroupsRequest([group]))
    yield side.ask(DeleteGroupsRequest([group]))


def offsets_of_nobody(side: Side, group: str) -> Iterator[Any]:
    for version in (5, 8, 9):
        yield side.ask(commit(group, 3, "m"), version)
    yield side.ask(delete(group))
    retention = commit(group)
    retention.retention_time_ms = 60_000
    yield side.ask(retention, 3)


# -- classic groups ------------------------------------------------------------------------------


def one_classic_member(side: Side, group: str) -> Iterator[Any]:
    asked = side.ask(join(group))
    member = side.calls(asked.member_id, "first")
    yield asked
    yield describe_new(side, group)
    yield side.ask(join(group, member))
    yield side.ask(HeartbeatRequest(group, 1, member))
    yield side.ask(commit(group, 1, member), 9)
    yield side.ask(DescribeGroupsRequest([group]))
    yield side.ask(sync(group, member, 1, {member: b"all"}))
    yield side.ask(sync(group, member, 1))
    yield side.ask(DescribeGroupsRequest([group]))
    yield side.ask(commit(group, 1, member), 9)
    yield side.ask(commit(group, 2, member), 9)
    yield side.ask(commit(group, -1, member), 9)
    yield side.ask(commit(group), 9)
    yield side.ask(fetch(group), 9)
    rows = [OffsetDeleteRequestTopic(topic, [OffsetDeleteRequestPartition(0)]) for topic in "tu"]
    yield side.ask(OffsetDeleteRequest(group, rows))
    yield side.ask(DeleteGroupsRequest([group]))
    yield side.ask(LeaveGroupRequest(group, members=[MemberIdentity(member)]))
    yield side.ask(DescribeGroupsRequest([group]))
    yield side.ask(commit(group), 9)
    yield side.ask(DeleteGroupsRequest([group]))
    yield side.ask(DescribeGroupsRequest([group]))
    yield side.ask(DescribeGroupsRequest([group]), 5)


def two_classic_members(side: Side, group: str) -> Iterator[Any]:
    first = join_stable(side, group).member_id
    asked = side.ask(join(group))
    second = side.calls(asked.member_id, "second")
    waiting = side.begin(join(group, second), 9)
    while True:  # until the request has come in
        code = side.ask(HeartbeatRequest(group, 1, first)).error_code
        if code:
            break
    yield code
    yield side.ask(commit(group, 1, first), 9)
    yield side.ask(sync(group, first, 1))
    yield side.ask(join(group, first))
    yield side.finish(waiting)
    follower = side.begin(sync(group, second, 2), 5)
    yield side.ask(sync(group, first, 2, {first: b"1", second: b"2"}))
    yield side.finish(follower)
    yield side.ask(join(group, second))
    yield side.ask(LeaveGroupRequest(group, members=[MemberIdentity(first)]))
    yield side.ask(HeartbeatRequest(group, 2, second))
    yield side.ask(join(group, second))


def static_members(side: Side, group: str) -> Iterator[Any]:
    first = join_stable(side, group, "i").member_id
    again = side.ask(join(group, instance="i"))
    second = side.calls(again.member_id, "second")
    yield again
    for request in (
        HeartbeatRequest(group, 1, first, "i"),
        HeartbeatRequest(group, 1, first),
        HeartbeatRequest(group, 1, second, "i"),
        HeartbeatRequest(group, 1, second, "j"),
        sync(group, first, 1, instance="i"),
        sync(group, second, 1, instance="i"),
        join(group, first, "i"),
        LeaveGroupRequest(group, members=[MemberIdentity(first, "i"), MemberIdentity("", "j")]),
    ):
        yield side.ask(request)
    yield side.ask(commit(group, 1, first, "i"), 9)
    old = side.ask(join(group, instance="i"), 8)
    side.calls(old.member_id, "third")
    yield old
    yield side.ask(LeaveGroupRequest(group, members=[MemberIdentity("", "i")]))


def classic_refusals(side: Side, group: str) -> Iterator[Any]:
    yield side.ask(HeartbeatRequest(group, 1, "m"))
    yield side.ask(sync(group, "m", 1))
    yield side.ask(LeaveGroupRequest(group, members=[MemberIdentity("m")]))
    yield side.ask(LeaveGroupRequest(group, "m"), 2)
    yield side.ask(join(group, "made-up"))
    yield side.ask(join(group, session_ms=1))
    yield side.ask(join(group, protocols=()), 6)
    yield side.ask(join(group, protocols=()), 7)
    yield side.ask(join(group, protocol_type=""))
    first = join_stable(side, group).member_id
    for request in (
        join(group, "made-up"),
        join(group, protocols=["other"]),
        join(group, protocol_type="connect"),
        sync(group, first, 2),
        sync(group, "other", 1),
        sync(group, first, 1, protocol="other"),
        SyncGroupRequest(group, 1, first),
        HeartbeatRequest(group, 2, first),
        HeartbeatRequest("", 1, first),
        join(""),
    ):
        yield side.ask(request)


# -- consumer groups -----------------------------------------------------------------------------


def one_consumer(side: Side, group: str) -> Iterator[Any]:
    everything = {side.topic_ids["t"]: [0, 1, 2, 3]}
    yield side.ask(first_beat(group, "m", "t"))
    yield side.ask(beat(group, "m", 2))
    yield side.ask(beat(group, "m", 2, everything))
    yield side.ask(ConsumerGroupDescribeRequest([group]))
    yield side.ask(beat(group, "m", 2, everything, subscribed_topic_names=["t", "u"]))
    yield side.ask(beat(group, "m", 2, everything))
    yield side.ask(beat(group, "m", 3))
    yield side.ask(beat(group, "m", 3, server_assignor="range"))
    yield side.ask(commit(group, 3, "m"), 9)
    yield side.ask(commit(group, 3, "m"), 8)
    yield side.ask(commit(group, 2, "m"), 9)
    yield side.ask(commit(group, 1, "m"), 9)
    yield side.ask(commit(group, 4, "m"), 9)
    yield side.ask(commit(group, 3, "x"), 9)
    yield side.ask(commit(group), 9)
    for member, epoch in (("m", 3), ("m", 2), ("x", 3), ("", -1), (None, -1)):
        yield side.ask(fetch(group, member, epoch), 9)
    rows = [OffsetDeleteRequestTopic("t", [OffsetDeleteRequestPartition(0)])]
    yield side.ask(OffsetDeleteRequest(group, rows))
    yield side.ask(DeleteGroupsRequest([group]))
    yield side.ask(DescribeGroupsRequest([group]))
    yield side.ask(beat(group, "m", -1))
    yield side.ask(ConsumerGroupDescribeRequest([group]))
    yield side.ask(DeleteGroupsRequest([group]))
    yield side.ask(ConsumerGroupDescribeRequest([group]))


def two_consumers(side: Side, group: str) -> Iterator[Any]:
    topic = side.topic_ids["t"]
    yield side.ask(first_beat(group, "a", "t"))
    yield side.ask(first_beat(group, "b", "t"))
    shrunk = side.ask(beat(group, "a", 2, {topic: [0, 1, 2, 3]}))
    yield shrunk
    kept = list(shrunk.assignment.topic_partitions[0].partitions)
    yield side.ask(ConsumerGroupDescribeRequest([group]))
    yield side.ask(beat(group, "b", 3, {}))
    yield side.ask(beat(group, "a", 2, {topic: [0, 1, 2, 3]}))
    yield side.ask(beat(group, "a", 2, {topic: kept}))
    yield side.ask(beat(group, "b", 3, {}))
    yield side.ask(beat(group, "a", 2, {topic: kept}))
    yield side.ask(ConsumerGroupDescribeRequest([group]))
    yield side.ask(beat(group, "a", -1))
    yield side.ask(beat(group, "b", 3))
    yield side.ask(beat(group, "b", 4))


def consumer_refusals(side: Side, group: str) -> Iterator[Any]:
    yield side.ask(beat(group, "m", 1))
    yield side.ask(beat(group, "m", -1))
    yield side.ask(first_beat(group, "m", "t"))
    topic = side.topic_ids["t"]
    for request in (
        beat(group, "x", 2),
        beat(group, "m", 3),
        beat(group, "m", 1),
        beat(group, "m", -3),
        beat(group, "m", -2),
        beat(group, "m", -2, instance_id="i"),
        beat(group, "m", 2, instance_id="i"),
        beat(group, "x", -1),
        beat(group, "m", 0),
        beat(group, "m", 1, {topic: [0]}),
        first_beat(group, "", "t"),
        first_beat("", "m", "t"),
        first_beat(group, "m", "t", rebalance_timeout_ms=-1),
        first_beat(group, "m", "t", topic_partitions=None),
        first_beat(group, "m", subscribed_topic_names=None),
        first_beat(group, "m", "t", instance_id=""),
        first_beat(group, "m", "t", rack_id=""),
        first_beat(group, "m", "t", server_assignor="other"),
        first_beat(group, "m", subscribed_topic_names=None, subscribed_topic_regex="("),
        first_beat(group, "m", "t"),
        first_beat(group, "m", "nowhere"),
        beat(group, "m", 2, {topic: [0]}),
        first_beat(group, "n"),
    ):
        yield side.ask(request)


def static_consumers(side: Side, group: str) -> Iterator[Any]:
    yield side.ask(first_beat(group, "a", "t", instance_id="i"))
    yield side.ask(first_beat(group, "b", "t", instance_id="i"))
    yield side.ask(beat(group, "b", 2, instance_id="i"))
    yield side.ask(beat(group, "a", -2, instance_id="i"))
    yield side.ask(ConsumerGroupDescribeRequest([group]))
    yield side.ask(beat(group, "a", 2, instance_id="i"))
    yield side.ask(first_beat(group, "b", "t", instance_id="i"))
    yield side.ask(beat(group, "a", 2, instance_id="i"))
    yield side.ask(ConsumerGroupDescribeRequest([group]))
    yield side.ask(beat(group, "b", -2, instance_id="i"))
    yield side.ask(first_beat(group, "c", "t", "u", instance_id="i"))
    yield side.ask(beat(group, "c", -1, instance_id="i"))


def everything_by_pattern(side: Side, group: str) -> Iterator[Any]:
    named = {"subscribed_topic_names": None, "subscribed_topic_regex": "[tu]|__.*|no.*"}
    yield side.ask(first_beat(group, "m", **named))
    epoch = 1
    while epoch == 1:
        answer = side.ask(beat(group, "m", epoch))
        epoch = answer.member_epoch
    yield answer
    yield side.ask(beat(group, "m", -1))


def patterns(side: Side, group: str) -> Iterator[Any]:
    named = {"subscribed_topic_names": None, "subscribed_topic_regex": "t|u"}
    yield side.ask(first_beat(group, "m", **named))
    epoch = 1
    while epoch == 1:  # Kafka matches the expression on another thread
        answer = side.ask(beat(group, "m", epoch))
        epoch = answer.member_epoch
    yield answer
    yield side.ask(ConsumerGroupDescribeRequest([group]))
    yield side.ask(beat(group, "m", 2, subscribed_topic_regex="", subscribed_topic_names=["t"]))
    yield side.ask(beat(group, "m", 2, {side.topic_ids["t"]: [0, 1, 2, 3]}))
    yield side.ask(beat(group, "m", 3))


# -- from one kind to the other ------------------------------------------------------------------


def empty_groups_change_their_kind(side: Side, group: str) -> Iterator[Any]:
    first = join_stable(side, group).member_id
    side.ask(commit(group, 1, first), 9)
    side.ask(LeaveGroupRequest(group, members=[MemberIdentity(first)]))
    yield side.ask(beat(group, "m", 2))
    yield side.ask(first_beat(group, "m", "t"))
    yield side.ask(fetch(group), 9)
    yield side.ask(beat(group, "m", -1))
    # Not asked here: a JoinGroup with a made-up id. Kafka forgets the consumer group at that, and
    # leaves its records in the log.
    again = side.ask(join(group))
    side.calls(again.member_id, "second")
    yield again
    yield described(side, group)
    yield side.ask(fetch(group), 9)


def described(side: Side, group: str) -> Any:
    """A classic group once it is committed, which Kafka does not wait for: it says
    MEMBER_ID_REQUIRED before."""
    for _ in range(100):
        answer = side.ask(DescribeGroupsRequest([group]))
        if answer.groups[0].group_state != "Dead":
            break
        side.wait(10)
    return answer


def upgrade_and_downgrade(side: Side, group: str) -> Iterator[Any]:
    told = {"t": [0, 1, 2, 3]}
    assignment = b"\0\1\0\0\0\1\0\1t\0\0\0\4" + struct.pack(">4i", 0, 1, 2, 3) + b"\xff\xff\xff\xff"
    asked = side.ask(join(group))
    first = side.calls(asked.member_id, "first")
    side.ask(join(group, first, owned={}))
    yield side.ask(sync(group, first, 1, {first: assignment}))
    joined = side.ask(first_beat(group, "m", "t"))
    yield joined
    yield side.ask(ConsumerGroupDescribeRequest([group]))
    yield side.ask(HeartbeatRequest(group, 1, first))
    yield side.ask(commit(group, 1, first), 9)
    yield side.ask(sync(group, first, 1))
    yield side.ask(join(group, first, owned=told))
    yield side.ask(HeartbeatRequest(group, 1, first))
    describe = side.ask(ConsumerGroupDescribeRequest([group]))
    yield describe
    (classic,) = [each for each in describe.groups[0].members if each.member_id == first]
    kept = {"t": list(classic.target_assignment.topic_partitions[0].partitions)}
    yield side.ask(join(group, first, owned=kept))
    yield side.ask(HeartbeatRequest(group, 2, first))
    yield side.ask(HeartbeatRequest(group, 1, first))
    yield side.ask(sync(group, first, 2)).error_code
    yield side.ask(beat(group, "m", 2, {}))
    yield side.ask(beat(group, "m", 1, {}))
    yield side.ask(join(group, protocols=["other"]))
    yield side.ask(join(group, protocol_type="connect"))
    yield side.ask(HeartbeatRequest(group, 2, "m"))
    yield side.ask(sync(group, "m", 2))
    yield side.ask(beat(group, "m", -1))
    yield side.ask(DescribeGroupsRequest([group])).groups[0].group_state
    yield side.ask(HeartbeatRequest(group, 2, first))
    again = side.ask(join(group, first, owned=kept))
    yield again


def no_upgrade(side: Side, group: str) -> Iterator[Any]:
    asked = side.ask(join(group, protocol_type="connect"))
    member = side.calls(asked.member_id, "first")
    side.ask(join(group, member, protocol_type="connect"))
    yield side.ask(first_beat(group, "m", "t"))


CASES: tuple[Case, ...] = (
    plain_offsets,
    offsets_of_nobody,
    one_classic_member,
    two_classic_members,
    static_members,
    classic_refusals,
    one_consumer,
    two_consumers,
    consumer_refusals,
    static_consumers,
    patterns,
    everything_by_pattern,
    empty_groups_change_their_kind,
    upgrade_and_downgrade,
    no_upgrade,
)
