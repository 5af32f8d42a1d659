"""Quotas of clients, and what they ask."""

from __future__ import annotations

from typing import Any

from fencepost_protocol.generated.alter_client_quotas import (
    AlterClientQuotasRequest,
    AlterClientQuotasRequestEntityData,
    AlterClientQuotasRequestEntryData,
    OpData,
)
from fencepost_protocol.generated.fetch import FetchPartition, FetchRequest, FetchTopic
from fencepost_protocol.generated.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from fencepost_protocol.records.writer import build_batch

from tests.support.broker import Client, RunningBroker

PRODUCED, CONSUMED = "producer_byte_rate", "consumer_byte_rate"


async def limit(
    broker: Client, key: str, rate: float | None, *names: tuple[str, str | None]
) -> None:
    """A quota, everybody's unless it is named; ``None`` takes it away."""
    entity = [AlterClientQuotasRequestEntityData(*each) for each in names or (("client-id", None),)]
    change = OpData(key, rate or 0.0, rate is None)
    entry = AlterClientQuotasRequestEntryData(entity, [change])
    answer = await broker.ask(AlterClientQuotasRequest([entry]), 1)
    assert not answer.entries[0].error_code


def produce(size: int, *, acks: int = 1, name: str = "t") -> ProduceRequest:
    batch = build_batch(None, [b"x" * size], 1_700_000_000_000)
    data = TopicProduceData(name, partition_data=[PartitionProduceData(0, batch)])
    return ProduceRequest(None, acks, 10_000, [data])


def fetch(broker: RunningBroker, **changes: Any) -> FetchRequest:
    values = {"max_wait_ms": 0, "min_bytes": 1, "max_bytes": 1 << 20, "session_epoch": -1}
    partition = FetchPartition(0, fetch_offset=0, partition_max_bytes=1 << 20)
    topic = FetchTopic("t", broker.server.image.topics.by_name["t"].topic_id, [partition])
    return FetchRequest(topics=[topic], **{**values, **changes})
