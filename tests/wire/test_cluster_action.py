"""What brokers ask each other and the controller is refused to users who are no brokers.

`tests/conformance/test_controller_differential.py` asks Apache Kafka the same.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from fencepost_broker.apis.authorization.access_control import AccessControl
from fencepost_broker.config import Settings, SettingsError
from fencepost_broker.security.principals import ANONYMOUS
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from fencepost_protocol.generated.allocate_producer_ids import AllocateProducerIdsRequest
from fencepost_protocol.generated.fetch import (
    FetchPartition,
    FetchRequest,
    FetchTopic,
    ReplicaState,
)
from fencepost_protocol.generated.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
)

from tests.conformance.cluster_action_cases import OF_BROKER, OF_CONTROLLER, expected
from tests.support.broker import Client, running_broker
from tests.support.cluster import running_cluster

pytestmark = pytest.mark.asyncio

ASKING = ("PLAINTEXT", "CONTROLLER")
"""As if these listeners asked who comes."""


def restrict(access: AccessControl, users: Iterable[str]) -> None:
    """As if listeners asked who comes, and these users were brokers."""
    access.listeners, access.broker_users = frozenset(ASKING), frozenset(users)


REFUSED = {ErrorCode.CLUSTER_AUTHORIZATION_FAILED, ErrorCode.TOPIC_AUTHORIZATION_FAILED}


async def test_only_users_of_brokers_may_ask_what_brokers_ask() -> None:
    async with running_cluster(1) as cluster:
        controller, broker = cluster.controller, cluster.broker(1)
        places = ((controller.addresses[0], OF_CONTROLLER), (broker.server.addresses[0], OF_BROKER))
        for allowed in ("broker", ANONYMOUS):
            for node in (controller, broker.server):
                restrict(node.access, [allowed])
            found: dict[str, Any] = {}
            for address, cases in places:
                async with Client(address.bootstrap) as client:
                    for label, case in cases.items():
                        found[label] = await client.ask(case.request, case.version)
            if allowed == ANONYMOUS:
                assert not any(getattr(each, "error_code", 0) in REFUSED for each in found.values())
                assert found["markers"] != expected(OF_BROKER)["markers"]
                assert found["follower by id"] != expected(OF_BROKER)["follower by id"]
            else:
                assert found == expected(OF_CONTROLLER) | expected(OF_BROKER)


async def test_who_set_it_up_hears_which_user_was_refused() -> None:
    async with running_cluster(1) as cluster:
        controller = cluster.controller
        controller.warnings.take()
        before = controller.access.listeners
        restrict(controller.access, ["broker"])
        async with Client(controller.addresses[0].bootstrap) as client:
            for _ in range(3):
                await client.ask(AllocateProducerIdsRequest(1, 1), 0)
        texts = [each for each in controller.warnings.take() if "ALLOCATE_PRODUCER_IDS" in each]
        assert len(texts) == 1
        assert "User:ANONYMOUS" in texts[0]
        assert "CONTROLLER" in texts[0]
        assert "super.users" in texts[0]
        controller.access.listeners = before  # or the broker's own farewell is refused for seconds


async def test_large_requests_are_refused_as_well() -> None:
    """They are carried out elsewhere than small ones."""
    wanted = [FetchPartition(number) for number in range(5000)]
    fetched = FetchRequest(
        replica_state=ReplicaState(7, -1),
        session_epoch=-1,
        topics=[FetchTopic("t", bytes(16), wanted)],
    )
    numbers = [*range(5000)]
    transaction = AddPartitionsToTxnTransaction(
        "t", 1, 0, topics=[AddPartitionsToTxnTopic("t", numbers)]
    )
    marker = WritableTxnMarker(1, 0, topics=[WritableTxnMarkerTopic("t", numbers)])
    async with running_broker() as broker:
        restrict(broker.server.access, ["broker"])
        answer = await broker.ask(fetched, 17)
        partitions = [each for topic in answer.responses for each in topic.partitions]
        assert {each.error_code for each in partitions} == {ErrorCode.TOPIC_AUTHORIZATION_FAILED}
        assert len(partitions) == 5000
        answer = await broker.ask(AddPartitionsToTxnRequest([transaction] * 9), 5)
        assert answer == expected(OF_BROKER)["a leader's partitions"]
        answer = await broker.ask(WriteTxnMarkersRequest([marker] * 9), 1)
        results = [each for marker in answer.markers for each in marker.topics[0].partitions]
        assert {each.error_code for each in results} == {ErrorCode.CLUSTER_AUTHORIZATION_FAILED}
        assert len(results) == 9 * 5000


@pytest.mark.parametrize("count", [1, 5000])
async def test_a_refused_follower_leaves_sessions_alone(count: int) -> None:
    """They are few: who has no right to one takes none, and ends nobody's."""
    topic = FetchTopic("t", bytes(16), [FetchPartition(number) for number in range(count)])

    def follower(session_id: int, epoch: int) -> FetchRequest:
        return FetchRequest(
            replica_id=7, session_id=session_id, session_epoch=epoch, topics=[topic]
        )

    async with running_broker(topics={"t": 1}) as broker:
        restrict(broker.server.access, ["broker"])
        wanted = [FetchTopic("t", partitions=[FetchPartition(0)])]
        session = (await broker.ask(FetchRequest(session_epoch=0, topics=wanted), 12)).session_id
        for session_id, epoch in ((0, 0), (session, 1), (session, 0), (session, -1)):
            answer = await broker.ask(follower(session_id, epoch), 12)
            assert (answer.error_code, answer.session_id) == (0, 0)
            [told] = answer.responses
            assert [each.partition_index for each in told.partitions] == [*range(count)]
            assert {each.error_code for each in told.partitions} == {
                ErrorCode.TOPIC_AUTHORIZATION_FAILED
            }
        assert len(broker.server.context.fetch_sessions) == 1
        goes_on = FetchRequest(session_id=session, session_epoch=1)
        assert (await broker.ask(goes_on, 12)).session_id == session


async def test_super_users_are_written_as_kafka_writes_them() -> None:
    settings = Settings().with_overrides({"super.users": "User:broker; User:CN=a,O=b ;"})
    assert settings.users_of_brokers == ("broker", "CN=a,O=b")
    assert Settings().users_of_brokers == ()
    for wrong in ("broker", "User:", "Group:broker"):
        with pytest.raises(SettingsError, match="User:NAME"):
            Settings().with_overrides({"super.users": wrong})
