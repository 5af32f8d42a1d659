"""Exactly once across rebalances, by unmodified clients: nothing lost, nothing twice.

The broker is `fencepost up`, with parking as it is by default, unless FENCEPOST_TEST_BROKER says
`kafka`. All legs, a client and a kind of rebalance each, run at the same time against one broker:
they mostly wait for timeouts. What a leg does stands in `clients/transforming.py`;
FENCEPOST_TEST_TRANSFORM_ROUNDS is how often each is run (1).
"""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeAlias, cast

import pytest
from fencepost_protocol.generated.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
)

from tests.conformance.clients import transforming
from tests.conformance.clients.brokers import BrokerUnavailableError, RunningBroker, start_broker
from tests.conformance.clients.clients import ClientUnavailableError
from tests.conformance.clients.harness import ScriptRun
from tests.conformance.clients.page import keep
from tests.conformance.clients.transforming import CHECKS, LEGS, scenario_of
from tests.support.apache_kafka import KafkaUnavailableError
from tests.support.up import Wire

pytestmark = [pytest.mark.conformance, pytest.mark.slow]

BROKER_KIND = os.environ.get("FENCEPOST_TEST_BROKER", "fencepost")
ROUNDS = int(os.environ.get("FENCEPOST_TEST_TRANSFORM_ROUNDS", "1"))
# Each leg has two or three workers at a time.
LEGS_AT_A_TIME: Final = 2 * (os.cpu_count() or 1)

_BROKER: Final = 4  # the kind of resource

Leg: TypeAlias = tuple[str, str, int]
"""A client, a kind of rebalance, and a number that counts the rounds."""


@pytest.fixture(scope="module")
def broker() -> Iterator[RunningBroker]:
    try:
        with start_broker(BROKER_KIND, transforming.BROKER_SETTINGS) as running:
            yield running
    except (BrokerUnavailableError, KafkaUnavailableError) as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def result_of(
    broker: RunningBroker, request: pytest.FixtureRequest
) -> Iterator[Callable[[Leg], ScriptRun]]:
    """What came out of a leg; all that were chosen are begun when this is first asked for."""
    chosen: list[Leg] = [
        cast("Leg", item.callspec.params["leg"])
        for item in request.session.items
        if isinstance(item, pytest.Function)
        and item.path == request.path
        and "leg" in item.fixturenames
    ]

    def run(leg: Leg) -> ScriptRun:
        client, rebalance, number = leg
        return transforming.run(client, rebalance, broker.bootstrap, f"{client}-{number}")

    with ThreadPoolExecutor(LEGS_AT_A_TIME) as pool:
        legs = {leg: pool.submit(run, leg) for leg in chosen}
        yield lambda leg: legs[leg].result()
    keep(
        BROKER_KIND,
        {
            (client, scenario_of(kind)): leg.result()
            for (client, kind, _), leg in legs.items()
            if leg.exception() is None
        },
    )


def test_the_broker_parks(broker: RunningBroker) -> None:
    if BROKER_KIND == "kafka":
        pytest.skip("Apache Kafka parks nothing")
    asked = DescribeConfigsResource(_BROKER, "1", ["transaction.park.enable"])
    with Wire(int(broker.bootstrap.rpartition(":")[2])) as wire:
        answer = wire.ask(DescribeConfigsRequest([asked]), 4)
    assert [each.value for each in answer.results[0].configs] == ["true"]


@pytest.mark.parametrize(
    "leg",
    [(client, kind, number) for client, kind in LEGS for number in range(ROUNDS)],
    ids=lambda leg: "-".join(map(str, leg)),
)
def test_each_record_is_transformed_once(
    leg: Leg, broker: RunningBroker, result_of: Callable[[Leg], ScriptRun]
) -> None:
    client, rebalance, _ = leg
    try:
        result = result_of(leg)
    except ClientUnavailableError as error:
        pytest.skip(f"{client} is not here: {error}")
    checks = result.checks[scenario_of(rebalance)]
    failures = [f"{check.name}: {check.detail}" for check in checks if not check.ok]
    failures += [f"{name}: not reached" for name in list(CHECKS)[len(checks) :]]
    if failures:
        print(f"{result.stderr}\n\nthe broker said:\n{broker.stderr()[-3000:]}")
        pytest.fail("\n".join([f"{client}, {rebalance}:", *failures]), pytrace=False)
