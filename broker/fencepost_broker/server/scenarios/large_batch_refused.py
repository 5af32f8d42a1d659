"""A batch is larger than the topic takes."""

from __future__ import annotations

from fencepost_broker.server.scenarios.scenario import AnyBroker, Facts, Scenario, Tell
from fencepost_broker.server.scenarios.wire import Connection


async def _run(broker: AnyBroker, tell: Tell) -> Facts:
    async with Connection(broker) as connection:
        small = await connection.produce(b"x")
        tell(f"A producer sends a small record: {small}.")
        large = await connection.produce(b"x" * 2_000)
        tell(f"It sends one of 2,000 bytes to a topic that takes batches of 1,000: {large}.")
        return {"small": small, "large": large, "end_offset": await connection.end_offset()}


SCENARIO = Scenario(
    name="large-batch-refused",
    summary="A batch is larger than the topic's max.message.bytes",
    seen="MESSAGE_TOO_LARGE, although the producer's own limit allows the record.",
    clients="All producers whose max.request.size (message.max.bytes) is above the topic's limit.",
    remedy="A larger max.message.bytes of the topic, or smaller records.",
    topics=("orders:1:max.message.bytes=1000",),
    run=_run,
)
