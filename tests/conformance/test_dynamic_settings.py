"""Settings and loggers that are changed while the broker runs: Apache Kafka's answers and ours.

Differences on purpose, which are not asked here: a name that nobody knows is kept by Apache Kafka
and refused by us, settings of share and streams groups among them; listeners stay as they are, and
there is no level TRACE or FATAL.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from fencepost_broker import Broker
from fencepost_protocol.generated.create_topics import CreatableTopic, CreateTopicsRequest

from tests.support.apache_kafka import ApacheKafka, KafkaUnavailableError
from tests.support.broker import Client
from tests.support.config_script import (
    GROUPS,
    LOGGER,
    LOGGERS,
    SETTINGS,
    Change,
    Look,
    outcome,
)

pytestmark = pytest.mark.conformance
Outcomes = list[tuple[Change | Look, Any]]
KAFKAS_LOGGER = "org.apache.kafka.coordinator.group.GroupConfig"


@pytest.fixture(scope="module")
def kafka() -> Iterator[ApacheKafka]:
    try:
        with ApacheKafka() as running:
            yield running
    except KafkaUnavailableError as error:
        pytest.skip(str(error))


async def outcomes(bootstrap: str, logger: str, pause_s: float) -> Outcomes:
    async with Client(bootstrap) as client:
        created = await client.ask(CreateTopicsRequest(topics=[CreatableTopic("t", 1, 1)]), 7)
        assert not created.topics[0].error_code
        found: Outcomes = []
        for step in (*SETTINGS, *GROUPS, *LOGGERS):
            if isinstance(step, Look) and step.kind != LOGGER:
                found.append((step, await settled(client, step, logger, pause_s)))
            else:
                found.append((step, await outcome(client.ask, step, logger)))
        return found


async def settled(client: Client, step: Look, logger: str, pause_s: float) -> Any:
    """Apache Kafka's broker hears of a change some time after it was answered."""
    before = None
    while (now := await outcome(client.ask, step, logger)) != before:
        before = now
        await asyncio.sleep(pause_s)
    return now


def test_answers_are_those_of_apache_kafka(kafka: ApacheKafka) -> None:
    async def ours() -> Outcomes:
        async with Broker(
            settings={"auto.create.topics.enable": False}, log_level="warning"
        ) as broker:
            return await outcomes(broker.bootstrap, "group", 0)

    theirs = asyncio.run(outcomes(kafka.bootstrap, KAFKAS_LOGGER, 0.5))
    for (step, expected), (_, found) in zip(theirs, asyncio.run(ours()), strict=True):
        assert found == expected, step
