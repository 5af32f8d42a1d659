"""A consumer that closes tells its brokers that its fetch sessions are over (KIP-227)."""

from __future__ import annotations

import asyncio

import pytest
from fencepost_client import Consumer, Producer, TopicPartition
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.fetch import FetchRequest

from tests.sdk.harness.producer import create
from tests.sdk.harness.sent import requests_sent
from tests.support.broker import Client
from tests.support.waiting import until

pytestmark = pytest.mark.asyncio


@pytest.mark.parametrize("waits", [False, True])
async def test_the_session_is_gone(
    bootstrap: str, topic: str, waits: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also while a Fetch waits for records, and nobody waits for that."""
    await create(bootstrap, topic)
    async with Producer(bootstrap) as producer:
        await producer.send_and_wait(topic, b"x")
    loop, sent = asyncio.get_running_loop(), requests_sent(monkeypatch, FetchRequest)
    consumer = Consumer(bootstrap, fetch_max_wait_ms=60_000 if waits else 50)
    async with consumer:
        consumer.assign([TopicPartition(topic, 0)])
        consumer.seek(TopicPartition(topic, 0), 0)
        # What is there is answered at once, with a session; the next Fetch waits.
        assert len(await consumer.getmany(timeout_ms=60_000)) == 1
        await until(lambda: sent[-1].request.session_id)
        last = sent[-1].request
        began = loop.time()
    assert loop.time() - began < 30, "closing waits for no Fetch"
    async with Client(bootstrap) as client:
        request = FetchRequest(
            max_wait_ms=0, session_id=last.session_id, session_epoch=last.session_epoch + 1
        )
        answer = await client.ask(request, 12)
    assert answer.error_code == ErrorCode.FETCH_SESSION_ID_NOT_FOUND
