"""Followers of many partitions: what does not move is not read, and nothing is missed."""

from __future__ import annotations

from collections import Counter

import pytest
from fencepost_broker.apis.fetch.fetching import Fetching, Wanted
from fencepost_protocol.generated.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from fencepost_protocol.generated.fetch import PartitionData

from tests.support.cluster import Cluster, running_cluster
from tests.support.waiting import until

pytestmark = pytest.mark.asyncio

PARTITIONS = 20


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> Counter[int]:
    """How often followers' fetches read each partition of topic t."""
    counted: Counter[int] = Counter()
    read = Fetching._read

    def counting(self: Fetching, wanted: Wanted, left: int, *, first: bool) -> PartitionData:
        partition = wanted.partition
        if self.replica is not None and partition is not None and partition.topic == "t":
            counted[partition.number] += 1
        return read(self, wanted, left, first=first)

    monkeypatch.setattr(Fetching, "_read", counting)
    return counted


async def produce(cluster: Cluster, number: int, value: bytes) -> None:
    leaders = await cluster.leaders("t")
    await cluster.broker(leaders[number]).produce("t", number, value)


def ends(cluster: Cluster, number: int) -> set[tuple[int, int, int]]:
    """Where the partition's logs begin and end, and up to where they are shown."""
    logs = [each.server.table.by_name["t"].partitions[number].log for each in cluster.brokers]
    return {(log.log_start_offset, log.log_end_offset, log.high_watermark) for log in logs}


async def test_what_does_not_move_is_not_read(reads: Counter[int]) -> None:
    async with running_cluster(2) as cluster:
        await cluster.create("t", PARTITIONS, 2)
        await produce(cluster, 0, b"first")
        await until(lambda: ends(cluster, 0) == {(0, 1, 1)})
        reads.clear()
        for count in range(30):
            await produce(cluster, 0, b"value %d" % count)
        assert reads[0] >= 30
        assert max(reads[number] for number in range(1, PARTITIONS)) <= 6


async def test_what_moves_after_a_while_is_replicated() -> None:
    async with running_cluster(2) as cluster:
        await cluster.create("t", PARTITIONS, 2)
        for number in (*range(PARTITIONS), *range(PARTITIONS)):
            await produce(cluster, number, b"value")
        for number in range(PARTITIONS):
            await until(lambda number=number: ends(cluster, number) == {(0, 2, 2)})  # type: ignore[misc]
        image = cluster.brokers[0].server.image
        assert {len(each.isr) for each in image.topics.by_name["t"].partitions.values()} == {2}


async def test_records_that_are_deleted_of_a_quiet_partition_go_at_its_follower() -> None:
    async with running_cluster(2) as cluster:
        await cluster.create("t", 1, 2)
        await produce(cluster, 0, b"value")
        await until(lambda: ends(cluster, 0) == {(0, 1, 1)})
        asked = DeleteRecordsTopic("t", [DeleteRecordsPartition(0, 1)])
        (leader,) = await cluster.leaders("t")
        answer = await cluster.broker(leader).ask(DeleteRecordsRequest([asked], 5000), 2)
        assert not answer.topics[0].partitions[0].error_code
        await until(lambda: ends(cluster, 0) == {(1, 1, 1)})


async def test_a_follower_that_begins_anew_gets_all() -> None:
    async with running_cluster(2) as cluster:
        await cluster.create("t", PARTITIONS, 2)
        leaders = await cluster.leaders("t")
        number = leaders.index(1)
        await produce(cluster, number, b"value")
        await cluster.stop(2)
        cluster.disks.pop(2)
        await cluster.start_broker(2)
        await until(lambda: "t" in cluster.broker(2).server.table.by_name)
        await until(lambda: ends(cluster, number) == {(0, 1, 1)})
