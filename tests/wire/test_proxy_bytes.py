"""What a proxy passes on, byte by byte, in front of a broker that the test plays."""

from __future__ import annotations

import asyncio
import random
import socket
import struct
from typing import Any

import pytest
from fencepost_protocol.framing import encode_response
from fencepost_protocol.generated.api_versions import (
    ApiVersion,
    ApiVersionsRequest,
    ApiVersionsResponse,
)
from fencepost_protocol.generated.fetch import (
    FetchableTopicResponse,
    FetchRequest,
    FetchResponse,
    NodeEndpoint,
    PartitionData,
)
from fencepost_protocol.generated.find_coordinator import FindCoordinatorRequest
from fencepost_protocol.generated.heartbeat import HeartbeatRequest, HeartbeatResponse
from fencepost_protocol.generated.index import ApiKey
from fencepost_protocol.generated.metadata import (
    MetadataRequest,
    MetadataResponse,
    MetadataResponseBroker,
)
from fencepost_protocol.generated.produce import (
    NodeEndpoint as ProduceEndpoint,
)
from fencepost_protocol.generated.produce import (
    PartitionProduceData,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from fencepost_protocol.generated.sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse

from tests.wire.proxy_harness import Played, Wire, played, proxy_to

pytestmark = pytest.mark.asyncio

FREE_KEYS = (ApiKey.HEARTBEAT, ApiKey.LIST_OFFSETS, ApiKey.END_TXN, 999)
"""APIs that a proxy passes on unread; the last one is unknown."""


def sized(content: bytes) -> bytes:
    return struct.pack(">i", len(content)) + content


async def written_in_pieces(wire: Wire, data: bytes, rng: random.Random) -> None:
    pos = 0
    while pos < len(data):
        step = rng.choice((1, 3, 8, 100, 5_000, 300_000))
        wire.send(data[pos : pos + step])
        await wire.writer.drain()
        if rng.random() < 0.3:
            await asyncio.sleep(0)  # the other end gets a turn
        pos += step


@pytest.mark.parametrize("seed", range(6))
async def test_bytes_arrive_as_they_were_sent(seed: int) -> None:
    rng = random.Random(seed)
    requests, answers = [], []
    for number in range(60):
        head = struct.pack(">hhi", rng.choice(FREE_KEYS), rng.randrange(20), number)
        requests.append(sized(head + rng.randbytes(rng.choice((0, 5, 90, 4_000, 400_000)))))
        rest = rng.randbytes(rng.choice((0, 5, 90, 4_000, 400_000)))
        answers.append(sized(struct.pack(">i", number) + rest))
    async with played() as this:
        client, broker = await this.connect()
        sent, returned = b"".join(requests), b"".join(answers)
        _, arrived = await asyncio.gather(
            written_in_pieces(client, sent, rng), broker.reader.readexactly(len(sent))
        )
        assert arrived == sent
        _, arrived = await asyncio.gather(
            written_in_pieces(broker, returned, rng), client.reader.readexactly(len(returned))
        )
        assert arrived == returned


async def answered_with(
    this: Played, request: Any, version: int, answer: Any
) -> tuple[Any, Wire, Wire]:
    """What a client gets that asks, when the broker answers so."""
    client, broker = await this.connect()
    frame = client.request(request, version, 5)
    assert await broker.frame() == frame
    broker.send(encode_response(answer, version, 5))
    return await client.answer_to(request, version), client, broker


@pytest.mark.parametrize("version", range(MetadataRequest.MAX_VERSION + 1))
async def test_clients_are_told_the_proxys_addresses(version: int) -> None:
    async with played() as this:
        brokers = [
            MetadataResponseBroker(node, host, port)
            for node, host, port in ((1, "127.0.0.1", this.port), (2, "far.example", 9092))
        ]
        answer = MetadataResponse(brokers=brokers, cluster_id="c")
        told, _, _ = await answered_with(this, MetadataRequest(topics=[]), version, answer)
        assert [each.node_id for each in told.brokers] == [1, 2]
        assert {each.host for each in told.brokers} == {"127.0.0.1"}
        ports = [each.port for each in told.brokers]
        assert ports == [int(this.proxy.brokers[node].rpartition(":")[2]) for node in (1, 2)]
        assert this.proxy.brokers[1] == this.proxy.bootstrap  # the bootstrap server is broker 1
        again, _, _ = await answered_with(
            this, MetadataRequest(topics=[]), version,
            MetadataResponse(brokers=[MetadataResponseBroker(2, "far.example", 9092)]),
        )  # fmt: skip
        assert again.brokers[0].port == ports[1]


async def test_a_coordinator_that_is_not_available_has_no_address() -> None:
    from fencepost_protocol.generated.find_coordinator import FindCoordinatorResponse

    async with played() as this:
        told, _, _ = await answered_with(
            this, FindCoordinatorRequest("g"), 3,
            FindCoordinatorResponse(error_code=15, node_id=-1, host="", port=-1),
        )  # fmt: skip
        assert (told.error_code, told.host, told.port) == (15, "", -1)
        assert this.proxy.brokers == {}


@pytest.mark.parametrize("size", [10, 3_000_000])
@pytest.mark.parametrize("version", [15, 16, 18])
async def test_addresses_in_fetch_answers(version: int, size: int) -> None:
    data = PartitionData(0, 6, -1, records=bytes(size))
    topic = FetchableTopicResponse(topic_id=bytes(15) + b"1", partitions=[data])
    endpoints = [NodeEndpoint(3, "far.example", 9092)] if version >= 16 else []
    answer = FetchResponse(responses=[topic], node_endpoints=endpoints)
    async with played() as this:
        told, client, broker = await answered_with(
            this, FetchRequest(max_wait_ms=1, min_bytes=1), version, answer
        )
        assert bytes(told.responses[0].partitions[0].records) == bytes(size)
        if size == 10 and endpoints:
            assert [(each.host, each.port) for each in told.node_endpoints] == [
                ("127.0.0.1", int(this.proxy.brokers[3].rpartition(":")[2]))
            ]
        else:
            assert told.node_endpoints == []  # hidden, because its beginning was sent already
        frame = client.request(HeartbeatRequest("g", 1, "m"), 4, 6)
        assert await broker.frame() == frame
        broker.send(encode_response(HeartbeatResponse(error_code=27), 4, 6))
        assert (await client.answer_to(HeartbeatRequest("g", 1, "m"), 4)).error_code == 27


async def test_addresses_in_produce_answers() -> None:
    answer = ProduceResponse(node_endpoints=[ProduceEndpoint(3, "far.example", 9092)])
    async with played() as this:
        told, _, _ = await answered_with(this, ProduceRequest(None, -1, 5), 11, answer)
        assert told.node_endpoints[0].host == "127.0.0.1"


@pytest.mark.parametrize("version", [3, 8, 9, 13])
async def test_no_answer_is_expected_to_a_produce_with_acks_0(version: int) -> None:
    batch = PartitionProduceData(0, bytes(600_000))
    topic = TopicProduceData("t", partition_data=[batch])
    async with played() as this:
        client, broker = await this.connect()
        for name in (None, "a-transactional-id"):
            frame = client.request(ProduceRequest(name, 0, 5, [topic]), version, 1)
            assert await broker.frame() == frame
        told = client.request(HeartbeatRequest("g", 1, "m"), 4, 2)
        assert await broker.frame() == told
        broker.send(encode_response(HeartbeatResponse(), 4, 2))
        assert (await client.answer_to(HeartbeatRequest("g", 1, "m"), 4)).error_code == 0


async def test_versions_that_cannot_be_read_are_not_offered() -> None:
    offered = [
        ApiVersion(ApiKey.PRODUCE, 3, 13),
        ApiVersion(ApiKey.METADATA, 0, 99),
        ApiVersion(ApiKey.HEARTBEAT, 0, 99),
        ApiVersion(ApiKey.SHARE_FETCH, 1, 99),
        ApiVersion(200, 0, 7),
    ]
    async with played() as this:
        answer = ApiVersionsResponse(api_keys=offered)
        for _ in range(2):
            told, _, _ = await answered_with(this, ApiVersionsRequest(), 3, answer)
            kept = {each.api_key: each.max_version for each in told.api_keys}
            assert kept == {0: 13, 3: MetadataRequest.MAX_VERSION, 12: 99, 78: 2, 200: 7}
        lines = this.logs.told("clients do not see a version that this proxy does not know")
        assert [each["api"] for each in lines] == ["Metadata 99 to 13", "ShareFetch 99 to 2"]


async def test_an_unknown_version_of_api_versions_is_answered_by_the_known_ones() -> None:
    async with played() as this:
        client, broker = await this.connect()
        client.send(sized(struct.pack(">hhih", ApiKey.API_VERSIONS, 99, 7, -1) + b"\0?"))
        told = await client.answer_to(ApiVersionsRequest(), 0)
        assert told.error_code == 35
        assert [(each.api_key, each.max_version) for each in told.api_keys] == [(18, 4)]
        frame = client.request(ApiVersionsRequest("me", "1"), 3, 8)
        assert await broker.frame() == frame


async def test_a_broker_that_knows_fewer_versions_of_api_versions() -> None:
    async with played() as this:
        client, broker = await this.connect()
        client.request(ApiVersionsRequest("me", "1"), 4, 8)
        await broker.frame()
        answer = ApiVersionsResponse(error_code=35, api_keys=[ApiVersion(18, 0, 2)])
        broker.send(encode_response(answer, 0, 8))
        told = await client.answer_to(ApiVersionsRequest(), 0)
        assert (told.error_code, told.api_keys[0].max_version) == (35, 2)


@pytest.mark.parametrize(("mechanism", "tokens"), [("PLAIN", 1), ("SCRAM-SHA-512", 2)])
async def test_raw_tokens_of_a_login(mechanism: str, tokens: int) -> None:
    async with played() as this:
        _, client, broker = await answered_with(
            this, SaslHandshakeRequest(mechanism), 0, SaslHandshakeResponse(mechanisms=[mechanism])
        )
        for token, answer in ((b"\0u\0p", b""), (b"", b"v=ok"))[:tokens]:
            client.send(sized(token))
            assert await broker.frame() == sized(token)
            broker.send(sized(answer))
            assert await client.frame() == sized(answer)
        client.request(MetadataRequest(topics=[]), 9, 5)
        await broker.frame()
        answer_ = MetadataResponse(brokers=[MetadataResponseBroker(2, "far.example", 9092)])
        broker.send(encode_response(answer_, 9, 5))
        told = await client.answer_to(MetadataRequest(topics=[]), 9)
        assert told.brokers[0].host == "127.0.0.1"


async def test_a_login_with_an_unknown_number_of_tokens_is_passed_on_raw() -> None:
    async with played() as this:
        _, client, broker = await answered_with(
            this, SaslHandshakeRequest("GSSAPI"), 0, SaslHandshakeResponse(mechanisms=["GSSAPI"])
        )
        for token in (b"a", b"", b"any bytes at all"):
            client.send(sized(token))
            assert await broker.frame() == sized(token)
            broker.send(sized(token[::-1]))
            assert await client.frame() == sized(token[::-1])


async def test_an_answer_to_no_request_closes_the_connection() -> None:
    async with played() as this:
        client, broker = await this.connect()
        client.request(HeartbeatRequest("g", 1, "m"), 4, 6)
        await broker.frame()
        broker.send(encode_response(HeartbeatResponse(), 4, 7))
        assert await client.is_closed()
        assert "correlation id 7" in this.logs.told("a connection is closed")[0]["reason"]


async def test_a_broker_that_goes_away_takes_its_clients_with_it() -> None:
    async with played() as this:
        client, broker = await this.connect()
        client.request(HeartbeatRequest("g", 1, "m"), 4, 6)
        await broker.frame()
        broker.writer.close()
        assert await client.is_closed()
        [line] = this.logs.told("a connection is closed")
        assert "gone, with 1 requests unanswered" in line["reason"]


async def test_a_client_that_goes_away_takes_its_upstream_connection_with_it() -> None:
    async with played() as this:
        client, broker = await this.connect()
        frame = client.request(ProduceRequest(None, 0, 5), 9, 6)
        client.writer.close()
        assert await broker.frame() == frame
        assert await broker.is_closed()


async def test_a_request_shorter_than_its_header_is_refused() -> None:
    async with played() as this:
        client, broker = await this.connect()
        client.send(sized(b"\0\0\0\0") + bytes(20))
        assert await client.is_closed()
        assert await broker.is_closed()


async def test_a_client_is_not_read_before_its_broker_is_connected() -> None:
    full = socket.create_server(("127.0.0.1", 0), backlog=0)
    port = full.getsockname()[1]
    with full, socket.create_connection(("127.0.0.1", port)):
        async with proxy_to(f"127.0.0.1:{port}") as proxy:  # its connections wait to be accepted
            host, _, own = proxy.bootstrap.rpartition(":")
            wires = [Wire(*await asyncio.open_connection(host, int(own))) for _ in range(8)]
            for wire in wires:
                wire.send(sized(struct.pack(">hhi", ApiKey.HEARTBEAT, 4, 1) + bytes(32 << 20)))
            async with played() as this:
                client, broker = await this.connect()
                for number in range(200):  # the loop has all the turns that it wants
                    frame = client.request(HeartbeatRequest("g", 1, "m"), 4, number)
                    assert await broker.frame() == frame
            unsent = [each.writer.transport.get_write_buffer_size() for each in wires]
            assert max(unsent) > 16 << 20
            for wire in wires:
                wire.writer.transport.abort()


async def test_a_client_that_reads_nothing_does_not_fill_the_proxys_memory() -> None:
    async with played() as this:
        client, broker = await this.connect()
        client.writer.transport.pause_reading()  # type: ignore[attr-defined]
        client.request(HeartbeatRequest("g", 1, "m"), 4, 1)
        await broker.frame()
        broker.send(sized(struct.pack(">i", 1) + bytes(64 << 20)))
        other, others_broker = await this.connect()
        for number in range(200):  # the proxy has all the turns that it wants
            frame = other.request(HeartbeatRequest("g", 1, "m"), 4, number)
            assert await others_broker.frame() == frame
        assert broker.writer.transport.get_write_buffer_size() > 32 << 20
        client.writer.transport.resume_reading()  # type: ignore[attr-defined]
        assert len(await client.frame()) == (64 << 20) + 8
        await broker.writer.drain()
