"""A long log is loaded between requests, which are told to come again until it is there."""

from __future__ import annotations

import pytest
from fencepost_broker.coordinator.records import RecordFamily
from fencepost_broker.coordinator.runtime import coordinator_runtime, shard
from fencepost_broker.coordinator.runtime.coordinator_runtime import CoordinatorRuntime
from fencepost_broker.storage.disk.memory import MemoryDisk
from fencepost_broker.storage.disk.memory_chunks import MemoryBudget
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.find_coordinator import FindCoordinatorRequest
from fencepost_protocol.generated.init_producer_id import InitProducerIdRequest
from fencepost_protocol.generated.list_groups import ListGroupsRequest
from fencepost_protocol.generated.list_transactions import ListTransactionsRequest
from fencepost_protocol.generated.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from fencepost_protocol.generated.offset_fetch import OffsetFetchRequest, OffsetFetchRequestGroup
from fencepost_protocol.generated.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
)

from tests.support.broker import Client, running_broker
from tests.support.compiled import pure_only

pytestmark = pytest.mark.asyncio

ONE_PARTITION_EACH = {
    "offsets.topic.num.partitions": 1,
    "transaction.state.log.num.partitions": 1,
}
COMMITS = 50
LOADING = ErrorCode.COORDINATOR_LOAD_IN_PROGRESS


async def commit(client: Client, offset: int) -> None:
    topics = [OffsetCommitRequestTopic("t", partitions=[OffsetCommitRequestPartition(0, offset)])]
    answer = await client.ask(OffsetCommitRequest("g", topics=topics), 8)
    assert not answer.topics[0].partitions[0].error_code


class HeldLoading:
    """Coordinators load the first piece of a log, and the rest when they are let."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self._go_on = CoordinatorRuntime._load_on
        self._held: list[CoordinatorRuntime] = []
        patch.setattr(shard, "_READ_BYTES", 1)
        patch.setattr(coordinator_runtime, "_LOAD_STEPS", 1)
        patch.setattr(CoordinatorRuntime, "_load_on", lambda each: self._held.append(each))
        self._patch = patch

    def let_go(self) -> None:
        self._patch.setattr(CoordinatorRuntime, "_load_on", self._go_on)
        for each in self._held:
            each._load_on()


@pure_only("fencepost_broker.coordinator.runtime.coordinator_runtime")
async def test_requests_hear_that_their_coordinator_is_loading(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    disk = MemoryDisk(MemoryBudget(64 << 20))
    async with running_broker(ONE_PARTITION_EACH, topics={"t": 1}, disk=disk) as broker:
        await broker.ask(FindCoordinatorRequest("g", 0), 2)
        await broker.ask(FindCoordinatorRequest("x", 1), 2)
        for offset in range(COMMITS):
            await commit(broker, offset)
            assert not (await broker.ask(InitProducerIdRequest("x", 1000), 4)).error_code
    loading = HeldLoading(monkeypatch)
    asked = OffsetFetchRequest(groups=[OffsetFetchRequestGroup("g", topics=None)])
    async with running_broker(ONE_PARTITION_EACH, disk=disk) as broker:
        assert broker.coordinators.is_loading(RecordFamily.GROUPS)
        assert (await broker.ask(InitProducerIdRequest("x", 1000), 4)).error_code == LOADING
        assert (await broker.ask(asked, 8)).groups[0].error_code == LOADING
        assert (await broker.ask(ListGroupsRequest(), 4)).error_code == LOADING
        assert (await broker.ask(ListTransactionsRequest(), 0)).error_code == LOADING
        marker = WritableTxnMarker(
            7, 0, True, [WritableTxnMarkerTopic("__consumer_offsets", [0])], 0
        )
        answer = await broker.ask(WriteTxnMarkersRequest([marker]), 1)
        code = answer.markers[0].topics[0].partitions[0].error_code
        assert code == ErrorCode.NOT_LEADER_OR_FOLLOWER
        loading.let_go()
        while (found := (await broker.ask(asked, 8)).groups[0]).error_code:
            assert found.error_code == LOADING
        assert found.topics[0].partitions[0].committed_offset == COMMITS - 1
        while error := (await broker.ask(InitProducerIdRequest("x", 1000), 4)).error_code:
            assert error == LOADING
        await commit(broker, 99)


@pure_only("fencepost_broker.coordinator.runtime.coordinator_runtime")
async def test_a_broker_that_stops_while_it_loads(monkeypatch: pytest.MonkeyPatch) -> None:
    disk = MemoryDisk(MemoryBudget(64 << 20))
    async with running_broker(ONE_PARTITION_EACH, topics={"t": 1}, disk=disk) as broker:
        await broker.ask(FindCoordinatorRequest("g", 0), 2)
        for offset in range(COMMITS):
            await commit(broker, offset)
    with monkeypatch.context() as slow:
        HeldLoading(slow)
        async with running_broker(ONE_PARTITION_EACH, disk=disk) as broker:
            assert broker.coordinators.is_loading(RecordFamily.GROUPS)
    asked = OffsetFetchRequest(groups=[OffsetFetchRequestGroup("g", topics=None)])
    async with running_broker(ONE_PARTITION_EACH, disk=disk) as broker:
        found = (await broker.ask(asked, 8)).groups[0]
        assert found.topics[0].partitions[0].committed_offset == COMMITS - 1
