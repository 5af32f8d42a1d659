"""asyncio alone: frames that were encoded before, no client. What no client on this loop can pass.

What a frame has to have of its own (a value, an offset, an epoch, a CRC) is written into it, and of
an answer no more is read than the next request needs.
"""

from __future__ import annotations

import asyncio
import struct
import time
from collections.abc import Callable
from time import perf_counter
from typing import Final

from fencepost_protocol.apis import Message
from fencepost_protocol.crc import crc32c
from fencepost_protocol.framing import encode_request
from fencepost_protocol.generated.end_txn import EndTxnRequest
from fencepost_protocol.generated.fetch import FetchPartition, FetchRequest, FetchTopic
from fencepost_protocol.generated.find_coordinator import FindCoordinatorRequest
from fencepost_protocol.generated.init_producer_id import InitProducerIdRequest
from fencepost_protocol.generated.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from fencepost_protocol.records.writer import build_batch

from tests.bench.client.worker import Job, Latencies

PRODUCE, FETCH, FIND_COORDINATOR, INIT_PRODUCER_ID, END_TXN = 12, 11, 1, 4, 5
"""The versions; the newest in which EndTxn gives the next epoch, and Fetch has no tagged fields."""
SIZE: Final = struct.Struct(">i")
SHORT: Final = struct.Struct(">h")
LONG: Final = struct.Struct(">q")
PRODUCER: Final = struct.Struct(">qh")
SOME_OFFSET: Final = 0x1122334455667788
CRC, CHECKED, PRODUCER_ID = 17, 21, 43
"""Where they are, or begin, in a batch."""
HEAD: Final = 13
"""Size, correlation id, tagged fields and throttle time of a flexible answer."""
TRANSACTIONAL_ID: Final = "frames"


class Link(asyncio.Protocol):
    """A connection that gives whole answers to a function."""

    def __init__(self, answered: Callable[[bytes], None]) -> None:
        self._answered = answered
        self._data = b""
        self.transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        data = self._data + data if self._data else data
        while len(data) >= SIZE.size and len(data) >= (
            end := SIZE.size + SIZE.unpack_from(data)[0]
        ):
            self._answered(data[:end])
            data = data[end:]
        self._data = data


async def connected(bootstrap: str, answered: Callable[[bytes], None]) -> Link:
    """Connect."""
    host, _, port = bootstrap.rpartition(":")
    loop = asyncio.get_running_loop()
    return (await loop.create_connection(lambda: Link(answered), host, int(port)))[1]


class ProduceFrame:
    """A Produce request of one record; its batch is changed in place."""

    def __init__(self, job: Job, transactional_id: str | None = None) -> None:
        value = b"v" * job.size
        now_ms = int(time.time() * 1000)
        if transactional_id is None:
            built = build_batch(None, [value], now_ms)
        else:
            built = build_batch(
                None, [value], now_ms, producer_id=1, producer_epoch=0, base_sequence=0,
                transactional=True,
            )  # fmt: skip
        batch = bytes(built)
        data = TopicProduceData(job.topic, partition_data=[PartitionProduceData(0, batch)])
        request = ProduceRequest(transactional_id, -1, 30_000, [data])
        self.bytes = encode_request(request, PRODUCE, 0, "frames")
        self._batch = self.bytes.index(batch)
        self._end = self._batch + len(batch)
        self._value = self._batch + batch.rindex(value)
        self.error_at = HEAD - 4 + 1 + 1 + len(job.topic) + 1 + 4

    def with_value(self, value: bytes) -> bytes:
        """The frame with another value."""
        self.bytes[self._value : self._value + len(value)] = value
        return self._checked()

    def with_producer(self, producer_id: int, epoch: int) -> bytes:
        """The frame with other numbers of its producer."""
        PRODUCER.pack_into(self.bytes, self._batch + PRODUCER_ID, producer_id, epoch)
        return self._checked()

    def _checked(self) -> bytes:
        checked = memoryview(self.bytes)[self._batch + CHECKED : self._end]
        struct.pack_into(">I", self.bytes, self._batch + CRC, crc32c(checked))
        return bytes(self.bytes)


def latency(job: Job) -> dict[str, float]:
    """Sent at a rate and read in the same loop."""
    return asyncio.run(_latency(job))


async def _latency(job: Job) -> dict[str, float]:
    latencies, produce = Latencies(job), ProduceFrame(job)
    partition = FetchPartition(0, fetch_offset=SOME_OFFSET, partition_max_bytes=1 << 20)
    topic = FetchTopic(job.topic, partitions=[partition])
    request = FetchRequest(max_wait_ms=500, min_bytes=1, max_bytes=1 << 20, topics=[topic])
    fetch = encode_request(request, FETCH, 0, "frames")
    offset_at = fetch.index(LONG.pack(SOME_OFFSET))
    batch_size = len(build_batch(None, [bytes(job.size)], 0))
    all_read = asyncio.Event()
    next_offset = 0

    def fetched(answer: bytes) -> None:
        nonlocal next_offset
        count = _batches_at_end(answer, batch_size)
        next_offset += count
        LONG.pack_into(fetch, offset_at, next_offset)
        reader.transport.write(bytes(fetch))
        for begin in range(len(answer) - count * batch_size, len(answer), batch_size):
            value_end = begin + batch_size - 1
            if latencies.arrived(answer[value_end - job.size : value_end]):
                all_read.set()

    reader = await connected(job.bootstrap, fetched)
    writer = await connected(job.bootstrap, lambda _: None)
    LONG.pack_into(fetch, offset_at, 0)
    reader.transport.write(bytes(fetch))
    latencies.begin()
    for index in range(latencies.count):
        wait = latencies.wait_seconds(index)
        if wait > 0:
            await asyncio.sleep(wait)
        writer.transport.write(produce.with_value(latencies.record(index)))
    await all_read.wait()
    return latencies.told()


def _batches_at_end(answer: bytes, size: int) -> int:
    """How many batches of this size a Fetch response of one partition ends with."""
    count = len(answer) // size
    while count and SIZE.unpack_from(answer, len(answer) - count * size - 4)[0] != count * size:
        count -= 1
    return count


def transactions(job: Job) -> dict[str, float]:
    """One record each, one after the other."""
    return asyncio.run(_transactions(job))


async def _transactions(job: Job) -> dict[str, float]:
    answers: asyncio.Queue[bytes] = asyncio.Queue()
    link = await connected(job.bootstrap, answers.put_nowait)

    async def ask(frame: bytes, error_at: int) -> bytes:
        """Give the first answer without an error."""
        while True:
            link.transport.write(frame)
            answer = await answers.get()
            if not SHORT.unpack_from(answer, error_at)[0]:
                return answer

    def encoded(request: Message, version: int) -> bytes:
        return bytes(encode_request(request, version, 0, "frames"))

    await ask(encoded(FindCoordinatorRequest(TRANSACTIONAL_ID, 1), FIND_COORDINATOR), 12)
    init = encoded(InitProducerIdRequest(TRANSACTIONAL_ID, 60_000), INIT_PRODUCER_ID)
    producer_id, epoch = PRODUCER.unpack_from(await ask(init, HEAD), HEAD + 2)
    produce = ProduceFrame(job, TRANSACTIONAL_ID)
    end = bytearray(encoded(EndTxnRequest(TRANSACTIONAL_ID, SOME_OFFSET, 0, True), END_TXN))
    producer_at = end.index(LONG.pack(SOME_OFFSET))
    done, begin = 0, perf_counter()
    while perf_counter() < begin + job.seconds:
        await ask(produce.with_producer(producer_id, epoch), produce.error_at)
        PRODUCER.pack_into(end, producer_at, producer_id, epoch)
        answer = await ask(bytes(end), HEAD)
        producer_id, epoch = PRODUCER.unpack_from(answer, HEAD + 2)
        done += 1
    return {"rate": done / (perf_counter() - begin)}
