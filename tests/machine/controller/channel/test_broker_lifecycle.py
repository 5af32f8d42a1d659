"""A broker in its controller's eyes: what it sends when, and what it makes of the answers."""

from __future__ import annotations

from typing import Any

import pytest
from fencepost_broker.controller.channel.broker_lifecycle import (
    AGAIN_MS,
    FINAL,
    BrokerLifecycle,
    State,
)
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.broker_heartbeat import (
    BrokerHeartbeatRequest,
    BrokerHeartbeatResponse,
)
from fencepost_protocol.generated.broker_registration import (
    BrokerRegistrationRequest,
    BrokerRegistrationResponse,
)

HEARTBEAT_MS = 2000
EPOCH = 40


def beginning() -> BrokerLifecycle:
    introduction = BrokerRegistrationRequest(broker_id=3, cluster_id="c", incarnation_id=b"i" * 16)
    return BrokerLifecycle(introduction, 0, heartbeat_ms=HEARTBEAT_MS)


def state(broker: BrokerLifecycle) -> State:
    return broker.state


def registered(broker: BrokerLifecycle, now_ms: int = 0, epoch: int = EPOCH) -> BrokerLifecycle:
    assert isinstance(broker.request(now_ms, -1), BrokerRegistrationRequest)
    broker.answered(BrokerRegistrationResponse(broker_epoch=epoch), now_ms)
    return broker


def heartbeat(broker: BrokerLifecycle, now_ms: int, offset: int = EPOCH) -> BrokerHeartbeatRequest:
    request = broker.request(now_ms, offset)
    assert isinstance(request, BrokerHeartbeatRequest)
    return request


def answer(broker: BrokerLifecycle, now_ms: int, **told: Any) -> None:
    broker.answered(BrokerHeartbeatResponse(**told), now_ms)


def active() -> BrokerLifecycle:
    broker = registered(beginning())
    broker.caught_up(EPOCH, 10)
    broker.ready_to_unfence(20)
    heartbeat(broker, 20)
    answer(broker, 20, is_fenced=False)
    assert state(broker) is State.ACTIVE
    return broker


def test_it_registers_reads_up_to_there_and_counts_when_all_is_open() -> None:
    broker = registered(beginning())
    assert (state(broker), broker.broker_epoch) == (State.CATCHING_UP, EPOCH)
    broker.caught_up(EPOCH - 1, 5)
    assert state(broker) is State.CATCHING_UP
    assert broker.request(5, EPOCH - 1) is None, "nothing is due"
    broker.caught_up(EPOCH, 10)
    assert broker.request(10, EPOCH) is None, "under way, it would delay the one that unfences"
    asked = heartbeat(broker, HEARTBEAT_MS)
    assert (asked.broker_epoch, asked.current_metadata_offset) == (EPOCH, EPOCH)
    assert asked.want_fence, "its logs are not open yet"
    answer(broker, HEARTBEAT_MS, is_fenced=True)
    broker.ready_to_unfence(20)
    assert not heartbeat(broker, 20).want_fence
    answer(broker, 20, is_fenced=False)
    assert state(broker) is State.ACTIVE
    assert broker.deadline() == 20 + HEARTBEAT_MS


def test_one_request_is_under_way_at_a_time() -> None:
    broker = beginning()
    assert broker.request(0, -1) is not None
    assert broker.deadline() is None
    assert broker.request(10_000, -1) is None
    broker.failed(10_000)
    assert broker.deadline() == 10_000 + AGAIN_MS
    assert isinstance(broker.request(10_000 + AGAIN_MS, -1), BrokerRegistrationRequest)


def test_an_id_that_another_incarnation_has_is_asked_for_again() -> None:
    broker = beginning()
    broker.request(0, -1)
    code = ErrorCode.DUPLICATE_BROKER_REGISTRATION
    broker.answered(BrokerRegistrationResponse(error_code=code), 0)
    assert (state(broker), broker.refusal) == (State.REGISTERING, code)
    assert code not in FINAL
    registered(broker, AGAIN_MS)
    assert broker.refusal is ErrorCode.NONE


def test_a_broker_that_was_silent_counts_again_as_soon_as_it_may() -> None:
    broker = active()
    heartbeat(broker, 5000)
    answer(broker, 5000, is_fenced=True)
    assert state(broker) is State.FENCED
    assert broker.deadline() == 5000 + AGAIN_MS
    heartbeat(broker, 5000 + AGAIN_MS)
    answer(broker, 5200, is_fenced=False)
    assert state(broker) is State.ACTIVE


def test_a_controller_that_does_not_know_its_epoch_hears_its_name_again() -> None:
    broker = active()
    heartbeat(broker, 5000)
    answer(broker, 5000, error_code=ErrorCode.STALE_BROKER_EPOCH)
    assert state(broker) is State.REGISTERING
    asked = broker.request(5000 + AGAIN_MS, EPOCH)
    assert isinstance(asked, BrokerRegistrationRequest)
    assert asked.previous_broker_epoch == EPOCH
    assert asked.incarnation_id == b"i" * 16
    broker.answered(BrokerRegistrationResponse(broker_epoch=90), 5200)
    assert (state(broker), broker.broker_epoch) == (State.CATCHING_UP, 90)
    broker.caught_up(EPOCH, 5300)
    assert state(broker) is State.CATCHING_UP, "what it has read is of before"
    broker.caught_up(90, 5400)
    assert not heartbeat(broker, 5400, 90).want_fence, "its logs are open already"


def test_leave_is_asked_for_until_it_is_given() -> None:
    broker = active()
    broker.begin_controlled_shutdown(100)
    assert heartbeat(broker, 100).want_shut_down
    answer(broker, 100, is_fenced=False)
    assert state(broker) is State.LEAVING
    assert heartbeat(broker, 100 + AGAIN_MS).want_shut_down
    answer(broker, 300, should_shut_down=True)
    assert state(broker) is State.GONE
    assert broker.deadline() is None


@pytest.mark.parametrize("knows", [True, False])
def test_who_is_not_known_need_not_ask_for_leave(knows: bool) -> None:
    broker = active() if knows else beginning()
    broker.begin_controlled_shutdown(100)
    if knows:
        heartbeat(broker, 100)
        answer(broker, 100, error_code=ErrorCode.STALE_BROKER_EPOCH)
    assert state(broker) is State.GONE
