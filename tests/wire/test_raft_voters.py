"""Nobody joins or leaves the quorum of one voter; the errors are those of Apache Kafka."""

from __future__ import annotations

import pytest
from fencepost_broker import Broker
from fencepost_broker.controller.channel.local import LocalController
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.update_raft_voter import (
    KRaftVersionFeature,
    Listener,
    UpdateRaftVoterRequest,
)

from tests.conformance import raft_voter_cases
from tests.support.broker import Client, running_broker
from tests.support.cluster import running_cluster

pytestmark = pytest.mark.asyncio

CONTROLLER: dict[str, str | int] = {
    "node.id": raft_voter_cases.VOTER,
    "listeners": "PLAINTEXT://127.0.0.1:0,CONTROLLER://127.0.0.1:0",
    "controller.listener.names": "CONTROLLER",
}


def expected() -> list[str]:
    return raft_voter_cases.EXPECTED.read_text(encoding="utf-8").splitlines()


async def test_a_controller_answers_as_apache_kafka_does() -> None:
    async with Broker(settings=CONTROLLER) as broker:
        assert broker.controller is not None
        assert await raft_voter_cases.of_controller(broker.controller) == expected()
        told_by_broker = await raft_voter_cases.of_any(broker.bootstrap)
        assert told_by_broker == expected()[: len(told_by_broker)]


async def test_a_broker_without_a_listener_of_its_controller_answers_the_same() -> None:
    async with running_broker() as broker:
        told = await raft_voter_cases.of_any(f"{broker.host}:{broker.port}")
    assert told == expected()[: len(told)]


async def test_a_broker_passes_it_on() -> None:
    async with running_cluster(1) as cluster:
        broker = cluster.broker(1).server
        assert not isinstance(broker.controller, LocalController)
        told = await raft_voter_cases.of_any(broker.addresses[0].bootstrap)
    assert told == expected()[: len(told)]


async def test_the_leader_cannot_tell_itself_about_itself() -> None:
    """Apache Kafka 4.3.1 ends its process in this case."""
    voter = raft_voter_cases.VOTER
    request = UpdateRaftVoterRequest(
        None, 1, voter, bytes([7] * 16), [Listener("CONTROLLER", "localhost", 1)],
        KRaftVersionFeature(0, 1),
    )  # fmt: skip
    async with Broker(settings=CONTROLLER) as broker:
        assert broker.controller is not None
        async with Client(broker.controller) as client:
            answer = await client.ask(request, 0)
    assert answer.error_code == ErrorCode.INVALID_REQUEST
    assert answer.current_leader.leader_id == voter
