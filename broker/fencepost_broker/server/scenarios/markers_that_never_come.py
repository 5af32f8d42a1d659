"""A commit is decided, and its markers are not written."""

from __future__ import annotations

from fencepost_broker.server.scenarios.scenario import AnyBroker, Facts, Scenario, Tell
from fencepost_broker.server.scenarios.wire import Connection, TransactionalProducer


async def _run(broker: AnyBroker, tell: Tell) -> Facts:
    broker.hold_markers()
    async with Connection(broker) as connection:
        producer = TransactionalProducer(connection)
        await producer.start()
        await producer.send(b"paid")
        code = await producer.end(commit=True)
        tell(f"The producer commits, and the broker answers {code}.")
        plain = await connection.produce(b"another")
        tell(f"Another producer sends a record without a transaction: {plain}.")
        tell("The markers do not reach the partition: readers of committed records see nothing.")
        return {
            "commit": code,
            "state": await connection.transaction_state(),
            **await connection.offsets(),
        }


SCENARIO = Scenario(
    name="markers-that-never-come",
    summary="A commit succeeds, and its markers do not come",
    seen="A reader of committed records stops; readers of all records go on.",
    clients="All consumers with isolation.level=read_committed.",
    remedy="Mend the way from the coordinator to the leader: `fencepost transactions explain`.",
    run=_run,
)
