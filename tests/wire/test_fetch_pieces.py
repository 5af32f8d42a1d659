"""Records that lie in several chunks of memory arrive as they were written."""

from __future__ import annotations

import pytest
from fencepost_broker.storage.disk.memory import MemoryDisk
from fencepost_broker.storage.disk.memory_chunks import CHUNK_SIZE, MemoryBudget, SpillFile
from fencepost_protocol.generated.fetch import FetchPartition, FetchRequest, FetchTopic
from fencepost_protocol.records.batch import split_batches
from fencepost_protocol.records.reader import iter_records

from tests.support.broker import running_broker

pytestmark = pytest.mark.asyncio


@pytest.mark.parametrize("memory_bytes", [64 << 20, 2 * CHUNK_SIZE])
@pytest.mark.parametrize("session_epoch", [-1, 0])
async def test_a_fetch_across_chunks(memory_bytes: int, session_epoch: int) -> None:
    disk = MemoryDisk(MemoryBudget(memory_bytes, SpillFile()))
    values = [bytes([number]) * (CHUNK_SIZE // 3) for number in range(10)]
    async with running_broker(topics={"t": 1, "small": 1}, disk=disk) as broker:
        await broker.produce("small", 0, b"before")
        for value in values:
            await broker.produce("t", 0, value)
        partitions = [FetchPartition(0, partition_max_bytes=1 << 30)]
        request = FetchRequest(
            max_bytes=1 << 30, session_epoch=session_epoch,
            topics=[FetchTopic(name, partitions=partitions) for name in ("small", "t")],
        )  # fmt: skip
        answer = await broker.ask(request, 12)
        found = [
            [
                bytes(record.value or b"")
                for _, batch in split_batches(memoryview(topic.partitions[0].records))
                for record in iter_records(batch)
            ]
            for topic in answer.responses
        ]
        assert found == [[b"before"], values]
