"""Unmodified clients of four languages through `fencepost proxy`, with Apache Kafka behind it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Final

import pytest

from tests.conformance.clients.brokers import KafkaBroker
from tests.conformance.clients.clients import CLIENTS, ClientUnavailableError
from tests.conformance.clients.harness import ScriptRun, missing_for, run
from tests.support.apache_kafka import KafkaUnavailableError
from tests.support.up import Up
from tests.wire.proxy_harness import PROXY_COMMAND

ENVIRONMENT: Final = "FENCEPOST_TEST_CLIENTS_PROXY"
pytestmark = [
    pytest.mark.conformance,
    pytest.mark.slow,
    pytest.mark.skipif(ENVIRONMENT not in os.environ, reason="it is run by: make clients-proxy"),
]

LANGUAGES: Final = ("java", "franz-go", "kafkajs", "confluent-kafka", "aiokafka")
"""Java, Go, Node, C (librdkafka) and Python."""
SCENARIOS: Final = ("produce", "consume", "groups", "groups-consumer-protocol", "transactions")


@pytest.fixture(scope="module")
def proxy() -> Iterator[Up]:
    try:
        with (
            KafkaBroker() as kafka,
            Up("--upstream", kafka.bootstrap, command=PROXY_COMMAND) as up,
        ):
            yield up
    except KafkaUnavailableError as error:
        pytest.skip(str(error))


@pytest.mark.parametrize("client", LANGUAGES)
def test_a_client_through_a_proxy(client: str, proxy: Up, subtests: pytest.Subtests) -> None:
    bootstrap = proxy.told["bootstrap"]
    scenarios = [each for each in SCENARIOS if not missing_for(CLIENTS[client], bootstrap, each)]
    try:
        result: ScriptRun = run(CLIENTS[client], bootstrap, client, scenarios)
    except ClientUnavailableError as error:
        pytest.skip(f"{client} is not here: {error}")
    assert scenarios
    for scenario in scenarios:
        with subtests.test(scenario):
            unsupported = [check.name for check in result.unsupported(scenario)]
            failures = [
                each
                for each in result.failures(scenario)
                if each.partition(":")[0] not in unsupported
            ]
            wrong = [each for each in failures if not each.startswith("the script ")]
            assert not wrong, "\n".join([*failures, result.stderr, proxy.stderr()[-3000:]])
    assert "Traceback" not in proxy.stderr()
