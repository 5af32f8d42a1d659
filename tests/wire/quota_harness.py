"""Quotas of clients."""

from __future__ import annotations

from fencepost_protocol.generated.alter_client_quotas import (
    AlterClientQuotasRequest,
    AlterClientQuotasRequestEntityData,
    AlterClientQuotasRequestEntryData,
    OpData,
)

from tests.support.broker import Client

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
