"""The answer to a Produce is lost, and the producer sends again."""

from __future__ import annotations

from typing import Any

from fencepost_broker.server.scenarios.scenario import AnyBroker, Facts, Scenario, Tell
from fencepost_broker.server.scenarios.wire import Connection


async def _twice(broker: AnyBroker, tell: Tell, **batch: Any) -> Facts:
    lost = broker.faults.drop_answer(api="Produce", times=1)
    async with Connection(broker) as connection:
        try:
            await connection.produce(b"paid", **batch)
        except EOFError:
            tell("The broker appends the record; the connection is lost before the answer.")
    async with Connection(broker) as connection:
        code = await connection.produce(b"paid", **batch)
        tell(f"The producer connects again, and sends the record again: {code}.")
        end = await connection.end_offset()
        tell(f"The topic has {end} records.")
    return {"lost_answers": lost.fired, "second_answer": code, "end_offset": end}


async def _idempotent(broker: AnyBroker, tell: Tell) -> Facts:
    return await _twice(broker, tell, producer_id=0, producer_epoch=0, base_sequence=0)


WITHOUT = Scenario(
    name="duplicate-after-lost-answer",
    summary="A lost Produce answer makes a duplicate, without idempotence",
    seen="A record is in the topic twice, and no client got an error.",
    clients="All producers without idempotence, which librdkafka and aiokafka are by default.",
    remedy="enable.idempotence=true.",
    kip="KIP-98",
    run=_twice,
)
WITH = Scenario(
    name="no-duplicate-with-idempotence",
    summary="A lost Produce answer makes no duplicate, with idempotence",
    seen="Nothing: the broker knows the sequence number, and answers with the first offset.",
    clients="None of those with enable.idempotence=true.",
    remedy="This is the remedy.",
    kip="KIP-98",
    run=_idempotent,
)
