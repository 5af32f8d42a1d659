"""Logs of coordinators that take nothing for a while: nothing happens, and nothing is forgotten.

Apache Kafka answers what could not be written with NOT_COORDINATOR (its log's KAFKA_STORAGE_ERROR,
translated), with which every client looks for the coordinator again and repeats its request.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import pytest
from fencepost_broker.coordinator.runtime import coordinator_runtime
from fencepost_broker.server.clock import StateClock
from fencepost_broker.storage.disk.memory import MemoryDisk
from fencepost_broker.storage.disk.memory_chunks import MemoryBudget
from fencepost_broker.storage.log import FlushTask, PartitionLog, StorageError, upkeep
from fencepost_protocol.apis import Message
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.add_offsets_to_txn import AddOffsetsToTxnRequest
from fencepost_protocol.generated.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
)
from fencepost_protocol.generated.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from fencepost_protocol.generated.delete_groups import DeleteGroupsRequest
from fencepost_protocol.generated.describe_groups import DescribeGroupsRequest
from fencepost_protocol.generated.describe_transactions import DescribeTransactionsRequest
from fencepost_protocol.generated.end_txn import EndTxnRequest
from fencepost_protocol.generated.find_coordinator import FindCoordinatorRequest
from fencepost_protocol.generated.heartbeat import HeartbeatRequest
from fencepost_protocol.generated.init_producer_id import InitProducerIdRequest
from fencepost_protocol.generated.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from fencepost_protocol.generated.list_groups import ListGroupsRequest
from fencepost_protocol.generated.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from fencepost_protocol.generated.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from fencepost_protocol.generated.offset_fetch import OffsetFetchRequest, OffsetFetchRequestGroup
from fencepost_protocol.generated.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from fencepost_protocol.generated.sync_group import SyncGroupRequest, SyncGroupRequestAssignment
from fencepost_protocol.generated.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from fencepost_protocol.records.writer import build_batch

from tests.machine.storage.harness import Faults, faulty_disk
from tests.support.broker import RunningBroker, running_broker
from tests.support.coordinators import assert_as_logged

pytestmark = pytest.mark.asyncio

NONE, REFUSED = ErrorCode.NONE, ErrorCode.NOT_COORDINATOR
SETTINGS = {
    "group.initial.rebalance.delay.ms": 0,
    "offsets.topic.num.partitions": 1,
    "transaction.state.log.num.partitions": 1,
}
COORDINATORS = ("__consumer_offsets", "__transaction_state")
"""What the folders of their topics begin with."""


def code_of(answer: Any) -> ErrorCode:
    """The one error code that there is somewhere in an answer."""
    found: list[int] = []
    todo = [answer]
    while todo:
        each = todo.pop()
        for name in getattr(each, "__slots__", ()):
            value = getattr(each, name)
            if name in ("error_code", "partition_error_code"):
                found.append(value)
            elif isinstance(value, list):
                todo += value
    return ErrorCode(max(found))


@dataclass
class Failing:
    broker: RunningBroker
    faults: Faults

    def break_off(self) -> None:
        self.faults.countdown = 0

    def mend(self) -> None:
        self.faults.countdown = None

    async def code(self, request: Message, version: int) -> ErrorCode:
        return code_of(await self.broker.ask(request, version))

    async def done(self, request: Message, version: int) -> Any:
        answer = await self.broker.ask(request, version)
        assert code_of(answer) is NONE, answer
        return answer


@asynccontextmanager
async def failing(
    disk: MemoryDisk | None = None, clock: StateClock | None = None
) -> AsyncIterator[Failing]:
    faults = Faults(lasting=True, only=frozenset({"write"}), below=COORDINATORS)
    disk = MemoryDisk(MemoryBudget(64 << 20)) if disk is None else disk
    faulty: Any = faulty_disk(disk, faults)
    async with running_broker(SETTINGS, disk=faulty, topics={"t": 2}, clock=clock) as broker:
        for name, kind in (("g", 0), ("x", 1)):
            await broker.ask(FindCoordinatorRequest(name, kind), 2)
        yield Failing(broker, faults)


def commit_request(group: str, offset: int, generation: int = -1, member: str = "") -> Message:
    topics = [OffsetCommitRequestTopic("t", partitions=[OffsetCommitRequestPartition(0, offset)])]
    return OffsetCommitRequest(group, generation, member, topics=topics)


async def committed(broker: RunningBroker, group: str = "g") -> int:
    asked = OffsetFetchRequestGroup(group, topics=None)
    answer = await broker.ask(OffsetFetchRequest(groups=[asked]), 8)
    (found,) = answer.groups
    assert not found.error_code
    return int(found.topics[0].partitions[0].committed_offset) if found.topics else -1


async def state_of(broker: RunningBroker, name: str = "x") -> str:
    answer = await broker.ask(DescribeTransactionsRequest([name]), 0)
    return str(answer.transaction_states[0].transaction_state)


async def until_state(broker: RunningBroker, state: str) -> None:
    async with asyncio.timeout(60):
        while await state_of(broker) != state:
            pass


def sent(producer_id: int, epoch: int, sequence: int = 0, partition: int = 0) -> Message:
    records = build_batch(
        None, [b"x"], 1000, producer_id=producer_id, producer_epoch=epoch,
        base_sequence=sequence, transactional=True,
    )  # fmt: skip
    data = TopicProduceData("t", partition_data=[PartitionProduceData(partition, bytes(records))])
    return ProduceRequest("x", -1, 5000, [data])


def offsets_of(producer_id: int, epoch: int, offset: int) -> Message:
    topics = [TxnOffsetCommitRequestTopic("t", [TxnOffsetCommitRequestPartition(0, offset)])]
    return TxnOffsetCommitRequest("x", "g", producer_id, epoch, topics=topics)


async def test_every_step_of_a_transaction_is_refused_and_then_made() -> None:
    async with failing() as found:
        ask, code = found.done, found.code
        begin = InitProducerIdRequest("x", 60_000)
        found.break_off()
        assert await code(begin, 4) is REFUSED
        assert await state_of(found.broker) == ""
        found.mend()
        producer = await ask(begin, 4)
        who = producer.producer_id, producer.producer_epoch
        steps: list[tuple[Message, int, ErrorCode, str, str]] = [
            (AddPartitionsToTxnRequest([], "x", *who, [AddPartitionsToTxnTopic("t", [0])]), 3,
             REFUSED, "Empty", "Ongoing"),
            (sent(*who), 11, NONE, "Ongoing", "Ongoing"),
            (sent(*who, partition=1), 12, ErrorCode.NOT_ENOUGH_REPLICAS, "Ongoing", "Ongoing"),
            (AddOffsetsToTxnRequest("x", *who, "g"), 3, REFUSED, "Ongoing", "Ongoing"),
            (offsets_of(*who, 7), 3, REFUSED, "Ongoing", "Ongoing"),
            (EndTxnRequest("x", *who, True), 3, REFUSED, "Ongoing", "CompleteCommit"),
        ]  # fmt: skip
        for request, version, refusal, before, after in steps:
            found.break_off()
            for _ in range(2):
                if refusal is not NONE:
                    assert await code(request, version) is refusal, request
                assert await state_of(found.broker) == before
            assert_as_logged(found.broker.coordinators)
            found.mend()
            await ask(request, version)
            await until_state(found.broker, after)
            assert_as_logged(found.broker.coordinators)
        assert await committed(found.broker) == 7


async def test_markers_are_written_when_the_logs_take_them_again() -> None:
    """PrepareCommit is in the log; what comes next can only be written later."""
    async with failing() as found:
        broker = found.broker
        hold = broker.coordinators.sender.hold()
        producer = await found.done(InitProducerIdRequest("x", 60_000), 4)
        who = producer.producer_id, producer.producer_epoch
        await found.done(sent(*who), 12)
        await found.done(offsets_of(*who, 9), 5)
        await found.done(EndTxnRequest("x", *who, True), 3)
        found.break_off()
        failed = found.faults.failed
        hold.release()
        async with asyncio.timeout(60):
            while found.faults.failed < failed + 3:
                await state_of(broker)
        assert (await state_of(broker), await committed(broker)) == ("PrepareCommit", -1)
        assert_as_logged(broker.coordinators)
        found.mend()
        await until_state(broker, "CompleteCommit")
        assert await committed(broker) == 9


async def test_a_timeout_that_could_not_be_written_is_made_up_for() -> None:
    """Nobody asks for anything meanwhile, and the clock stands still."""
    clock = StateClock(manual=True)
    async with failing(clock=clock) as found:
        producer = await found.done(InitProducerIdRequest("x", 60_000), 4)
        await found.done(sent(producer.producer_id, producer.producer_epoch), 12)
        found.break_off()
        clock.advance(seconds=61)
        failed = found.faults.failed
        assert failed
        assert await state_of(found.broker) == "Ongoing"
        found.mend()
        await until_state(found.broker, "CompleteAbort")
        assert_as_logged(found.broker.coordinators)


async def test_groups_stay_as_they_are_and_go_on() -> None:
    async with failing() as found:
        broker, code = found.broker, found.code
        protocols = [JoinGroupRequestProtocol("any", b"m")]
        join = JoinGroupRequest("g", 10_000, 60_000, "", None, "consumer", protocols)
        join.member_id = (await broker.ask(join, 7)).member_id
        joined = await found.done(join, 7)
        who = joined.generation_id, join.member_id
        assignment = [SyncGroupRequestAssignment(join.member_id, b"all of it")]
        sync = SyncGroupRequest("g", *who, None, "consumer", "any", assignment)
        found.break_off()
        assert await code(sync, 5) is REFUSED
        assert await code(HeartbeatRequest("g", *who), 4) is NONE, "nothing is written for it"
        described = await broker.ask(DescribeGroupsRequest(["g"]), 5)
        assert described.groups[0].group_state == "CompletingRebalance"
        found.mend()
        assert (await found.done(sync, 5)).assignment == b"all of it"
        await found.done(commit_request("g", 5, *who), 8)
        found.break_off()
        assert await code(commit_request("g", 6, *who), 8) is REFUSED
        assert await committed(broker) == 5
        assert await code(ConsumerGroupHeartbeatRequest(
            "new", "me", 0, rebalance_timeout_ms=1000, subscribed_topic_names=["t"],
            topic_partitions=[],
        ), 1) is REFUSED  # fmt: skip
        assert_as_logged(broker.coordinators)
        found.mend()
        await found.done(commit_request("g", 6, *who), 8)
        await found.done(commit_request("idle", 1), 8)
        found.break_off()
        assert await code(DeleteGroupsRequest(["idle"]), 2) is REFUSED
        topics = [OffsetDeleteRequestTopic("t", [OffsetDeleteRequestPartition(0)])]
        assert await code(OffsetDeleteRequest("idle", topics), 0) is REFUSED
        assert await committed(broker, "idle") == 1
        found.mend()
        await found.done(DeleteGroupsRequest(["idle"]), 2)
        assert (await committed(broker), await committed(broker, "idle")) == (6, -1)
        assert_as_logged(broker.coordinators)


async def test_what_is_in_the_log_and_not_on_disk_is_refused_and_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The record may be there after a crash, so that the machine had better know it, too."""
    monkeypatch.setattr(coordinator_runtime, "RETRY_MS", 1)
    async with failing() as found:
        broker = found.broker
        await found.done(commit_request("g", 1), 8)
        with monkeypatch.context() as full:

            def no_room(log: PartitionLog) -> FlushTask:
                raise StorageError("write", f"{log.folder}/00.index", "no space left")

            full.setattr(upkeep, "begin_flush", no_room)
            for topic in ("__consumer_offsets", "__transaction_state"):
                for each in broker.server.table.by_name[topic].partitions:
                    full.setattr(each.log, "flush_at_offset", 0)
            assert await found.code(commit_request("g", 2), 8) is REFUSED
            assert await found.code(InitProducerIdRequest("x", 60_000), 4) is REFUSED
            # Nobody is told of it before it is on disk, however often the log is loaded.
            asked = OffsetFetchRequest(groups=[OffsetFetchRequestGroup("g", topics=None)])
            failures = (REFUSED, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
            for _ in range(20):
                assert (await broker.ask(asked, 8)).groups[0].error_code in failures
                listed = await broker.ask(ListGroupsRequest(), 4)
                assert listed.error_code in failures
        async with asyncio.timeout(60):
            while not all(each.is_loaded for each in broker.coordinators.shards.values()):
                await broker.ask(DescribeGroupsRequest([]), 5)
        await found.done(InitProducerIdRequest("y", 60_000), 4)
        assert_as_logged(broker.coordinators)
        assert (await committed(broker), await state_of(broker)) == (2, "Empty")


async def test_a_log_that_cannot_be_read_is_loaded_as_soon_as_it_can(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(coordinator_runtime, "RETRY_MS", 1)
    disk = MemoryDisk(MemoryBudget(64 << 20))
    async with failing(disk) as found:
        await found.done(commit_request("g", 3), 8)
    read = PartitionLog.read
    is_readable = False

    def unreadable(log: PartitionLog, *given: Any, **more: Any) -> Any:
        if log.folder.startswith(COORDINATORS) and not is_readable:
            raise StorageError("read", log.folder, "the cable is loose")
        return read(log, *given, **more)

    monkeypatch.setattr(PartitionLog, "read", unreadable)
    async with running_broker(SETTINGS, disk=disk) as broker:
        asked = OffsetFetchRequest(groups=[OffsetFetchRequestGroup("g", topics=None)])
        for _ in range(3):
            answer = await broker.ask(asked, 8)
            assert answer.groups[0].error_code == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
        events = [each for each in broker.server.take_events() if each.kind == "load-failed"]
        assert len({each.text for each in events}) == len(events) <= 2, "told once a partition"
        is_readable = True
        async with asyncio.timeout(60):
            while (await broker.ask(asked, 8)).groups[0].error_code:
                pass
        assert await committed(broker) == 3
