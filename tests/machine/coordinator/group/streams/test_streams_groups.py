"""KIP-1071: members of streams groups come and go, and get their tasks."""

from __future__ import annotations

from typing import Any

import pytest
from fencepost_broker.coordinator.group.commands import EndSession, Rebalance
from fencepost_broker.coordinator.group.streams.commands import CreateInternalTopics
from fencepost_broker.coordinator.group.streams.group import StreamsGroup
from fencepost_broker.coordinator.group.streams.topology import StatusCode
from fencepost_protocol.generated.delete_groups import DeleteGroupsRequest
from fencepost_protocol.generated.error_code import ErrorCode
from fencepost_protocol.generated.list_groups import ListGroupsRequest
from fencepost_protocol.generated.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from fencepost_protocol.generated.streams_group_describe import StreamsGroupDescribeRequest
from fencepost_protocol.generated.streams_group_heartbeat import (
    StreamsGroupHeartbeatRequestEndpoint,
    StreamsGroupHeartbeatRequestTaskIds,
)

from tests.machine.coordinator.group.partition import Partition
from tests.machine.coordinator.group.streams.members import (
    AT_ONCE,
    GROUP,
    SIMPLE,
    beat,
    internal,
    join,
    part,
    topology,
)

ALL = {"0": [0, 1, 2, 3]}
STATEFUL = topology(part("0", "t", changelogs=[internal("store")]))
Given = dict[str, list[int]] | None


def active(answer: Any) -> Given:
    rows = answer.active_tasks
    return None if rows is None else {each.subtopology_id: each.partitions for each in rows}


def standby(answer: Any) -> Given:
    rows = answer.standby_tasks
    return None if rows is None else {each.subtopology_id: each.partitions for each in rows}


def statuses(answer: Any) -> list[int]:
    return [each.status_code for each in answer.status]


def state(partition: Partition) -> str:
    return str(partition.ask(StreamsGroupDescribeRequest([GROUP])).groups[0].group_state)


def two_members(partition: Partition, told: Any = SIMPLE) -> None:
    """Two stable members, a with 0 and 1, b with 2 and 3."""
    partition.ask(join("a", told))
    partition.ask(join("b", told))
    partition.ask(beat("a", 2, ALL))
    partition.ask(beat("a", 2, {"0": [0, 1]}))
    assert active(partition.ask(beat("b", 3, {}))) == {"0": [2, 3]}


def test_a_task_is_given_up_before_another_process_gets_it() -> None:
    partition = Partition(**AT_ONCE)
    first = partition.ask(join("a"))
    assert (first.member_epoch, active(first), statuses(first)) == (2, ALL, [])
    assert active(partition.ask(beat("a", 2))) is None
    assert state(partition) == "Stable"
    second = partition.ask(join("b"))
    assert (second.member_epoch, active(second)) == (3, {})
    assert state(partition) == "Reconciling"
    told = partition.ask(beat("a", 2, ALL))
    assert (told.member_epoch, active(told)) == (2, {"0": [0, 1]})
    assert active(partition.ask(beat("b", 3, {}))) is None
    assert partition.ask(beat("a", 2, {"0": [0, 1]})).member_epoch == 3
    assert active(partition.ask(beat("b", 3, {}))) == {"0": [2, 3]}
    assert state(partition) == "Stable"
    partition.restart()
    assert active(partition.ask(beat("b", 3, {"0": [2, 3]}))) is None


def test_the_answer_to_a_step_may_be_lost() -> None:
    partition = Partition(**AT_ONCE)
    two_members(partition)
    assert partition.ask(beat("a", 2, {"0": [0]})).member_epoch == 3
    for epoch, owned in ((2, {"0": [3]}), (2, None), (1, {}), (4, {})):
        assert partition.ask(beat("a", epoch, owned)).error_code == ErrorCode.FENCED_MEMBER_EPOCH
    assert active(partition.ask(join("a"))) == {"0": [0, 1]}


def test_a_member_leaves_or_is_silent() -> None:
    partition = Partition(**AT_ONCE)
    two_members(partition)
    assert partition.ask(beat("a", -1)).member_epoch == -1
    assert state(partition) == "Assigning"
    assert active(partition.ask(beat("b", 3, {"0": [2, 3]}))) == ALL
    partition.advance(44_000)
    assert state(partition) == "Stable"
    partition.advance(2000)
    assert state(partition) == "Empty"
    assert partition.ask(beat("b", 4)).error_code == ErrorCode.UNKNOWN_MEMBER_ID
    assert "sent no heartbeat" in partition.told[-1]
    assert not partition.ask(DeleteGroupsRequest([GROUP])).results[0].error_code
    assert partition.group(GROUP) is None
    assert partition.ask(beat("b", -1)).error_code == ErrorCode.GROUP_ID_NOT_FOUND


def test_a_member_that_does_not_give_up_its_tasks_is_removed() -> None:
    partition = Partition(**AT_ONCE)
    partition.ask(join("a"))
    partition.ask(join("b"))
    partition.ask(beat("a", 2, ALL))
    partition.advance(4000)
    partition.restart()
    partition.advance(4999)
    assert active(partition.ask(beat("b", 3, {}))) is None
    partition.advance(1)
    assert "did not give up" in partition.told[-1]
    assert active(partition.ask(beat("b", 3, {}))) == ALL


def test_a_session_is_ended_and_a_rebalance_begun_on_request() -> None:
    partition = Partition(**AT_ONCE)
    assert not partition.submit(Rebalance(GROUP))
    two_members(partition)
    assert partition.submit(Rebalance(GROUP))
    assert partition.ask(beat("a", 3, {"0": [0, 1]})).member_epoch == 4
    assert partition.submit(EndSession(GROUP, "a"))
    assert not partition.submit(EndSession(GROUP, "a"))
    assert active(partition.ask(beat("b", 3, {"0": [2, 3]}))) == ALL


def test_copies_of_state_are_kept_by_other_processes() -> None:
    partition = Partition(**AT_ONCE, group_streams_num_standby_replicas=1)
    partition.topics.create("store", 4)
    partition.ask(join("a", STATEFUL, "one"))
    second = partition.ask(join("b", STATEFUL, "two"))
    assert (active(second), standby(second)) == ({}, {"0": [0, 1]})
    partition.ask(beat("a", 2, ALL))
    told = partition.ask(beat("a", 2, {"0": [0, 1]}))
    assert (told.member_epoch, active(told)) == (3, None), "it has had 2 and 3 until now"
    told = partition.ask(beat("a", 3, {"0": [0, 1]}))
    assert (active(told), standby(told)) == ({"0": [0, 1]}, {"0": [2, 3]})
    told = partition.ask(beat("b", 3, {}, {"0": [0, 1]}))
    assert (active(told), standby(told)) == ({"0": [2, 3]}, {"0": [0, 1]})
    assert state(partition) == "Stable"
    partition.ask(beat("a", -1))
    told = partition.ask(beat("b", 3, {"0": [2, 3]}, {"0": [0, 1]}))
    assert active(told) == {"0": [2, 3]}, "a copy ends before the task is active"
    partition.ask(beat("b", 3, {"0": [2, 3]}))
    assert active(partition.ask(beat("b", 4, {"0": [2, 3]}))) == ALL


def test_a_changed_number_of_copies_is_a_new_assignment() -> None:
    partition = Partition(**AT_ONCE)
    partition.topics.create("store", 4)
    two_members(partition, STATEFUL)
    partition.configs[GROUP, "streams.num.standby.replicas"] = 1
    told = partition.ask(beat("a", 3, {"0": [0, 1]}))
    assert (told.member_epoch, standby(told)) == (4, {"0": [2, 3]})


def test_internal_topics_are_made_and_then_used() -> None:
    partition = Partition(**AT_ONCE)
    told = topology(
        part("0", "t", sinks=["again"]),
        part(
            "1",
            repartitions=[internal("again", cleanup_policy="delete")],
            changelogs=[internal("store", cleanup_policy="compact")],
        ),
    )
    first = partition.ask(join("a", told))
    assert (active(first), statuses(first)) == ({}, [StatusCode.MISSING_INTERNAL_TOPICS])
    assert state(partition) == "NotReady"
    [effect] = partition.decisions[-2].effects
    assert isinstance(effect, CreateInternalTopics)
    made = [each.to_create() for each in effect.topics]
    assert [(each.name, each.num_partitions, each.replication_factor) for each in made] == [
        ("again", 4, -1),
        ("store", 4, -1),
    ]
    assert [(each.name, each.value) for each in made[1].configs] == [("cleanup.policy", "compact")]
    partition.create_topic("again", 4)
    assert statuses(partition.ask(beat("a", 2))) == [StatusCode.MISSING_INTERNAL_TOPICS]
    partition.create_topic("store", 4)
    told_now = partition.ask(beat("a", 2, {}))
    assert (active(told_now), statuses(told_now)) == ({**ALL, "1": [0, 1, 2, 3]}, [])


@pytest.mark.parametrize(
    ("subtopology", "code"),
    [
        (part("0", "nowhere"), StatusCode.MISSING_SOURCE_TOPICS),
        (part("0", "t", "u", together=[([0, 1], [])]), StatusCode.INCORRECTLY_PARTITIONED_TOPICS),
        (
            part("0", "t", changelogs=[internal("u")]),
            StatusCode.INCORRECTLY_PARTITIONED_TOPICS,
        ),
    ],
)
def test_a_member_is_told_what_is_wrong_with_the_topics(subtopology: Any, code: int) -> None:
    partition = Partition(**AT_ONCE)
    told = partition.ask(join("a", topology(subtopology)))
    assert (told.member_epoch, active(told), statuses(told)) == (2, {}, [code])
    assert state(partition) == "NotReady"


def test_a_topic_that_grows_or_goes_changes_the_tasks() -> None:
    partition = Partition(**AT_ONCE)
    partition.ask(join("a"))
    partition.create_topic("t", 5)
    assert active(partition.ask(beat("a", 2, ALL))) == {"0": [0, 1, 2, 3, 4]}
    partition.topics_deleted("t")
    told = partition.ask(beat("a", 3, {"0": [0, 1, 2, 3, 4]}))
    assert statuses(told) == [StatusCode.MISSING_SOURCE_TOPICS]
    assert active(told) == {}


def test_a_new_group_waits_for_members() -> None:
    partition = Partition(group_streams_assignment_interval_ms=0)
    for member in "ab":
        told = partition.ask(join(member))
        assert (told.member_epoch, active(told)) == (1, {})
        assert statuses(told) == [StatusCode.ASSIGNMENT_DELAYED]
    assert state(partition) == "Assigning"
    partition.advance(3000)
    told = partition.ask(beat("a", 1, {}))
    assert (told.member_epoch, statuses(told)) == (3, [])
    assert active(told) == {"0": [0, 2]}
    assert active(partition.ask(beat("b", 1, {}))) == {"0": [1, 3]}


def test_an_assignment_waits_for_its_interval() -> None:
    partition = Partition(group_streams_initial_rebalance_delay_ms=0)
    partition.ask(join("a"))
    assert partition.ask(join("b")).member_epoch == 2
    partition.advance(1000)
    assert partition.ask(beat("b", 2, {})).member_epoch == 3


def test_endpoints_are_told_when_they_change() -> None:
    partition = Partition(**AT_ONCE)

    def told(answer: Any) -> Any:
        rows = answer.partitions_by_user_endpoint
        return answer.endpoint_information_epoch, None if rows is None else {
            (each.user_endpoint.host, each.user_endpoint.port): [
                (topic.topic, topic.partitions) for topic in each.active_partitions
            ]
            for each in rows
        }

    where = StreamsGroupHeartbeatRequestEndpoint("one", 80)
    first = partition.ask(join("a", user_endpoint=where, endpoint_information_epoch=-1))
    assert told(first) == (0, {("one", 80): [("t", [0, 1, 2, 3])]})
    assert told(partition.ask(beat("a", 2, endpoint_information_epoch=0))) == (0, None)
    other = StreamsGroupHeartbeatRequestEndpoint("two", 81)
    second = partition.ask(join("b", user_endpoint=other, endpoint_information_epoch=-1))
    assert told(second) == (1, {("one", 80): [("t", [0, 1, 2, 3])], ("two", 81): []})
    then = partition.ask(beat("a", 2, ALL, endpoint_information_epoch=0))
    assert told(then) == (2, {("one", 80): [("t", [0, 1])], ("two", 81): []})


def test_all_members_are_asked_to_stop() -> None:
    partition = Partition(**AT_ONCE)
    two_members(partition)
    stops = [StatusCode.SHUTDOWN_APPLICATION]
    assert statuses(partition.ask(beat("a", 3, shutdown_application=True))) == stops
    assert statuses(partition.ask(beat("b", 3))) == stops
    for member in "ab":
        partition.ask(beat(member, -1))
    assert statuses(partition.ask(join("c"))) == []


def commit(partition: Partition, member: str, epoch: int, version: int = 9, number: int = 0) -> int:
    row = OffsetCommitRequestTopic("t", partitions=[OffsetCommitRequestPartition(number, 5)])
    answer = partition.ask(OffsetCommitRequest(GROUP, epoch, member, None, topics=[row]), version)
    return int(answer.topics[0].partitions[0].error_code)


def test_members_commit_with_their_epochs() -> None:
    partition = Partition(**AT_ONCE)
    two_members(partition)
    assert commit(partition, "a", 3) == 0
    assert commit(partition, "a", 2) == 0, "it has the task since then"
    assert commit(partition, "b", 2, number=2) == ErrorCode.STALE_MEMBER_EPOCH
    assert commit(partition, "a", 2, number=3) == ErrorCode.STALE_MEMBER_EPOCH
    assert commit(partition, "a", 9) == ErrorCode.STALE_MEMBER_EPOCH
    assert commit(partition, "a", 3, version=8) == ErrorCode.UNSUPPORTED_VERSION
    assert commit(partition, "x", 3) == ErrorCode.UNKNOWN_MEMBER_ID
    assert commit(partition, "", -1) == ErrorCode.UNKNOWN_MEMBER_ID
    for member in "ab":
        partition.ask(beat(member, -1))
    assert commit(partition, "", -1) == 0


def test_a_streams_group_takes_the_place_of_an_empty_classic_one() -> None:
    partition = Partition(**AT_ONCE)
    assert commit(partition, "", -1) == 0
    assert active(partition.ask(join("a"))) == ALL
    assert isinstance(partition.group(GROUP), StreamsGroup)
    assert partition.machine.state.offsets.committed(GROUP)
    [listed] = partition.ask(ListGroupsRequest(types_filter=["Streams"])).groups
    assert (listed.protocol_type, listed.group_state) == ("streams", "Stable")


TASK = [StreamsGroupHeartbeatRequestTaskIds("0", [0])]


@pytest.mark.parametrize(
    "request_",
    [
        join("", SIMPLE),
        join("a", SIMPLE, group=""),
        join("a", rebalance_timeout_ms=-1),
        join("a", topology=None),
        join("a", topology(part("0", "t"), part("0", "u"))),
        join("a", topology(part("0", *map(str, range(10_000))))),
        join("a", active_tasks=None),
        join("a", active_tasks=TASK),
        join("a", standby_tasks=TASK),
        join("a", warmup_tasks=TASK),
        join("a", rack_id=""),
        join("a", instance_id="i"),
        beat("a", -2),
        beat("a", -3),
        beat("m", 2, topology=SIMPLE),
        join("m", topology(part("0", "u"))),
        join("m", topology(part("0", "t"), epoch=1)),
    ],
)
def test_what_is_refused(request_: Any) -> None:
    partition = Partition(**AT_ONCE)
    partition.ask(join("m"))
    records = partition.next_offset
    assert partition.ask(request_).error_code == ErrorCode.INVALID_REQUEST
    assert partition.next_offset == records


def test_a_group_has_a_limit_and_a_type() -> None:
    partition = Partition(**AT_ONCE, group_streams_max_size=1)
    partition.ask(join("a"))
    assert partition.ask(join("b")).error_code == ErrorCode.GROUP_MAX_SIZE_REACHED
    partition = Partition(group_coordinator_rebalance_protocols=("classic",))
    assert partition.ask(join("a")).error_code == ErrorCode.UNSUPPORTED_VERSION
