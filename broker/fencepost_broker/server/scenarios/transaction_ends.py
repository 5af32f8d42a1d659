"""Ends of transactions: with no records, with a lost answer, with a coordinator that dies."""

from __future__ import annotations

from fencepost_broker.operations import LoadCoordinator, UnloadCoordinator
from fencepost_broker.server.scenarios.scenario import AnyBroker, Facts, Scenario, Tell
from fencepost_broker.server.scenarios.wire import (
    TRANSACTIONAL_ID,
    Connection,
    TransactionalProducer,
)


async def _empty(broker: AnyBroker, tell: Tell, version: int) -> Facts:
    async with Connection(broker) as connection:
        producer = TransactionalProducer(connection, version)
        await producer.start()
        commit = await producer.end(commit=True)
        tell(f"The producer begins a transaction, sends no record, and commits: {commit}.")
        abort = await producer.end(commit=False)
        tell(f"It aborts instead: {abort}.")
        sent = await producer.send(b"paid")
        tell(f"It sends a record in its next transaction: {sent}.")
        await producer.end(commit=True)
        await producer.until_complete()
        return {"commit": commit, "abort": abort, "epoch": producer.epoch}


async def _lost_answer(broker: AnyBroker, tell: Tell) -> Facts:
    lost = broker.faults.drop_answer(api="EndTxn", times=1)
    async with Connection(broker) as connection:
        producer = TransactionalProducer(connection)
        await producer.start()
        await producer.send(b"paid")
        try:
            await producer.end(commit=True)
        except EOFError:
            tell("The producer commits; the broker does so, and the answer is lost.")
    async with Connection(broker) as connection:
        producer.connection = connection
        await producer.until_complete()
        repeated = await producer.end(commit=True)
        tell(f"The producer connects again, and commits again: {repeated}.")
        offsets = await connection.offsets()
        tell("The transaction has one marker: both requests have one outcome.")
        return {"lost_answers": lost.fired, "second_answer": repeated, **offsets}


async def _dying_coordinator(broker: AnyBroker, tell: Tell) -> Facts:
    hold = broker.hold_markers()
    async with Connection(broker) as connection:
        producer = TransactionalProducer(connection)
        await producer.start()
        await producer.send(b"paid")
        commit = await producer.end(commit=True)
        state = await connection.transaction_state()
        stable = await connection.end_offset(committed=True)
        tell(f"The producer commits ({commit}); the transaction is in {state}, without a marker.")
        await broker.perform(UnloadCoordinator(transactional_id=TRANSACTIONAL_ID))
        hold.release()
        without = await producer.start()
        tell(f"The coordinator dies. A new producer asks for it, and gets {without}.")
        await broker.perform(LoadCoordinator(transactional_id=TRANSACTIONAL_ID))
        await producer.until_complete()
        after = await connection.transaction_state()
        tell(f"The next coordinator loads the log, and writes the markers: {after}.")
        return {
            "commit": commit,
            "state_before": state,
            "last_stable_offset_before": stable,
            "without_coordinator": without,
            "state": after,
            **await connection.offsets(),
        }


EMPTY_1 = Scenario(
    name="empty-transaction",
    summary="A transaction without records is ended (version 1)",
    seen="INVALID_TXN_STATE at the end of a transaction in which nothing was sent.",
    clients="Clients that send EndTxn for such a transaction, as KafkaJS did.",
    remedy="Send EndTxn after the first record or offset only, as the Java client does.",
    issues=("tulios/kafkajs#469", "tulios/kafkajs#1388"),
    settings={"features": "transaction.version:1"},
    run=lambda broker, tell: _empty(broker, tell, 1),
)
EMPTY_2 = Scenario(
    name="empty-transaction-version-2",
    summary="A transaction without records is ended (version 2)",
    seen="INVALID_TXN_STATE at the commit; an abort succeeds, and the producer gets a new epoch.",
    clients="Clients that send EndTxn for such a transaction.",
    remedy="Send EndTxn after the first record or offset only, or abort.",
    kip="KIP-890",
    issues=("KAFKA-18464",),
    run=lambda broker, tell: _empty(broker, tell, 2),
)
LOST_ANSWER = Scenario(
    name="lost-commit-answer",
    summary="A commit is done, and its answer is lost",
    seen="A commit takes longer, or times out, though its records are readable.",
    clients="All producers of transactions; programs that then send the records again write twice.",
    remedy="Commit again: the second EndTxn has the outcome of the first.",
    issues=("confluentinc/librdkafka#3227",),
    run=_lost_answer,
)
DYING_COORDINATOR = Scenario(
    name="coordinator-dies-in-prepare-commit",
    summary="A coordinator dies between a commit and its markers",
    seen="Records that are committed become readable late, when another broker coordinates.",
    clients="All consumers with isolation.level=read_committed; producers get NOT_COORDINATOR.",
    remedy="Wait: the next coordinator reads PrepareCommit in the log, and writes the markers.",
    issues=("KAFKA-16352",),
    run=_dying_coordinator,
)
