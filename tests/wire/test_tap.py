"""The tap over real UDP: what subscribers get, what the broker does not let them do to it."""

from __future__ import annotations

import asyncio
import random
import socket
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import asyncio_dgram
import pytest
from fencepost_broker import Broker
from fencepost_broker.metadata.names import METADATA_TOPIC
from fencepost_broker.network.tap.publisher import Tap
from fencepost_broker.observability.tap.client import TapClient, TapError
from fencepost_broker.observability.tap.datagrams import (
    AskTopics,
    Event,
    EventKind,
    Events,
    Leased,
    Leave,
    Left,
    Subscribe,
    Topics,
)
from fencepost_protocol.framing import encode_request, read_request_head, read_response_head
from fencepost_protocol.generated.alter_client_quotas import (
    AlterClientQuotasRequest,
    AlterClientQuotasRequestEntityData,
    AlterClientQuotasRequestEntryData,
    OpData,
)
from fencepost_protocol.generated.api_versions import ApiVersionsRequest
from fencepost_protocol.generated.fetch import FetchPartition, FetchRequest, FetchTopic
from fencepost_protocol.generated.index import ApiKey
from fencepost_protocol.generated.metadata import MetadataRequest, MetadataResponse

from tests.support.broker import Client, RunningBroker, running_broker
from tests.support.tap import RawSubscriber
from tests.support.waiting import until

pytestmark = pytest.mark.asyncio

AUTHORIZER = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": "User:ANONYMOUS",
}


def tap_of(broker: RunningBroker) -> Tap:
    assert broker.process.tap is not None
    assert broker.process.tap.tap is not None, "it has not received a datagram yet"
    return broker.process.tap.tap


@asynccontextmanager
async def subscriber(broker: RunningBroker) -> AsyncIterator[RawSubscriber]:
    stream = await asyncio_dgram.connect(("127.0.0.1", broker.port))
    try:
        yield RawSubscriber(stream)
    finally:
        stream.close()
        await asyncio.sleep(0)


class Seen:
    """Collects events until a wanted one comes."""

    def __init__(self, tap: RawSubscriber) -> None:
        self.tap = tap
        self.events: list[Event] = []
        self.sequences: list[int] = []

    async def until(self, kind: EventKind, count: int = 1) -> list[Event]:
        async with asyncio.timeout(20):
            while sum(event.kind == kind for event in self.events) < count:
                datagram = await self.tap.next()
                assert isinstance(datagram, Events)
                self.sequences += [sequence for sequence, _ in datagram.events]
                self.events += [event for _, event in datagram.events]
        return self.events


async def test_a_request_and_its_response_are_seen_whole() -> None:
    async with running_broker(topics={"orders": 2}) as broker, subscriber(broker) as tap:
        leased = await tap.subscribe()
        assert leased.cluster_id == broker.server.identity.cluster_id
        answer = await broker.ask(MetadataRequest(), 12)
        opened, asked, told = await Seen(tap).until(EventKind.RESPONSE)
        assert [each.kind for each in (opened, asked, told)] == [
            EventKind.OPENED, EventKind.REQUEST, EventKind.RESPONSE,
        ]  # fmt: skip
        assert {each.connection for each in (opened, asked, told)} == {1}
        assert (told.api_key, told.version, told.client_id) == (ApiKey.METADATA, 12, "test")
        api_key, _, _, client_id, _ = read_request_head(memoryview(asked.frame))
        assert (api_key, client_id) == (asked.api_key, "test")
        assert not asked.is_cut
        correlation_id, body = read_response_head(memoryview(told.frame), told.api_key, 12)
        assert correlation_id == told.correlation_id == asked.correlation_id
        assert MetadataResponse.decode(memoryview(told.frame), 12, body)[0] == answer
        assert 0 <= told.elapsed_us < 20_000_000
        assert asked.address.startswith("127.0.0.1:")


async def test_only_while_somebody_watches_the_server_has_a_watcher() -> None:
    async with running_broker() as broker, subscriber(broker) as tap:
        server = broker.process.socket_server
        watching = [server.watcher is not None]
        await tap.subscribe()
        watching.append(server.watcher is not None)
        assert await tap.ask(Leave(tap.cookie)) == Left(0)
        watching.append(server.watcher is not None)
        assert watching == [False, True, False]


async def test_what_was_seen_before_leaving_is_told_before_the_end() -> None:
    async with running_broker() as broker, subscriber(broker) as tap:
        await tap.subscribe()
        await broker.ask(MetadataRequest(), 12)
        told = await tap.ask(Leave(tap.cookie))
        assert isinstance(told, Events)
        assert [sequence for sequence, _ in told.events] == [1, 2, 3]
        assert await tap.next() == Left(3)


async def test_a_subscriber_that_goes_away_is_forgotten_when_its_lease_ends() -> None:
    async with running_broker({"tap.lease.ms": 100}) as broker:
        async with subscriber(broker) as tap:
            await tap.subscribe()
        for _ in range(50):
            await broker.ask(ApiVersionsRequest("a", "1"), 3)
        await until(lambda: broker.process.socket_server.watcher is None)
        assert not tap_of(broker).leases.active
        await broker.ask(ApiVersionsRequest("a", "1"), 3)


async def test_software_and_filters() -> None:
    async with running_broker() as broker, subscriber(broker) as tap:
        await tap.subscribe(api_keys=(ApiKey.METADATA,), client_ids=("te*",))
        await broker.ask(ApiVersionsRequest("some-client", "1.2"), 3)
        await broker.ask(MetadataRequest(), 12)
        events = await Seen(tap).until(EventKind.RESPONSE)
        assert [each.api_key for each in events] == [ApiKey.METADATA] * 2
        assert {each.software for each in events} == {"some-client 1.2"}


async def test_a_parked_request_and_a_dropped_connection() -> None:
    async with running_broker(topics={"t": 1}) as broker, subscriber(broker) as tap:
        await tap.subscribe()
        fetch = FetchRequest(max_wait_ms=60_000, min_bytes=1, max_bytes=100)
        fetch.topics = [FetchTopic("t", partitions=[FetchPartition(0, -1, 0)])]
        fetch.topics[0].partitions[0].partition_max_bytes = 100
        _, writer = await asyncio.open_connection(broker.host, broker.port)
        writer.write(encode_request(fetch, 11, 5, "waits"))
        seen = Seen(tap)
        parked = (await seen.until(EventKind.PARKED))[-1]
        assert (parked.api_key, parked.client_id, parked.frame) == (ApiKey.FETCH, "waits", b"")
        await broker.produce("t", 0, b"value")
        await seen.until(EventKind.RESPONSE, 2)
        assert {each.api_key for each in seen.events if each.kind == EventKind.RESPONSE} == {0, 1}
        writer.write(struct.pack(">i", -1))
        events = await seen.until(EventKind.CLOSED)
        assert "a frame of -1 bytes was announced" in events[-2].reason
        assert (events[-2].kind, events[-2].client_id) == (EventKind.DROPPED, "waits")
        writer.close()


async def set_quota(broker: RunningBroker) -> None:
    entity = [AlterClientQuotasRequestEntityData("client-id", None)]
    entry = AlterClientQuotasRequestEntryData(entity, [OpData("consumer_byte_rate", 1e9, False)])
    answer = await broker.ask(AlterClientQuotasRequest([entry]), 1)
    assert not answer.entries[0].error_code


@pytest.mark.parametrize("behind", ["an authorizer", "a quota", "both"])
async def test_what_waits_behind_rights_and_quotas_is_one_connections(behind: str) -> None:
    """Another peer stands in for the connection then; of none is anything left."""
    settings = {} if behind == "a quota" else AUTHORIZER
    async with running_broker(settings, topics={"t": 1}) as broker, subscriber(broker) as tap:
        if behind != "an authorizer":
            await set_quota(broker)
        await broker.disconnect()
        await tap.subscribe()
        seen = Seen(tap)
        partition = FetchPartition(0, -1, 0, partition_max_bytes=100)
        wanted = [FetchTopic("t", partitions=[partition])]
        fetch = FetchRequest(max_wait_ms=1, min_bytes=1, max_bytes=100, topics=wanted)
        for _ in range(2):
            await broker.ask(fetch, 11)
        events = await seen.until(EventKind.RESPONSE, 2)
        assert [each.kind for each in events][1:] == [
            EventKind.REQUEST, EventKind.PARKED, EventKind.RESPONSE,
        ] * 2  # fmt: skip
        assert {each.connection for each in events} == {1}
        assert {each.client_id for each in events[1:]} == {"test"}
        assert all(each.elapsed_us >= 0 for each in events if each.kind == EventKind.RESPONSE)
        assert len(tap_of(broker)._connections) == 1
        await broker.disconnect()
        await until(lambda: not tap_of(broker)._connections)


async def test_an_event_larger_than_a_datagram_is_cut() -> None:
    async with running_broker(topics={"t": 1}) as broker, subscriber(broker) as tap:
        await tap.subscribe()
        await broker.produce("t", 0, bytes(20_000))
        events = await Seen(tap).until(EventKind.REQUEST)
        asked = events[-1]
        assert asked.is_cut
        assert asked.size > 20_000
        assert 8000 < len(asked.frame) <= 8192


async def test_a_slow_subscriber_loses_events_and_holds_up_nobody() -> None:
    limits = {"tap.datagram.max.bytes": 1024}
    async with running_broker(limits) as broker, subscriber(broker) as tap:
        await tap.subscribe()
        count = 3000
        reader, writer = await asyncio.open_connection(broker.host, broker.port)
        padded = "x" * 100
        for number in range(count):
            writer.write(encode_request(ApiVersionsRequest("a", "1"), 3, number, padded))
        for number in range(count):
            size = struct.unpack(">i", await reader.readexactly(4))[0]
            answer = await reader.readexactly(size)
            assert struct.unpack_from(">i", answer)[0] == number
        assert broker.process.stats()["tap"]["events_lost"] > 0
        # The socket is full: what it answers now shall not be lost, too.
        tap.stream.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
        sequences: list[int] = []
        answer_to_leave: Any = await tap.ask(Leave(tap.cookie))
        while isinstance(answer_to_leave, Events):
            sequences += [sequence for sequence, _ in answer_to_leave.events]
            answer_to_leave = await tap.next()
        assert answer_to_leave == Left(2 * count + 1)
        assert sequences == sorted(set(sequences))
        assert len(sequences) < 2 * count
        writer.close()


async def test_hostile_datagrams_are_ignored() -> None:
    async with running_broker() as broker, subscriber(broker) as tap:
        await tap.subscribe()
        hostile = await asyncio_dgram.connect(("127.0.0.1", broker.port))
        rng = random.Random(1)
        leases = tap_of(broker).leases
        for _ in range(300):
            ignored = leases.ignored
            await hostile.send(rng.randbytes(rng.randrange(1, 200)))
            await hostile.send(b"fptap\x01" + rng.randbytes(rng.randrange(50)))
            await until(lambda: leases.ignored == ignored + 2)  # noqa: B023
        hostile.close()
        await broker.ask(MetadataRequest(), 12)
        await Seen(tap).until(EventKind.RESPONSE)


async def test_a_forged_sender_gets_nothing() -> None:
    """Without having received a cookie nobody is sent an event, loopback or not."""
    async with running_broker() as broker, subscriber(broker) as tap:
        await tap.subscribe()
        async with subscriber(broker) as other:
            other.cookie = tap.cookie  # another's: it is good at the other's address only
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.1):
                    await other.ask(Subscribe(tap.cookie))
        assert len(tap_of(broker).leases.active) == 1


async def test_places_are_few() -> None:
    settings = {"tap.subscribers.max": 1}
    async with running_broker(settings) as broker, subscriber(broker) as tap:
        await tap.subscribe()
        with pytest.raises(
            TapError, match=r"the limit of 1 subscribers is reached \(tap.subscribers.max\)"
        ):
            async with TapClient("127.0.0.1", broker.port):
                pass


async def test_topics_are_named_by_their_ids() -> None:
    async with running_broker(topics={"orders": 1}) as broker, subscriber(broker) as tap:
        topic_id = broker.server.table.by_name["orders"].topic_id
        await tap.subscribe()
        answer = await tap.ask(AskTopics(tap.cookie, (topic_id, bytes(16))))
        assert answer == Topics(((topic_id, "orders"), (bytes(16), "")))


async def test_the_client_renews_and_counts() -> None:
    settings = {"tap.lease.ms": 1500}
    async with running_broker(settings) as broker:
        kinds = []
        async with TapClient("127.0.0.1", broker.port) as tap:
            assert isinstance(tap.broker, Leased)
            lease = next(iter(tap_of(broker).leases.active.values()))
            first_until_ms = lease.until_ms
            await until(lambda: lease.until_ms > first_until_ms)
            await broker.ask(MetadataRequest(), 12)
            async for event in tap.events():
                kinds.append(event.kind)
                if event.kind == EventKind.RESPONSE:
                    await tap.leave()
        assert kinds == [EventKind.OPENED, EventKind.REQUEST, EventKind.RESPONSE]
        assert (tap.seen, tap.lost) == (3, 0)
        assert not tap_of(broker).leases.active


async def test_the_client_counts_what_is_lost() -> None:
    settings = {"tap.datagram.max.bytes": 1024}
    async with running_broker(settings) as broker:
        _, writer = await asyncio.open_connection(broker.host, broker.port)
        async with TapClient("127.0.0.1", broker.port) as tap:
            count = 2000
            frames = [encode_request(ApiVersionsRequest("a", "1"), 3, at) for at in range(count)]
            writer.write(b"".join(frames))
            lease = next(iter(tap_of(broker).leases.active.values()))
            await until(lambda: lease.sequence == 2 * count)
            await tap.leave()
            shown = [event async for event in tap.events()]
        assert tap.lost >= broker.process.stats()["tap"]["events_lost"] > 0
        assert tap.seen == len(shown)
        assert tap.seen + tap.lost == 2 * count
        writer.close()


async def test_the_client_hears_that_the_broker_stops() -> None:
    async with running_broker() as broker, TapClient("127.0.0.1", broker.port) as tap:
        assert broker.process.tap is not None
        await broker.process.tap.stop()
        broker.process.tap = None
        with pytest.raises(TapError, match="the broker has stopped"):
            async for _ in tap.events():
                pass


@pytest.mark.parametrize(
    ("listens", "asked"), [("127.0.0.1", "localhost"), ("::1", "::1"), ("::1", "localhost")]
)
async def test_addresses(listens: str, asked: str) -> None:
    if ":" in listens and not _has_ipv6():
        pytest.skip("this machine has no IPv6")
    if (listens, asked) == ("::1", "localhost") and "::1" not in _addresses_of(asked):
        pytest.skip("localhost is no IPv6 address on this machine")
    async with running_broker({"tap.host": listens}) as broker:
        async with TapClient(asked, broker.port) as tap:
            await broker.ask(MetadataRequest(), 12)
            async for event in tap.events():
                if event.kind == EventKind.RESPONSE:
                    break
        assert tap.lost == 0


def _has_ipv6() -> bool:
    try:
        with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as it:
            it.bind(("::1", 0))
    except OSError:
        return False
    return True


def _addresses_of(host: str) -> set[str]:
    return {str(each[4][0]) for each in socket.getaddrinfo(host, 1, type=socket.SOCK_DGRAM)}


@pytest.mark.parametrize("settings", [{"tap.enable": False}, {"tap.port": 0}])
async def test_where_no_tap_is(settings: dict[str, Any]) -> None:
    async with running_broker(settings) as broker:
        with pytest.raises(
            TapError, match=f"127.0.0.1:{broker.port}/udp.*check that a Fencepost broker"
        ):
            async with TapClient("127.0.0.1", broker.port):
                pass
        await broker.ask(MetadataRequest(), 12)


async def test_what_brokers_read_of_the_metadata_is_not_shown() -> None:
    wanted = FetchTopic(METADATA_TOPIC, partitions=[FetchPartition(0, partition_max_bytes=1 << 20)])
    shown: dict[int, bytes] = {}
    async with (
        Broker(settings={"process.roles": "controller"}) as broker,
        Client(broker.bootstrap) as client,
        TapClient("127.0.0.1", broker.addresses[0].port) as tap,
    ):
        await client.ask(FetchRequest(topics=[wanted]), 12)
        await client.ask(ApiVersionsRequest("test", "1"), 3)
        async for event in tap.events():
            if event.kind == EventKind.RESPONSE:
                shown[event.api_key] = event.frame
                if event.api_key == ApiKey.API_VERSIONS:
                    break
    assert shown[ApiKey.API_VERSIONS]
    assert shown[ApiKey.FETCH] == b""


async def test_a_taken_port_costs_the_tap_only() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
        taken.bind(("127.0.0.1", 0))
        async with running_broker({"tap.port": taken.getsockname()[1]}) as broker:
            assert broker.process.tap is None
            await broker.ask(MetadataRequest(), 12)


async def test_a_bug_in_the_tap_costs_no_request(monkeypatch: pytest.MonkeyPatch) -> None:
    async with running_broker() as broker, subscriber(broker) as tap:
        await tap.subscribe()

        def broken(*_: object) -> bytes:
            raise KeyError("a bug")

        monkeypatch.setattr("fencepost_broker.network.tap.publisher.event_head", broken)
        await broker.ask(MetadataRequest(), 12)
        assert broker.process.socket_server.watcher is None
