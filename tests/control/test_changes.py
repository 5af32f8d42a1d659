"""Operations, faults of the disk, the clock and snapshots by HTTP."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from fencepost_broker.operations import OPERATIONS
from fencepost_broker.storage.disk.faults import DiskFull
from fencepost_client import Producer, TransactionTimedOutError
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.metadata import MetadataRequest, MetadataRequestTopic
from fencepost_protocol.generated.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from fencepost_protocol.records.writer import build_batch

from tests.control.harness import Controlled, controlled
from tests.support.always_due import AlwaysDue
from tests.support.broker import Client
from tests.support.waiting import until

pytestmark = pytest.mark.asyncio
HOUR_MS = 3600 * 1000


async def topics_of(it: Controlled) -> list[str]:
    return [each["name"] for each in (await it.ask("GET", "/v1/topics"))["topics"]]


async def produced(client: Client) -> ErrorCode:
    """Produce a record, and return the error of the answer."""
    batch = bytes(build_batch(None, [b"x"], 1))
    topic = TopicProduceData(name="t", partition_data=[PartitionProduceData(0, batch)])
    answer: Any = await client.ask(ProduceRequest(acks=-1, topic_data=[topic]), 9)
    return ErrorCode(answer.responses[0].partition_responses[0].error_code)


# -- operations ----------------------------------------------------------------------------------


async def test_an_operation_has_its_effect_and_a_typed_result() -> None:
    async with (
        controlled(topics={"t": 1}) as it,
        Producer(it.broker.bootstrap, transactional_id="p") as producer,
    ):
        producer.begin()
        await producer.send_and_wait("t", b"1")
        asked = {"type": "time-out-transaction", "transactional_id": "p"}
        told = await it.ask("POST", "/v1/operations", asked)
        assert told.keys() == {
            "type", "transactional_id", "state", "producer_id", "producer_epoch"
        }  # fmt: skip
        assert (told["type"], told["transactional_id"]) == ("transaction", "p")
        assert told["state"] in ("PrepareAbort", "CompleteAbort")
        with pytest.raises(TransactionTimedOutError):
            await producer.commit()
        await producer.abort()


async def test_an_operation_that_cannot_work_is_refused() -> None:
    async with controlled() as it:
        asked = {"type": "time-out-transaction", "transactional_id": "p"}
        refused = await it.ask("POST", "/v1/operations", asked, expect=409)
        assert "'p'" in refused["detail"]
        asked = {"type": "time-out-transactoin", "transactional_id": "p"}
        refused = await it.ask("POST", "/v1/operations", asked, expect=400)
        assert refused["advice"].startswith("Did you mean time-out-transaction?")
        asked = {"type": "fence-broker", "brokr": "1"}
        refused = await it.ask("POST", "/v1/operations", asked, expect=400)
        assert refused["advice"].startswith("Did you mean broker?")


async def test_the_description_has_each_operation_and_its_result() -> None:
    async with controlled() as it:
        document = await it.ask("GET", "/openapi.json")
    route = document["paths"]["/v1/operations"]["post"]
    body = route["requestBody"]["content"]["application/json"]["schema"]
    assert body["discriminator"]["mapping"].keys() == OPERATIONS.keys()
    answer = route["responses"]["200"]["content"]["application/json"]["schema"]
    assert "partition" in answer["discriminator"]["mapping"]


# -- the disk ------------------------------------------------------------------------------------


async def test_the_disk_fails_until_its_fault_is_removed() -> None:
    async with controlled(topics={"t": 1}) as it, it.client() as client:
        assert await produced(client) == ErrorCode.NONE
        full = {"type": "disk-full", "topic": "t"}
        added = await it.ask("POST", "/v1/disk/faults", full, expect=201)
        assert (added["number"], added["fired"], added["fault"]["type"]) == (1, 0, "disk-full")
        assert await produced(client) == ErrorCode.KAFKA_STORAGE_ERROR
        [listed] = (await it.ask("GET", "/v1/disk/faults"))["faults"]
        assert listed["fired"] > 0
        await it.ask("DELETE", "/v1/disk/faults/7", expect=404)
        await it.ask("DELETE", "/v1/disk/faults/1", expect=204)
        assert await it.ask("GET", "/v1/disk/faults") == {"faults": []}
        assert not it.broker.disk.loaded


async def test_numbers_of_disk_faults_are_not_used_again() -> None:
    async with controlled() as it:
        it.broker.disk.add(DiskFull(topic="t")).remove()
        added = await it.ask(
            "POST", "/v1/disk/faults", {"type": "disk-slow", "sync_ms": 1}, expect=201
        )
        assert added["number"] == 2
        await it.ask("DELETE", "/v1/disk/faults", expect=204)
        assert not it.broker.disk.loaded
        wrong = {"type": "disk-full", "partition": 1}
        refused = await it.ask("POST", "/v1/disk/faults", wrong, expect=400)
        assert "needs a topic" in refused["detail"]


# -- the clock -----------------------------------------------------------------------------------


async def test_the_clock_is_paused_set_back_and_resumed() -> None:
    async with controlled() as it:
        paused = await it.ask("POST", "/v1/clock/pause")
        assert paused["manual"]
        assert it.broker.clock.now_ms() == paused["now_ms"]
        back = await it.ask("POST", "/v1/clock/jump", {"hours": -1})
        assert back == {**paused, "now_ms": paused["now_ms"] - HOUR_MS}
        on = await it.ask("POST", "/v1/clock/jump", {"hours": 1, "ms": 1})
        assert on["now_ms"] == paused["now_ms"] + 1
        assert not (await it.ask("POST", "/v1/clock/resume"))["manual"]
        for wrong in ({}, {"days": -1, "hours": 24}, {"days": 40_000}, {"days": -30_000}):
            await it.ask("POST", "/v1/clock/jump", wrong, expect=400)
        await it.ask("POST", "/v1/clock/jump", {"days": -1e308}, expect=400)


async def test_a_long_advance_leaves_the_broker_to_its_clients() -> None:
    async with controlled(clock="manual", topics={"t": 1}) as it, it.client() as client:
        due, before = AlwaysDue(it.broker.clock), it.broker.clock.now_ms()
        advance = asyncio.create_task(it.ask("POST", "/v1/clock/advance", {"days": 1}))
        await until(lambda: due.expired)
        assert await produced(client) is ErrorCode.NONE
        assert (await it.ask("GET", "/v1/clock"))["now_ms"] == before
        due.is_over = True
        assert (await advance)["now_ms"] == before + 24 * HOUR_MS


# -- snapshots -----------------------------------------------------------------------------------


async def test_a_snapshot_is_taken_restored_and_removed() -> None:
    async with controlled(topics={"t": 1}, clock="manual") as it:
        taken = await it.ask("POST", "/v1/snapshots", {"name": "empty"}, expect=201)
        assert taken["at_ms"] == it.broker.clock.now_ms()
        assert await it.ask("GET", "/v1/snapshots") == {"snapshots": [taken]}
        await it.ask("POST", "/v1/topics", {"name": "u"}, expect=201)
        assert await topics_of(it) == ["t", "u"]
        await it.ask("POST", "/v1/snapshots/empty/restore", {}, expect=204)
        assert await topics_of(it) == ["t"]
        async with it.client() as client:
            request = MetadataRequest([MetadataRequestTopic(name="t")])
            answer: Any = await client.ask(request, 12)
            assert not answer.topics[0].error_code
            await it.ask("POST", "/v1/snapshots/empty/restore", {"connections": "keep"}, expect=204)
            await client.ask(request, 12)
        refused = await it.ask("POST", "/v1/snapshots/emty/restore", {}, expect=404)
        assert refused["advice"] == "Did you mean empty?"
        await it.ask("DELETE", "/v1/snapshots/empty", expect=204)
        await it.ask("DELETE", "/v1/snapshots/empty", expect=404)
        assert await it.ask("GET", "/v1/snapshots") == {"snapshots": []}


async def test_a_reset_removes_topics_and_faults() -> None:
    async with controlled(topics={"t": 1}) as it:
        await it.ask("POST", "/v1/topics", {"name": "u"}, expect=201)
        rule = {"act": {"type": "drop-answer"}}
        await it.ask("POST", "/v1/faults", rule, expect=201)
        await it.ask("POST", "/v1/disk/faults", {"type": "disk-full"}, expect=201)
        await it.ask("POST", "/v1/reset", expect=204)
        assert await topics_of(it) == ["t"]
        assert await it.ask("GET", "/v1/faults") == {"faults": []}
        assert await it.ask("GET", "/v1/disk/faults") == {"faults": []}


async def test_after_a_restore_the_port_controls_the_restored_broker() -> None:
    async with controlled(topics={"t": 1}) as it:
        await it.ask("POST", "/v1/snapshots", {"name": "empty"}, expect=201)
        await it.ask("POST", "/v1/markers/holds", {"topic": "t"}, expect=201)
        await it.ask("POST", "/v1/snapshots/empty/restore", {}, expect=204)
        assert await it.ask("GET", "/v1/markers/holds") == {"holds": []}
        held = await it.ask("POST", "/v1/markers/holds", {"topic": "t"}, expect=201)
        async with Producer(it.broker.bootstrap, transactional_id="p") as producer:
            producer.begin()
            await producer.send_and_wait("t", b"1")
            await it.ask(
                "POST", "/v1/operations", {"type": "time-out-transaction", "transactional_id": "p"}
            )
            told = await it.ask("GET", "/v1/transactions/p")
            assert told["state"] == "PrepareAbort", "the hold is one of the restored broker"
            await it.ask("DELETE", f"/v1/markers/holds/{held['hold']}", expect=204)


async def test_restores_at_the_same_time_leave_one_state() -> None:
    async with controlled(topics={"t": 1}) as it:
        await it.ask("POST", "/v1/snapshots", {"name": "a"}, expect=201)
        path = "/v1/snapshots/a/restore"
        await asyncio.gather(*(it.ask("POST", path, {}, expect=204) for _ in range(5)))
        assert await topics_of(it) == ["t"]


async def test_a_broker_with_files_has_no_snapshots(tmp_path: Path) -> None:
    async with controlled(data_dir=tmp_path) as it:
        refused = await it.ask("POST", "/v1/snapshots", {"name": "a"}, expect=409)
        assert "in memory" in refused["detail"]
        await it.ask("POST", "/v1/reset", expect=409)
        assert await it.ask("GET", "/v1/snapshots") == {"snapshots": []}


async def test_snapshots_of_the_program_are_listed() -> None:
    async with controlled() as it:
        it.broker.snapshot("mine")
        [listed] = (await it.ask("GET", "/v1/snapshots"))["snapshots"]
        assert listed["name"] == "mine"
        for wrong in ({}, {"name": ""}, {"name": "x" * 201}):
            await it.ask("POST", "/v1/snapshots", wrong, expect=400)
