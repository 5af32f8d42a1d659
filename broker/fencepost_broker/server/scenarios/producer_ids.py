"""Producer ids and epochs: lost to oneself, used up, late, forgotten."""

from __future__ import annotations

import asyncio
from typing import Any, Final

from fencepost_protocol.generated.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)

from fencepost_broker.operations import EPOCH_MAX, BumpProducerEpoch
from fencepost_broker.server.scenarios.scenario import AnyBroker, Facts, Scenario, Tell
from fencepost_broker.server.scenarios.wire import (
    TOPIC,
    TRANSACTIONAL_ID,
    Connection,
    TransactionalProducer,
)

_DELETE: Final = 2
"""Version of DeleteRecords."""


async def _self_fencing(broker: AnyBroker, tell: Tell) -> Facts:
    async with Connection(broker) as connection, Connection(broker) as slow:
        before = TransactionalProducer(connection)
        await before.start()
        await before.send(b"lost")
        tell("A producer sends a record in a transaction, and dies.")
        producer = TransactionalProducer(connection)
        first = await producer.start()
        tell(f"The next producer with its transactional id asks for a producer id: {first}.")
        await producer.until_complete()
        hold = broker.faults.hold(api="InitProducerId", times=1)
        late = asyncio.ensure_future(producer.start(slow))
        await hold.wait_until_fired()
        second = await producer.start()
        epoch = producer.epoch
        tell(f"It asks again; the network holds that. A third request gets epoch {epoch}.")
        hold.release()
        third = await late
        sent = await producer.send(b"paid")
        tell(f"The held request arrives, and bumps the epoch. The producer sends: {sent}.")
        return {"first": first, "second": second, "late": third, "send": sent}


async def _exhaustion(broker: AnyBroker, tell: Tell) -> Facts:
    async with Connection(broker) as connection:
        producer = TransactionalProducer(connection)
        await producer.start()
        first_id = producer.id
        now = await broker.perform(
            BumpProducerEpoch(transactional_id=TRANSACTIONAL_ID, epoch=EPOCH_MAX)
        )
        producer.epoch = now.producer_epoch
        tell(f"A producer has bumped its epoch {producer.epoch} times: this is the last one.")
        sent = await producer.send(b"last")
        last = producer.epoch
        commit = await producer.end(commit=True)
        await producer.until_complete()
        is_new = producer.id != first_id
        tell(f"It commits ({commit}), and gets {'a new' if is_new else 'its old'} producer id.")
        after = await producer.send(b"next")
        tell(f"It goes on with epoch {producer.epoch}: {after}.")
        facts: Facts = {
            "send": sent,
            "last_epoch": last,
            "commit": commit,
            "producer_id": "new" if is_new else "old",
            "epoch": producer.epoch,
            "next_send": after,
        }
        await producer.end(commit=True)
        await producer.until_complete()
        return facts


async def _slow_block(broker: AnyBroker, tell: Tell) -> Facts:
    late = broker.faults.error("COORDINATOR_LOAD_IN_PROGRESS", api="InitProducerId", times=2)
    async with Connection(broker) as connection:
        producer = TransactionalProducer(connection)
        answers = [await producer.start(), await producer.start()]
        tell("A fault rule answers as a broker whose controller is slow to allocate producer ids.")
        tell(f"A producer asks for an id twice: {answers[0]}, {answers[1]}.")
        last = await producer.start()
        tell(f"The next block comes, and the producer asks again: {last}.")
        await producer.send(b"paid")
        await producer.end(commit=True)
        await producer.until_complete()
        return {"first": answers[0], "last": last, "refused": late.fired, "epoch": producer.epoch}


async def _unknown_producer(broker: AnyBroker, tell: Tell) -> Facts:
    async with Connection(broker) as connection:
        who: dict[str, Any] = {"producer_id": 0, "producer_epoch": 0}
        await connection.produce(b"deleted", base_sequence=0, **who)
        topics = [DeleteRecordsTopic(TOPIC, [DeleteRecordsPartition(0, 1)])]
        answer = await connection.ask(DeleteRecordsRequest(topics, 1_000), _DELETE)
        start = int(answer.topics[0].partitions[0].low_watermark)
        tell(f"A producer sends a record, and DeleteRecords deletes it: the log begins at {start}.")
        old = broker.faults.error("UNKNOWN_PRODUCER_ID", api="Produce", times=1)
        before = await connection.produce(b"paid", base_sequence=1, **who)
        tell(f"A fault rule answers as an old broker, which forgets the producer, too: {before}.")
        old.remove()
        now = await connection.produce(b"paid", base_sequence=1, **who)
        tell(f"A broker that keeps what it knows of producers answers {now}.")
        lost = await connection.produce(b"gap", base_sequence=7, **who)
        tell(f"It still finds a gap in the sequence numbers: {lost}.")
        return {"log_start": start, "old_broker": before, "send": now, "gap": lost}


SELF_FENCING = Scenario(
    name="self-fencing",
    summary="A producer asks for its epoch twice after CONCURRENT_TRANSACTIONS, and fences itself",
    seen="A producer is fenced, though no other one has its transactional id.",
    clients="librdkafka (its issue is open), and others that repeat InitProducerId on their own.",
    remedy="Send InitProducerId again after its answer only; close a fenced producer.",
    issues=("confluentinc/librdkafka#3928",),
    settings={"transaction.park.enable": "false"},
    run=_self_fencing,
)
EXHAUSTION = Scenario(
    name="epoch-exhaustion",
    summary="A producer uses up the epochs of its producer id",
    seen="Nothing: the transactional id gets another producer id, with epoch 0.",
    clients="Those that take the producer id for a constant, with transactions of version 2.",
    remedy="Take both from each answer to EndTxn (version 5) and InitProducerId.",
    kip="KIP-890",
    issues=("KAFKA-9666",),
    run=_exhaustion,
)
SLOW_BLOCK = Scenario(
    name="slow-producer-ids",
    summary="The controller is slow to allocate the next producer ids",
    seen="COORDINATOR_LOAD_IN_PROGRESS, and producers that take long to start.",
    clients="New producers. Java's before 3.3.2 failed at REQUEST_TIMED_OUT, the answer then.",
    remedy="Retry; brokers fetch the next block before they need it.",
    kip="KIP-730",
    issues=("KAFKA-14417", "KAFKA-14694"),
    run=_slow_block,
)
UNKNOWN_PRODUCER = Scenario(
    name="unknown-producer-id",
    summary="UNKNOWN_PRODUCER_ID after DeleteRecords",
    seen="UNKNOWN_PRODUCER_ID at a producer with little traffic, from an old broker.",
    clients="Idempotent producers: aiokafka raises the error, librdkafka sends the record again.",
    remedy="Brokers that keep producers until producer.id.expiration.ms.",
    kip="KIP-360",
    issues=("KAFKA-7190", "aio-libs/aiokafka#510"),
    run=_unknown_producer,
)
