"""Frames of which a part has come: bounded together, the rest wait unread, and none waits for ever.

The bound here is two frames of half a megabyte.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import random
import ssl
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import ClassVar, Self

import pytest
from fencepost_broker.config import Value
from fencepost_broker.network import queued_bytes
from fencepost_broker.network.queued_bytes import BEGINNINGS_BYTES, PERIODS_MAX
from fencepost_broker.network.receive_buffer import SharedBuffer
from fencepost_broker.server.clock import StateClock
from fencepost_protocol.framing import encode_request, read_response_head
from fencepost_protocol.generated.heartbeat import HeartbeatRequest
from fencepost_protocol.generated.index import ApiKey
from fencepost_protocol.generated.metadata import MetadataRequest, MetadataRequestTopic
from fencepost_protocol.generated.produce import ProduceResponse
from fencepost_protocol.records.writer import build_batch

from tests.support.broker import ANSWER_SECONDS, RunningBroker, running_broker
from tests.support.compiled import pure_only
from tests.support.secure_kafka import make_certificates
from tests.support.up import produce_request
from tests.support.waiting import until
from tests.wire.fetch_harness import fetch
from tests.wire.quota_harness import PRODUCED, limit

pytestmark = pytest.mark.asyncio

FRAME = 500_000
BOUND = 2 * FRAME + 1000
PRODUCE_VERSION = 9


@asynccontextmanager
async def bounded(
    overrides: dict[str, Value] | None = None, clock: StateClock | None = None
) -> AsyncIterator[RunningBroker]:
    given = {"queued.max.request.bytes": BOUND, "socket.request.max.bytes": BOUND}
    async with running_broker({**given, **(overrides or {})}, topics={"t": 1}, clock=clock) as it:
        try:
            yield it
        finally:
            for each in Sender.connected:
                each.close()
            for each in Sender.connected:
                with contextlib.suppress(OSError):
                    await each.writer.wait_closed()
            Sender.connected.clear()


def frame(value: bytes, size: int = FRAME) -> bytes:
    """A Produce of some half a megabyte."""
    batch = bytes(build_batch(None, [value.ljust(size, b".")], 1000))
    return bytes(encode_request(produce_request("t", batch), PRODUCE_VERSION, 1, "test"))


class Sender:
    """A connection that sends what it is told to."""

    connected: ClassVar[list[Sender]] = []

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer
        self.rest = b""

    @classmethod
    async def connect(cls, broker: RunningBroker, **tls: object) -> Self:
        streams = await asyncio.open_connection(broker.host, broker.port, **tls)  # type: ignore[arg-type]
        made = cls(*streams)
        cls.connected.append(made)
        return made

    def send_half(self, whole: bytes) -> None:
        half = len(whole) // 2
        self.rest = whole[half:]
        self.writer.write(whole[:half])

    def send_rest(self) -> None:
        self.writer.write(self.rest)

    async def offset(self) -> int:
        """Of the record that was produced, once it is."""
        async with asyncio.timeout(ANSWER_SECONDS):
            size = struct.unpack(">i", await self.reader.readexactly(4))[0]
            answer = memoryview(await self.reader.readexactly(size))
        body = read_response_head(answer, ApiKey.PRODUCE, PRODUCE_VERSION)[1]
        told = ProduceResponse.decode(answer, PRODUCE_VERSION, body)[0]
        [partition] = told.responses[0].partition_responses
        assert not partition.error_code
        return partition.base_offset

    async def is_closed(self) -> bool:
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                return await self.reader.read(1) == b""
        except ConnectionError:
            return True

    def close(self) -> None:
        self.writer.transport.abort()


def frames_waiting(broker: RunningBroker) -> int:
    return int(broker.process.stats()["connections"]["waiting_frames"])


def bytes_queued(broker: RunningBroker) -> int:
    return int(broker.process.stats()["connections"]["queued_bytes"])


async def full(broker: RunningBroker, waiting: int = 1) -> tuple[list[Sender], list[Sender]]:
    """Two that hold all there is, and some that wait in order; each has sent half of its frame."""
    holders: list[Sender] = []
    line: list[Sender] = []
    for number in range(2 + waiting):
        sender = await Sender.connect(broker)
        sender.send_half(frame(b"%d" % number))
        (holders if number < 2 else line).append(sender)
        await until(lambda: bytes_queued(broker) >= min(len(holders), 2) * FRAME)
        await until(lambda: frames_waiting(broker) == len(line))
    return holders, line


async def served(broker: RunningBroker) -> None:
    answer = await broker.ask(MetadataRequest(topics=[]), 12)
    assert len(answer.brokers) == 1


async def test_what_does_not_fit_waits_unread_and_is_carried_out_in_order() -> None:
    async with bounded() as broker:
        holders, line = await full(broker, waiting=4)
        for each in line:
            each.send_rest()
        await served(broker)
        assert frames_waiting(broker) == 4
        holders[0].send_rest()
        assert await holders[0].offset() == 0
        assert [await each.offset() for each in line] == [1, 2, 3, 4]
        holders[1].send_rest()
        assert await holders[1].offset() == 5
        assert bytes_queued(broker) == frames_waiting(broker) == 0


async def test_halves_that_fill_the_bound_together_can_all_be_finished() -> None:
    """Were a frame's room given as it comes, all of these would have some and none enough."""
    async with bounded() as broker:
        senders = [await Sender.connect(broker) for _ in range(12)]
        for number, each in enumerate(senders):
            each.send_half(frame(b"%d" % number))
        await until(lambda: frames_waiting(broker) == 10)
        assert bytes_queued(broker) <= BOUND + 10 * (1 << 18)
        for each in reversed(senders):
            each.send_rest()
        assert sorted([await each.offset() for each in senders]) == list(range(12))
        assert bytes_queued(broker) == 0


async def test_one_frame_above_the_bound_is_taken() -> None:
    """The default makes way for a longer ``socket.request.max.bytes``; so it is here."""
    async with running_broker(
        {"message.max.bytes": 1 << 21, "queued.max.request.bytes": 0}, topics={"t": 1}
    ) as broker:
        broker.process.socket_server.queued.most = 1000
        assert await broker.produce("t", 0, bytes(1 << 20)) == 0
        assert await broker.produce("t", 0, bytes(1 << 20)) == 1


async def test_small_requests_go_on_while_others_wait() -> None:
    async with bounded() as broker:
        await full(broker)
        await served(broker)
        beat = await Sender.connect(broker)
        sent = encode_request(HeartbeatRequest("g", 1, "m"), 4, 1, "test")
        beat.writer.write(sent[:10])
        await served(broker)
        beat.writer.write(sent[10:])
        async with asyncio.timeout(ANSWER_SECONDS):
            assert await beat.reader.readexactly(4)
        assert frames_waiting(broker) == 1


async def test_so_do_those_that_come_whole() -> None:
    async with bounded() as broker:
        await full(broker)
        assert await broker.produce("t", 0, bytes(50_000)) == 0
        assert frames_waiting(broker) == 1


async def test_whoever_goes_away_gives_room_back() -> None:
    async with bounded() as broker:
        holders, line = await full(broker, waiting=3)
        line[0].close()
        holders[0].close()
        line[1].send_rest()
        line[2].send_rest()
        assert await line[1].offset() == 0
        assert await line[2].offset() == 1
        for each in holders + line:
            each.close()
        await until(lambda: broker.process.stats()["connections"]["open"] <= 1)
        assert bytes_queued(broker) == frames_waiting(broker) == 0


async def test_a_slow_one_is_closed_when_others_wait_long_enough() -> None:
    async with bounded() as broker:
        holders, line = await full(broker)
        queued = broker.process.socket_server.queued
        for _ in range(PERIODS_MAX):
            queued.end_period()
            holders[0].writer.write(b".")  # a byte now and then does not help
        await served(broker)
        assert frames_waiting(broker) == 1
        queued.end_period()
        assert await holders[0].is_closed()
        line[0].send_rest()
        assert await line[0].offset() == 0
        holders[1].send_rest()
        assert await holders[1].offset() == 1, "one was enough"
        assert broker.process.stats()["connections"]["dropped"] == 1


async def test_the_broker_stops_while_frames_wait() -> None:
    async with bounded({"shutdown.timeout.ms": 600_000}) as broker:
        holders, line = await full(broker, waiting=2)
        stopped = asyncio.ensure_future(broker.process.stop())
        for each in line:
            assert await each.is_closed(), "it was never read"
        assert not stopped.done(), "what has begun to be read has its time"
        for each in holders:
            each.send_rest()
        assert sorted([await each.offset() for each in holders]) == [0, 1]
        await stopped
        for each in holders:
            assert await each.is_closed()


async def test_a_frame_too_large_to_wait_behind_a_parked_request_is_not_read() -> None:
    large = {"message.max.bytes": 8 << 20, "socket.request.max.bytes": 8 << 20}
    async with bounded({**large, "queued.max.request.bytes": 8 << 20}) as broker:
        sender = await Sender.connect(broker)
        sender.writer.write(fetch("t", wait_ms=1 << 30) + frame(b"x", 4 << 20))
        await until(lambda: bytes_queued(broker) > 0)
        for _ in range(20):
            await served(broker)
            assert bytes_queued(broker) <= 1 << 18, "only what came along with its size"
        assert await broker.produce("t", 0, b"ends the wait") == 0
        async with asyncio.timeout(ANSWER_SECONDS):
            size = struct.unpack(">i", await sender.reader.readexactly(4))[0]
            await sender.reader.readexactly(size)
        assert await sender.offset() == 1
        assert bytes_queued(broker) == 0


async def test_what_waits_behind_a_parked_request_does_not_keep_others_out() -> None:
    """The parked ones wait for the very request that has to be read."""
    async with bounded() as broker:
        parked = [await Sender.connect(broker) for _ in range(6)]
        for each in parked:
            each.writer.write(fetch("t", wait_ms=1 << 30) + frame(b"behind"))
        await until(lambda: bytes_queued(broker) > BOUND)
        await served(broker)
        first = await Sender.connect(broker)
        first.writer.write(frame(b"first"))
        assert await first.offset() == 0
        offsets = set()
        for each in parked:
            async with asyncio.timeout(ANSWER_SECONDS):
                size = struct.unpack(">i", await each.reader.readexactly(4))[0]
                assert b"first" in await each.reader.readexactly(size)
            offsets.add(await each.offset())
        assert offsets == set(range(1, 7))
        assert bytes_queued(broker) == 0


async def test_a_frame_that_is_let_on_is_read_however_much_is_held() -> None:
    """It is behind a parked request, which waits for a frame that waits for this one."""
    async with bounded() as broker:
        [holder, other], _ = await full(broker, waiting=0)
        parked = await Sender.connect(broker)
        parked.writer.write(
            fetch("t", wait_ms=1 << 30) + encode_request(MetadataRequest(topics=[]), 12, 1, "test")
        )
        parked.send_half(frame(b"behind"))
        await until(lambda: frames_waiting(broker) == 1)
        waker = await Sender.connect(broker)
        waker.send_half(frame(b"wakes", FRAME + 400))
        await until(lambda: frames_waiting(broker) == 2)
        queued = broker.process.socket_server.queued
        queued.hold(1 << 30)
        other.close()
        holder.close()
        parked.send_rest()
        waker.send_rest()
        assert await waker.offset() == 0
        queued.hold(-(1 << 30))


@pure_only("fencepost_broker.network.receive_buffer")
async def test_a_frame_for_which_there_is_no_memory_costs_its_own_connection(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def none_left(*arguments: object, **named: object) -> None:
        raise OSError(errno.ENOMEM, "Cannot allocate memory")

    async with bounded() as broker:
        holders, line = await full(broker)
        with monkeypatch.context() as patched:
            patched.setattr(SharedBuffer, "take_room", none_left)
            holders[0].send_rest()
            assert await holders[0].offset() == 0
            assert await line[0].is_closed()
            at_once = await Sender.connect(broker)
            at_once.send_half(frame(b"x", 100_000))
            assert await at_once.is_closed()
        holders[1].send_rest()
        assert await holders[1].offset() == 1
        assert bytes_queued(broker) == frames_waiting(broker) == 0


async def test_a_parked_request_whose_client_goes_away_gives_back_what_waits_behind_it() -> None:
    async with bounded() as broker:
        sender = await Sender.connect(broker)
        sender.writer.write(fetch("t", wait_ms=1 << 30) + frame(b"behind"))
        await until(lambda: bytes_queued(broker) > FRAME)
        sender.close()
        await until(lambda: bytes_queued(broker) == 0)


async def test_a_muted_connection_is_not_read_beyond_what_may_wait() -> None:
    clock = StateClock(manual=True)
    large = {"message.max.bytes": 8 << 20, "socket.request.max.bytes": 8 << 20}
    async with bounded({**large, "queued.max.request.bytes": 8 << 20}, clock) as broker:
        await limit(broker, PRODUCED, 100_000)
        sender = await Sender.connect(broker)
        sender.writer.write(frame(b"muted by this", 5_000_000))
        assert await sender.offset() == 0
        sender.writer.write(frame(b"x", 4 << 20))
        await until(lambda: bytes_queued(broker) > 0)
        for _ in range(20):
            await served(broker)
            assert bytes_queued(broker) <= 1 << 18
        clock.advance(seconds=600)
        assert await sender.offset() == 1
        assert bytes_queued(broker) == 0


async def test_what_a_thread_reads_counts_until_it_is_read() -> None:
    topics = [MetadataRequestTopic(name=f"{number:07}" * 10) for number in range(9_000)]
    wanted = MetadataRequest(topics, allow_auto_topic_creation=False)
    asked = encode_request(wanted, 12, 1, "test")
    async with bounded() as broker:
        senders = [await Sender.connect(broker) for _ in range(5)]
        for each in senders:
            each.writer.write(asked)
        for each in senders:
            async with asyncio.timeout(ANSWER_SECONDS):
                assert await each.reader.readexactly(4)
        assert bytes_queued(broker) == frames_waiting(broker) == 0


async def test_beginnings_alone_do_not_go_beyond_the_bound_by_much() -> None:
    """Each that waits has sent a quarter of a megabyte along with its size."""
    async with bounded() as broker:
        senders = []
        for number in range(200):
            sender = await Sender.connect(broker)
            sender.send_half(frame(b"%d" % number))
            senders.append(sender)
        await until(lambda: frames_waiting(broker) == 198)
        assert bytes_queued(broker) <= BOUND + BEGINNINGS_BYTES + (1 << 18) + 200 * 4096
        for number, each in enumerate(senders):
            each.send_rest() if number % 10 == 0 else each.close()
        assert sorted([await each.offset() for each in senders[::10]]) == list(range(20))


async def test_over_tls_it_is_the_same(tmp_path: Path) -> None:
    make_certificates(tmp_path)
    pem = "".join((tmp_path / name).read_text() for name in ("broker.key", "broker.pem"))
    (tmp_path / "both.pem").write_text(pem)
    secured: dict[str, Value] = {
        "listeners": "SSL://127.0.0.1:0",
        "ssl.keystore.location": str(tmp_path / "both.pem"),
        "security.inter.broker.protocol": "SSL",
    }
    context = ssl.create_default_context(cafile=str(tmp_path / "ca.pem"))
    context.check_hostname = False
    async with bounded(secured) as broker:
        senders = [await Sender.connect(broker, ssl=context) for _ in range(6)]
        for number, each in enumerate(senders):
            each.send_half(frame(b"%d" % number))
        await until(lambda: frames_waiting(broker) == 4)
        assert bytes_queued(broker) <= BOUND + 4 * (1 << 18)
        for each in reversed(senders):
            each.send_rest()
        assert sorted([await each.offset() for each in senders]) == list(range(6))
        assert bytes_queued(broker) == 0


@pytest.mark.parametrize("seed", range(6))
async def test_whatever_comes_in_whatever_pieces_is_carried_out(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is closed for being slow, so whatever waits for ever shows."""
    monkeypatch.setattr(queued_bytes, "PERIOD_S", 1e6)
    monkeypatch.setattr(queued_bytes, "BEGINNINGS_BYTES", 100_000)
    chance = random.Random(seed)
    small: dict[str, Value] = {
        "queued.max.request.bytes": 200_000,
        "socket.request.max.bytes": 200_000,
    }
    answered = 0

    async def send(broker: RunningBroker) -> None:
        nonlocal answered
        sender = await Sender.connect(broker)
        data, expected = b"", 0
        for _ in range(chance.randrange(1, 6)):
            if chance.random() < 0.3:
                data += fetch("t", wait_ms=chance.randrange(20), min_bytes=1 << 30)
            else:
                data += frame(b"", chance.choice([10, 3_000, 5_000, 50_000, 190_000]))
            expected += 1
        gives_up_at = chance.randrange(len(data)) if chance.random() < 0.3 else len(data)
        at = 0
        while at < gives_up_at:
            size = chance.choice([1, 3, 100, 4_000, 70_000, 400_000])
            sender.writer.write(data[at : min(at + size, gives_up_at)])
            at += size
            await asyncio.sleep(0)
        if gives_up_at < len(data):
            sender.close()
            return
        for _ in range(expected):
            size = struct.unpack(">i", await sender.reader.readexactly(4))[0]
            await sender.reader.readexactly(size)
        answered += 1

    async with bounded(small) as broker:
        async with asyncio.timeout(2 * ANSWER_SECONDS):
            await asyncio.gather(*[send(broker) for _ in range(25)])
        assert answered
        await until(lambda: bytes_queued(broker) == frames_waiting(broker) == 0)
