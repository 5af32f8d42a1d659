"""Events of the kind `step`: what the stream says about transactions, and what the logs have."""

from __future__ import annotations

import asyncio

import pytest
from fencepost_protocol.generated.end_txn import EndTxnRequest
from fencepost_protocol.generated.init_producer_id import InitProducerIdRequest

from tests.control.harness import begun, controlled, events_in, open_port
from tests.support.waiting import until

pytestmark = pytest.mark.asyncio

_COMMITTED = [
    ("request", "FindCoordinator"),
    ("answer", "FindCoordinator"),
    ("request", "InitProducerId"),
    ("state", "Empty"),
    ("answer", "InitProducerId"),
    ("request", "AddPartitionsToTxn"),
    ("state", "Ongoing"),
    ("answer", "AddPartitionsToTxn"),
    ("request", "Produce"),
    ("answer", "Produce"),
    ("request", "EndTxn"),
    ("state", "PrepareCommit"),
    ("answer", "EndTxn"),
    ("marker", "commit"),
    ("state", "CompleteCommit"),
]


async def test_each_step_of_a_transaction_is_told_in_order() -> None:
    async with (
        controlled(topics={"t": 1}) as it,
        it.client() as client,
        it.session.get(f"http://{it.address}/v1/events?kinds=step") as answer,
    ):
        events = events_in(answer)
        producer_id, epoch = await begun(client, "payments")
        await client.ask(EndTxnRequest("payments", producer_id, epoch, committed=True), 3)
        told = [await anext(events) for _ in _COMMITTED]
    named = [(each["what"], each["api"] or each["state"]) for each in told]
    assert named == _COMMITTED
    by_name = dict(zip(named, told, strict=True))
    assert by_name["answer", "InitProducerId"]["producer_id"] == producer_id
    assert by_name["request", "EndTxn"]["state"] == "commit"
    [written] = by_name["answer", "Produce"]["partitions"]
    assert written == {"topic": "t", "partition": 0, "offset": 0, "records": 1}
    [marked] = by_name["marker", "commit"]["partitions"]
    assert (marked["topic"], marked["offset"]) == ("t", 1)
    states = [each["transactional_id"] for each in told if each["what"] == "state"]
    assert states == ["payments"] * 4
    numbers = [each["number"] for each in told if each["what"] in ("request", "answer")]
    assert numbers == sorted([*range(1, 6)] * 2)


async def test_nobody_is_told_when_nobody_asks() -> None:
    async with open_port() as it:
        it.broker.create("t")

        def listeners() -> set[object]:
            return {it.broker.server.coordinators.listener, it.broker.coordinators.listener}

        async with it.session.get(f"http://{it.address}/v1/events?kinds=step"):
            await begun(it.broker, "payments")
            [listener] = listeners()
            assert listener is not None
        await until(lambda: it.broker.process.socket_server.watcher is None)
        assert listeners() == {None}


async def test_a_request_that_waits_is_told_before_its_answer() -> None:
    async with (
        controlled(topics={"t": 1}) as it,
        it.client() as client,
        it.session.get(f"http://{it.address}/v1/events?kinds=step") as answer,
    ):
        events = events_in(answer)
        producer_id, epoch = await begun(client, "payments")
        await it.ask("POST", "/v1/markers/holds", {}, expect=201)
        await client.ask(EndTxnRequest("payments", producer_id, epoch, committed=True), 3)
        again = asyncio.create_task(client.ask(InitProducerIdRequest("payments", 60_000), 4))
        while (step := await anext(events))["what"] != "waits":
            assert step["what"] != "marker"
        assert step["api"] == "InitProducerId"
        await it.ask("DELETE", "/v1/markers/holds/1", expect=204)
        assert not (await again).error_code
        left = [await anext(events) for _ in range(4)]
    told = [(each["what"], each["api"] or each["state"]) for each in left]
    assert told[0] == ("marker", "commit")
    assert told[-1] == ("answer", "InitProducerId")
