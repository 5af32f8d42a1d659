"""The server on raw sockets: frames split and merged, order, limits, idle connections, shutdown."""

from __future__ import annotations

import asyncio
import socket
import struct
from contextlib import suppress

import pytest
from fencepost_broker.metadata.features import SUPPORTED_RANGES
from fencepost_broker.network import serving
from fencepost_protocol.framing import encode_request
from fencepost_protocol.generated.api_versions import ApiVersionsRequest, ApiVersionsResponse
from fencepost_protocol.generated.end_txn import EndTxnRequest

from tests.wire.server_harness import Running, end_txn, running

pytestmark = pytest.mark.asyncio


def cut(frame: bytes, count: int) -> bytes:
    """The frame without its last bytes, and with a size that says so."""
    return struct.pack(">i", len(frame) - 4 - count) + frame[4:-count]


@pytest.mark.parametrize("step", [1, 2, 3, 5, 50, 1 << 20])
async def test_frames_are_found_however_they_arrive(step: int) -> None:
    async with running() as it:
        client = await it.connect()
        stream = b"".join(end_txn(number, name="t" * (number * 7 % 50)) for number in range(30))
        for at in range(0, len(stream), step):
            client.writer.write(stream[at : at + step])
            await client.writer.drain()
        for number in range(30):
            correlation_id, answer = await client.end_txn_answer()
            assert (correlation_id, answer.producer_id) == (number, number * 10)


async def test_a_frame_larger_than_the_shared_buffer() -> None:
    async with running() as it:
        client = await it.connect()
        request = EndTxnRequest("txn", 5, 0, True)
        request.unknown_tagged_fields = ((70_000, bytes(1_000_000)),)
        client.writer.write(end_txn(1) + bytes(encode_request(request, 5, 2)) + end_txn(3))
        assert [(await client.end_txn_answer())[0] for _ in range(3)] == [1, 2, 3]


async def test_connections_do_not_mix_although_they_share_a_buffer() -> None:
    async with running() as it:
        clients = [await it.connect() for _ in range(5)]
        for at in range(len(end_txn(1))):
            for number, client in enumerate(clients):
                client.writer.write(end_txn(number)[at : at + 1])
                await client.writer.drain()
        for number, client in enumerate(clients):
            assert (await client.end_txn_answer())[0] == number


async def test_requests_behind_a_parked_one_wait_for_it() -> None:
    async with running(waiting_requests_max=3) as it:
        client, other = await it.connect(), await it.connect()
        client.writer.write(end_txn(1, park=True) + b"".join(end_txn(n) for n in range(2, 12)))
        await it.broker.arrived.wait()
        other.writer.write(end_txn(50))
        assert (await other.end_txn_answer())[0] == 50, "others are not held up"
        it.broker.let_go()
        answers = [await client.end_txn_answer() for _ in range(11)]
        assert [number for number, _ in answers] == list(range(1, 12))
        assert answers[0][1].error_code == 51


async def test_a_client_that_leaves_while_parked_disturbs_nobody() -> None:
    async with running() as it:
        client, other = await it.connect(), await it.connect()
        client.writer.write(end_txn(1, park=True) + end_txn(2))
        await it.broker.arrived.wait()
        client.writer.close()
        await client.writer.wait_closed()
        other.writer.write(end_txn(3))
        await other.end_txn_answer()
        it.broker.let_go()
        other.writer.write(end_txn(4))
        assert (await other.end_txn_answer())[0] == 4


@pytest.mark.parametrize(
    ("sent", "reason"),
    [
        (bytes.fromhex("7fffffff"), "a frame of 2147483647 bytes was announced"),
        (bytes.fromhex("ffffffff"), "a frame of -1 bytes was announced"),
        (bytes.fromhex("00000003 000000"), "request header"),
        (bytes.fromhex("0000000a 7fff0000 00000001 ffff"), "API key 32767: there is no such API"),
        (bytes.fromhex("0000000a 000b0000 00000001 ffff"), "JoinGroup v0: this broker does not"),
        (
            bytes.fromhex("0000000b 001a0063 00000001 ffff 00"),
            "EndTxn v99: only versions 0 to 5 are served; the client is newer",
        ),
        (
            bytes.fromhex("0000000a 00000002 00000001 ffff"),
            "Produce v2: only versions 3 to 13 are served; the client is too old",
        ),
        (cut(end_txn(1), 2), "EndTxnRequest v5, committed"),
        (b"GET / HTTP/1.1\r\n\r\n", "this looks like HTTP"),
        (bytes.fromhex("16030102000100"), "this looks like TLS"),
    ],
)
async def test_what_is_not_the_protocol_closes_that_connection_only(
    sent: bytes, reason: str
) -> None:
    async with running() as it:
        client, other = await it.connect(), await it.connect()
        client.writer.write(end_txn(1) + sent)
        assert (await client.end_txn_answer())[0] == 1, "what came before is still answered"
        assert await client.reader.read() == b""
        assert reason in it.log.lines[-1][1]["reason"]
        other.writer.write(end_txn(2))
        assert (await other.end_txn_answer())[0] == 2


async def test_too_many_connections_are_refused() -> None:
    async with running(connections_per_address_max=2) as it:
        first, second = await it.connect(), await it.connect()
        for client in (first, second):
            client.writer.write(end_txn(1))
            await client.end_txn_answer()
        third = await it.connect()
        with pytest.raises((ConnectionError, asyncio.IncompleteReadError)):
            await third.reader.readexactly(1)
        first.writer.close()
        await first.writer.wait_closed()
        second.writer.write(end_txn(2))
        await second.end_txn_answer()
        fourth = await it.connect()
        fourth.writer.write(end_txn(3))
        assert (await fourth.end_txn_answer())[0] == 3, "a place is free again"


async def test_an_idle_connection_is_closed_but_not_one_that_waits() -> None:
    async with running(idle_ms_max=20) as it:
        idle, waiting = await it.connect(), await it.connect()
        waiting.writer.write(end_txn(1, park=True))
        assert await idle.reader.read() == b""
        it.broker.let_go()
        assert (await waiting.end_txn_answer())[0] == 1


async def test_stopping_lets_the_parked_answer_leave() -> None:
    async with running() as it:
        client = await it.connect()
        client.writer.write(end_txn(1, park=True))
        await it.broker.arrived.wait()
        stopping = asyncio.ensure_future(serving.stop(it.server, 10.0))
        await asyncio.sleep(0)
        it.broker.let_go()
        assert (await client.end_txn_answer())[0] == 1
        assert await client.reader.read() == b""
        await stopping


@pytest.mark.parametrize("turns", range(6))
async def test_a_connection_that_comes_while_the_server_stops_is_closed(turns: int) -> None:
    async with running() as it:
        with socket.create_connection(it.address) as client:
            for _ in range(turns):  # the loop accepts it in one, and makes its transport in another
                await asyncio.sleep(0)
            await serving.stop(it.server, 10.0)
            client.setblocking(False)
            with suppress(ConnectionResetError):
                assert await asyncio.get_running_loop().sock_recv(client, 1) == b""


# -- ApiVersions ----------------------------------------------------------------------------------


async def ask_versions(it: Running, request: ApiVersionsRequest, version: int) -> memoryview:
    client = await it.connect()
    client.writer.write(bytes(encode_request(request, version, 9, "c")))
    return await client.frame()


@pytest.mark.parametrize("version", [5, 9, 127, 32767, -1])
async def test_an_unknown_version_is_answered_with_the_known_ones(version: int) -> None:
    async with running() as it:
        client = await it.connect()
        header = struct.pack(">hhih", 18, version, 9, -1)
        client.writer.write(struct.pack(">i", len(header) + 3) + header + b"\0\1\1")
        assert (await client.frame()).hex() == "00000009002300000001001200000004"
        client.writer.write(end_txn(2))
        assert (await client.end_txn_answer())[0] == 2, "the connection stays"


@pytest.mark.parametrize("version", [3, 4])
async def test_features_by_version(version: int) -> None:
    """Clients that ask with version 3 do not know ranges that begin at 0."""
    told = [name for name, (low, _) in SUPPORTED_RANGES.items() if low > 0 or version > 3]
    async with running() as it:
        frame = await ask_versions(it, ApiVersionsRequest("client", "1.0"), version)
        response, end = ApiVersionsResponse.decode(frame, version, 4)
        assert end == len(frame)
        assert [feature.name for feature in response.supported_features] == told
        levels = {each.name: each.max_version_level for each in response.finalized_features}
        assert levels["transaction.version"] == 2
        assert response.finalized_features_epoch == 7
        assert [(k.api_key, k.min_version, k.max_version) for k in response.api_keys] == [
            (18, 0, 4)
        ]


@pytest.mark.parametrize("name", ["", "-x", "a b", "x" * 10 + "."])
async def test_a_malformed_software_name_is_refused(name: str) -> None:
    async with running() as it:
        frame = await ask_versions(it, ApiVersionsRequest(name, "1.0"), 3)
        response, _ = ApiVersionsResponse.decode(frame, 3, 4)
        assert (response.error_code, response.api_keys) == (42, [])
