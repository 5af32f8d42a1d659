"""Groups and their offsets by scripted answers."""

from __future__ import annotations

import pytest
from fencepost_client import (
    AbortableTransactionError,
    FencedError,
    GroupIdNotFoundError,
    MemberToRemove,
    NonEmptyGroupError,
    OffsetAndMetadata,
    TopicPartition,
    UnsupportedVersionError,
)
from fencepost_client.admin.group_offsets import (
    alter_group_offsets,
    delete_group_offsets,
    list_group_offsets,
    list_offsets_of_groups,
)
from fencepost_client.admin.groups import (
    delete_groups,
    describe_groups,
    list_groups,
    remove_members,
)
from fencepost_client.admin.share_offsets import SharePartitionOffset, list_share_group_offsets
from fencepost_client.admin.streams_groups import (
    StreamsMember,
    StreamsSubtopology,
    StreamsTask,
    StreamsTasks,
    StreamsTopology,
)
from fencepost_client.consumer.group_protocol import (
    Subscription,
    write_assignment,
    write_subscription,
)
from fencepost_client.requests.procedures import Moved, Pause
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated import share_group_describe as shares
from fencepost_protocol.generated import streams_group_describe as streams
from fencepost_protocol.generated.consumer_group_describe import (
    Assignment,
    ConsumerGroupDescribeResponse,
    Member,
    TopicPartitions,
)
from fencepost_protocol.generated.consumer_group_describe import DescribedGroup as ConsumerGroup
from fencepost_protocol.generated.delete_groups import DeletableGroupResult, DeleteGroupsResponse
from fencepost_protocol.generated.describe_groups import DescribedGroup as ClassicGroup
from fencepost_protocol.generated.describe_groups import (
    DescribedGroupMember,
    DescribeGroupsResponse,
)
from fencepost_protocol.generated.describe_share_group_offsets import (
    DescribeShareGroupOffsetsResponse,
    DescribeShareGroupOffsetsResponseGroup,
    DescribeShareGroupOffsetsResponsePartition,
    DescribeShareGroupOffsetsResponseTopic,
)
from fencepost_protocol.generated.leave_group import LeaveGroupResponse, MemberResponse
from fencepost_protocol.generated.list_groups import ListedGroup, ListGroupsResponse
from fencepost_protocol.generated.offset_commit import (
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from fencepost_protocol.generated.offset_delete import (
    OffsetDeleteResponse,
    OffsetDeleteResponsePartition,
    OffsetDeleteResponseTopic,
)
from fencepost_protocol.generated.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartition,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopic,
    OffsetFetchResponseTopics,
)
from fencepost_protocol.generated.share_group_describe import DescribedGroup as ShareGroup
from fencepost_protocol.generated.share_group_describe import ShareGroupDescribeResponse
from fencepost_protocol.generated.streams_group_describe import StreamsGroupDescribeResponse

from tests.machine.client.admin_answers import ONE, ZERO, backoff, brokers, coordinators
from tests.machine.client.scripts import Script

NOT_FOUND = ErrorCode.GROUP_ID_NOT_FOUND


def test_groups_of_all_coordinators_are_listed() -> None:
    one = ListGroupsResponse(
        groups=[ListedGroup("b", "consumer", "Empty", "classic"), ListedGroup("c")]
    )
    two = ListGroupsResponse(groups=[ListedGroup("a"), ListedGroup("c", group_state="Stable")])
    loading = ListGroupsResponse(error_code=ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
    script = Script([brokers(1, 2), brokers(1, 2), one, loading, brokers(1, 2), two])
    found = script.play(list_groups(["Empty"], ["classic"], backoff()))
    assert [(each.group_id, each.coordinator_id) for each in found] == [
        ("a", 2),
        ("b", 1),
        ("c", 2),
    ]
    assert script.asked[2].states_filter == ["Empty"]
    assert script.asked[2].types_filter == ["classic"]
    for version, states, what in ((3, ["Empty"], "state"), (4, [], "type")):
        with pytest.raises(UnsupportedVersionError, match=f"by {what}"):
            Script([brokers(1), brokers(1)], version_max=version).play(
                list_groups(states, ["classic"], backoff())
            )


def new_group(group_id: str, code: int = 0) -> ConsumerGroup:
    assignment = Assignment([TopicPartitions(bytes(16), "t", [1, 0])])
    member = Member("m", "i", "r", 5, "c", "h", ["t"], "", assignment, Assignment(), 1)
    return ConsumerGroup(code, None, group_id, "Stable", 7, 6, "uniform", [member])


def classic_group(group_id: str, **members: bytes) -> ClassicGroup:
    told = [
        DescribedGroupMember(
            name, None, "c", "h", write_subscription(Subscription(("t",))), assignment
        )
        for name, assignment in members.items()
    ]
    return ClassicGroup(0, None, group_id, "Stable", "consumer", "range", told)


def not_a_share_group(group_id: str) -> ShareGroupDescribeResponse:
    return ShareGroupDescribeResponse(groups=[ShareGroup(NOT_FOUND, group_id=group_id)])


def shared_group(group_id: str) -> ShareGroup:
    assignment = shares.Assignment([shares.TopicPartitions(bytes(16), "t", [1])])
    member = shares.Member("m", "r", 3, "c", "h", ["t"], assignment)
    return ShareGroup(0, None, group_id, "Stable", 4, 3, "simple", [member])


def streams_group(group_id: str) -> streams.DescribedGroup:
    topology = streams.Topology(
        2,
        [
            streams.Subtopology(
                "0", ["t"], ["again"], [streams.TopicInfo("log")], [streams.TopicInfo("made")]
            )
        ],
    )
    now = streams.Assignment(
        [streams.TaskIds("0", [1, 0])], [streams.TaskIds("0", [2])], [streams.TaskIds("0", [3])]
    )
    member = streams.Member(
        "m", 3, None, "r", "c", "h", 2, "p", streams.Endpoint("host", 7),
        [streams.KeyValue("k", "v")], assignment=now,
        target_assignment=streams.Assignment([streams.TaskIds("0", [1])]),
    )  # fmt: skip
    return streams.DescribedGroup(0, None, group_id, "Stable", 4, 3, topology, [member])


def not_a_streams_group(group_id: str) -> StreamsGroupDescribeResponse:
    return StreamsGroupDescribeResponse(
        groups=[streams.DescribedGroup(NOT_FOUND, group_id=group_id)]
    )


def test_a_streams_group_has_a_topology_and_tasks() -> None:
    script = Script(
        [
            coordinators({"words": 1}),
            ConsumerGroupDescribeResponse(groups=[ConsumerGroup(NOT_FOUND, group_id="words")]),
            coordinators({"words": 1}),
            not_a_share_group("words"),
            coordinators({"words": 1}),
            StreamsGroupDescribeResponse(groups=[streams_group("words")]),
        ]
    )
    group = script.play(describe_groups(["words"], backoff()))["words"]
    assert (group.group_type, group.state) == ("streams", "Stable")
    assert (group.group_epoch, group.assignment_epoch) == (4, 3)
    assert group.topology == StreamsTopology(
        2, (StreamsSubtopology("0", ("t",), ("made",), ("again",), ("log",)),)
    )
    [member] = group.members
    assert (member.member_epoch, member.rack_id, member.is_classic) == (3, "r", False)
    assert member.assignment == tuple(
        TopicPartition(topic, number) for topic in ("made", "t") for number in (0, 1)
    )
    assert member.target_assignment == (TopicPartition("made", 1), ONE)
    assert member.streams == StreamsMember(
        "p",
        2,
        "host:7",
        {"k": "v"},
        StreamsTasks(
            (StreamsTask("0", 0), StreamsTask("0", 1)),
            (StreamsTask("0", 2),),
            (StreamsTask("0", 3),),
        ),
        StreamsTasks((StreamsTask("0", 1),)),
    )
    assert str(member.streams.tasks.active[1]) == "0_1"


def test_groups_of_all_types_are_described() -> None:
    script = Script(
        [
            coordinators({"new": 1, "old": 2, "queue": 2, "words": 2}),
            ConsumerGroupDescribeResponse(groups=[new_group("new")]),
            ConsumerGroupDescribeResponse(
                groups=[
                    ConsumerGroup(NOT_FOUND, group_id=each) for each in ("old", "queue", "words")
                ]
            ),
            coordinators({"old": 2, "queue": 2, "words": 2}),
            ShareGroupDescribeResponse(
                groups=[
                    ShareGroup(NOT_FOUND, group_id="old"),
                    shared_group("queue"),
                    ShareGroup(NOT_FOUND, group_id="words"),
                ]
            ),
            coordinators({"old": 2, "words": 2}),
            StreamsGroupDescribeResponse(
                groups=[
                    streams.DescribedGroup(NOT_FOUND, group_id="old"),
                    streams_group("words"),
                ]
            ),
            coordinators({"old": 2}),
            DescribeGroupsResponse(
                groups=[classic_group("old", good=write_assignment([ONE]), bad=b"\x7f\x00\x00")]
            ),
        ]
    )
    found = script.play(describe_groups(["old", "new", "queue", "words"], backoff()))
    assert list(found) == ["old", "new", "queue", "words"]
    queue = found["queue"]
    assert (queue.group_type, queue.assignor, queue.group_epoch) == ("share", "simple", 4)
    assert (queue.coordinator_id, queue.members[0].assignment) == (2, (ONE,))
    new, old = found["new"], found["old"]
    assert (new.group_type, new.coordinator_id, new.group_epoch) == ("consumer", 1, 7)
    (member,) = new.members
    assert member.assignment == (ZERO, ONE)
    assert (member.target_assignment, member.is_classic) == ((), False)
    assert (member.subscribed_topics, member.subscribed_regex) == (("t",), None)
    assert (old.group_type, old.assignor, old.group_epoch) == ("classic", "range", None)
    good, bad = old.members
    assert (good.assignment, good.subscribed_topics) == ((ONE,), ("t",))
    assert bad.assignment == ()


def test_a_group_that_nobody_knows_is_not_found() -> None:
    dead = ClassicGroup(group_id="g", group_state="Dead")
    script = Script(
        [
            coordinators({"g": 1}),
            UnsupportedVersionError("no KIP-848"),
            coordinators({"g": 1}),
            UnsupportedVersionError("no KIP-932"),
            coordinators({"g": 1}),
            UnsupportedVersionError("no KIP-1071"),
            coordinators({"g": 1}),
            DescribeGroupsResponse(groups=[dead]),
        ]
    )
    with pytest.raises(GroupIdNotFoundError, match="'g'"):
        script.play(describe_groups(["g"], backoff()))


def test_groups_are_deleted_at_their_coordinators() -> None:
    script = Script(
        [
            coordinators({"a": 1, "b": 2}),
            DeleteGroupsResponse(results=[DeletableGroupResult("a", ErrorCode.NOT_COORDINATOR)]),
            DeleteGroupsResponse(results=[DeletableGroupResult("b", ErrorCode.NON_EMPTY_GROUP)]),
            coordinators({"a": 2}),
            DeleteGroupsResponse(results=[DeletableGroupResult("a")]),
        ]
    )
    with pytest.raises(NonEmptyGroupError, match="'b'") as raised:
        script.play(delete_groups(["a", "b"], backoff()))
    assert raised.value.outcomes["a"] is None


def test_members_are_removed_by_id_or_as_static_ones() -> None:
    answer = LeaveGroupResponse(members=[MemberResponse("m", None), MemberResponse("x", "i")])
    script = Script([answer])
    wanted = [MemberToRemove("m"), MemberToRemove(group_instance_id="i")]
    script.play(remove_members("g", wanted, "why", backoff()))
    sent = [(each.member_id, each.group_instance_id) for each in script.asked[0].members]
    assert sent == [("m", None), ("", "i")]
    assert script.asked[0].members[0].reason == "why"
    refused = LeaveGroupResponse(
        members=[MemberResponse("m", None, ErrorCode.UNKNOWN_MEMBER_ID), MemberResponse("", "i")]
    )
    with pytest.raises(FencedError, match="member 'm'"):
        Script([refused]).play(remove_members("g", wanted, "", backoff()))
    with pytest.raises(UnsupportedVersionError, match="removing"):
        Script([], version_max=2).play(remove_members("g", wanted, "", backoff()))


def test_all_members_are_removed() -> None:
    script = Script(
        [
            coordinators({"g": 1}),
            ConsumerGroupDescribeResponse(groups=[ConsumerGroup(NOT_FOUND, group_id="g")]),
            coordinators({"g": 1}),
            not_a_share_group("g"),
            coordinators({"g": 1}),
            not_a_streams_group("g"),
            coordinators({"g": 1}),
            DescribeGroupsResponse(groups=[classic_group("g", a=b"", b=b"")]),
            LeaveGroupResponse(members=[MemberResponse("a", None), MemberResponse("b", None)]),
        ]
    )
    script.play(remove_members("g", None, "", backoff()))
    assert [each.member_id for each in script.asked[-1].members] == ["a", "b"]
    static = Script(
        [
            coordinators({"g": 1}),
            ConsumerGroupDescribeResponse(groups=[new_group("g")]),
            LeaveGroupResponse(members=[MemberResponse("m", "i")]),
        ]
    )
    static.play(remove_members("g", None, "", backoff()))
    assert static.asked[-1].members[0].group_instance_id == "i"


# -- offsets --------------------------------------------------------------------------------------


def fetched(version: int, *parts: tuple[int, int]) -> OffsetFetchResponse:
    """Offset and code of each partition."""
    told = [(number, offset, 3, "n", code) for number, (offset, code) in enumerate(parts)]
    if version >= 8:
        topic = OffsetFetchResponseTopics(
            "t", partitions=[OffsetFetchResponsePartitions(*each) for each in told]
        )
        return OffsetFetchResponse(groups=[OffsetFetchResponseGroup("g", [topic])])
    old = OffsetFetchResponseTopic("t", [OffsetFetchResponsePartition(*each) for each in told])
    return OffsetFetchResponse(topics=[old])


@pytest.mark.parametrize("version", [2, 7, 9])
def test_what_a_group_has_committed_is_listed(version: int) -> None:
    for wanted in (None, [ZERO, ONE]):
        script = Script([fetched(version, (5, 0), (-1, 0))], version_max=version)
        found = script.play(list_group_offsets("g", wanted, backoff(), require_stable=version >= 7))
        assert found == {ZERO: OffsetAndMetadata(5, "n", 3)}
        (request,) = script.asked
        topics = request.groups[0].topics if version >= 8 else request.topics
        assert (topics is None) == (wanted is None)


def test_offsets_of_open_transactions_are_waited_for() -> None:
    unstable = ErrorCode.UNSTABLE_OFFSET_COMMIT
    script = Script([fetched(9, (5, 0), (-1, unstable)), fetched(9, (5, 0), (6, 0))])
    found = script.play(list_group_offsets("g", None, backoff(), require_stable=True))
    assert found[ONE].offset == 6
    assert script.count(Pause) == 1
    assert script.asked[0].groups[0].topics is None
    denied = ErrorCode.TOPIC_AUTHORIZATION_FAILED
    script = Script([fetched(9, (5, unstable), (-1, denied))])
    with pytest.raises(Exception, match="t-0") as raised:
        script.play(list_group_offsets("g", None, backoff(), require_stable=True))
    assert set(raised.value.outcomes) == {ZERO, ONE}  # type: ignore[attr-defined]


def test_several_groups_are_asked_for_at_once_and_again_where_that_helps() -> None:
    def fetched_of(**offsets: tuple[int, int]) -> OffsetFetchResponse:
        groups = []
        for group_id, (offset, code) in offsets.items():
            part = OffsetFetchResponsePartitions(0, offset, error_code=code)
            topic = OffsetFetchResponseTopics("t", partitions=[part])
            groups.append(OffsetFetchResponseGroup(group_id, [topic]))
        return OffsetFetchResponse(groups=groups)

    unstable = ErrorCode.UNSTABLE_OFFSET_COMMIT
    found, again = coordinators({"g": 1, "h": 1}), coordinators({"h": 1})
    script = Script(
        [found, fetched_of(g=(5, 0), h=(-1, unstable)), again, fetched_of(h=(6, 0))], version_max=9
    )
    asked = list_offsets_of_groups(["g", "h"], backoff(), require_stable=True)
    assert script.play(asked) == {
        "g": {ZERO: OffsetAndMetadata(5)},
        "h": {ZERO: OffsetAndMetadata(6)},
    }
    fetches = [each for each in script.asked if isinstance(each, OffsetFetchRequest)]
    assert [[group.group_id for group in each.groups] for each in fetches] == [["g", "h"], ["h"]]
    # A broker that takes one group only is asked one by one.
    script = Script([again, fetched(7, (5, 0), (-1, 0))], version_max=7)
    asked = list_offsets_of_groups(["h"], backoff(), require_stable=True)
    assert script.play(asked) == {"h": {ZERO: OffsetAndMetadata(5, "n", 3)}}


@pytest.mark.parametrize(
    ("version", "partitions", "stable", "what"),
    [(6, [ZERO], True, "open transactions"), (1, None, False, "all committed offsets of a group")],
)
def test_what_an_old_broker_cannot_tell(
    version: int, partitions: list[TopicPartition] | None, stable: bool, what: str
) -> None:
    with pytest.raises(UnsupportedVersionError, match=what):
        Script([], version_max=version).play(
            list_group_offsets("g", partitions, backoff(), require_stable=stable)
        )


def committed(*codes: int) -> OffsetCommitResponse:
    parts = [OffsetCommitResponsePartition(number, code) for number, code in enumerate(codes)]
    return OffsetCommitResponse(topics=[OffsetCommitResponseTopic("t", partitions=parts)])


def test_offsets_are_set_without_a_member() -> None:
    script = Script([committed(0, ErrorCode.NOT_COORDINATOR), committed(0, 0)])
    offsets: dict[TopicPartition, OffsetAndMetadata | int]
    offsets = {ZERO: 5, ONE: OffsetAndMetadata(6, "note", 2)}
    script.play(alter_group_offsets("g", offsets, backoff()))
    first, second = script.asked
    assert (first.generation_id_or_member_epoch, first.member_id) == (-1, "")
    assert [part.committed_offset for part in first.topics[0].partitions] == [5, 6]
    assert [part.partition_index for part in second.topics[0].partitions] == [1]
    assert script.count(Moved) == 1
    with pytest.raises(FencedError, match="has members"):
        Script([committed(ErrorCode.UNKNOWN_MEMBER_ID)]).play(
            alter_group_offsets("g", {ZERO: 5}, backoff())
        )


def test_offsets_are_deleted() -> None:
    parts = [
        OffsetDeleteResponsePartition(0),
        OffsetDeleteResponsePartition(1, ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC),
    ]
    answer = OffsetDeleteResponse(topics=[OffsetDeleteResponseTopic("t", parts)])
    with pytest.raises(AbortableTransactionError, match="t-1") as raised:
        Script([answer]).play(delete_group_offsets("g", [ZERO, ONE], backoff()))
    assert raised.value.outcomes[ZERO] is None


def test_offsets_of_a_share_group() -> None:
    part = DescribeShareGroupOffsetsResponsePartition
    topic = DescribeShareGroupOffsetsResponseTopic(
        "t", partitions=[part(0, 5, 2, 7), part(1, -1, 0, -1), part(2, 6, 1, -1)]
    )
    group = DescribeShareGroupOffsetsResponseGroup("g", [topic])
    for wanted in (None, [ZERO, ONE, TopicPartition("t", 2)]):
        script = Script([DescribeShareGroupOffsetsResponse(groups=[group])])
        found = script.play(list_share_group_offsets("g", wanted, backoff()))
        assert found == {
            ZERO: SharePartitionOffset(5, 2, 7),
            TopicPartition("t", 2): SharePartitionOffset(6, 1, None),
        }
        topics = script.asked[0].groups[0].topics
        assert topics is None if wanted is None else topics[0].partitions == [0, 1, 2]
