"""A record comes after the end of its transaction, and stays open in its partition."""

from __future__ import annotations

import asyncio

from fencepost_broker.operations import AbortHangingTransaction
from fencepost_broker.server.scenarios.scenario import AnyBroker, Facts, Scenario, Tell
from fencepost_broker.server.scenarios.wire import TOPIC, Connection, TransactionalProducer


async def hang(broker: AnyBroker, connection: Connection, tell: Tell) -> tuple[int, str]:
    """Let a record come after the end of its transaction, and send another one without any.

    Returns the producer id, and the error of the late record.
    """
    async with Connection(broker) as slow:
        producer = TransactionalProducer(connection, 1)
        await producer.start()
        await producer.send(b"first")
        hold = broker.faults.hold(api="Produce", times=1)
        late = asyncio.ensure_future(producer.send(b"late", slow))
        await hold.wait_until_fired()
        await producer.end(commit=False)
        await producer.until_complete()
        tell("The network holds a record of a transaction, and the producer aborts.")
        hold.release()
        code = await late
        await connection.produce(b"plain")
        return producer.id, code


async def _run(broker: AnyBroker, tell: Tell) -> Facts:
    async with Connection(broker) as connection:
        producer_id, code = await hang(broker, connection, tell)
        before = await connection.end_offset(committed=True)
        tell(f"The record arrives after the abort marker: {code}. It begins another transaction.")
        state = await connection.transaction_state()
        explained = broker.explain_partition(TOPIC, 0)
        hangs = explained is not None and explained.holder is not None and explained.holder.hangs
        tell(f"The coordinator says {state}, so no marker will come: readers stop at {before}.")
        await broker.perform(
            AbortHangingTransaction(topic=TOPIC, partition=0, producer_id=producer_id)
        )
        facts = await connection.offsets()
        tell("An administrator aborts it: `fencepost transactions find-hanging`, then `abort`.")
        return {
            "late_produce": code,
            "state": state,
            "hangs": "yes" if hangs else "no",
            "last_stable_offset_before": before,
            **facts,
        }


SCENARIO = Scenario(
    name="hanging-transaction",
    summary="A transaction is open in a partition, and no coordinator knows it",
    seen="Readers of committed records stop for ever, and compaction does, too.",
    clients="Consumers with isolation.level=read_committed; producers before Produce version 12.",
    remedy="Find and abort it (KIP-664); keep transaction.partition.verification.enable=true.",
    kip="KIP-890",
    issues=("KAFKA-12979", "redpanda-data/redpanda#3699"),
    settings={
        "features": "transaction.version:1",
        "transaction.partition.verification.enable": "false",
    },
    run=_run,
)
