"""A transaction times out, then its producer commits."""

from __future__ import annotations

from fencepost_broker.server.scenarios.scenario import AnyBroker, Facts, Scenario, Tell
from fencepost_broker.server.scenarios.wire import Connection, TransactionalProducer


async def _run(broker: AnyBroker, tell: Tell) -> Facts:
    async with Connection(broker) as connection:
        producer = TransactionalProducer(connection)
        await producer.start()
        await producer.send(b"paid")
        tell("The producer sends a record in a transaction, and works on something else.")
        broker.clock.advance(minutes=2)
        await producer.until_complete()
        tell("The transaction times out after a minute; the coordinator aborts it.")
        code = await producer.end(commit=True)
        tell(f"The producer commits, and the broker answers {code}.")
        return {
            "commit": code,
            "state": await connection.transaction_state(),
            **await connection.offsets(),
        }


SCENARIO = Scenario(
    name="commit-after-time-out",
    summary="A transaction times out, then its producer commits",
    seen="The commit fails with INVALID_TXN_STATE, and the records are not readable.",
    clients="All producers that work longer than transaction.timeout.ms between begin and commit.",
    remedy="A larger transaction.timeout.ms or shorter transactions; send the records again.",
    run=_run,
)
