"""A member of a classic group, by scripted answers of its coordinator."""

from __future__ import annotations

import pytest
from fencepost_client import (
    AuthorizationError,
    FatalError,
    FencedInstanceIdError,
    GroupMetadata,
    InvalidGroupIdError,
    KafkaError,
    NetworkError,
    TopicPartition,
    UnsupportedVersionError,
)
from fencepost_client.consumer.classic_member import ClassicMember
from fencepost_client.consumer.group_protocol import (
    Holding,
    read_assignment,
    read_sticky_user_data,
    read_subscription,
)
from fencepost_client.consumer.rebalance import AssignmentChange
from fencepost_client.requests.procedures import Moved, Pause
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.heartbeat import HeartbeatResponse
from fencepost_protocol.generated.join_group import (
    JoinGroupRequest,
)
from fencepost_protocol.generated.leave_group import LeaveGroupResponse
from fencepost_protocol.generated.sync_group import SyncGroupRequest

from tests.machine.client.harness.classic_member import (
    MINE,
    NOTHING,
    joined,
    member,
    stable,
    synced,
)
from tests.machine.client.scripts import Reply, Script


def cooperative() -> ClassicMember:
    return member("cooperative-sticky")


def beat(made: ClassicMember, code: int) -> None:
    Script([HeartbeatResponse(0, code)]).play(made.heartbeat())


def owned_in(join: JoinGroupRequest) -> Holding:
    return read_subscription(join.protocols[0].metadata).owned


def test_a_member_that_does_not_lead_says_nothing_and_is_told() -> None:
    made = member(group_instance_id="i")
    script = Script([joined(ErrorCode.MEMBER_ID_REQUIRED), joined(), synced()])
    script.play(made.join(NOTHING))
    assert made.change(NOTHING) == AssignmentChange(assigned=frozenset(MINE))
    assert made.change(set(MINE)) is None
    first, second, sync = script.asked
    assert isinstance(first, JoinGroupRequest)
    assert (first.member_id, second.member_id) == ("", "me")
    assert read_subscription(first.protocols[0].metadata).topics == ("t",)
    assert isinstance(sync, SyncGroupRequest)
    assert sync.assignments == []
    assert made.is_stable
    assert made.metadata() == GroupMetadata("g", 3, "me", "i")


def test_the_leader_assigns_for_all() -> None:
    script = Script([joined(leader="me", members=["me", "you"]), synced()], counts={"t": 3})
    script.play(member().join(NOTHING))
    told = {
        entry.member_id: read_assignment(entry.assignment) for entry in script.asked[1].assignments
    }
    assert told == {"me": MINE, "you": [TopicPartition("t", 2)]}


@pytest.mark.parametrize(
    ("code", "known_as"),
    [(ErrorCode.UNKNOWN_MEMBER_ID, ""), (ErrorCode.ILLEGAL_GENERATION, "me")],
)
def test_a_member_that_the_group_went_on_without_joins_anew(code: int, known_as: str) -> None:
    script = Script([joined(), synced(code), joined(member_id="new"), synced()])
    made = member()
    script.play(made.join(NOTHING))
    assert script.asked[2].member_id == known_as
    assert made.member_id == "new"


def test_a_rebalance_during_the_rebalance_is_joined_as_who_it_is() -> None:
    script = Script([joined(), synced(ErrorCode.REBALANCE_IN_PROGRESS), joined(), synced()])
    script.play(member().join(NOTHING))
    assert script.asked[2].member_id == "me"


PASSING = [
    (ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, 0),
    (ErrorCode.NOT_COORDINATOR, 1),
    (ErrorCode.COORDINATOR_NOT_AVAILABLE, 1),
]


@pytest.mark.parametrize(("code", "moves"), PASSING)
def test_a_coordinator_that_moves_is_looked_for(code: int, moves: int) -> None:
    script = Script([joined(code), NetworkError(), joined(), synced()])
    script.play(member().join(NOTHING))
    assert script.count(Moved) == moves + 1
    assert script.count(Pause) == 2


@pytest.mark.parametrize(("code", "moves"), PASSING)
def test_a_coordinator_that_moves_between_join_and_sync_is_joined_anew(
    code: int, moves: int
) -> None:
    script = Script([joined(), synced(code), joined(), NetworkError(), joined(), synced()])
    script.play(member().join(NOTHING))
    assert [request.member_id for request in script.asked[::2]] == ["", "me", "me"]
    assert script.count(Moved) == moves + 1


REFUSED = [
    (ErrorCode.FENCED_INSTANCE_ID, FencedInstanceIdError),
    (ErrorCode.INCONSISTENT_GROUP_PROTOCOL, FatalError),
    (ErrorCode.GROUP_AUTHORIZATION_FAILED, AuthorizationError),
    (ErrorCode.INVALID_GROUP_ID, InvalidGroupIdError),
    (ErrorCode.UNSUPPORTED_VERSION, UnsupportedVersionError),
    (ErrorCode.UNKNOWN_SERVER_ERROR, KafkaError),
]


@pytest.mark.parametrize(
    ("code", "error"),
    [
        *REFUSED,
        (ErrorCode.INVALID_SESSION_TIMEOUT, FatalError),
        (ErrorCode.GROUP_MAX_SIZE_REACHED, FatalError),
        (ErrorCode.INVALID_REQUEST, FatalError),
    ],
)
def test_a_join_that_does_not_pass_is_raised(code: int, error: type[Exception]) -> None:
    with pytest.raises(error, match="joining group 'g'"):
        Script([joined(code)]).play(member().join(NOTHING))


@pytest.mark.parametrize(("code", "error"), REFUSED)
def test_a_sync_or_heartbeat_that_does_not_pass_is_raised(
    code: int, error: type[Exception]
) -> None:
    with pytest.raises(error, match="joining group 'g'"):
        Script([joined(), synced(code)]).play(member().join(NOTHING))
    made = stable()
    with pytest.raises(error, match="heartbeat to group 'g'"):
        beat(made, code)
    assert not made.is_stable


@pytest.mark.parametrize(
    ("code", "is_stable", "member_id"),
    [
        (ErrorCode.NONE, True, "me"),
        (ErrorCode.COORDINATOR_NOT_AVAILABLE, True, "me"),
        (ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, True, "me"),
        (ErrorCode.NOT_COORDINATOR, True, "me"),
        (ErrorCode.REBALANCE_IN_PROGRESS, False, "me"),
        (ErrorCode.ILLEGAL_GENERATION, False, "me"),
        (ErrorCode.UNKNOWN_MEMBER_ID, False, ""),
    ],
)
def test_what_a_heartbeat_says(code: int, is_stable: bool, member_id: str) -> None:
    made = stable()
    beat(made, code)
    assert (made.is_stable, made.member_id) == (is_stable, member_id)


def test_a_heartbeat_that_is_not_answered_looks_for_the_coordinator() -> None:
    made = stable()
    script = Script([NetworkError()])
    script.play(made.heartbeat())
    assert script.count(Moved) == 1
    assert made.is_stable


def test_an_answer_to_an_earlier_generation_says_nothing() -> None:
    made = stable()
    beating = made.heartbeat()
    next(beating)
    made.generation_id = 9
    with pytest.raises(StopIteration):
        beating.send(HeartbeatResponse(0, ErrorCode.REBALANCE_IN_PROGRESS))
    assert made.is_stable


@pytest.mark.parametrize(
    "reply",
    [
        NetworkError(),
        *(
            LeaveGroupResponse(0, code)
            for code in (
                ErrorCode.NONE,
                ErrorCode.COORDINATOR_NOT_AVAILABLE,
                ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
                ErrorCode.NOT_COORDINATOR,
                ErrorCode.UNKNOWN_MEMBER_ID,
                ErrorCode.FENCED_INSTANCE_ID,
                ErrorCode.GROUP_AUTHORIZATION_FAILED,
                ErrorCode.INVALID_GROUP_ID,
                ErrorCode.UNKNOWN_SERVER_ERROR,
            )
        ),
    ],
)
def test_leaving_is_said_once_and_no_answer_changes_that(reply: Reply) -> None:
    made = stable()
    script = Script([reply])
    script.play(made.leave())
    assert script.asked[0].members[0].member_id == "me"
    assert made.metadata() == GroupMetadata("g")
    Script([]).play(made.leave())


def test_a_static_member_does_not_say_that_it_leaves() -> None:
    made = stable(group_instance_id="i")
    Script([]).play(made.leave())
    assert made.metadata() == GroupMetadata("g", group_instance_id="i")


def test_a_coordinator_of_before_version_3_is_left_by_one_member() -> None:
    script = Script([LeaveGroupResponse()], version_max=2)
    script.play(stable().leave())
    assert script.asked[0].member_id == "me"


# -- what the application has to do (KIP-429) ---------------------------------------------------


@pytest.mark.parametrize("assignors", [("range",), ("cooperative-sticky", "range")])
def test_by_most_assignors_everything_is_given_up_before_a_member_joins(
    assignors: tuple[str, ...],
) -> None:
    made = stable(*assignors)
    beat(made, ErrorCode.REBALANCE_IN_PROGRESS)
    assert made.change(set(MINE)) == AssignmentChange(frozenset(MINE))
    assert made.change(NOTHING) is None


def test_a_cooperative_member_joins_with_what_it_owns_and_gives_up_what_it_is_told() -> None:
    made = stable("cooperative-sticky")
    beat(made, ErrorCode.REBALANCE_IN_PROGRESS)
    assert made.change(set(MINE)) is None
    kept, gone = MINE
    script = Script([joined(), synced(told=[kept])])
    script.play(made.join(set(MINE)))
    assert owned_in(script.asked[0]) == Holding(tuple(MINE), 3)
    assert made.change(set(MINE)) == AssignmentChange(frozenset([gone]), assigned=NOTHING)
    assert made.change({kept}) is None
    assert not made.is_stable, "what was given up can go to others only in a second rebalance"
    new = TopicPartition("t", 7)
    script = Script([joined(), synced(told=[kept, new])])
    script.play(made.join({kept}))
    assert owned_in(script.asked[0]).partitions == (kept,)
    assert made.change({kept}) == AssignmentChange(assigned=frozenset([new]))
    assert made.is_stable


def test_what_a_member_owned_when_the_group_went_on_without_it_is_lost() -> None:
    for code in (ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.ILLEGAL_GENERATION):
        made = stable("cooperative-sticky")
        beat(made, code)
        assert made.change(set(MINE)) == AssignmentChange(frozenset(MINE), is_lost=True)
        script = Script([joined(), synced()])
        script.play(made.join(NOTHING))
        assert owned_in(script.asked[0]) == Holding((), -1)


@pytest.mark.parametrize("code", [ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.ILLEGAL_GENERATION])
def test_who_falls_out_while_it_joins_says_so_before_it_joins_again(code: int) -> None:
    scripts: list[list[Reply]] = [[joined(code)], [joined(), synced(code)]]
    for replies in scripts:
        made = stable("cooperative-sticky")
        beat(made, ErrorCode.REBALANCE_IN_PROGRESS)
        Script(replies).play(made.join(set(MINE)))
        assert made.change(set(MINE)) == AssignmentChange(frozenset(MINE), is_lost=True)


def test_a_rebalance_that_broke_off_leaves_the_generation_of_what_is_owned() -> None:
    made = stable("cooperative-sticky")
    beat(made, ErrorCode.REBALANCE_IN_PROGRESS)
    later = joined()
    later.generation_id = 4
    script = Script([later, synced(ErrorCode.REBALANCE_IN_PROGRESS), later, synced()])
    script.play(made.join(set(MINE)))
    assert owned_in(script.asked[2]) == Holding(tuple(MINE), 3)


def test_topics_that_are_no_longer_subscribed_are_given_up_first() -> None:
    made = stable("cooperative-sticky")
    made.subscribe(["u"])
    assert made.change(set(MINE)) == AssignmentChange(frozenset(MINE))
    made.subscribe(["t", "u"])
    assert made.change(set(MINE)) is None


def test_a_subscription_that_changes_during_a_rebalance_is_joined_after_it() -> None:
    made = member()
    joining = made.join(NOTHING)
    next(joining)
    made.subscribe(["u"])
    joining.send(joined())
    with pytest.raises(StopIteration):
        joining.send(synced())
    assert not made.is_stable


def test_a_sticky_member_tells_what_it_had_though_it_has_given_it_up() -> None:
    made = stable("sticky")
    beat(made, ErrorCode.REBALANCE_IN_PROGRESS)
    script = Script([joined(), synced()])
    script.play(made.join(NOTHING))
    told = read_subscription(script.asked[0].protocols[0].metadata)
    assert read_sticky_user_data(told.user_data) == Holding(tuple(MINE), 3)


def test_a_leader_assigns_anew_when_its_topics_grow() -> None:
    made = member()
    Script([joined(leader="me", members=["me"]), synced()], counts={"t": 2}).play(
        made.join(NOTHING)
    )
    assert made.led_topics == {"t"}
    stays = []
    for counts in ({"t": 2, "other": 5}, {"t": 3}):
        made.counts_are(counts)
        stays.append(made.is_stable)
    assert stays == [True, False]
    follower = stable()
    follower.counts_are({"t": 3})
    assert follower.is_stable


def test_a_static_leader_that_came_back_assigns_nothing_and_sees_topics_grow() -> None:
    """KIP-814."""
    answer = joined(leader="me", members=["me", "you"])
    answer.skip_assignment = True
    made = member(group_instance_id="i")
    script = Script([answer, synced()], counts={"t": 2})
    script.play(made.join(NOTHING))
    assert script.asked[1].assignments == []
    made.counts_are({"t": 3})
    assert not made.is_stable


def test_what_stays_through_a_rebalance_can_still_be_committed() -> None:
    made = stable("cooperative-sticky")
    assert made.has_kept(MINE)
    assert not made.has_kept([TopicPartition("t", 9)])
    assert not stable().has_kept(MINE)
    beat(made, ErrorCode.UNKNOWN_MEMBER_ID)
    assert not made.has_kept(MINE)
