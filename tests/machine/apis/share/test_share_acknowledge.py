"""ShareAcknowledge, and acknowledgements on the way in a ShareFetch."""

from __future__ import annotations

import pytest
from fencepost_protocol.errors import ErrorCode

from tests.machine.apis.share.harness import OTHER, Broker, Member, codes, errors, given

NONE = ErrorCode.NONE
GAP, ACCEPT, RELEASE, REJECT, RENEW = [0], [1], [2], [3], [4]


@pytest.fixture
def broker() -> Broker:
    broker = Broker()
    broker.append(10)
    return broker


@pytest.fixture
def member(broker: Broker) -> Member:
    member = Member(broker)
    assert given(member.fetch()) == [(0, 0, 9, 1)]
    return member


def test_the_answer_leaves_when_it_is_written(broker: Broker, member: Member) -> None:
    broker.coordinator.is_held = True
    assert member.acknowledge((0, 9, ACCEPT)) is None
    assert member.is_waiting()
    broker.coordinator.let_go()
    assert codes(member.told()) == [NONE]
    assert [each.start_offset for each in broker.coordinator.writes] == [10]


def test_with_a_fetch(broker: Broker, member: Member) -> None:
    broker.append(5)
    told = member.fetch((0, 3, ACCEPT), (4, 9, [1, 2, 3, 1, 1, 1]))
    assert errors(told) == [(NONE, NONE)]
    assert given(told) == [(0, 5, 5, 2), (0, 10, 14, 1)]


def test_a_fetch_waits_for_its_acknowledgements(broker: Broker, member: Member) -> None:
    broker.append(5)
    broker.coordinator.is_held = True
    assert member.fetch((0, 9, ACCEPT)) is None
    broker.coordinator.let_go()
    told = member.told()
    assert (given(told), errors(told)) == ([(0, 10, 14, 1)], [(NONE, NONE)])


def test_what_was_not_acknowledged_right_is_still_acquired(member: Member) -> None:
    told = member.fetch((0, 12, ACCEPT))
    assert errors(told) == [(NONE, ErrorCode.INVALID_REQUEST)]
    assert codes(member.acknowledge((0, 9, ACCEPT))) == [NONE]


def test_a_record_of_another_member(broker: Broker, member: Member) -> None:
    other = Member(broker, OTHER)
    other.fetch()
    assert codes(other.acknowledge((0, 0, ACCEPT))) == [ErrorCode.INVALID_RECORD_STATE]


def test_after_the_lock(broker: Broker, member: Member) -> None:
    broker.wait(30_000)
    assert codes(member.acknowledge((0, 9, ACCEPT))) == [ErrorCode.INVALID_RECORD_STATE]


def test_the_coordinator_refuses(broker: Broker, member: Member) -> None:
    broker.coordinator.error = ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    assert codes(member.acknowledge((0, 9, ACCEPT))) == [ErrorCode.COORDINATOR_NOT_AVAILABLE]
    broker.coordinator.error = NONE
    assert codes(member.acknowledge((0, 9, ACCEPT))) == [NONE]


def test_a_lock_that_ended_before_the_coordinator_refused_is_over(
    broker: Broker, member: Member
) -> None:
    other = Member(broker, OTHER)
    broker.coordinator.is_held = True
    assert member.acknowledge((0, 9, ACCEPT)) is None
    assert other.fetch(max_wait_ms=60_000) is None
    broker.wait(30_000)
    broker.coordinator.error = ErrorCode.COORDINATOR_NOT_AVAILABLE
    broker.coordinator.let_go()
    assert codes(member.told()) == [ErrorCode.COORDINATOR_NOT_AVAILABLE]
    broker.wait(1)
    assert given(other.told()) == [(0, 0, 9, 2)]


@pytest.mark.parametrize("error", [ErrorCode.FENCED_STATE_EPOCH, ErrorCode.FENCED_LEADER_EPOCH])
def test_a_leader_that_is_fenced_loads_the_state_again(
    broker: Broker, member: Member, error: ErrorCode
) -> None:
    broker.coordinator.error = error
    told = codes(member.acknowledge((0, 4, ACCEPT)))
    assert told == [ErrorCode.NOT_LEADER_OR_FOLLOWER]
    broker.coordinator.error = NONE
    unknown = [ErrorCode.UNKNOWN_TOPIC_OR_PARTITION]
    assert codes(member.acknowledge((5, 9, ACCEPT))) == unknown
    assert given(member.fetch()) == [(0, 0, 9, 1)]


def test_two_acknowledgements_in_one_write(broker: Broker, member: Member) -> None:
    broker.coordinator.is_held = True
    member.acknowledge((0, 1, ACCEPT))
    member.acknowledge((2, 3, ACCEPT))
    member.acknowledge((4, 5, ACCEPT))
    broker.coordinator.let_go()
    assert [each.start_offset for each in broker.coordinator.writes] == [2, 6]
    assert len(member.peer.answers) == 3


def test_a_renewed_lock(broker: Broker, member: Member) -> None:
    broker.wait(20_000)
    told = member.acknowledge((0, 9, RENEW), is_renew_ack=True)
    assert codes(told) == [NONE]
    assert broker.coordinator.writes == []
    broker.wait(29_999)
    assert codes(member.acknowledge((0, 9, ACCEPT))) == [NONE]


def test_a_renewal_in_a_fetch_brings_no_records(broker: Broker, member: Member) -> None:
    broker.append(5)
    nothing = {"max_bytes": 0, "max_records": 0}
    told = member.fetch((0, 9, RENEW), is_renew_ack=True, **nothing)
    assert (given(told), errors(told)) == ([], [(NONE, NONE)])
    refused = member.fetch((0, 9, RENEW), is_renew_ack=True)
    assert refused.error_code == ErrorCode.INVALID_REQUEST


def test_a_renewal_that_is_not_announced(member: Member) -> None:
    assert codes(member.acknowledge((0, 9, RENEW))) == [ErrorCode.INVALID_REQUEST]


def test_epochs(broker: Broker, member: Member) -> None:
    assert member.acknowledge(epoch=0).error_code == ErrorCode.INVALID_SHARE_SESSION_EPOCH
    assert member.acknowledge(epoch=5).error_code == ErrorCode.INVALID_SHARE_SESSION_EPOCH
    assert (
        Member(broker, OTHER).acknowledge(epoch=1).error_code == ErrorCode.SHARE_SESSION_NOT_FOUND
    )
    assert codes(member.acknowledge((0, 4, ACCEPT), epoch=-1)) == [NONE]
    assert given(Member(broker, OTHER).fetch()) == [(0, 5, 9, 2)]


def test_the_clock_is_set(broker: Broker, member: Member) -> None:
    broker.clock.now += 3_600_000
    broker.shares.jumped(3_600_000)
    broker.wait(29_999)
    assert codes(member.acknowledge((0, 9, ACCEPT))) == [NONE]
