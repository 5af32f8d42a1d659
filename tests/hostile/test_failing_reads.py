"""A disk that cannot be read for a while: that is told to who reads, and to nobody else."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from fencepost_broker.storage.disk.faults import FailingRead
from fencepost_broker.storage.disk.faulty import DiskFaults, FaultyDisk
from fencepost_broker.storage.disk.files import FileDisk
from fencepost_broker.storage.disk.memory import MemoryDisk
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.fetch import FetchPartition, FetchRequest, FetchTopic
from fencepost_protocol.generated.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from fencepost_protocol.records.reader import iter_records

from tests.support.broker import RunningBroker, running_broker

pytestmark = pytest.mark.asyncio


async def fetched(broker: RunningBroker, offset: int = 0) -> Any:
    partition = FetchPartition(0, fetch_offset=offset, partition_max_bytes=1 << 20)
    wanted = FetchTopic("t", partitions=[partition])
    answer = await broker.ask(FetchRequest(max_wait_ms=0, topics=[wanted]), 11)
    return answer.responses[0].partitions[0]


async def test_what_cannot_be_read_is_a_storage_error_until_it_can() -> None:
    faults = DiskFaults()
    disk = FaultyDisk(MemoryDisk(), faults)
    async with running_broker(disk=disk, topics={"t": 1}) as broker:
        assert await broker.produce("t", 0, b"first") == 0
        failing = faults.add(FailingRead())
        for _ in range(3):
            data = await fetched(broker)
            assert data.error_code == ErrorCode.KAFKA_STORAGE_ERROR
            assert not data.records
        by_time = ListOffsetsTopic("t", [ListOffsetsPartition(0, timestamp=500)])
        answer = await broker.ask(ListOffsetsRequest(-1, 0, [by_time]), 7)
        assert answer.topics[0].partitions[0].error_code == ErrorCode.KAFKA_STORAGE_ERROR
        assert await broker.produce("t", 0, b"second") == 1, "who writes is not concerned"
        failing.remove()
        data = await fetched(broker)
        assert not data.error_code
        assert [bytes(record.value or b"") for record in iter_records(data.records)] == [b"first"]


@pytest.mark.parametrize("positional", [True, False])
async def test_a_file_that_somebody_cuts_is_a_storage_error(
    tmp_path: Path, positional: bool
) -> None:
    """A short read would be a frame that is shorter than it says."""
    disk = FileDisk(tmp_path, positional=positional)
    async with running_broker(disk=disk) as broker:
        broker.create("t", 1, **{"segment.bytes": str(1 << 20)})
        for offset in range(4):
            assert await broker.produce("t", 0, bytes(600_000)) == offset
        for offset in range(4):
            assert not (await fetched(broker, offset)).error_code
        rolled, active = (tmp_path / f"t-0/{name:020d}.log" for name in (1, 3))
        for offset, path in ((1, rolled), (3, active)):
            os.truncate(path, 300_000)
            for _ in range(2):
                data = await fetched(broker, offset)
                assert data.error_code == ErrorCode.KAFKA_STORAGE_ERROR
                assert not data.records
        assert not (await fetched(broker, 0)).error_code
        assert await broker.produce("t", 0, b"more") == 4
