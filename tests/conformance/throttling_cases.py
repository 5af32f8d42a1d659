"""What a broker tells clients that are above their quota, over the wire."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from fencepost_protocol.generated.alter_client_quotas import (
    AlterClientQuotasRequest,
    AlterClientQuotasRequestEntityData,
    AlterClientQuotasRequestEntryData,
    OpData,
)
from fencepost_protocol.generated.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreateTopicsRequest,
)
from fencepost_protocol.generated.describe_cluster import DescribeClusterRequest
from fencepost_protocol.generated.fetch import FetchPartition, FetchRequest, FetchTopic
from fencepost_protocol.generated.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from fencepost_protocol.generated.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from fencepost_protocol.records.writer import build_batch

from tests.conformance.cluster_action_cases import logged_in
from tests.conformance.controller_peer import ask

TOPIC = "throttled"
SIZE = 15_000
ASKS_BY = "controller-peer"
"""The client id of ``ask``."""
ASKS_BY_HAND = "test"
"""That of a ``Wire``."""


Entity = list[tuple[str, str | None]]
_NOBODY: Final[Entity] = [("user", "ANONYMOUS"), ("client-id", ASKS_BY)]
"""The most specific quota that there is, whatever others were set before."""


def limit(port: int, key: str, rate: float | None, entity: Entity = _NOBODY) -> None:
    """Set a quota, or take it away."""
    parts = [AlterClientQuotasRequestEntityData(*part) for part in entity]
    change = OpData(key, rate or 0.0, rate is None)
    entry = AlterClientQuotasRequestEntryData(parts, [change])
    answer = ask(port, AlterClientQuotasRequest([entry]), 1)
    assert not answer.entries[0].error_code


def production() -> ProduceRequest:
    batch = build_batch(None, [b"x" * SIZE], 1_700_000_000_000)
    data = TopicProduceData(TOPIC, partition_data=[PartitionProduceData(0, batch)])
    return ProduceRequest(None, -1, 60_000, [data])


def produce(port: int) -> Any:
    return ask(port, production(), 9)


def fetch(port: int) -> Any:
    partition = FetchPartition(0, fetch_offset=0, partition_max_bytes=1 << 20)
    request = FetchRequest(
        max_wait_ms=0, min_bytes=1, max_bytes=1 << 20, session_epoch=0,
        topics=[FetchTopic(TOPIC, partitions=[partition])],
    )  # fmt: skip
    return ask(port, request, 12)


def make_topic(port: int) -> None:
    """At the broker that is asked: others may be known that are nothing but numbers."""
    brokers = ask(port, DescribeClusterRequest(), 1).brokers
    here = next(broker.broker_id for broker in brokers if broker.port == port)
    topic = CreatableTopic(TOPIC, -1, -1, [CreatableReplicaAssignment(0, [here])])
    assert not ask(port, CreateTopicsRequest([topic], 60_000), 7).topics[0].error_code


def is_led(port: int) -> bool:
    """Asked of an API that no limit of bytes holds back."""
    partition = ListOffsetsPartition(0, timestamp=-1)
    request = ListOffsetsRequest(-1, topics=[ListOffsetsTopic(TOPIC, [partition])])
    return not ask(port, request, 7).topics[0].partitions[0].error_code


def throttled(port: int) -> tuple[int, int]:
    """How long a Produce and a Fetch are told to wait; both are asked until quotas are in force."""
    make_topic(port)
    while not is_led(port):
        pass  # a broker hears of a new topic behind CreateTopics' answer
    limit(port, "producer_byte_rate", 1000)
    while not (produced := produce(port)).throttle_time_ms:
        pass
    assert not produced.responses[0].partition_responses[0].error_code
    limit(port, "producer_byte_rate", None)
    limit(port, "consumer_byte_rate", 1000)
    while not (fetched := fetch(port)).throttle_time_ms:
        pass
    assert (fetched.error_code, fetched.session_id, fetched.responses) == (0, 0, [])
    limit(port, "consumer_byte_rate", None)
    return produced.throttle_time_ms, fetched.throttle_time_ms


def throttled_users(port: int, login_port: int, users: Sequence[str], password: str) -> list[int]:
    """How long users are told to wait, by a quota of one's own, of all, and for a client id.

    Topic and quotas are made by one who does not log in. Behind ``throttled``.
    """
    one, by_default, by_client = users
    entities: dict[str, Entity] = {
        one: [("user", one)],
        by_default: [("user", None)],
        by_client: [("user", by_client), ("client-id", ASKS_BY_HAND)],
    }
    for number, entity in enumerate(entities.values(), 1):
        limit(port, "producer_byte_rate", number * 500.0, entity)
    told = []
    for user in entities:
        with logged_in(login_port, user, password) as wire:
            while not (produced := wire.ask(production(), 9)).throttle_time_ms:
                pass
            told.append(produced.throttle_time_ms)
    for entity in entities.values():
        limit(port, "producer_byte_rate", None, entity)
    return told
