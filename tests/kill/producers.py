"""Idempotent producers that know what they were promised, whatever happens to the broker.

A producer keeps several batches of a partition in flight, at most five, as many as a broker
remembers. What is not acknowledged when the connection ends is sent again in the next life, with
the same sequence numbers: it may be in the log by then, or not.
"""

from __future__ import annotations

import asyncio
import random
import struct
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.framing import encode_request, read_response_head
from fencepost_protocol.generated.index import ApiKey
from fencepost_protocol.generated.init_producer_id import (
    InitProducerIdRequest,
    InitProducerIdResponse,
)
from fencepost_protocol.generated.produce import ProduceResponse
from fencepost_protocol.records.compression import Compression
from fencepost_protocol.records.writer import build_batch

from tests.support.up import PRODUCE_VERSION, produce_request

IN_FLIGHT = 5
INIT_VERSION = 4
MS_PER_BATCH = 7
LOST = (ConnectionError, asyncio.IncompleteReadError)


@dataclass
class Batch:
    """One batch, as it was sent and as it is sent again."""

    partition: int
    values: list[bytes]
    records: bytes
    times_sent: int = 0


@dataclass
class Promises:
    """What the broker has acknowledged, by partition: the value at each offset."""

    partitions: int
    acknowledged: list[dict[int, bytes]] = field(init=False)
    batches: int = 0
    sent_again: int = 0
    were_there: int = 0
    """Batches sent again that the log had already: acknowledged with the offset they had got."""
    ends: list[int] = field(init=False)
    """Where each partition ended when the present life began."""

    def __post_init__(self) -> None:
        self.acknowledged = [{} for _ in range(self.partitions)]
        self.ends = [0] * self.partitions

    def keep(self, batch: Batch, base_offset: int) -> None:
        """The broker said where a batch is."""
        of_partition = self.acknowledged[batch.partition]
        for offset, value in enumerate(batch.values, base_offset):
            assert offset not in of_partition, f"offset {offset} was given away twice"
            of_partition[offset] = value
        self.batches += 1
        if batch.times_sent > 1:
            self.sent_again += 1
            self.were_there += base_offset < self.ends[batch.partition]


class Producer:
    """One idempotent producer, over all its connections."""

    def __init__(self, number: int, topic: str, promises: Promises, rng: random.Random) -> None:
        self.number = number
        self.topic = topic
        self.promises = promises
        self.rng = rng
        self.producer_id = -1
        self.producer_epoch = -1
        self._sequences = [0] * promises.partitions
        self.unacknowledged: list[deque[Batch]] = [deque() for _ in range(promises.partitions)]
        # As of today: producers whose records are a day old are forgotten at a start.
        self._clock_ms = int(time.time() * 1000)

    async def run(self, port: int, goes_on: Callable[[], bool]) -> None:
        """Produce until the connection is lost, or ``goes_on`` says that it is enough."""
        writer = None
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            if self.producer_id < 0:
                await self._begin(reader, writer)
            await self._pump(reader, writer, goes_on)
        except LOST:
            return
        finally:
            if writer is not None:
                writer.transport.abort()

    async def _begin(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        request = InitProducerIdRequest(None, 60_000)
        writer.write(encode_request(request, INIT_VERSION, 0))
        frame = await _frame(reader)
        _, body = read_response_head(frame, ApiKey.INIT_PRODUCER_ID, INIT_VERSION)
        answer, _ = InitProducerIdResponse.decode(frame, INIT_VERSION, body)
        assert not answer.error_code, ErrorCode(answer.error_code).name
        self.producer_id, self.producer_epoch = answer.producer_id, answer.producer_epoch

    async def _pump(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        goes_on: Callable[[], bool],
    ) -> None:
        sent: deque[Batch] = deque()
        for of_partition in self.unacknowledged:
            for batch in of_partition:
                self._send(writer, batch)
                sent.append(batch)
        while sent or goes_on():
            while goes_on() and (room := self._partitions_with_room()):
                batch = self._next(self.rng.choice(room))
                self.unacknowledged[batch.partition].append(batch)
                self._send(writer, batch)
                sent.append(batch)
                if self.rng.random() < 0.3:
                    break
            await self._acknowledge(await _frame(reader), sent.popleft())

    def _partitions_with_room(self) -> list[int]:
        return [
            number for number, waiting in enumerate(self.unacknowledged) if len(waiting) < IN_FLIGHT
        ]

    def _next(self, partition: int) -> Batch:
        rng = self.rng
        sequence = self._sequences[partition]
        count = rng.choice([1, 1, 2, 5])
        values = []
        for number in range(sequence, sequence + count):
            name = b"%d/%d/%d " % (self.number, partition, number)
            values.append(name + b"." * rng.choice([0, 10, 500, 4000]))
        self._sequences[partition] += count
        self._clock_ms += MS_PER_BATCH
        records = build_batch(
            None,
            values,
            self._clock_ms,
            codec=rng.choice(list(Compression)),
            producer_id=self.producer_id,
            producer_epoch=self.producer_epoch,
            base_sequence=sequence,
        )
        return Batch(partition, values, bytes(records))

    def _send(self, writer: asyncio.StreamWriter, batch: Batch) -> None:
        batch.times_sent += 1
        request = produce_request(self.topic, batch.records, batch.partition)
        writer.write(encode_request(request, PRODUCE_VERSION, batch.partition))

    async def _acknowledge(self, frame: memoryview, batch: Batch) -> None:
        partition, body = read_response_head(frame, ApiKey.PRODUCE, PRODUCE_VERSION)
        assert partition == batch.partition, "answers come in the order of requests"
        response, _ = ProduceResponse.decode(frame, PRODUCE_VERSION, body)
        answer = response.responses[0].partition_responses[0]
        assert not answer.error_code, (
            f"{ErrorCode(answer.error_code).name}: {batch.values[0][:40]!r}"
        )
        assert self.unacknowledged[partition].popleft() is batch
        self.promises.keep(batch, answer.base_offset)


async def _frame(reader: asyncio.StreamReader) -> memoryview:
    size = struct.unpack(">i", await reader.readexactly(4))[0]
    return memoryview(await reader.readexactly(size))
