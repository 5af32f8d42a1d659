"""A coordinator whose process stood still refuses to decide until it has read the metadata."""

from __future__ import annotations

import pytest
from fencepost_broker import Cluster
from fencepost_broker.controller.channel.standstill import BrokerStandstill
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.describe_transactions import DescribeTransactionsRequest
from fencepost_protocol.generated.find_coordinator import FindCoordinatorRequest
from fencepost_protocol.generated.init_producer_id import InitProducerIdRequest

from tests.support.broker import Client
from tests.support.waiting import asked_until

pytestmark = pytest.mark.asyncio
TRANSACTIONS = 1


async def begun(client: Client) -> ErrorCode:
    await client.ask(FindCoordinatorRequest("a", TRANSACTIONS), 3)
    return ErrorCode((await client.ask(InitProducerIdRequest("a", 60_000), 4)).error_code)


async def described(client: Client) -> ErrorCode:
    answer = await client.ask(DescribeTransactionsRequest(["a"]), 0)
    return ErrorCode(answer.transaction_states[0].error_code)


async def test_it_coordinates_again_when_it_has_read_the_controllers_log(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with Cluster(brokers=1) as cluster, Client(cluster.bootstrap) as client:

        async def is_begun() -> bool:
            return await begun(client) is ErrorCode.NONE

        async def is_described() -> bool:
            return await described(client) is ErrorCode.NONE

        await asked_until(is_begun)
        with monkeypatch.context() as stands_still:
            stands_still.setattr(BrokerStandstill, "is_current", lambda *_: False)
            assert await begun(client) is ErrorCode.NOT_COORDINATOR
            assert await described(client) is ErrorCode.NOT_COORDINATOR
        monkeypatch.setattr(BrokerStandstill, "count", lambda *_: 1)
        await asked_until(is_described)
