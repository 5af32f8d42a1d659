"""Fault rules that perform an operation: what a client sees of it."""

from __future__ import annotations

import pytest
from fencepost_broker import Broker, Cluster
from fencepost_broker.operations import (
    FenceProducer,
    MoveLeader,
    TimeOutTransaction,
)
from fencepost_client import Producer, TransactionTimedOutError

from tests.control.harness import controlled

pytestmark = pytest.mark.asyncio


async def test_a_transaction_times_out_when_its_commit_arrives() -> None:
    async with (
        Broker(topics={"t": 1}) as broker,
        Producer(broker.bootstrap, transactional_id="p") as producer,
    ):
        late = broker.faults.run(TimeOutTransaction(transactional_id="p"), api="EndTxn", times=1)
        producer.begin()
        await producer.send_and_wait("t", b"1")
        with pytest.raises(TransactionTimedOutError):
            await producer.commit()
        assert (late.fired, late.refused) == (1, "")
        await producer.abort()
        async with producer.transaction() as transaction:
            await transaction.send("t", b"2")
        assert late.fired == 1


async def test_an_operation_may_come_after_the_request() -> None:
    async with (
        Broker(topics={"t": 1}) as broker,
        Producer(broker.bootstrap, transactional_id="p") as producer,
    ):
        fenced = broker.faults.run(
            FenceProducer(transactional_id="p"), when="after", api="EndTxn", times=1
        )
        producer.begin()
        await producer.send_and_wait("t", b"1")
        await producer.commit()
        told = broker.explain_transaction("p")
        assert told is not None
        assert (told.state, fenced.refused) == ("Empty", "")


async def test_markers_are_held_once_a_commit_has_arrived() -> None:
    async with (
        controlled(topics={"t": 1}) as it,
        Producer(it.broker.bootstrap, transactional_id="p") as producer,
    ):
        rule = {
            "name": "held",
            "match": {"api": "EndTxn"},
            "act": {"type": "run", "operation": {"type": "hold-markers", "topic": "t"}},
        }
        added = await it.ask("POST", "/v1/faults", rule, expect=201)
        assert added["rule"]["act"]["operation"]["type"] == "hold-markers"
        producer.begin()
        await producer.send_and_wait("t", b"1")
        await producer.commit()
        assert (await it.ask("GET", "/v1/transactions/p"))["state"] == "PrepareCommit"
        [hold] = (await it.ask("GET", "/v1/markers/holds"))["holds"]
        assert hold["topic"] == "t"
        await it.ask("DELETE", f"/v1/markers/holds/{hold['hold']}", expect=204)


async def test_a_refused_operation_is_told_and_the_request_goes_on() -> None:
    async with controlled(topics={"t": 1}) as it, Producer(it.broker.bootstrap) as producer:
        moved = it.broker.faults.run(
            MoveLeader(topic="t", partition=0, broker=77), api="Produce", name="moved"
        )
        assert (await producer.send_and_wait("t", b"1")).offset == 0
        assert moved.fired == 1
        assert "77" in moved.refused
        assert (await it.ask("GET", "/v1/faults/moved"))["refused"] == moved.refused


async def test_the_leader_moves_when_a_produce_arrives() -> None:
    async with (
        Cluster(brokers=2, topics=["t:1"], settings={"default.replication.factor": 2}) as cluster,
        Producer(cluster.bootstrap) as producer,
    ):
        assert (await producer.send_and_wait("t", b"0")).offset == 0
        told = cluster.brokers[1].explain_partition("t", 0)
        assert told is not None
        old, new = told.leader_id, 3 - told.leader_id
        broker = cluster.brokers[old]
        moved = broker.faults.run(
            MoveLeader(topic="t", partition=0, broker=new), api="Produce", times=1
        )
        assert (await producer.send_and_wait("t", b"1")).offset == 1
        assert (moved.fired, moved.refused) == (1, "")
        after = cluster.brokers[new].explain_partition("t", 0)
        assert after is not None
        assert after.leader_id == new
