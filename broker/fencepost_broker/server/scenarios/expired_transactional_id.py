"""A transactional id expires while its producer does nothing."""

from __future__ import annotations

from fencepost_broker.server.scenarios.scenario import AnyBroker, Facts, Scenario, Tell
from fencepost_broker.server.scenarios.wire import Connection, TransactionalProducer


async def _run(broker: AnyBroker, tell: Tell) -> Facts:
    async with Connection(broker) as connection:
        producer = TransactionalProducer(connection, 1)
        await producer.start()
        await producer.send(b"first")
        await producer.end(commit=True)
        await producer.until_complete()
        tell("The producer commits a transaction, and keeps quiet for eight days.")
        broker.clock.advance(days=8)
        tell("After seven of them, the coordinator forgets the transactional id.")
        code = await producer.add()
        tell(f"The producer begins a transaction, and the broker answers {code}.")
        return {"add_partitions": code, "state": await connection.transaction_state()}


SCENARIO = Scenario(
    name="expired-transactional-id",
    summary="A transactional id expires after seven days without a transaction",
    seen="INVALID_PRODUCER_ID_MAPPING at the first send after a long pause.",
    clients="All producers of transactions that pause for transactional.id.expiration.ms.",
    remedy="Close the producer and make another one, or a larger transactional.id.expiration.ms.",
    topics=("orders:1:retention.ms=-1",),
    settings={"features": "transaction.version:1"},
    run=_run,
)
