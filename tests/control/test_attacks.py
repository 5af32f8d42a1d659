"""The control port does what it is told, so it has to know who tells it, and must not be filled."""

from __future__ import annotations

import asyncio
import tracemalloc
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from fencepost_broker import Broker, SettingsError
from fencepost_broker.server.control import port as control_port
from fencepost_broker.server.control.events import READERS_MAX, LogLine
from fencepost_broker.server.control.guard import Guard
from fencepost_broker.server.control.problems import ProblemError
from fencepost_protocol.generated.metadata import MetadataRequest
from multidict import CIMultiDict

from tests.control.harness import OpenPort, controlled, open_port
from tests.support.waiting import until

TOKEN = "0123456789abcdef-secret"
ADVANCE = "/v1/clock/advance"


@pytest.fixture
def token_file(tmp_path: Path) -> Path:
    file = tmp_path / "token"
    file.write_text(f"{TOKEN}\n")
    return file


# -- who asks -------------------------------------------------------------------------------------


@pytest.mark.asyncio
async def test_with_a_token_every_request_needs_it(token_file: Path) -> None:
    async with controlled(control_token_file=token_file) as it:
        for path in ("/v1/clock", "/openapi.json", "/nothing"):
            await it.ask("GET", path, expect=401)
        for wrong in (f"Bearer {TOKEN}x", "Bearer", f"Basic {TOKEN}", TOKEN, "Bearer é"):
            await it.ask("GET", "/v1/clock", headers={"Authorization": wrong}, expect=401)
        right = {"Authorization": f"Bearer {TOKEN}"}
        await it.ask("GET", "/v1/clock", headers=right)
        await it.ask("POST", ADVANCE, {"ms": 1}, headers=right)


@pytest.mark.asyncio
async def test_where_other_machines_reach_it_a_token_is_needed(token_file: Path) -> None:
    broker = Broker(control="0.0.0.0:0", log_level="error")
    with pytest.raises(SettingsError, match="requests need a token"):
        await broker.start()
    with pytest.raises(RuntimeError, match="not running"):
        broker.stats()
    async with controlled(control="0.0.0.0:0", control_token_file=token_file) as it:
        assert not it.address.startswith("0.0.0.0"), "other machines cannot use that"
        it.address = f"127.0.0.1:{it.address.rpartition(':')[2]}"
        await it.ask("GET", "/v1/clock", expect=401)
        right = {"Authorization": f"Bearer {TOKEN}"}
        await it.ask("GET", "/v1/clock", headers=right)
        await it.ask("GET", "/v1/clock", headers=right | {"Host": "evil.example"}, expect=421)


@pytest.mark.asyncio
@pytest.mark.parametrize(
    "content", [None, "", "short", "0123456789abcde é", "two words of a token"]
)
async def test_a_token_file_that_is_none(tmp_path: Path, content: str | None) -> None:
    file = tmp_path / "token"
    if content is not None:
        file.write_text(content)
    with pytest.raises(SettingsError, match=r"control\.token\.file="):
        await Broker(control=0, control_token_file=file, log_level="error").start()


def refusal(
    hosts: list[str], at: str = "127.0.0.1", token: str | None = None, **headers: str
) -> int:
    """Return the status with which a request is refused, or 0."""
    given = CIMultiDict({name.replace("_", "-"): value for name, value in headers.items()})
    try:
        Guard(["build-7", "10.0.0.5"], token).check(given, hosts, at)
    except ProblemError as error:
        return error.problem.status
    return 0


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1:9093", "127.0.0.1", "127.9.9.9:1", "localhost:9093", "LocalHost", "[::1]:9093",
        "[::1]", "build-7:9093", "Build-7", "10.0.0.5:9093",
    ],
)  # fmt: skip
def test_hosts_that_are_the_control_port(host: str) -> None:
    assert refusal([host]) == 0


@pytest.mark.parametrize(
    "host",
    [
        "evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "", ":9093", "10.0.0.6",
        "localhost:9093@evil", "localhost:x", "::1", "[evil]", "build-7.evil", "127.0.0.1:1:1",
    ],
)  # fmt: skip
def test_hosts_that_are_not(host: str) -> None:
    assert refusal([host]) == 421


def test_the_address_that_was_reached_is_a_right_host() -> None:
    assert refusal(["192.168.7.7:9093"], at="192.168.7.7") == 0
    assert refusal([]) == refusal(["localhost", "localhost"]) == 421


def test_pages_of_other_origins_are_refused() -> None:
    here = ["localhost:9093"]
    assert refusal(here, Origin="http://localhost:9093") == 0
    for other in ("http://localhost:9094", "http://evil.example", "null", "https://localhost:9093"):
        assert refusal(here, Origin=other) == 403
    assert refusal(here, Sec_Fetch_Site="same-origin") == refusal(here, Sec_Fetch_Site="none") == 0
    assert refusal(here, Sec_Fetch_Site="cross-site") == 403
    assert refusal(here, Sec_Fetch_Site="same-site") == 403


@pytest.mark.asyncio
async def test_no_page_can_read_an_answer() -> None:
    async with controlled() as it:
        headers = {"Origin": "http://evil.example", "Access-Control-Request-Method": "POST"}
        await it.ask("OPTIONS", ADVANCE, headers=headers, expect=403)
        await it.ask("POST", ADVANCE, {"ms": 1}, headers=headers, expect=403)
        await it.ask("GET", "/v1/clock", headers={"Host": "evil.example"}, expect=421)
        url = f"http://{it.address}/v1/clock"
        async with it.session.get(url, headers={"Origin": f"http://{it.address}"}) as answer:
            assert answer.status == 200
            assert not [
                name for name in answer.headers if name.lower().startswith("access-control")
            ]


# -- bodies ---------------------------------------------------------------------------------------


@pytest.mark.asyncio
@pytest.mark.parametrize(
    "body",
    [
        b"", b"{", b"[]", b"7", b'"ms"', b"null", b'{"ms": 1}x', b"\xff\xfe", b'{"ms": NaN}',
        b'{"ms": 1e999}', b'{"ms": "1"}', b'{"ms": 1.5}', b'{"ms": true}', b'{"ms": -1}',
        b'{"ms": ' + b"9" * 100_000 + b"}", b"[" * 500_000, b'{"a":' * 100_000,
        b'{"ms": 1, "m": 2}',
    ],
    ids=lambda body: str(body[:20]),
)  # fmt: skip
async def test_malformed_bodies_are_refused(body: bytes) -> None:
    async with controlled(clock="manual") as it:
        before = it.broker.clock.now_ms()
        headers = {"Content-Type": "application/json"}
        problem = await it.ask("POST", ADVANCE, data=body, headers=headers, expect=400)
        assert problem["where"].startswith("body")
        assert len(problem["detail"]) < 1000
        assert it.broker.clock.now_ms() == before


@pytest.mark.asyncio
async def test_bodies_of_other_kinds_are_refused() -> None:
    async with controlled() as it:
        for headers in (
            {"Content-Type": "text/plain"},
            {"Content-Type": "application/x-www-form-urlencoded"},
            {"Content-Type": "application/json", "Content-Encoding": "gzip"},
        ):
            await it.ask("POST", ADVANCE, data=b'{"ms": 1}', headers=headers, expect=415)


@pytest.mark.asyncio
@pytest.mark.parametrize("is_chunked", [False, True])
async def test_a_huge_body_is_refused_before_all_of_it_is_read(is_chunked: bool) -> None:
    async with open_port() as it:
        reader, writer = await it.connect()
        size = "Transfer-Encoding: chunked" if is_chunked else f"Content-Length: {1 << 40}"
        writer.write(head_of("POST", ADVANCE, "Content-Type: application/json", size))
        answered = asyncio.ensure_future(reader.readline())
        with suppress(ConnectionError):
            while not answered.done():  # until the control port has enough
                writer.write(b"10000\r\n" + b" " * 0x10000 + b"\r\n")
                await writer.drain()
        assert (await answered).startswith(b"HTTP/1.1 413 ")
        writer.transport.abort()
        await it.ask("GET", "/v1/clock")


def head_of(method: str, path: str, *lines: str) -> bytes:
    return "\r\n".join([f"{method} {path} HTTP/1.1", "Host: localhost", *lines, "", ""]).encode()


@pytest.mark.asyncio
async def test_a_slow_body_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(control_port, "BODY_SECONDS", 0.05)
    async with open_port() as it:
        reader, writer = await it.connect()
        writer.write(
            head_of("POST", ADVANCE, "Content-Type: application/json", "Content-Length: 9")
        )
        writer.write(b"{")
        answer = await reader.read()  # to its end
        assert answer.startswith(b"HTTP/1.1 408 ")
        writer.close()


@pytest.mark.asyncio
@pytest.mark.parametrize(
    "beginning", [b"", b"GET / HT", head_of("GET", "/v1/clock") * 2 + b"GET /"]
)
async def test_slow_headers_are_given_up(beginning: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(control_port, "IDLE_SECONDS", 0.1)
    async with open_port() as it:
        reader, writer = await it.connect()
        writer.write(beginning)
        answers = await reader.read()
        assert answers.count(b"HTTP/1.1 200 ") == beginning.count(b"clock")
        writer.close()


@pytest.mark.asyncio
@pytest.mark.parametrize(
    "sent",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc" * 10,
        b"\x00\x00\x00\x10" + bytes(16),
        b"GET /" + b"x" * 100_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
        head_of("GET", "/v1/clock", *(f"X-{number}: 1" for number in range(1000))),
        head_of("GET", "/v1/clock", "X: " + "x" * 100_000),
        head_of("POST", ADVANCE, "Content-Length: 1", "Transfer-Encoding: chunked"),
        head_of("POST", ADVANCE, "Content-Length: -1"),
    ],
    ids=["TLS", "Kafka", "long line", "many headers", "long header", "two lengths", "negative"],
)
async def test_what_is_not_http_is_refused_and_closed(sent: bytes) -> None:
    async with open_port() as it:
        reader, writer = await it.connect()
        writer.write(sent)
        answer = await reader.read()
        assert answer.startswith(b"HTTP/1.0 400 "), answer[:200]
        writer.close()
        await it.ask("GET", "/v1/clock")


# -- too many -------------------------------------------------------------------------------------


@pytest.mark.asyncio
async def test_a_connection_too_many_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(control_port, "CONNECTIONS_MAX", 3)
    async with open_port() as it:
        kept = [await it.connect() for _ in range(3)]
        reader, writer = await it.connect()
        with suppress(ConnectionError):
            writer.write(head_of("GET", "/v1/clock", "Connection: close"))
            assert await reader.read() == b""
        writer.close()
        kept[0][1].close()

        async def is_answered() -> bool:
            reader, writer = await it.connect()
            writer.write(head_of("GET", "/v1/clock", "Connection: close"))
            try:
                return (await reader.read()).startswith(b"HTTP/1.1 200 ")
            except ConnectionError:
                return False
            finally:
                writer.close()

        async with asyncio.timeout(60):
            while not await is_answered():
                pass
        for _, writer in kept:
            writer.close()


@pytest.mark.asyncio
async def test_pipelined_requests_behind_a_stream_are_not_all_kept() -> None:
    async with open_port() as it:
        _, writer = await it.connect()
        writer.write(head_of("GET", "/v1/events"))
        await until(lambda: it.port.events.readers == 1)
        writer.write(head_of("GET", "/v1/clock") * 500_000)
        left, before = writer.transport.get_write_buffer_size(), 0
        while left != before:  # until the control port reads no more
            before = left
            for _ in range(100):
                await it.ask("GET", "/v1/clock")
            left = writer.transport.get_write_buffer_size()
        assert left > 0, "it has read all of them"
        writer.transport.abort()


async def unread_stream(it: OpenPort) -> asyncio.StreamWriter:
    _, writer = await it.connect(buffer_bytes=1)
    writer.write(head_of("GET", "/v1/events"))
    return writer


def big_event() -> LogLine:
    return LogLine(0, "server", "info", "x" * 1000, {})


@pytest.mark.slow
@pytest.mark.asyncio
async def test_a_thousand_streams_that_are_not_read_cost_little() -> None:
    async with open_port() as it:
        streams: list[asyncio.StreamWriter] = []
        for _ in range(20):  # in groups, as many as one accept queue holds
            streams += await asyncio.gather(*(unread_stream(it) for _ in range(50)))
        await until(lambda: it.port.events.readers == READERS_MAX)
        tracemalloc.start()
        try:
            for _ in range(30):
                for _ in range(1000):  # 30 MB for each reader, if all were kept
                    it.port.events.publish(big_event())
                await asyncio.sleep(0)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert peak < 25_000_000
        assert (await it.broker.ask(MetadataRequest([]), 12)).brokers
        await it.ask("GET", "/v1/clock")
        for writer in streams:
            writer.transport.abort()
        await until(lambda: it.port.events.readers == 0)


@pytest.mark.asyncio
async def test_the_broker_stops_while_streams_are_not_read() -> None:
    async with open_port() as it:
        streams = [await unread_stream(it) for _ in range(5)]
        await until(lambda: it.port.events.readers == 5)
        for _ in range(20):
            for _ in range(1000):
                it.port.events.publish(big_event())
            await asyncio.sleep(0)
        await it.port.close()
        assert it.port.events.readers == 0
        for writer in streams:
            writer.transport.abort()


@pytest.mark.asyncio
async def test_a_reader_that_stays_away_loses_its_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(control_port, "UNREAD_SECONDS", 0.1)
    async with open_port() as it:
        writer = await unread_stream(it)
        await until(lambda: it.port.events.readers == 1)

        def is_gone() -> bool:
            for _ in range(100):
                it.port.events.publish(big_event())
            return not it.port.events.readers

        await until(is_gone)
        writer.transport.abort()


@pytest.mark.asyncio
async def test_a_bug_of_a_handler_is_answered_and_logged(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: Any) -> None:
        raise ZeroDivisionError

    async with open_port() as it:
        monkeypatch.setattr(it.broker.process, "stats", fails)
        problem = await it.ask("GET", "/v1/stats", expect=500)
        assert "bug" in problem["detail"]
        await it.ask("GET", "/v1/clock")
