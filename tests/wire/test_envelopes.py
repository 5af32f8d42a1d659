"""Envelope: who sent what a broker passes on, and what is refused, as Apache Kafka refuses it.

`tests/conformance/test_controller_differential.py` asks Apache Kafka the same.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from fencepost_broker import Broker
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.framing import read_response_head
from fencepost_protocol.generated.delete_topics import DeleteTopicsResponse
from fencepost_protocol.generated.envelope import EnvelopeRequest
from fencepost_protocol.generated.index import ApiKey

from tests.conformance.envelope_cases import CASES, CORRELATION_ID
from tests.support.broker import Client

pytestmark = pytest.mark.asyncio


@pytest_asyncio.fixture
async def controller() -> AsyncIterator[str]:
    """Where its port is."""
    async with Broker(settings={"process.roles": "controller"}) as broker:
        yield broker.bootstrap


async def test_what_is_in_envelopes_is_read_as_kafka_reads_it(controller: str) -> None:
    found = {}
    for label, (envelope, _) in CASES.items():
        async with Client(controller) as client:
            found[label] = ErrorCode((await client.ask(envelope, 0)).error_code)
    assert found == {label: code for label, (_, code) in CASES.items()}


async def test_an_answer_comes_back_as_it_is(controller: str) -> None:
    envelope: EnvelopeRequest = CASES["alice"][0]
    async with Client(controller) as client:
        answer = await client.ask(envelope, 0)
    data = memoryview(bytes(answer.response_data))
    correlation_id, body = read_response_head(data, ApiKey.DELETE_TOPICS, 6)
    response, _ = DeleteTopicsResponse.decode(data, 6, body)
    assert correlation_id == CORRELATION_ID
    assert [each.error_code for each in response.responses] == [
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    ]
