"""Logs whose last offsets have no record that a consumer gets."""

from __future__ import annotations

from fencepost_broker.server.scenarios.scenario import AnyBroker, Facts, Scenario, Tell
from fencepost_broker.server.scenarios.wire import Connection, TransactionalProducer


async def _transactions(broker: AnyBroker, tell: Tell, count: int, *, commit: bool) -> Facts:
    async with Connection(broker) as connection:
        producer = TransactionalProducer(connection)
        await producer.start()
        for number in range(count):
            await producer.send(b"%d" % number)
            await producer.end(commit=commit)
            await producer.until_complete()
        tell(f"A producer {'commits' if commit else 'aborts'} {count} transactions of one record.")
        facts = await connection.offsets()
        tell(f"The topic ends at offset {facts['end_offset']}; each marker has an offset, too.")
        return facts


ABORTED = Scenario(
    name="aborted-records-only",
    summary="A topic has aborted records only",
    seen="A consumer gets nothing, though the offsets say that there is something to read.",
    clients="Programs that read to the end by counting records, in any language.",
    remedy="Compare the consumer's position with the end, and count no records.",
    run=lambda broker, tell: _transactions(broker, tell, 3, commit=False),
)
MARKER = Scenario(
    name="log-ends-in-a-marker",
    summary="A log ends in a marker",
    seen="The lag is never 0 for a program that commits the offset of its last record plus one.",
    clients="Programs that commit by the last record, and monitors of lag.",
    remedy="Commit the consumer's position.",
    issues=("risingwavelabs/risingwave#24720",),
    run=lambda broker, tell: _transactions(broker, tell, 1, commit=True),
)
