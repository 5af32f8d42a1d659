"""A member of a consumer group (KIP-848), by scripted answers of its coordinator."""

from __future__ import annotations

from typing import Any

import pytest
from fencepost_client import (
    AuthorizationError,
    FatalError,
    FencedError,
    FencedInstanceIdError,
    GroupMetadata,
    KafkaError,
    NetworkError,
    TopicPartition,
    UnsupportedVersionError,
)
from fencepost_client.consumer.kip848_member import ConsumerGroupMember
from fencepost_client.consumer.rebalance import AssignmentChange, WantedTopics
from fencepost_client.requests.procedures import Moved
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
)
from fencepost_protocol.generated.metadata import MetadataResponse

from tests.machine.client.harness.kip848_member import (
    ID,
    NOTHING,
    ONE,
    OTHER_ID,
    ZERO,
    joined,
    member,
    names,
    refused,
    told,
)
from tests.machine.client.scripts import Script


def beat(made: ConsumerGroupMember, *replies: Any, **options: Any) -> Any:
    script = Script(replies, **options)
    script.play(made.heartbeat())
    return script.asked[0]


def test_the_first_heartbeat_says_everything_and_the_next_what_is_new() -> None:
    made = member(group_instance_id="i", rebalance_timeout_ms=7, server_assignor="range", rack="r")
    first = beat(made, told({ID: [1]}), names(t=ID))
    assert isinstance(first, ConsumerGroupHeartbeatRequest)
    assert (first.member_id, first.member_epoch) == (made.member_id, 0)
    assert len(made.member_id) == 22
    assert (first.instance_id, first.rebalance_timeout_ms) == ("i", 7)
    assert (first.server_assignor, first.rack_id) == ("range", "r")
    assert (first.subscribed_topic_names, first.topic_partitions) == (["t"], [])
    assert made.metadata() == GroupMetadata("g", 2, made.member_id, "i")
    assert made.change() == AssignmentChange(assigned=frozenset([ONE]))
    made.owns({ONE})
    second = beat(made, told(epoch=3))
    assert (second.member_epoch, second.instance_id) == (2, "i")
    assert second.subscribed_topic_names is None
    assert second.server_assignor is None
    assert [(t.topic_id, t.partitions) for t in second.topic_partitions] == [(ID, [1])]
    third = beat(made, told(epoch=3))
    assert (third.member_epoch, third.topic_partitions) == (3, None)


def test_what_is_no_longer_assigned_is_given_up_and_told() -> None:
    made = joined()
    beat(made, told({ID: [1]}))
    assert made.change() == AssignmentChange(frozenset([ZERO]), assigned=NOTHING)
    assert made.owns({ONE})
    assert made.change() is None
    assert [t.partitions for t in beat(made, told(epoch=3)).topic_partitions] == [[1]]


def test_an_application_that_did_not_get_to_it_is_told_again() -> None:
    made = joined()
    beat(made, told({ID: [1, 2]}))
    change = made.change()
    assert change == AssignmentChange(
        frozenset([ZERO]), assigned=frozenset([TopicPartition("t", 2)])
    )
    made.owns({ONE})
    assert made.change() == AssignmentChange(assigned=frozenset([TopicPartition("t", 2)]))


def test_what_has_no_name_yet_waits_and_is_asked_for_again() -> None:
    made = joined()
    script = Script([told({ID: [0, 1], OTHER_ID: [0]}), MetadataResponse()])
    assert script.play(made.heartbeat()) < 1000, "sooner than the next heartbeat would be"
    assert [topic.topic_id for topic in script.asked[1].topics] == [OTHER_ID]
    assert made.change() is None
    script = Script([told(), names(u=OTHER_ID)])
    assert script.play(made.heartbeat()) == 5_000
    assert made.change() == AssignmentChange(assigned=frozenset([TopicPartition("u", 0)]))


def test_metadata_that_does_not_come_is_asked_for_again() -> None:
    made = member()
    beat(made, told({ID: [0]}), NetworkError())
    assert made.change() is None
    beat(made, told(), names(t=ID))
    assert made.change() == AssignmentChange(assigned=frozenset([ZERO]))


def test_a_topic_that_is_made_again_under_its_name_is_another_one() -> None:
    made = joined()
    beat(made, told({OTHER_ID: [0, 1]}), names(t=OTHER_ID))
    assert made.change() == AssignmentChange(frozenset([ZERO, ONE]), is_lost=True)
    made.owns(NOTHING)
    assert made.change() == AssignmentChange(assigned=frozenset([ZERO, ONE]))
    made.owns({ZERO, ONE})
    assert made.change() is None
    assert [t.topic_id for t in beat(made, told()).topic_partitions] == [OTHER_ID]


def test_everything_can_be_taken_away() -> None:
    made = joined()
    beat(made, told({}))
    assert made.change() == AssignmentChange(frozenset([ZERO, ONE]), assigned=NOTHING)
    made.owns(NOTHING)
    assert beat(made, told()).topic_partitions == []


def test_a_heartbeat_whose_answer_was_lost_is_followed_by_one_that_says_everything() -> None:
    made = joined()
    script = Script([NetworkError()])
    assert script.play(made.heartbeat()) > 0
    assert script.count(Moved) == 1
    after = beat(made, told())
    assert after.subscribed_topic_names == ["t"]
    assert [t.partitions for t in after.topic_partitions] == [[0, 1]]


@pytest.mark.parametrize(
    ("code", "moves"),
    [
        (ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, 0),
        (ErrorCode.NOT_COORDINATOR, 1),
        (ErrorCode.COORDINATOR_NOT_AVAILABLE, 1),
    ],
)
def test_a_coordinator_that_moves_is_looked_for(code: int, moves: int) -> None:
    made = joined()
    script = Script([refused(code)])
    assert 0 < script.play(made.heartbeat()) < 1000
    assert script.count(Moved) == moves
    assert made.has_joined
    assert made.change() is None


@pytest.mark.parametrize("code", [ErrorCode.FENCED_MEMBER_EPOCH, ErrorCode.UNKNOWN_MEMBER_ID])
def test_a_fenced_member_gives_up_what_it_lost_and_joins_with_its_id(code: int) -> None:
    made = joined()
    assert Script([refused(code)]).play(made.heartbeat()) == 0
    assert made.has_to_give_up
    assert made.metadata().generation_id == -1
    assert made.change() == AssignmentChange(frozenset([ZERO, ONE]), is_lost=True)
    made.owns(NOTHING)
    again = beat(made, told({ID: [0]}))
    assert (again.member_id, again.member_epoch) == (made.member_id, 0)
    assert again.topic_partitions == []
    assert made.change() == AssignmentChange(assigned=frozenset([ZERO]))


@pytest.mark.parametrize(
    ("code", "error"),
    [
        (ErrorCode.INVALID_REQUEST, FatalError),
        (ErrorCode.INVALID_GROUP_ID, FatalError),
        (ErrorCode.GROUP_MAX_SIZE_REACHED, FatalError),
        (ErrorCode.UNSUPPORTED_ASSIGNOR, FatalError),
        (ErrorCode.UNSUPPORTED_VERSION, UnsupportedVersionError),
        (ErrorCode.INVALID_REGULAR_EXPRESSION, FatalError),
        (ErrorCode.GROUP_AUTHORIZATION_FAILED, AuthorizationError),
        (ErrorCode.TOPIC_AUTHORIZATION_FAILED, AuthorizationError),
        (ErrorCode.UNRELEASED_INSTANCE_ID, FencedError),
        (ErrorCode.FENCED_INSTANCE_ID, FencedInstanceIdError),
        (ErrorCode.UNKNOWN_SERVER_ERROR, KafkaError),
    ],
)
def test_what_does_not_pass_is_raised_and_everything_is_lost(
    code: int, error: type[Exception]
) -> None:
    made = joined()
    with pytest.raises(error, match="why"):
        Script([refused(code)]).play(made.heartbeat())
    assert made.change() == AssignmentChange(frozenset([ZERO, ONE]), is_lost=True)


def test_a_regular_expression_is_the_brokers() -> None:
    made = member()
    made.subscribe(WantedTopics(regex="t.*"))
    first = beat(made, told({}))
    assert (first.subscribed_topic_regex, first.subscribed_topic_names) == ("t.*", [])
    made.subscribe(WantedTopics(frozenset(["t"])))
    assert made.has_news
    after = beat(made, told())
    assert (after.subscribed_topic_regex, after.subscribed_topic_names) == ("", ["t"])
    made.subscribe(WantedTopics(regex="t.*"))
    with pytest.raises(UnsupportedVersionError, match="by name"):
        beat(made, version_max=0)


def test_version_0_has_the_coordinator_make_up_the_id() -> None:
    made = member()
    assert beat(made, told({}, member_id="given"), version_max=0).member_id == ""
    assert made.metadata().member_id == "given"
    assert beat(made, told(), version_max=0).member_id == "given"


@pytest.mark.parametrize(("instance", "epoch"), [(None, -1), ("i", -2)])
def test_leaving(instance: str | None, epoch: int) -> None:
    made = joined(group_instance_id=instance)
    script = Script([ConsumerGroupHeartbeatResponse(member_epoch=epoch)])
    script.play(made.leave())
    left = script.asked[0]
    assert (left.member_id, left.member_epoch) == (made.member_id, epoch)
    assert made.metadata() == GroupMetadata("g", -1, "", instance)
    assert made.change() == AssignmentChange(frozenset([ZERO, ONE]), is_lost=True)
    Script([]).play(made.leave())
    Script([]).play(member().leave())


def test_leaving_is_tried_once_and_also_when_no_answer_came_to_the_first_heartbeat() -> None:
    made = member()
    beat(made, NetworkError())
    Script([NetworkError()]).play(made.leave())


def test_an_answer_to_a_member_that_has_left_meanwhile_changes_nothing() -> None:
    made = joined()
    beating = made.heartbeat()
    next(beating)
    Script([ConsumerGroupHeartbeatResponse(member_epoch=-1)]).play(made.leave())
    with pytest.raises(StopIteration):
        beating.send(told(epoch=9))
    assert not made.has_joined


def test_what_is_kept_can_be_committed_in_the_next_epoch() -> None:
    made = joined()
    assert made.has_kept([ZERO])
    assert not made.has_kept([TopicPartition("t", 9)])
    Script([refused(ErrorCode.FENCED_MEMBER_EPOCH)]).play(made.heartbeat())
    assert not made.has_kept([ZERO])
