"""A batch of an idempotent producer is missing."""

from __future__ import annotations

from typing import Any

from fencepost_broker.server.scenarios.scenario import AnyBroker, Facts, Scenario, Tell
from fencepost_broker.server.scenarios.wire import Connection


async def _run(broker: AnyBroker, tell: Tell) -> Facts:
    async with Connection(broker) as connection:
        who: dict[str, Any] = {"producer_id": 0, "producer_epoch": 0}
        first = await connection.produce(b"0", base_sequence=0, **who)
        tell(f"An idempotent producer sends sequence number 0: {first}.")
        gap = await connection.produce(b"2", base_sequence=2, **who)
        tell(f"Number 1 is lost in the producer, and it sends number 2: {gap}.")
        filled = await connection.produce(b"1", base_sequence=1, **who)
        tell(f"Number 1 is sent after all: {filled}.")
        return {"gap": gap, "filled": filled, "end_offset": await connection.end_offset()}


SCENARIO = Scenario(
    name="out-of-order-sequence",
    summary="A batch of an idempotent producer is missing",
    seen="OUT_OF_ORDER_SEQUENCE_NUMBER, and nothing that follows the gap is appended.",
    clients="Idempotent producers that lose a batch between two others, as by a delivery time-out.",
    remedy="A producer that bumps its epoch and goes on.",
    kip="KIP-360",
    run=_run,
)
