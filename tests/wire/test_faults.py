"""Fault rules of a running broker: what a client sees of each act."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any

import pytest
import pytest_asyncio
from fencepost_broker import Broker
from fencepost_broker.server.faults import FaultNotFiredError
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.framing import encode_request
from fencepost_protocol.generated.api_versions import ApiVersionsRequest
from fencepost_protocol.generated.create_topics import CreatableTopic, CreateTopicsRequest
from fencepost_protocol.generated.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from fencepost_protocol.generated.fetch import FetchPartition, FetchRequest, FetchTopic
from fencepost_protocol.generated.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from fencepost_protocol.generated.metadata import MetadataRequest, MetadataRequestTopic
from fencepost_protocol.generated.offset_fetch import OffsetFetchRequest
from fencepost_protocol.generated.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from fencepost_protocol.records.writer import build_batch

from tests.support.broker import Client
from tests.support.waiting import asked_until, until

pytestmark = pytest.mark.asyncio

METADATA_VERSION = 12


@pytest_asyncio.fixture
async def broker() -> AsyncIterator[Broker]:
    async with Broker(topics={"t": 2, "u": 1}) as running:
        yield running


@pytest_asyncio.fixture
async def client(broker: Broker) -> AsyncIterator[Client]:
    async with Client(broker.bootstrap) as connected:
        yield connected


async def end_offset(client: Client, topic: str = "t", number: int = 0) -> int:
    wanted = ListOffsetsTopic(topic, [ListOffsetsPartition(number, timestamp=-1)])
    answer = await client.ask(ListOffsetsRequest(-1, topics=[wanted]), 7)
    return int(answer.topics[0].partitions[0].offset)


def produce(acks: int = -1) -> ProduceRequest:
    batch = bytes(build_batch(None, [b"x"], 1))
    topics = [
        TopicProduceData(
            name, partition_data=[PartitionProduceData(each, batch) for each in numbers]
        )
        for name, numbers in {"t": [0, 1], "u": [0]}.items()
    ]
    return ProduceRequest(None, acks, 1000, topics)


def codes(answer: Any) -> dict[tuple[str, int], ErrorCode]:
    return {
        (topic.name, each.index): ErrorCode(each.error_code)
        for topic in answer.responses
        for each in topic.partition_responses
    }


# -- errors ----------------------------------------------------------------------------------------


async def test_an_error_for_all_of_a_request(broker: Broker, client: Client) -> None:
    fault = broker.faults.error("NOT_ENOUGH_REPLICAS", api="Produce", times=1)
    assert set(codes(await client.ask(produce(), 9)).values()) == {ErrorCode.NOT_ENOUGH_REPLICAS}
    assert await end_offset(client) == 0
    assert set(codes(await client.ask(produce(), 9)).values()) == {ErrorCode.NONE}
    assert (fault.fired, await end_offset(client)) == (1, 1)


async def test_an_error_for_one_partition(broker: Broker, client: Client) -> None:
    broker.faults.error("NOT_ENOUGH_REPLICAS", api="Produce", topic="t", partition=1)
    assert codes(await client.ask(produce(), 9)) == {
        ("t", 0): ErrorCode.NONE,
        ("t", 1): ErrorCode.NOT_ENOUGH_REPLICAS,
        ("u", 0): ErrorCode.NONE,
    }
    assert [await end_offset(client, "t", each) for each in (0, 1)] == [1, 0]


async def test_two_errors_in_one_answer(broker: Broker, client: Client) -> None:
    broker.faults.error("NOT_ENOUGH_REPLICAS", api="Produce", topic="t", partition=1)
    broker.faults.error("KAFKA_STORAGE_ERROR", api="Produce", topic="u")
    assert codes(await client.ask(produce(), 9)) == {
        ("t", 0): ErrorCode.NONE,
        ("t", 1): ErrorCode.NOT_ENOUGH_REPLICAS,
        ("u", 0): ErrorCode.KAFKA_STORAGE_ERROR,
    }


async def test_an_error_though_it_was_carried_out(broker: Broker, client: Client) -> None:
    broker.faults.error("REQUEST_TIMED_OUT", api="Produce", topic="t", apply=True)
    assert codes(await client.ask(produce(), 9)) == {
        ("t", 0): ErrorCode.REQUEST_TIMED_OUT,
        ("t", 1): ErrorCode.REQUEST_TIMED_OUT,
        ("u", 0): ErrorCode.NONE,
    }
    assert await end_offset(client) == 1


async def test_an_error_of_the_whole_though_it_was_carried_out(
    broker: Broker, client: Client
) -> None:
    broker.faults.error("REQUEST_TIMED_OUT", api="CreateTopics", apply=True, message="lost")
    answer = await client.ask(CreateTopicsRequest([CreatableTopic("v", 1, 1)], 1000), 7)
    [topic] = answer.topics
    assert (topic.error_code, topic.error_message) == (ErrorCode.REQUEST_TIMED_OUT, "lost")
    assert await end_offset(client, "v") == 0


# -- topics ----------------------------------------------------------------------------------------


async def fetch(client: Client, session: tuple[int, int], *topics: str) -> Any:
    """Fetch the first partition of topics, by their ids."""
    wanted = []
    for name in topics:
        asked = MetadataRequest(topics=[MetadataRequestTopic(name=name)])
        [topic] = (await client.ask(asked, METADATA_VERSION)).topics
        partition = FetchPartition(0, partition_max_bytes=1_000_000)
        wanted.append(FetchTopic(topic_id=bytes(topic.topic_id), partitions=[partition]))
    return await client.ask(
        FetchRequest(session_id=session[0], session_epoch=session[1], topics=wanted), 17
    )


async def test_a_rule_fires_for_a_topic_that_only_the_session_names(
    broker: Broker, client: Client
) -> None:
    other = broker.faults.throttle(0, api="Fetch", topic="u")
    session_id = (await fetch(client, (0, 0), "t")).session_id
    assert session_id
    fault = broker.faults.error("KAFKA_STORAGE_ERROR", api="Fetch", topic="t", times=1)
    answer = await fetch(client, (session_id, 1))
    assert (fault.fired, other.fired) == (1, 0)
    assert ErrorCode.KAFKA_STORAGE_ERROR in {
        answer.error_code,
        *(each.error_code for topic in answer.responses for each in topic.partitions),
    }


async def test_a_rule_fires_for_a_topic_that_is_made_after_it(
    broker: Broker, client: Client
) -> None:
    fault = broker.faults.error("KAFKA_STORAGE_ERROR", api="Fetch", topic="v")
    await fetch(client, (0, -1), "t")
    assert fault.fired == 0
    await client.ask(CreateTopicsRequest([CreatableTopic("v", 1, 1)], 1000), 7)
    answer = await fetch(client, (0, -1), "v", "t")
    found = [topic.partitions[0].error_code for topic in answer.responses]
    assert sorted(found) == [ErrorCode.NONE, ErrorCode.KAFKA_STORAGE_ERROR]
    assert fault.fired == 1


async def test_rules_with_and_without_topics_come_and_go(broker: Broker, client: Client) -> None:
    """Each rule fires once for a request, whichever rules are loaded with it."""
    named = broker.faults.throttle(0, api="Produce", topic="t")
    other = broker.faults.throttle(0, api="Produce", topic="w")
    await client.ask(produce(), 9)
    assert (named.fired, other.fired) == (1, 0)
    everything = broker.faults.throttle(0, api="Produce")
    await client.ask(produce(), 9)
    assert (named.fired, other.fired, everything.fired) == (2, 0, 1)
    everything.remove()
    await client.ask(produce(), 9)
    assert (named.fired, everything.fired) == (3, 1)
    named.remove()
    again = broker.faults.throttle(0, api="Produce")
    await client.ask(produce(), 9)
    assert (named.fired, other.fired, again.fired) == (3, 0, 1)
    again.remove()
    other.remove()
    again = broker.faults.throttle(0, api="Produce", topic="t")
    await client.ask(produce(), 9)
    assert (again.fired, await end_offset(client)) == (1, 5)


# -- changes ---------------------------------------------------------------------------------------


async def test_a_request_is_changed_before_it_is_carried_out(
    broker: Broker, client: Client
) -> None:
    await client.produce("t", 0, b"a", b"b", b"c")
    path = "topics[].partitions[].offset"
    broker.faults.change_request({path: 2}, api="DeleteRecords")
    wanted = [DeleteRecordsTopic("t", [DeleteRecordsPartition(0, 1)])]
    answer = await client.ask(DeleteRecordsRequest(wanted, 1000), 2)
    assert answer.topics[0].partitions[0].low_watermark == 2


async def test_an_answer_is_changed_before_it_is_sent(broker: Broker, client: Client) -> None:
    broker.faults.change_answer(
        {"brokers[].host": "nowhere", "topics[].partitions[0].leader_id": 9}, api="Metadata"
    )
    answer = await client.ask(MetadataRequest([MetadataRequestTopic(name="t")]), METADATA_VERSION)
    assert {each.host for each in answer.brokers} == {"nowhere"}
    assert [each.leader_id for each in answer.topics[0].partitions].count(9) == 1


async def test_a_change_that_the_version_does_not_have_closes_the_connection(
    broker: Broker, client: Client
) -> None:
    broker.faults.change_request({"require_stable": True}, api="OffsetFetch")
    with pytest.raises(asyncio.IncompleteReadError):
        await client.ask(OffsetFetchRequest("g", topics=[]), 5)


# -- time ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("what", ["request", "answer"])
async def test_a_hold_ends_when_it_is_released(broker: Broker, client: Client, what: Any) -> None:
    fault = broker.faults.hold(what, api="Produce")
    asked = asyncio.ensure_future(client.ask(produce(), 9))
    await fault.wait_until_fired()
    await until(lambda: fault.held == 1)
    async with Client(broker.bootstrap) as other:
        assert await end_offset(other) == (1 if what == "answer" else 0)
        assert not asked.done()
        assert fault.release() == 1
        assert set(codes(await asked).values()) == {ErrorCode.NONE}
        assert await end_offset(other) == 1


async def test_a_request_is_held_as_soon_as_the_rule_has_fired(
    broker: Broker, client: Client
) -> None:
    fault = broker.faults.hold(api="Produce")
    released: list[int] = []

    def release_soon(_: object) -> None:  # before anything that the rule itself begins
        asyncio.get_running_loop().call_soon(lambda: released.append(fault.release()))

    broker.fault_rules().on_fired = release_soon
    assert set(codes(await client.ask(produce(), 9)).values()) == {ErrorCode.NONE}
    assert released == [1]


async def test_a_held_request_whose_client_goes_is_forgotten(broker: Broker) -> None:
    fault = broker.faults.hold(api="Produce")
    async with Client(broker.bootstrap) as leaving:
        asked = asyncio.ensure_future(leaving.ask(produce(), 9))
        await until(lambda: fault.held == 1)
        asked.cancel()
    await until(lambda: fault.held == 0)
    async with Client(broker.bootstrap) as client:
        assert await end_offset(client) == 0
    assert broker.stats()["connections"]["parked_requests"] == 0


@pytest.mark.parametrize("what", ["request", "answer"])
async def test_a_delay(broker: Broker, client: Client, what: Any) -> None:
    broker.faults.delay(100, spread_ms=10, what=what, api="Metadata")
    begin = asyncio.get_running_loop().time()
    await client.ask(MetadataRequest([]), METADATA_VERSION)
    assert asyncio.get_running_loop().time() - begin >= 0.09


async def test_a_throttled_client_is_told_and_its_next_request_waits(
    broker: Broker, client: Client
) -> None:
    broker.faults.throttle(150, api="Metadata", times=1)
    begin = asyncio.get_running_loop().time()
    answer = await client.ask(MetadataRequest([]), METADATA_VERSION)
    assert answer.throttle_time_ms == 150
    await client.ask(MetadataRequest([]), METADATA_VERSION)
    assert asyncio.get_running_loop().time() - begin >= 0.14


@pytest.mark.parametrize(("way", "end"), [("in", 0), ("out", 1), ("both", 0)])
async def test_a_blackhole_delivers_when_it_is_removed(
    broker: Broker, client: Client, way: Any, end: int
) -> None:
    fault = broker.faults.blackhole(way, client_id="test")
    asked = asyncio.ensure_future(client.ask_at_once([produce(), produce()], 9))
    await fault.wait_until_fired()
    await until(lambda: fault.held == 1)
    async with Client(broker.bootstrap, "other") as other:
        assert await end_offset(other) == end
        fault.remove()
        assert len(await asked) == 2
        assert await end_offset(other) == 2


# -- connections -----------------------------------------------------------------------------------


async def test_a_dropped_request_is_not_carried_out(broker: Broker, client: Client) -> None:
    broker.faults.drop_request(api="Produce", times=1)
    with pytest.raises(asyncio.IncompleteReadError):
        await client.ask(produce(), 9)
    async with Client(broker.bootstrap) as other:
        assert await end_offset(other) == 0


async def test_a_dropped_answer_is_of_a_request_that_was_carried_out(
    broker: Broker, client: Client
) -> None:
    broker.faults.drop_answer(api="Produce", times=1)
    with pytest.raises(asyncio.IncompleteReadError):
        await client.ask(produce(), 9)
    async with Client(broker.bootstrap) as other:
        assert await end_offset(other) == 1


@pytest.mark.parametrize("act", ["drop_request", "drop_answer"])
async def test_what_is_dropped_silently_leaves_the_connection_open(
    broker: Broker, act: str
) -> None:
    fault = getattr(broker.faults, act)(silently=True, api="Produce")
    async with Client(broker.bootstrap) as leaving:
        asked = asyncio.ensure_future(leaving.ask(produce(), 9))
        await fault.wait_until_fired()
        async with Client(broker.bootstrap) as other:
            expected = int(act == "drop_answer")

            async def is_carried_out() -> bool:
                return await end_offset(other) == expected

            await asked_until(is_carried_out)
        assert not asked.done()
        asked.cancel()
    await until(lambda: broker.stats()["connections"]["parked_requests"] == 0)


async def test_a_connection_is_closed_after_the_answer(broker: Broker, client: Client) -> None:
    broker.faults.disconnect(api="Produce")
    assert await client.ask(produce(), 9)
    assert client.streams is not None
    assert await client.streams[0].read() == b""


async def test_an_answer_is_cut(broker: Broker, client: Client) -> None:
    broker.faults.cut_answer(7, api="Produce")
    assert client.streams is not None
    reader, writer = client.streams
    writer.write(encode_request(produce(), 9, 1, "c"))
    assert len(await reader.read()) == 7


async def test_an_answer_is_sent_twice(broker: Broker, client: Client) -> None:
    broker.faults.repeat_answer(api="ApiVersions", times=1)
    first, second = await raw(client, [ApiVersionsRequest("x", "1")], 2)
    assert first == second


async def test_an_answer_is_sent_after_the_next_one(broker: Broker, client: Client) -> None:
    broker.faults.reorder_answer(api="ApiVersions", times=1)
    asked = [
        ApiVersionsRequest("x", "1"),
        ApiVersionsRequest("x", "1"),
        ApiVersionsRequest("x", "1"),
    ]
    frames = await raw(client, asked, 3)
    assert [struct.unpack_from(">i", each)[0] for each in frames] == [2, 1, 3]


async def test_bits_of_an_answer_are_flipped(broker: Broker, client: Client) -> None:
    [whole] = await raw(client, [ApiVersionsRequest("x", "1")], 1)
    broker.faults.corrupt_answer(3, api="ApiVersions", times=1, seed=4)
    [broken] = await raw(client, [ApiVersionsRequest("x", "1")], 1)
    assert len(broken) == len(whole)
    assert broken[:4] == whole[:4]
    flipped = sum((a ^ b).bit_count() for a, b in zip(broken, whole, strict=True))
    assert 1 <= flipped <= 3


async def test_bits_of_a_request_are_flipped(broker: Broker, client: Client) -> None:
    broker.faults.corrupt_request(200, api="CreateTopics", times=1, seed=1)
    try:
        answer = await client.ask(CreateTopicsRequest([CreatableTopic("vvvvvvvv", 1, 1)], 1), 7)
    except (asyncio.IncompleteReadError, ConnectionError):
        pass  # what the broker could not read
    else:
        assert [each.name for each in answer.topics] != ["vvvvvvvv"]
    assert "vvvvvvvv" not in broker.stats()["topics"]


async def raw(client: Client, asked: list[Any], count: int) -> list[bytes]:
    """The frames that answer ApiVersions requests."""
    assert client.streams is not None
    reader, writer = client.streams
    for number, each in enumerate(asked, 1):
        writer.write(encode_request(each, 3, number, "c"))
    frames = []
    for _ in range(count):
        size = struct.unpack(">i", await reader.readexactly(4))[0]
        frames.append(await reader.readexactly(size))
    return frames


# -- without an answer, and without rules ----------------------------------------------------------


@pytest.mark.parametrize("act", ["hold", "repeat_answer", "reorder_answer", "throttle", "error"])
async def test_a_produce_that_wants_no_answer_gets_none(
    broker: Broker, client: Client, act: str
) -> None:
    given: Any = {"throttle": (1,), "error": ("UNKNOWN_SERVER_ERROR",)}.get(act, ())
    fault = getattr(broker.faults, act)(*given, api="Produce")
    assert client.streams is not None
    reader, writer = client.streams
    writer.write(encode_request(produce(acks=0), 9, 1, "c"))
    await fault.wait_until_fired()
    await until(lambda: act != "hold" or fault.held == 1)
    fault.remove()
    if act == "error":
        assert await reader.read() == b""
        await client.disconnect()
    assert await end_offset(client) == (0 if act == "error" else 1)


async def test_a_large_request_meets_rules_as_well(broker: Broker, client: Client) -> None:
    broker.faults.error("POLICY_VIOLATION", api="CreateTopics", topic="v7")
    wanted = [CreatableTopic(f"v{number}", 1, 1) for number in range(3000)]
    answer = await client.ask(CreateTopicsRequest(wanted, 1000, validate_only=True), 7)
    found = {each.name for each in answer.topics if each.error_code}
    assert found == {"v7"}


async def test_a_fault_that_does_not_fire_says_so(broker: Broker) -> None:
    fault = broker.faults.drop_answer(api="Produce", name="lost")
    with pytest.raises(FaultNotFiredError, match=r"lost has fired 0 of 1 times in 0\.01 s"):
        await fault.wait_until_fired(timeout_s=0.01)


async def test_what_was_removed_has_no_effect(broker: Broker, client: Client) -> None:
    broker.faults.error("UNKNOWN_SERVER_ERROR", api="Produce")
    broker.faults.hold(api="ListOffsets")
    broker.faults.clear()
    assert set(codes(await client.ask(produce(), 9)).values()) == {ErrorCode.NONE}
    assert await end_offset(client) == 1
    assert broker.faults.list() == []


@pytest.mark.parametrize(
    ("act", "given"),
    [
        ("hold", {}),
        ("hold", {"what": "answer"}),
        ("delay", {"ms": 86_400_000}),
        ("blackhole", {}),
        ("drop_request", {"silently": True}),
        ("drop_answer", {"silently": True}),
    ],
)
async def test_a_broker_that_stops_waits_for_no_rule(act: str, given: Any) -> None:
    settings = {"shutdown.timeout.ms": 86_400_000}
    async with Broker(topics={"t": 2, "u": 1}, settings=settings) as broker:
        fault = getattr(broker.faults, act)(**given, api="Produce")
        async with Client(broker.bootstrap) as client:
            asked = asyncio.ensure_future(client.ask(produce(), 9))
            await fault.wait_until_fired()
            await broker.stop()
            with suppress(asyncio.IncompleteReadError, ConnectionError):
                await asked
