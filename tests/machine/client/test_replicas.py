"""Reading from a replica that is nearer than the leader (KIP-392)."""

from __future__ import annotations

import pytest
from fencepost_client import NetworkError
from fencepost_client.consumer.list_offsets import EARLIEST
from fencepost_protocol.errors import ErrorCode

from tests.machine.client.harness.fetcher import Rig, batch


def redirected() -> Rig:
    """The leader, node 1, has named node 2."""
    rig = Rig(rack_id="here", replica_max_age_ms=1000, reset_to=EARLIEST)
    (fetch,) = rig.ask()
    assert fetch.node_id == 1
    assert rig.request(fetch).rack_id == "here"
    rig.answer(fetch, preferred_read_replica=2)
    return rig


def test_the_replica_is_read_from_until_its_time_is_over() -> None:
    rig = redirected()
    for start in (0, 2):
        (fetch,) = rig.ask()
        assert fetch.node_id == 2
        rig.answer(fetch, batch(start))
    assert rig.take() == [0, 1, 2, 3]
    rig.now_ms = 1000
    (fetch,) = rig.ask()
    assert fetch.node_id == 1, "the leader may know better by now"


def test_a_replica_that_is_gone_from_the_cluster_is_not_asked() -> None:
    rig = redirected()
    del rig.cluster.nodes[2]
    (fetch,) = rig.ask()
    assert fetch.node_id == 1


def test_a_replica_that_does_not_answer_is_given_up() -> None:
    rig = redirected()
    (fetch,) = rig.ask()
    rig.fetcher.failed(0, fetch, NetworkError())
    rig.now_ms = 500
    (fetch,) = rig.ask()
    assert fetch.node_id == 1


@pytest.mark.parametrize(
    "code",
    [
        ErrorCode.OFFSET_OUT_OF_RANGE,
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.REPLICA_NOT_AVAILABLE,
        ErrorCode.KAFKA_STORAGE_ERROR,
        ErrorCode.UNKNOWN_TOPIC_ID,
        ErrorCode.FENCED_LEADER_EPOCH,
        ErrorCode.UNKNOWN_LEADER_EPOCH,
        ErrorCode.OFFSET_NOT_AVAILABLE,
    ],
)
def test_what_a_replica_refuses_is_asked_of_the_leader(code: int) -> None:
    rig = redirected()
    rig.fetch(code=code)
    assert rig.position.reset_to is None, "a replica may be behind: that is no reason to reset"
    assert rig.position.error is None
    assert rig.ask() == []
    rig.now_ms = 500
    (fetch,) = rig.ask()
    assert fetch.node_id == 1
    rig.answer(fetch, code=ErrorCode.OFFSET_OUT_OF_RANGE)
    assert rig.position.reset_to == EARLIEST, "the leader's word counts"


def test_a_node_that_names_itself_is_read_from() -> None:
    rig = Rig()
    rig.fetch(preferred_read_replica=1)
    (fetch,) = rig.ask()
    assert fetch.node_id == 1
