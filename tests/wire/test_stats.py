"""What a running broker has counted after known requests."""

from __future__ import annotations

import asyncio
import struct
from time import perf_counter_ns
from typing import Any

import pytest
from fencepost_broker import Broker
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.framing import encode_request
from fencepost_protocol.generated.api_versions import ApiVersionsRequest
from fencepost_protocol.generated.fetch import FetchPartition, FetchRequest, FetchTopic
from fencepost_protocol.generated.init_producer_id import InitProducerIdRequest
from fencepost_protocol.generated.metadata import MetadataRequest, MetadataRequestTopic
from fencepost_protocol.generated.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from fencepost_protocol.records.writer import build_batch

from tests.support.broker import Client, running_broker
from tests.support.waiting import until

pytestmark = pytest.mark.asyncio

ONE_RECORD = bytes(build_batch(None, [b"one"], 1000))


def fetch_of(topic: str, offset: int, **wishes: Any) -> FetchRequest:
    entry = FetchPartition(0, -1, offset, partition_max_bytes=100_000)
    return FetchRequest(max_bytes=100_000, topics=[FetchTopic(topic, partitions=[entry])], **wishes)


async def test_requests_by_version_and_their_errors() -> None:
    async with running_broker({"auto.create.topics.enable": False}) as broker:
        for _ in range(3):
            await broker.ask(MetadataRequest(topics=[MetadataRequestTopic(name="none")]), 12)
        await broker.ask(MetadataRequest(topics=None), 9)
        for _ in range(20):
            await broker.ask(InitProducerIdRequest(None, 1000), 4)
        stats = broker.process.stats()
    assert stats["requests"]["Metadata"]["versions"] == {"9": 1, "12": 3}
    assert stats["requests"]["Metadata"]["took"]["count"] == 2, "the first of each version"
    assert stats["requests"]["InitProducerId"]["versions"] == {"4": 20}
    took = stats["requests"]["InitProducerId"]["took"]
    assert took["count"] == 2, "the first and the seventeenth"
    assert 0 < took["p50_us"] <= took["p99_us"]
    assert stats["errors"] == {"UNKNOWN_TOPIC_OR_PARTITION": 3}
    assert "Produce" not in stats["requests"]


async def test_the_error_of_a_small_response() -> None:
    async with running_broker() as broker:
        assert not (await broker.ask(InitProducerIdRequest(None, 1000), 4)).error_code
        for _ in range(2):
            refused = await broker.ask(InitProducerIdRequest("", 1000), 4)
        assert refused.error_code
        errors = broker.process.stats()["errors"]
    assert errors == {ErrorCode(refused.error_code).name: 2}


async def test_a_version_that_nobody_knows() -> None:
    async with running_broker() as broker:
        reader, writer = await asyncio.open_connection(broker.host, broker.port)
        frame = encode_request(ApiVersionsRequest("a", "1"), 3, 1)
        for version in (99, 32_767):
            struct.pack_into(">h", frame, 6, version)
            writer.write(frame)
            await reader.readexactly(struct.unpack(">i", await reader.readexactly(4))[0])
        assert broker.process.stats()["requests"]["ApiVersions"]["unknown_versions"] == 2
        writer.close()


async def test_topics_bytes_and_connections() -> None:
    async with running_broker(topics={"t": 1, "other": 2}) as broker:
        batch = bytes(build_batch(None, [b"one", b"two"], 1000))
        data = TopicProduceData("t", partition_data=[PartitionProduceData(0, batch)])
        await broker.ask(ProduceRequest(None, -1, 1000, [data]), 9)
        missing = TopicProduceData("t", partition_data=[PartitionProduceData(9, batch)])
        await broker.ask(ProduceRequest(None, -1, 1000, [missing]), 9)
        answer = await broker.ask(fetch_of("t", 0), 11)
        assert len(answer.responses[0].partitions[0].records) == len(batch)
        await broker.ask(fetch_of("t", 77), 11)
        stats = broker.process.stats()
        of_t = stats["topics"]["t"]
        assert of_t == {
            "partitions": 1, "log_bytes": len(batch), "records_in": 2, "bytes_in": len(batch),
            "bytes_out": len(batch), "flushes": 0, "parked_fetches": 0,
        }  # fmt: skip
        assert stats["topics"]["other"]["partitions"] == 2
        assert stats["errors"] == {"OFFSET_OUT_OF_RANGE": 1, "UNKNOWN_TOPIC_OR_PARTITION": 1}
        open_now = stats["connections"]
        assert (open_now["open"], open_now["opened"], open_now["dropped"]) == (1, 1, 0)
        assert open_now["bytes_in"] > 2 * len(batch)
        assert open_now["bytes_out"] > len(batch)
        await broker.disconnect()
        await until(lambda: not broker.process.stats()["connections"]["open"])
        closed = broker.process.stats()["connections"]
        assert closed == {**open_now, "open": 0}, "what a closed connection had is kept"


async def test_a_wait_is_timed() -> None:
    def parked() -> int:
        return int(broker.process.stats()["connections"]["parked_requests"])

    async with running_broker(topics={"t": 1}) as broker:
        waiting = asyncio.ensure_future(
            broker.ask(fetch_of("t", 0, max_wait_ms=60_000, min_bytes=1), 11)
        )
        await until(parked)
        began_ns = perf_counter_ns()  # the loop's clock may count whole milliseconds
        assert broker.process.stats()["topics"]["t"]["parked_fetches"] == 1
        await asyncio.sleep(0.02)  # it is what is measured
        at_least_us = (perf_counter_ns() - began_ns) / 1000
        data = TopicProduceData("t", partition_data=[PartitionProduceData(0, ONE_RECORD)])
        async with Client(f"{broker.host}:{broker.port}") as producer:
            await producer.ask(ProduceRequest(None, -1, 1000, [data]), 9)
        await waiting
        waited = broker.process.stats()["requests"]["Fetch"]["waited"]
        assert waited["count"] == 1
        assert waited["mean_us"] >= at_least_us
        assert not parked()


async def test_dropped_connections_are_counted() -> None:
    async with running_broker() as broker:
        reader, writer = await asyncio.open_connection(broker.host, broker.port)
        writer.write(b"\xff" * 20)
        assert await reader.read() == b""
        assert broker.process.stats()["connections"]["dropped"] == 1
        writer.close()


async def test_a_program_asks_its_own_broker() -> None:
    async with Broker(topics={"orders": 3}) as broker:
        stats = broker.stats()
        assert stats["topics"]["orders"]["partitions"] == 3
        assert stats["tap"] == {"subscribers": 0, "events_lost": 0, "datagrams_ignored": 0}
    with pytest.raises(RuntimeError, match="not running"):
        broker.stats()
