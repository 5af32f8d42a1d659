"""TxnOffsetCommit over the wire: verified or entered, pending, then committed or gone."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from fencepost_broker.coordinator.records import RecordFamily
from fencepost_broker.storage.disk.memory import MemoryDisk
from fencepost_broker.storage.disk.memory_chunks import MemoryBudget
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.add_offsets_to_txn import AddOffsetsToTxnRequest
from fencepost_protocol.generated.delete_topics import DeleteTopicsRequest, DeleteTopicState
from fencepost_protocol.generated.find_coordinator import FindCoordinatorRequest
from fencepost_protocol.generated.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)

from tests.support.broker import Client, RunningBroker, running_broker
from tests.wire.transaction_harness import (
    KAFKAS_WAY,
    NONE,
    Producer,
    broker_address,
    state_of,
    until,
    until_state,
)

GROUP = "g"


async def begun(broker: RunningBroker) -> Producer:
    await broker.ask(FindCoordinatorRequest(GROUP, 0), 3)
    producer = Producer(broker)
    await producer.start()
    return producer


async def commit(
    producer: Producer, offset: int = 5, version: int = 5, group: str = GROUP, **given: Any
) -> ErrorCode:
    topics = [TxnOffsetCommitRequestTopic("t", [TxnOffsetCommitRequestPartition(0, offset)])]
    request = TxnOffsetCommitRequest(
        given.pop("name", producer.name),
        group,
        given.pop("producer_id", producer.id),
        producer.epoch + given.pop("epoch", 0),
        topics=topics,
        **given,
    )
    answer = await producer.client.ask(request, version)
    return ErrorCode(answer.topics[0].partitions[0].error_code)


async def add_offsets(producer: Producer) -> ErrorCode:
    request = AddOffsetsToTxnRequest(producer.name, producer.id, producer.epoch, GROUP)
    return ErrorCode((await producer.client.ask(request, 3)).error_code)


def committed(broker: RunningBroker) -> int | None:
    """The offset that counts, as the machine has it."""
    shard = broker.coordinators.shard(RecordFamily.GROUPS, GROUP)
    assert shard is not None
    machine: Any = shard.machine
    found = machine.state.offsets.find(GROUP, "t", 0)
    return None if found is None else int(found.offset)


async def has(broker: RunningBroker) -> int | None:
    await state_of(broker)
    return committed(broker)


@pytest.mark.asyncio
@pytest.mark.parametrize("version", [0, 3, 4, 5])
async def test_offsets_count_when_the_transaction_commits(version: int) -> None:
    async with running_broker(topics={"t": 1}) as broker:
        producer = await begun(broker)
        for offset, outcome, after in ((5, "commit", 5), (9, "abort", 5), (7, "commit", 7)):
            if version < 5:
                assert await add_offsets(producer) is NONE
            before = committed(broker)
            assert await commit(producer, offset, version) is NONE
            assert committed(broker) == before
            assert await producer.end(outcome) is NONE
            await until_state(broker, f"Complete{outcome.capitalize()}")
            assert committed(broker) == after


@pytest.mark.asyncio
async def test_what_is_refused() -> None:
    async with running_broker(topics={"t": 1}) as broker:
        producer = await begun(broker)
        await producer.initialize()
        abortable, state = ErrorCode.TRANSACTION_ABORTABLE, ErrorCode.INVALID_TXN_STATE
        assert await commit(producer, version=0) is state
        assert await commit(producer, version=3, generation_id=7, member_id="m") is state
        assert await commit(producer, version=4) is abortable
        epoch, mapping = ErrorCode.INVALID_PRODUCER_EPOCH, ErrorCode.INVALID_PRODUCER_ID_MAPPING
        for version in (3, 4, 5):
            assert await commit(producer, version=version, epoch=-1) is epoch
            assert await commit(producer, version=version, epoch=1) is epoch
            assert await commit(producer, version=version, producer_id=77) is mapping
            assert await commit(producer, version=version, name="b") is mapping
            refused = await commit(producer, version=version, group="")
            assert refused is ErrorCode.INVALID_GROUP_ID
        assert await commit(producer) is NONE
        assert await commit(producer, version=3, name="b") is NONE  # it is open there


@pytest.mark.asyncio
async def test_a_zombie_of_an_older_generation_is_fenced() -> None:
    async with running_broker(topics={"t": 1}) as broker:
        producer = await begun(broker)
        refused = await commit(producer, generation_id=3, member_id="m")
        assert refused in (ErrorCode.ILLEGAL_GENERATION, ErrorCode.UNKNOWN_MEMBER_ID)


@pytest.mark.asyncio
async def test_what_comes_too_early_waits() -> None:
    async with (
        running_broker(topics={"t": 1}) as broker,
        Client(broker_address(broker)) as other,
    ):
        producer = await begun(broker)
        assert await commit(producer, 5) is NONE
        hold = broker.coordinators.sender.hold()
        await producer.end()
        waiting = asyncio.create_task(commit(producer, 6))
        assert await state_of(other) == "PrepareCommit"
        assert committed(broker) is None
        hold.release()
        assert await waiting is NONE
        assert committed(broker) == 5
        await producer.end()
        await until(lambda: has(broker), 6)


@pytest.mark.asyncio
async def test_kafkas_way_is_to_answer_at_once() -> None:
    async with running_broker(KAFKAS_WAY, topics={"t": 1}) as broker:
        producer = await begun(broker)
        await commit(producer)
        broker.coordinators.sender.hold()
        await producer.end()
        for version in (3, 4, 5):
            assert await commit(producer, version=version) is ErrorCode.CONCURRENT_TRANSACTIONS


@pytest.mark.asyncio
async def test_a_restart_in_between_loses_nothing() -> None:
    disk = MemoryDisk(MemoryBudget(1 << 24))
    async with running_broker(topics={"t": 1}, disk=disk) as broker:
        producer = await begun(broker)
        await commit(producer, 5)
        broker.coordinators.sender.hold()
        await producer.end()
    async with running_broker(disk=disk) as broker:
        await until(lambda: has(broker), 5)
        producer.client = broker
        await commit(producer, 6)
        await producer.end("abort")
        await until_state(broker, "CompleteAbort")
    async with running_broker(disk=disk) as broker:
        assert committed(broker) == 5


@pytest.mark.asyncio
async def test_offsets_of_a_topic_go_with_it() -> None:
    async with running_broker(topics={"t": 1}) as broker:
        producer = await begun(broker)
        await commit(producer)
        await producer.end()
        await until(lambda: has(broker), 5)
        broker.command(DeleteTopicsRequest(topics=[DeleteTopicState("t")]))
        assert committed(broker) is None


@pytest.mark.asyncio
async def test_unknown_partitions_are_set_aside_first() -> None:
    async with running_broker(topics={"t": 1}) as broker:
        producer = await begun(broker)
        await producer.initialize()

        async def codes(*names: str, version: int, **given: Any) -> list[str]:
            topics = [
                TxnOffsetCommitRequestTopic(each, [TxnOffsetCommitRequestPartition(0, 5)])
                for each in names
            ]
            fields = {"producer_id": producer.id, "producer_epoch": producer.epoch, **given}
            request = TxnOffsetCommitRequest(producer.name, GROUP, topics=topics, **fields)
            answer = await producer.client.ask(request, version)
            return [ErrorCode(each.partitions[0].error_code).name for each in answer.topics]

        unknown = "UNKNOWN_TOPIC_OR_PARTITION"
        old = producer.epoch - 1
        assert await codes("no", version=5) == [unknown]
        assert await state_of(broker) == "Empty"
        assert await codes("no", "t", version=5, producer_epoch=old) == [
            unknown, "INVALID_PRODUCER_EPOCH",
        ]  # fmt: skip
        assert await codes("no", version=3, producer_id=77) == [unknown]
