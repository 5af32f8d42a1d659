"""A member of a share group, by scripted answers of its coordinator."""

from __future__ import annotations

from typing import Any

import pytest
from fencepost_client import AuthorizationError, NetworkError, TopicPartition
from fencepost_client.consumer.share_member import Assigned, ShareGroupMember
from fencepost_client.requests.procedures import Moved
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.share_group_heartbeat import (
    Assignment,
    ShareGroupHeartbeatResponse,
    TopicPartitions,
)

from tests.machine.client.harness.kip848_member import ID, names
from tests.machine.client.scripts import Script

ZERO = Assigned(TopicPartition("t", 0), ID)


def told(*numbers: int, epoch: int = 1) -> ShareGroupHeartbeatResponse:
    assignment = Assignment([TopicPartitions(ID, list(numbers))]) if numbers else None
    return ShareGroupHeartbeatResponse(
        member_epoch=epoch, heartbeat_interval_ms=700, assignment=assignment
    )


def refused(code: ErrorCode) -> ShareGroupHeartbeatResponse:
    return ShareGroupHeartbeatResponse(error_code=code)


def member() -> ShareGroupMember:
    made = ShareGroupMember("g", "r", lambda: 0.5)
    made.subscribe(["t"])
    return made


def beat(made: ShareGroupMember, *replies: Any) -> Any:
    script = Script(replies)
    script.play(made.heartbeat())
    return script.asked[0]


def test_the_first_heartbeat_says_everything_and_the_next_what_is_new() -> None:
    made = member()
    first = beat(made, told(0), names(t=ID))
    assert (first.member_id, first.member_epoch) == (made.member_id, 0)
    assert (first.rack_id, first.subscribed_topic_names) == ("r", ["t"])
    assert made.assignment == {ZERO}
    second = beat(made, told(epoch=2))
    assert (second.member_epoch, second.rack_id, second.subscribed_topic_names) == (1, None, None)
    assert made.assignment == {ZERO}
    made.subscribe(["t", "u"])
    assert beat(made, told(epoch=2)).subscribed_topic_names == ["t", "u"]


def test_the_interval_is_the_coordinators() -> None:
    assert Script([told(0), names(t=ID)]).play(member().heartbeat()) == 700


@pytest.mark.parametrize("code", [ErrorCode.FENCED_MEMBER_EPOCH, ErrorCode.UNKNOWN_MEMBER_ID])
def test_a_member_that_is_out_joins_again(code: ErrorCode) -> None:
    made = member()
    beat(made, told(0), names(t=ID))
    beat(made, refused(code))
    assert made.assignment == frozenset()
    again = beat(made, told(0))
    assert (again.member_epoch, again.subscribed_topic_names) == (0, ["t"])


def test_after_a_lost_answer_everything_is_said_again() -> None:
    made = member()
    beat(made, told(0), names(t=ID))
    script = Script([NetworkError("gone")])
    script.play(made.heartbeat())
    assert any(isinstance(step, Moved) for step in script.steps)
    assert beat(made, told(epoch=2)).subscribed_topic_names == ["t"]


def test_a_refusal_is_raised() -> None:
    with pytest.raises(AuthorizationError):
        beat(member(), refused(ErrorCode.GROUP_AUTHORIZATION_FAILED))


def test_leaving() -> None:
    made = member()
    script = Script([])
    script.play(made.leave())
    beat(made, told(0), names(t=ID))
    script = Script([told(epoch=-1)])
    script.play(made.leave())
    assert script.asked[0].member_epoch == -1
    assert made.assignment == frozenset()
