"""Scripts that go through all versions of what is asked of groups, with filters and limits."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fencepost_protocol.generated.consumer_group_describe import ConsumerGroupDescribeRequest
from fencepost_protocol.generated.delete_groups import DeleteGroupsRequest
from fencepost_protocol.generated.describe_groups import DescribeGroupsRequest
from fencepost_protocol.generated.error_code import ErrorCode
from fencepost_protocol.generated.find_coordinator import FindCoordinatorRequest
from fencepost_protocol.generated.heartbeat import HeartbeatRequest
from fencepost_protocol.generated.join_group import JoinGroupRequest
from fencepost_protocol.generated.leave_group import LeaveGroupRequest, MemberIdentity
from fencepost_protocol.generated.list_groups import ListGroupsRequest
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
from fencepost_protocol.generated.sync_group import SyncGroupRequest
from fencepost_protocol.primitives import ZERO_UUID

from tests.conformance.groups_cases import beat, commit, delete, first_beat, join, join_stable, sync
from tests.conformance.groups_peer import Case, Side

NOWHERE = bytes(range(16))
COMMITS = range(2, 11)
FETCHES = range(1, 11)
BY_ID_FROM, SEVERAL_FROM, MEMBERS_FROM = 10, 8, 9


def commit_of(
    side: Side, group: str, version: int, *rows: tuple[str, int, int, str | None]
) -> OffsetCommitRequest:
    topics: dict[str, OffsetCommitRequestTopic] = {}
    for topic, partition, offset, metadata in rows:
        topic_id = side.topic_ids.get(topic, NOWHERE) if version >= BY_ID_FROM else ZERO_UUID
        name = "" if version >= BY_ID_FROM else topic
        entry = topics.setdefault(topic, OffsetCommitRequestTopic(name, topic_id, []))
        entry.partitions.append(OffsetCommitRequestPartition(partition, offset, 3, metadata))
    return OffsetCommitRequest(group, topics=list(topics.values()))


def fetch_of(
    side: Side, group: str, version: int, topics: dict[str, list[int]] | None, *more: str
) -> OffsetFetchRequest:
    if version < SEVERAL_FROM:
        rows = None
        if topics is not None:
            rows = [OffsetFetchRequestTopic(*each) for each in topics.items()]
        return OffsetFetchRequest(group, rows)
    groups = []
    for name in (group, *more):
        found = None
        if topics is not None:
            found = [
                OffsetFetchRequestTopics(
                    "" if version >= BY_ID_FROM else topic,
                    side.topic_ids.get(topic, NOWHERE) if version >= BY_ID_FROM else ZERO_UUID,
                    numbers,
                )
                for topic, numbers in topics.items()
            ]
        groups.append(OffsetFetchRequestGroup(name, topics=found))
    return OffsetFetchRequest(groups=groups)


def in_order(topics: list[Any]) -> list[Any]:
    for topic in topics:
        topic.partitions.sort(key=lambda each: each.partition_index)
    return sorted(topics, key=lambda topic: (topic.name, repr(topic.partitions)))  # ids are chance


def commits(side: Side, group: str) -> Iterator[Any]:
    for version in COMMITS:
        yield side.ask(commit_of(side, group, version, ("t", 0, version, f"by {version}")), version)
        rows = (
            ("t", 1, 10 + version, None), ("t", 77, 1, ""), ("nowhere", 0, 1, ""),
            ("u", 0, -1, ""), ("u", 1, 5, "x" * 4097), ("t", 2, 7, "x" * 4096),
        )  # fmt: skip
        yield in_order(side.ask(commit_of(side, group, version, *rows), version).topics)
        empty = OffsetCommitRequest(group, topics=[])
        yield side.ask(empty, version)
        yield side.ask(commit_of(side, "", version, ("t", 0, 1, "")), version)
        everything = OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group, topics=None)])
        yield in_order(side.ask(everything, 9).groups[0].topics)


def fetches(side: Side, group: str) -> Iterator[Any]:
    side.ask(commit_of(side, group, 9, ("t", 0, 5, "m"), ("u", 1, 6, None)), 9)
    for version in FETCHES:
        yield side.ask(fetch_of(side, group, version, {"t": [0, 1], "u": [1]}), version)
        yield side.ask(fetch_of(side, group, version, {"t": [0, 77], "nowhere": [0]}), version)
        yield side.ask(fetch_of(side, group, version, {}), version)
        if version >= 2:
            yield side.ask(fetch_of(side, group, version, None), version)
            yield side.ask(fetch_of(side, "unheard-of", version, None), version)
        yield side.ask(fetch_of(side, "unheard-of", version, {"t": [0]}), version)
        yield side.ask(fetch_of(side, "", version, {"t": [0]}), version)
        if version >= SEVERAL_FROM:
            yield side.ask(fetch_of(side, group, version, {"t": [0]}, "unheard-of", group), version)


def each_version_of_members(side: Side, group: str) -> Iterator[Any]:
    """A member of each version of all that members ask."""
    for version in range(10):
        name = f"{group}-{version}"
        member = ""
        if version >= 4:
            asked = side.ask(join(name), version)
            member = side.calls(asked.member_id, f"of {version}")
            yield asked
        request: JoinGroupRequest = join(name, member)
        joined = side.ask(request, version)
        side.calls(joined.member_id, f"of {version}")
        yield joined
        member = joined.member_id
        synced: SyncGroupRequest = sync(name, member, 1, {member: b"all"})
        yield side.ask(synced, min(version, 5))
        yield side.ask(HeartbeatRequest(name, 1, member), min(version, 4))
        yield side.ask(HeartbeatRequest(name, 2, member), min(version, 4))
        yield side.ask(commit(name, 1, member), 2 + min(version, 7))
        yield side.ask(DescribeGroupsRequest([name, "unheard-of"]), min(version, 6))
        leaving = min(version, 5)
        for name_of_leaver in (member, "nobody"):
            one = LeaveGroupRequest(name, name_of_leaver)
            several = LeaveGroupRequest(name, members=[MemberIdentity(name_of_leaver)])
            yield side.ask(one if leaving < 3 else several, leaving)
        yield side.ask(DescribeGroupsRequest([name]), min(version, 6))
        deleted = side.ask(DeleteGroupsRequest([name, name, "unheard-of"]), min(version, 2))
        yield sorted((each.group_id, each.error_code) for each in deleted.results)


def lists(side: Side, group: str) -> Iterator[Any]:
    join_stable(side, f"{group}-stable")
    side.ask(commit(f"{group}-simple"), 9)
    side.ask(first_beat(f"{group}-consumer", "m", "t"))
    asked = side.ask(join(f"{group}-connect", protocol_type="connect"))
    side.ask(join(f"{group}-connect", asked.member_id, protocol_type="connect"))

    def rows(version: int, states: list[str] | None = None, types: list[str] | None = None) -> Any:
        answer = side.ask(ListGroupsRequest(states or [], types or []), version)
        return ErrorCode(answer.error_code).name, sorted(
            (each.group_id, each.protocol_type, each.group_state, each.group_type)
            for each in answer.groups
            if each.group_id.startswith(group)
        )

    for version in range(6):
        yield rows(version)
    for states in (["Stable"], ["stable"], ["Empty", "Stable"], ["nope"], ["CompletingRebalance"],
                   ["Assigning"], ["Reconciling"], [""]):  # fmt: skip
        yield states, rows(5, states)
        yield states, rows(4, states)
    for types in (["classic"], ["Classic"], ["consumer"], ["CONSUMER", "classic"], ["nope"],
                  ["share"], ["streams"], [""]):  # fmt: skip
        yield types, rows(5, None, types)
    yield rows(5, ["Stable"], ["consumer"])


def coordinators(side: Side, group: str) -> Iterator[Any]:
    def found(version: int, key_type: int, *keys: str) -> Any:
        request = FindCoordinatorRequest("", key_type, list(keys))
        if version < 4:
            request = FindCoordinatorRequest(keys[0], key_type)
        answer = side.ask(request, version)
        if version < 4:
            return ErrorCode(answer.error_code).name, answer.node_id
        return [
            (each.key, ErrorCode(each.error_code).name, each.node_id)
            for each in answer.coordinators
        ]

    while found(1, 1, group)[0] == ErrorCode.COORDINATOR_NOT_AVAILABLE.name:
        pass  # Kafka makes its topics in the background
    for version in range(7):
        yield version, found(version, 0, group)
        yield version, found(version, 0, "")
        if version:
            yield version, found(version, 1, group)
            yield version, found(version, 1, "")
            yield version, found(version, 9, group)
            yield version, found(version, -1, group)
        if version >= 4:
            yield version, found(version, 0, group, "another", group, "")
            yield version, found(version, 0)


def older_epochs(side: Side, group: str) -> Iterator[Any]:
    """KIP-1251: an offset of a partition that the member has kept may come with an older epoch."""
    topic = side.topic_ids["t"]
    yield side.ask(first_beat(group, "a", "t"))
    side.ask(beat(group, "a", 2, {topic: [0, 1, 2, 3]}))
    yield side.ask(first_beat(group, "b", "t"))
    shrunk = side.ask(beat(group, "a", 2, {topic: [0, 1, 2, 3]}))
    kept = list(shrunk.assignment.topic_partitions[0].partitions)
    gone = sorted({0, 1, 2, 3} - set(kept))
    yield side.ask(beat(group, "a", 2, {topic: kept}))
    yield side.ask(beat(group, "b", 3, {}))

    def code(epoch: int, partition: int, member: str = "a", version: int = 9) -> str:
        request = commit_of(side, group, version, ("t", partition, 1, ""))
        request.member_id, request.generation_id_or_member_epoch = member, epoch
        answer = side.ask(request, version)
        return ErrorCode(answer.topics[0].partitions[0].error_code).name

    for version in (9, 10):
        for epoch in (-1, 0, 1, 2, 3, 4):
            yield version, epoch, code(epoch, kept[0], "a", version)
            yield version, epoch, code(epoch, gone[0], "a", version)
            yield version, epoch, code(epoch, gone[0], "b", version)
    both = commit_of(side, group, 9, ("t", kept[0], 1, ""), ("t", gone[0], 1, ""))
    both.member_id, both.generation_id_or_member_epoch = "a", 2
    yield side.ask(both, 9)
    wanted = [OffsetFetchRequestTopics("t", ZERO_UUID, kept[:1])]
    fetched = OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group, "a", 2, wanted)])
    yield ErrorCode(side.ask(fetched, 9).groups[0].error_code).name


def expressions(side: Side, group: str) -> Iterator[Any]:
    """Regular expressions of RE2, and what is none."""
    for number, pattern in enumerate(
        ("t", "t|u", "[tu]", "(?i)T", r"\pL", "t{1,2}", "^t$", "", "(", "[", "a**", "(?=t)",
         "(?<n>t)", r"(t)\1", "(?P<n>t)", r"\C", r"\\C", "x*" * 50, "t{1001}", "(?:t", ")", "\\"),
    ):  # fmt: skip
        name = f"{group}-{number}"
        answer = side.ask(
            first_beat(name, "m", subscribed_topic_names=None, subscribed_topic_regex=pattern)
        )
        yield pattern, ErrorCode(answer.error_code).name


def descriptions(side: Side, group: str) -> Iterator[Any]:
    side.ask(first_beat(f"{group}-c", "m", "t"))
    side.ask(commit(f"{group}-simple"), 9)
    names = [f"{group}-c", f"{group}-simple", "unheard-of", "", f"{group}-c"]
    for version in (0, 1):
        answer = side.ask(ConsumerGroupDescribeRequest(names), version)
        yield sorted(
            (each.group_id, ErrorCode(each.error_code).name, each.group_state, len(each.members))
            for each in answer.groups
        )
    for version in range(7):
        answer = side.ask(DescribeGroupsRequest(names), version)
        yield sorted(
            (each.group_id, ErrorCode(each.error_code).name, each.group_state, each.protocol_type)
            for each in answer.groups
        )
    for version in range(3):
        answer = side.ask(DeleteGroupsRequest(["", f"{group}-c", "unheard-of"]), version)
        yield sorted((each.group_id, ErrorCode(each.error_code).name) for each in answer.results)


def offsets_of_unknown_partitions(side: Side, group: str) -> Iterator[Any]:
    yield side.ask(commit(group, 3, "m"), 10)  # the id of no topic
    for generation in (-1, 3):
        yield side.ask(commit(group, generation, topic="nowhere"), 9)
    yield side.ask(delete(group, "nowhere"))
    yield side.ask(commit(group), 9)
    for topic, partition in (("t", 9), ("nowhere", 0), ("t", 0)):
        yield side.ask(delete(group, topic, partition))


VERSION_CASES: tuple[Case, ...] = (
    offsets_of_unknown_partitions,
    commits,
    fetches,
    each_version_of_members,
    lists,
    coordinators,
    older_epochs,
    expressions,
    descriptions,
)
