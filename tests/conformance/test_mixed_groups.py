"""Groups in which members of other clients share with the SDK's: who leads them may be either.

The others are the workers of `clients/transforming.py`, each in a process of its own, which say
what they are assigned. The broker is `fencepost up` unless FENCEPOST_TEST_BROKER says `kafka`.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from fencepost_client import Admin, Consumer, NewTopic

from tests.conformance.clients import transforming
from tests.conformance.clients.brokers import BrokerUnavailableError, RunningBroker, start_broker
from tests.conformance.clients.clients import ClientUnavailableError
from tests.conformance.clients.transforming import SHORT_TIMEOUT_MS, WORKERS, Worker
from tests.sdk.harness.rebalances import poll_until
from tests.support.apache_kafka import KafkaUnavailableError

pytestmark = [pytest.mark.conformance, pytest.mark.slow]

BROKER_KIND = os.environ.get("FENCEPOST_TEST_BROKER", "fencepost")
PARTITIONS = 8
OTHERS = {
    "eager": ("aiokafka", "confluent-kafka", "java"),
    "cooperative": ("confluent-kafka", "java", "kafka-python"),
    "consumer-protocol": ("confluent-kafka", "java"),
}
OURS = {"eager": "range", "cooperative": "cooperative-sticky"}


@pytest.fixture(scope="module")
def broker() -> Iterator[RunningBroker]:
    try:
        with start_broker(BROKER_KIND, transforming.BROKER_SETTINGS) as running:
            yield running
    except (BrokerUnavailableError, KafkaUnavailableError) as error:
        pytest.skip(str(error))


class MixedGroup:
    """One consumer of ours, and processes of others."""

    def __init__(self, bootstrap: str, rebalance: str, name: str) -> None:
        self._bootstrap = bootstrap
        self._rebalance = rebalance
        self._name = name
        self.others: list[Worker] = []
        is_classic = rebalance in OURS
        self.ours = Consumer(
            bootstrap,
            group_id=name,
            group_protocol="classic" if is_classic else "consumer",
            partition_assignment_strategy=[OURS.get(rebalance, "range")],
            auto_offset_reset="earliest",
            heartbeat_interval_ms=500,
        )

    def start(self, client: str) -> None:
        """Let a member of another client join."""
        told = {
            "rebalance": self._rebalance,
            "group": self._name,
            "source": self._name,
            "sink": f"{self._name}-sink",
            "transactional-id": f"{self._name}-{client}",
            "transaction-timeout-ms": SHORT_TIMEOUT_MS,
        }
        options = [f"--{name}={value}" for name, value in told.items()]
        command = WORKERS[client].command(client)
        self.others.append(Worker(client, [*command, self._bootstrap, *options]))

    def is_shared(self) -> bool:
        """Whether every partition has one reader, and nobody much more than another."""
        for other in self.others:
            assert other.exit_code is None, other.close()
        shares = [other.partitions for other in self.others]
        shares.append({where.partition for where in self.ours.assignment()})
        sizes = [len(share) for share in shares]
        return (
            sum(sizes) == PARTITIONS
            and set().union(*shares) == set(range(PARTITIONS))
            and max(sizes) - min(sizes) <= 1
        )


@pytest.mark.parametrize("place", ["first", "last"])
@pytest.mark.parametrize("rebalance", OTHERS)
def test_a_mixed_group_shares_its_partitions(
    broker: RunningBroker, rebalance: str, place: str
) -> None:
    # On one kind of loop: what is asked here is what goes over the wire.
    asyncio.run(share(broker.bootstrap, rebalance, place))


async def share(bootstrap: str, rebalance: str, place: str) -> None:
    name = f"mixed-{rebalance}-{place}"
    async with Admin(bootstrap) as admin:
        await admin.create_topics(
            [NewTopic(topic, PARTITIONS, 1) for topic in (name, f"{name}-sink")]
        )
    group = MixedGroup(bootstrap, rebalance, name)
    with ExitStack() as ending:
        ending.callback(lambda: [other.close() for other in group.others])
        async with group.ours as ours:
            if place == "first":
                ours.subscribe([name])
                await poll_until(group.is_shared, ours)
            try:
                for client in OTHERS[rebalance]:
                    group.start(client)
            except ClientUnavailableError as error:
                pytest.skip(str(error))
            if place == "last":
                await poll_until(lambda: any(other.partitions for other in group.others), ours)
                ours.subscribe([name])
            await poll_until(group.is_shared, ours)
            while group.others:
                leaves = group.others.pop()
                ending.callback(leaves.close)
                leaves.tell("leave")
                await poll_until(group.is_shared, ours)
