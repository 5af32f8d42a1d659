"""Spans by OTLP: their tree is compared with what a client has done."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import pytest
from fencepost_broker import Broker, Cluster
from fencepost_broker.config.errors import SettingsError
from fencepost_broker.server.control import sampling, watching
from fencepost_broker.server.otlp import receiver as receiving
from fencepost_broker.server.otlp import traces
from fencepost_broker.server.otlp.trace_context import read_traceparent
from fencepost_client import GroupMetadata, Producer, TopicPartition
from fencepost_protocol.generated.end_txn import EndTxnRequest
from fencepost_protocol.generated.fetch import FetchPartition, FetchRequest, FetchTopic
from fencepost_protocol.generated.metadata import MetadataRequest
from fencepost_protocol.generated.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from fencepost_protocol.records.writer import build_batch

from tests.control.harness import begun, controlled, events_in
from tests.support.broker import Client
from tests.support.otlp import OtlpReceiver, attributes_of, otlp_receiver
from tests.support.waiting import GIVEN_UP_S, until

pytestmark = pytest.mark.asyncio

_OLD = {"features": ["transaction.version:1"]}
_MINE = bytes.fromhex("ab" * 16), bytes.fromhex("cd" * 8)
_YOURS = bytes.fromhex("ab" * 16), bytes.fromhex("ef" * 8)


def header(trace: tuple[bytes, bytes], flags: str = "01") -> list[tuple[str, bytes]]:
    return [("traceparent", f"00-{trace[0].hex()}-{trace[1].hex()}-{flags}".encode())]


@asynccontextmanager
async def traced(**settings: Any) -> AsyncIterator[tuple[OtlpReceiver, Broker]]:
    """A broker that sends spans; all of them have arrived when it has stopped."""
    async with otlp_receiver() as receiver:
        given: Mapping[str, Any] = {"otlp.endpoint": receiver.url, "otlp.traces": True, **settings}
        async with Broker(settings=given, topics={"t": 2}, log_level="error") as broker:
            yield receiver, broker


def named(receiver: OtlpReceiver, name: str) -> list[Any]:
    found = [each for each in receiver.spans if each.name == name]
    return sorted(found, key=lambda each: each.start_time_unix_nano)


def children(receiver: OtlpReceiver, parent: Any) -> list[str]:
    found = [
        each
        for each in receiver.spans
        if each.parent_span_id == parent.span_id and each.trace_id == parent.trace_id
    ]
    return [each.name for each in sorted(found, key=lambda each: each.start_time_unix_nano)]


def state_of(broker: Broker) -> str:
    explained = broker.explain_transaction("pay")
    assert explained is not None
    return explained.state


def links(span: Any) -> list[tuple[bytes, bytes]]:
    return [(each.trace_id, each.span_id) for each in span.links]


@pytest.mark.parametrize("settings", [{}, _OLD], ids=["new", "old"])
async def test_a_transaction_is_the_parent_of_its_requests(settings: dict[str, Any]) -> None:
    async with traced(**settings) as (receiver, broker):
        async with Producer(broker.bootstrap, transactional_id="pay") as producer:
            async with producer.transaction() as first:
                await first.send("t", b"a", partition=0, headers=header(_MINE))
                await first.send("t", b"b", partition=0)
            async with producer.transaction() as second:
                await second.send_offsets({TopicPartition("t", 1): 7}, GroupMetadata("g"))
        async with Client(broker.bootstrap) as client:
            await client.ask(MetadataRequest(), 9)
        await broker.stop()
    one, two = named(receiver, "transaction")
    adding = ["AddPartitionsToTxn"] if settings else []
    assert children(receiver, one) == [*adding, "Produce", "EndTxn"]
    adding = ["AddOffsetsToTxn"] if settings else []
    assert children(receiver, two) == [*adding, "TxnOffsetCommit", "EndTxn"]
    for each in named(receiver, "Produce") + named(receiver, "EndTxn"):
        parents = {span.span_id: span for span in (one, two)}
        began = parents[each.parent_span_id].start_time_unix_nano
        assert began <= each.start_time_unix_nano <= each.end_time_unix_nano
    states = ["Ongoing", "PrepareCommit", "marker", "CompleteCommit"]
    assert [[each.name for each in span.events] for span in (one, two)] == [states, states]
    told = attributes_of(one)
    assert told["kafka.transactional_id"] == "pay"
    assert told["kafka.transaction.outcome"] == "commit"
    assert attributes_of(one.events[2]) == {
        "kafka.marker": "commit",
        "messaging.destination.name": "t",
        "messaging.destination.partition.id": "0",
        "kafka.offset": 2,
    }
    assert attributes_of(two.events[2])["messaging.destination.name"] == "__consumer_offsets"
    assert one.trace_id != two.trace_id
    [produce] = named(receiver, "Produce")
    assert links(produce) == links(one) == [_MINE]
    of_produce = attributes_of(produce)
    assert of_produce["messaging.destination.name"] == "t"
    assert of_produce["messaging.client.id"] == "fencepost-producer"
    assert (of_produce["kafka.producer.id"], of_produce["kafka.producer.epoch"]) == (
        told["kafka.producer.id"], told["kafka.producer.epoch"],
    )  # fmt: skip
    [metadata] = [
        each
        for each in named(receiver, "Metadata")
        if attributes_of(each)["messaging.client.id"] == "test"
    ]
    assert not metadata.parent_span_id
    assert attributes_of(metadata)["kafka.api.version"] == 9
    assert attributes_of(metadata)["kafka.broker.id"] == 1
    assert all(not each.parent_span_id for each in named(receiver, "InitProducerId"))


async def test_an_aborted_transaction_a_refused_request_and_one_that_stays_open() -> None:
    async with traced() as (receiver, broker):
        async with Client(broker.bootstrap) as client:
            producer_id, epoch = await begun(client, "pay")
            await client.ask(EndTxnRequest("pay", producer_id, epoch + 1, committed=True), 3)
            await client.ask(EndTxnRequest("pay", producer_id, epoch, committed=False), 3)
            await begun(client, "open")
        await broker.stop()
    aborted, still_open = named(receiver, "transaction")
    assert children(receiver, aborted) == ["AddPartitionsToTxn", "Produce", "EndTxn"]
    assert [each.name for each in aborted.events] == [
        "Ongoing", "PrepareAbort", "marker", "CompleteAbort",
    ]  # fmt: skip
    assert attributes_of(aborted)["kafka.transaction.outcome"] == "abort"
    assert "kafka.transaction.outcome" not in attributes_of(still_open)
    refused, done = named(receiver, "EndTxn")
    assert not refused.parent_span_id
    assert attributes_of(refused)["error.type"] == "PRODUCER_FENCED"
    assert refused.status.code == refused.status.STATUS_CODE_ERROR
    assert done.status.code == refused.status.STATUS_CODE_UNSET


async def test_a_request_stays_in_its_transaction_when_that_ends_first() -> None:
    async with traced() as (receiver, broker):
        async with Client(broker.bootstrap) as client, Client(broker.bootstrap, "late") as late:
            producer_id, epoch = await begun(client, "pay")
            held = broker.faults.hold(api="Produce", client_id="late")
            producer: dict[str, Any] = {
                "producer_id": producer_id,
                "producer_epoch": epoch,
                "base_sequence": 1,
            }
            batch = bytes(build_batch(None, [b"y"], 1000, **producer, transactional=True))
            data = [TopicProduceData("t", partition_data=[PartitionProduceData(0, batch)])]
            request = ProduceRequest("pay", -1, 5000, data)
            asking = asyncio.ensure_future(late.ask(request, 9))
            await until(lambda: held.fired)
            await client.ask(EndTxnRequest("pay", producer_id, epoch, committed=False), 3)
            await until(lambda: state_of(broker) == "CompleteAbort")
            held.release()
            await asking
        await broker.stop()
    [transaction] = named(receiver, "transaction")
    assert children(receiver, transaction).count("Produce") == 2


async def test_records_join_a_request_to_their_clients_spans() -> None:
    async with traced() as (receiver, broker):
        for sent in (
            [header(_MINE), header(_MINE)],
            [header(_MINE), header(_YOURS)],
            [header(_MINE, "00")],
            [[("traceparent", b"?")]],
        ):
            async with Producer(broker.bootstrap, compression="zstd", linger_ms=10_000) as producer:
                for each in sent:
                    await producer.send("t", b"x" * 100, partition=0, headers=each)
                await producer.flush()
        await broker.stop()
    child, linked, *roots = named(receiver, "Produce")
    assert (child.trace_id, child.parent_span_id) == _MINE
    assert not child.links
    assert not linked.parent_span_id
    assert links(linked) == [_MINE, _YOURS]
    for root in roots:
        assert not root.parent_span_id
        assert not root.links
    assert len(roots) == 2


async def test_a_span_says_that_a_request_waits_and_that_it_got_no_answer() -> None:
    async with traced() as (receiver, broker):
        topic = FetchTopic("t", partitions=[FetchPartition(0, partition_max_bytes=1 << 20)])
        fetch = FetchRequest(replica_id=-1, max_wait_ms=60_000, min_bytes=1, topics=[topic])
        async with Client(broker.bootstrap) as client:
            asking = asyncio.ensure_future(client.ask(fetch, 11))
            await until(lambda: broker.stats()["connections"]["parked_requests"])
            asking.cancel()
        await until(lambda: not broker.stats()["connections"]["parked_requests"])
        await broker.stop()
    [span] = named(receiver, "Fetch")
    assert [each.name for each in span.events] == ["waits"]
    assert span.status.message == "the client closed the connection"
    assert attributes_of(span)["messaging.destination.partition.id"] == "0"


async def test_spans_are_made_beside_a_stream_and_after_a_reset() -> None:
    async with otlp_receiver() as receiver:
        settings = {"otlp.endpoint": receiver.url, "otlp.traces": True}
        async with controlled(settings=settings, topics={"t": 1}) as it:
            async with it.session.get(f"http://{it.address}/v1/events") as stream:
                async with it.client() as client:
                    await begun(client, "pay")
                async for event in events_in(stream):
                    if event["type"] == "step" and event["state"] == "Ongoing":
                        break
            await it.broker.reset()
            async with it.client() as client:
                producer_id, epoch = await begun(client, "pay")
                await client.ask(EndTxnRequest("pay", producer_id, epoch, committed=True), 3)
                await until(lambda: state_of(it.broker) == "CompleteCommit")
            await it.broker.stop()
    before, after = named(receiver, "transaction")
    assert before.trace_id != after.trace_id
    assert [each.name for each in before.events] == ["Ongoing"]
    assert [each.name for each in after.events][-1] == "CompleteCommit"
    assert children(receiver, after) == ["AddPartitionsToTxn", "Produce", "EndTxn"]


async def test_a_producer_id_that_is_given_again_has_another_trace() -> None:
    async with traced() as (receiver, broker):
        for _ in range(2):
            async with Producer(broker.bootstrap, transactional_id="pay") as producer:
                async with producer.transaction() as transaction:
                    await transaction.send("t", b"a")
                await until(lambda: state_of(broker) == "CompleteCommit")
            await broker.reset()
        await broker.stop()
    one, other = named(receiver, "transaction")
    told, again = attributes_of(one), attributes_of(other)
    assert told["kafka.producer.id"] == again["kafka.producer.id"]
    assert one.trace_id != other.trace_id


async def test_brokers_of_a_cluster_know_the_span_of_a_transaction(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(traces, "INTERVAL_S", 0.01)
    async with (
        otlp_receiver() as receiver,
        Cluster(
            brokers=2,
            topics=["t:2"],
            settings={"otlp.endpoint": receiver.url, "otlp.traces": True},
        ) as cluster,
    ):
        async with (
            Producer(cluster.bootstrap, transactional_id="pay") as producer,
            producer.transaction() as transaction,
        ):
            await transaction.send("t", b"a", partition=0)
            await transaction.send("t", b"b", partition=1)
        await until(lambda: named(receiver, "transaction"))
        await cluster.stop()
    [transaction_span] = named(receiver, "transaction")
    produces = named(receiver, "Produce")
    assert {attributes_of(each)["kafka.broker.id"] for each in produces} == {1, 2}
    under = children(receiver, transaction_span)
    assert (under.count("Produce"), under.count("EndTxn")) == (2, 1)
    assert under.count("WriteTxnMarkers") == 1, "one partition has its leader elsewhere"
    names = {attributes_of(each.resource)["service.instance.id"] for each in receiver.traces}
    assert names >= {"1", "2"}


@pytest.mark.parametrize(
    ("value", "is_read"),
    [
        (f"00-{'ab' * 16}-{'cd' * 8}-01", True),
        (f"00-{'ab' * 16}-{'cd' * 8}-03", True),
        (f"cc-{'ab' * 16}-{'cd' * 8}-01-what comes later", True),
        (f"00-{'ab' * 16}-{'cd' * 8}-01-more", False),
        (f"cc-{'ab' * 16}-{'cd' * 8}-01.more", False),
        (f"ff-{'ab' * 16}-{'cd' * 8}-01", False),
        (f"00-{'AB' * 16}-{'cd' * 8}-01", False),
        (f"00-{'00' * 16}-{'cd' * 8}-01", False),
        (f"00-{'ab' * 16}-{'00' * 8}-01", False),
        (f"00-{'ab' * 16}-{'cd' * 8}-02", False),
        (f"00-{'ab' * 15}-{'cd' * 8}-01", False),
        ("", False),
    ],
)
async def test_traceparent_is_read_as_w3c_says(value: str, is_read: bool) -> None:
    assert read_traceparent(value.encode()) == (_MINE if is_read else None)


# -- bounds ----------------------------------------------------------------------------------------


async def test_many_requests_are_sampled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampling, "BURST", 3)
    monkeypatch.setattr(sampling, "MORE_PER_TICK", 0)
    async with traced() as (receiver, broker):
        async with Client(broker.bootstrap) as client:
            for _ in range(20):
                await client.ask(MetadataRequest(), 9)
        await broker.stop()
    assert len(named(receiver, "Metadata")) == 3


async def test_spans_wait_for_a_receiver_up_to_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(traces, "INTERVAL_S", 0.01)
    monkeypatch.setattr(traces, "LATER_S", 0.01)
    monkeypatch.setattr(traces, "WAITING_MAX", 10)
    async with traced() as (receiver, broker):
        receiver.status = 503
        async with Client(broker.bootstrap) as client:
            for _ in range(30):
                await client.ask(MetadataRequest(), 9)
            tried = len(receiver.requests)
            await until(lambda: receiver.requests[tried:].count("/v1/traces") > 1)
            assert not receiver.traces
            receiver.status = 200
            await until(lambda: receiver.traces)
            first = [attributes_of(each)["kafka.correlation_id"] for each in receiver.spans]
        await broker.stop()
    assert first == list(range(21, 31)), "the last ten requests"


async def test_a_receiver_that_is_slow_stops_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(receiving, "SECONDS_MAX", 10_000)
    monkeypatch.setattr(traces, "INTERVAL_S", 0.01)
    monkeypatch.setattr(traces, "WAITING_MAX", 5)
    monkeypatch.setattr(traces, "CLOSING_S", 0.01)
    async with traced() as (receiver, broker):
        receiver.may_answer.clear()
        async with Client(broker.bootstrap) as client:
            await client.ask(MetadataRequest(), 9)
            await until(lambda: "/v1/traces" in receiver.requests)
            for _ in range(20):
                await client.ask(MetadataRequest(), 9)
            receiver.may_answer.set()
            await until(lambda: len(receiver.traces) > 1)
            receiver.may_answer.clear()
            seen = len(receiver.requests)
            await client.ask(MetadataRequest(), 9)
            await until(lambda: "/v1/traces" in receiver.requests[seen:])
        async with asyncio.timeout(GIVEN_UP_S):
            await broker.stop()
        first, *later = receiver.traces
    assert sum(len(each.scope_spans[0].spans) for each in later) == 5
    assert first.scope_spans[0].spans[0].name == "Metadata"


async def test_without_traces_nothing_is_watched(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(process: object) -> None:
        raise AssertionError("nothing has to be watched")

    monkeypatch.setattr(watching, "WatchedBroker", refuse)
    async with traced(**{"otlp.traces": False}) as (receiver, _):
        await until(lambda: receiver.metrics)
    with pytest.raises(AssertionError, match="has to be watched"):
        await Broker(settings={"otlp.endpoint": "http://x", "otlp.traces": True}).start()
    with pytest.raises(SettingsError, match=r"otlp\.traces=true.*set otlp\.endpoint"):
        Broker(settings={"otlp.traces": True})
