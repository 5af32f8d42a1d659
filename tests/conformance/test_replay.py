"""What Apache Kafka answers is compared with what Fencepost has recorded, and the other way."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from fencepost_broker import Broker
from fencepost_broker.server.proxy.proxy import Proxy
from fencepost_client import Admin, NewTopic
from fencepost_client.recordings import replay_async

from tests.support.apache_kafka import ApacheKafka, KafkaUnavailableError
from tests.support.sessions import ORDERS, play_session
from tests.support.waiting import asked_until

BILLS = "bills"
pytestmark = [pytest.mark.conformance, pytest.mark.asyncio]


@pytest.fixture
def kafka() -> Iterator[ApacheKafka]:
    try:
        with ApacheKafka() as running:
            yield running
    except KafkaUnavailableError as error:
        pytest.skip(str(error))


async def test_a_session_has_the_same_answers_from_both(kafka: ApacheKafka, tmp_path: Path) -> None:
    ours, theirs = tmp_path / "fencepost.fprec", tmp_path / "kafka.fprec"
    await _create(kafka.bootstrap, ORDERS, BILLS)
    async with Broker(topics={ORDERS: 2}) as broker:
        with broker.record(ours):
            await play_session(broker.bootstrap)
    assert await replay_async(ours, kafka.bootstrap) == []
    async with Proxy(kafka.bootstrap, record=theirs) as proxy:
        await play_session(proxy.bootstrap, BILLS)
    async with Broker(topics={BILLS: 2}) as broker:
        assert await replay_async(theirs, broker.bootstrap) == []


async def _create(bootstrap: str, *topics: str) -> None:
    """Create topics, and wait until clients can see them."""
    async with Admin(bootstrap) as admin:
        await admin.create_topics([NewTopic(each, 2) for each in topics])

        async def are_there() -> bool:
            return set(topics) <= set(await admin.list_topics())

        await asked_until(are_there)
