"""A broker that serves some APIs only up to an older version (``api.versions.max``)."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.framing import encode_request
from fencepost_protocol.generated.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
)
from fencepost_protocol.generated.api_versions import (
    ApiVersion,
    ApiVersionsRequest,
    ApiVersionsResponse,
)
from fencepost_protocol.generated.describe_transactions import DescribeTransactionsRequest
from fencepost_protocol.generated.end_txn import EndTxnRequest
from fencepost_protocol.generated.find_coordinator import FindCoordinatorRequest
from fencepost_protocol.generated.index import ApiKey
from fencepost_protocol.generated.init_producer_id import InitProducerIdRequest
from fencepost_protocol.generated.txn_offset_commit import TxnOffsetCommitRequest

from tests.support.broker import RunningBroker, running_broker

pytestmark = pytest.mark.asyncio


def capped(*caps: str) -> Any:
    return running_broker({"api.versions.max": caps}, topics={"t": 1})


async def highest(broker: RunningBroker, key: ApiKey) -> int:
    answer = await broker.ask(ApiVersionsRequest(), 0)
    (found,) = (each.max_version for each in answer.api_keys if each.api_key == key)
    return int(found)


async def test_a_later_version_is_not_advertised_and_not_served() -> None:
    request = TxnOffsetCommitRequest("a", "group", 1, 0)
    async with capped("TxnOffsetCommit:2") as broker:
        assert await highest(broker, ApiKey.TXN_OFFSET_COMMIT) == 2
        assert await highest(broker, ApiKey.END_TXN) == 5, "others are as ever"
        await broker.ask(request, 2)
        with pytest.raises(asyncio.IncompleteReadError):
            await broker.ask(request, 3)
    async with capped() as broker:
        assert await highest(broker, ApiKey.TXN_OFFSET_COMMIT) == 5
        await broker.ask(request, 3)


async def test_api_versions_itself_answers_what_is_too_new_as_an_older_broker_does() -> None:
    async with capped("ApiVersions:2") as broker:
        answer = await broker.ask(ApiVersionsRequest(), 2)
        assert not answer.error_code
        answer = await version_0_answer(broker, ApiVersionsRequest("client", "1"), 3)
        assert answer.error_code == ErrorCode.UNSUPPORTED_VERSION
        assert answer.api_keys == [ApiVersion(ApiKey.API_VERSIONS, 0, 2)]


async def version_0_answer(
    broker: RunningBroker, request: ApiVersionsRequest, version: int
) -> ApiVersionsResponse:
    """What is answered to a version that is not known, whichever it is."""
    reader, writer = await asyncio.open_connection(broker.host, broker.port)
    writer.write(encode_request(request, version, 7, "test"))
    size = int.from_bytes(await reader.readexactly(4), "big")
    frame = memoryview(await reader.readexactly(size))
    writer.close()
    return ApiVersionsResponse.decode(frame, 0, 4)[0]


async def test_what_the_broker_asks_itself_is_not_capped() -> None:
    async with capped("WriteTxnMarkers:1") as broker:
        await broker.ask(FindCoordinatorRequest("a", 1), 3)
        made = await broker.ask(InitProducerIdRequest("a", 60_000), 5)
        who = ("a", made.producer_id, made.producer_epoch)
        topics = [AddPartitionsToTxnTopic("t", [0])]
        added = await broker.ask(AddPartitionsToTxnRequest([], *who, topics), 3)
        assert (
            not added.results_by_topic_v3_and_below[0].results_by_partition[0].partition_error_code
        )
        assert not (await broker.ask(EndTxnRequest(*who, True), 3)).error_code
        async with asyncio.timeout(20):
            while await state(broker) != "CompleteCommit":
                pass


async def state(broker: RunningBroker) -> str:
    described = await broker.ask(DescribeTransactionsRequest(["a"]), 0)
    return str(described.transaction_states[0].transaction_state)
