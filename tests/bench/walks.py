"""Counts the calls of Python functions on three walks through the broker: `make walks`.

Generated code is left out. The walks are a Produce of one batch, an EndTxn up to CompleteCommit,
and a waiting Fetch that a Produce wakes. docs/bench/structure.md has the numbers.
"""

from __future__ import annotations

import asyncio
import struct
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, cast

from fencepost_broker.network.connection import Connection
from fencepost_protocol.framing import encode_request
from fencepost_protocol.generated.end_txn import EndTxnRequest
from fencepost_protocol.generated.fetch import FetchPartition, FetchRequest, FetchTopic
from fencepost_protocol.generated.find_coordinator import FindCoordinatorRequest
from fencepost_protocol.generated.init_producer_id import (
    InitProducerIdRequest,
    InitProducerIdResponse,
)
from fencepost_protocol.generated.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from fencepost_protocol.records.batch import set_producer_state
from fencepost_protocol.records.writer import build_batch

from tests.bench.inside import Inside, Sink

WARM_UP = 5
Calls = Counter[tuple[str, str]]


@contextmanager
def counted(calls: Calls) -> Iterator[None]:
    """Count calls of the product's functions."""

    def profile(frame: FrameType, event: str, arg: Any) -> None:
        file = frame.f_code.co_filename
        if event == "call" and "fencepost_" in file and "generated" not in file:
            calls[file, frame.f_code.co_name] += 1

    sys.setprofile(profile)
    try:
        yield
    finally:
        sys.setprofile(None)


async def turns(count: int) -> None:
    """Let the loop make so many turns."""
    for _ in range(count):
        await asyncio.sleep(0)


def produce_request(inside: Inside) -> bytes:
    """One batch of one record."""
    batch = build_batch(None, [b"x" * 100], inside.node.context.clock.now_ms())
    topic = TopicProduceData("t", partition_data=[PartitionProduceData(0, bytes(batch))])
    return bytes(encode_request(ProduceRequest(None, -1, 1000, [topic]), 9, 1, "client"))


async def produce(inside: Inside) -> Calls:
    """A Produce."""
    frame, calls = produce_request(inside), Calls()
    for _ in range(WARM_UP):
        inside.push(frame)
    with counted(calls):
        inside.push(frame)
    return calls


async def woken_fetch(inside: Inside) -> Calls:
    """A Fetch that waits, from the Produce that wakes it; the Produce itself is taken off."""
    plain, frame = await produce(inside), produce_request(inside)
    server = inside.connection._dispatcher
    reader = Connection(server, inside.connection._shared, "PLAINTEXT")
    reader.connection_made(cast("asyncio.BaseTransport", Sink()))
    partition = inside.node.table.find("t", 0)
    assert partition is not None
    calls = Calls()
    for _ in range(WARM_UP):
        wanted = FetchPartition(0, fetch_offset=partition.log.log_end_offset)
        wanted.partition_max_bytes = 1 << 20
        topics = [FetchTopic("t", partitions=[wanted])]
        asked = encode_request(
            FetchRequest(max_wait_ms=5000, min_bytes=1, topics=topics), 12, 1, "c"
        )
        room = reader.get_buffer(-1)
        room[: len(asked)] = asked
        reader.buffer_updated(len(asked))
        assert reader.is_parked
        calls.clear()
        with counted(calls):
            inside.push(frame)
            await turns(2)
        assert not reader.is_parked
    return calls - plain


async def ended_transaction(inside: Inside) -> Calls:
    """An EndTxn with its markers, up to CompleteCommit."""
    inside.push(encode_request(FindCoordinatorRequest("x", 1), 2, 1, "client"))
    await asyncio.sleep(0.1)  # the coordinator loads
    made = inside.ask(InitProducerIdRequest("x", 60_000), 5, InitProducerIdResponse)
    producer, state = struct.Struct(">qh"), (made.producer_id, made.producer_epoch)
    batch = build_batch(
        None, [b"x"], inside.node.context.clock.now_ms(), producer_id=0, producer_epoch=0,
        base_sequence=0, transactional=True,
    )  # fmt: skip
    data = [PartitionProduceData(3, batch)]
    topic = TopicProduceData("t", topic_id=inside.topic_id, partition_data=data)
    write = encode_request(ProduceRequest("x", -1, 1000, [topic]), 12, 1, "client")
    end = encode_request(EndTxnRequest("x", 0x0102030405060708, 0x090A, True), 5, 1, "client")
    batch_at, end_at = write.index(batch), end.index(bytes(range(1, 11)))
    calls = Calls()
    for _ in range(WARM_UP):
        set_producer_state(write, *state, 0, batch_at)
        producer.pack_into(end, end_at, *state)
        inside.push(write)
        calls.clear()
        with counted(calls):
            inside.push(end)
            answer = bytes(inside.sink.last)
            await turns(4)
        state = producer.unpack_from(answer, len(answer) - 11)
    return calls


async def main() -> None:
    """Print the calls of each walk."""
    inside = Inside()
    for walk in (produce, woken_fetch, ended_transaction):
        calls = await walk(inside)
        files = {file for file, _ in calls}
        told = f"{calls.total()} calls of {len(calls)} functions in {len(files)} files"
        print(f"{walk.__name__.replace('_', ' '):18} {told}")


if __name__ == "__main__":
    asyncio.run(main())
