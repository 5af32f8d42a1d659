"""A late EndTxn, which hits the next transaction or does not."""

from __future__ import annotations

import asyncio

from fencepost_broker.server.scenarios.scenario import AnyBroker, Facts, Scenario, Tell
from fencepost_broker.server.scenarios.wire import Connection, TransactionalProducer


async def _run(broker: AnyBroker, tell: Tell, version: int) -> Facts:
    async with Connection(broker) as connection, Connection(broker) as slow:
        producer = TransactionalProducer(connection, version)
        await producer.start()
        await producer.send(b"first")
        hold = broker.faults.hold(api="EndTxn", times=1)
        late = asyncio.ensure_future(producer.end(commit=True, connection=slow))
        await hold.wait_until_fired()
        tell("The producer commits its first transaction; the network holds the EndTxn.")
        await producer.end(commit=True)
        await producer.until_complete()
        tell("It times out, sends EndTxn again on a new connection, and the commit succeeds.")
        await producer.send(b"second")
        tell("It begins a second transaction and sends a record; it has not decided to commit.")
        before = await connection.end_offset(committed=True)
        hold.release()
        code = await late
        tell(f"Now the first EndTxn arrives, and the broker answers {code}.")
        if code == "NONE":
            await producer.until_complete()
        after = await connection.end_offset(committed=True)
        state = await connection.transaction_state()
        tell(f"The state of the transaction is {state}.")
        return {
            "late_end_txn": code,
            "state": state,
            "last_stable_offset_before": before,
            "last_stable_offset": after,
        }


VERSION_1 = Scenario(
    name="late-end-txn",
    summary="A late EndTxn commits the next transaction (version 1)",
    seen="Records of a transaction that is still open are readable, though they are not committed.",
    clients="All producers with transactions of version 1; librdkafka has no other version yet.",
    remedy="With transaction.version 2 each transaction has an epoch of its own.",
    kip="KIP-890",
    issues=("confluentinc/librdkafka#5423",),
    settings={"features": "transaction.version:1"},
    run=lambda broker, tell: _run(broker, tell, 1),
)
VERSION_2 = Scenario(
    name="late-end-txn-version-2",
    summary="A late EndTxn is fenced (version 2)",
    seen="Nothing: the late request has the epoch of the first transaction, and is refused.",
    clients="None of those that use transactions of version 2.",
    remedy="This is the remedy: transaction.version 2.",
    kip="KIP-890",
    run=lambda broker, tell: _run(broker, tell, 2),
)
