"""What `fencepost proxy` costs: CPU time for a small request, and for large ones.

python -m tests.bench.proxy [--requests 5000] [--out docs/bench/proxy.md]

A broker that does nothing answers in a process of its own. The same requests go to it directly,
through a relay that only copies bytes in the same loop (nothing written for this loop can be
cheaper), and through the proxy. Rows are CPU time of the process in between.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median
from typing import Any, Final, NamedTuple, cast

from fencepost_protocol.apis import Message
from fencepost_protocol.framing import api_key_of, encode_request, encode_response
from fencepost_protocol.generated.fetch import (
    FetchableTopicResponse,
    FetchRequest,
    FetchResponse,
    PartitionData,
)
from fencepost_protocol.generated.heartbeat import HeartbeatRequest, HeartbeatResponse
from fencepost_protocol.generated.metadata import (
    MetadataRequest,
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from fencepost_protocol.generated.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
    TopicProduceResponse,
)

from tests.bench.table import markdown_table, microseconds, plain_table

PAGE: Final = Path(__file__).resolve().parents[2] / "docs/bench/proxy.md"
SMALL_GOAL_US: Final = 25.0
LARGE_GOAL_GB: Final = 1.0
ROUNDS: Final = 5
LARGE_BYTES: Final = 32 << 20
LARGE_REQUESTS: Final = 12
_CORRELATION: Final = struct.Struct(">i")


class Case(NamedTuple):
    """A request and its answer."""

    name: str
    version: int
    request: Message
    answer: Message
    rule: str = ""
    """The API of a rule that is loaded and does not match."""


def _produce(size: int) -> ProduceRequest:
    data = TopicProduceData("orders", partition_data=[PartitionProduceData(0, bytes(size))])
    return ProduceRequest(None, -1, 30_000, [data])


def _produced() -> ProduceResponse:
    told = PartitionProduceResponse(0, 0, 42, log_start_offset=0)
    return ProduceResponse([TopicProduceResponse("orders", partition_responses=[told])])


def _fetched(size: int) -> FetchResponse:
    data = PartitionData(0, 0, 42, 42, 0, records=bytes(size))
    return FetchResponse(responses=[FetchableTopicResponse(topic_id=b"1" * 16, partitions=[data])])


def _metadata(partitions: int) -> MetadataResponse:
    brokers = [MetadataResponseBroker(each, "127.0.0.1", 40_000 + each) for each in range(3)]
    told = [
        MetadataResponsePartition(0, each, each % 3, 0, [0, 1, 2], [0, 1, 2])
        for each in range(partitions)
    ]
    topic = MetadataResponseTopic(0, "orders", b"1" * 16, partitions=told)
    return MetadataResponse(brokers=brokers, cluster_id="c", controller_id=1, topics=[topic])


_BEAT: Final = HeartbeatRequest("a-group", 1, "a-member")
SMALL: Final = (
    Case("Heartbeat", 4, _BEAT, HeartbeatResponse()),
    Case("Heartbeat, a rule for Heartbeat", 4, _BEAT, HeartbeatResponse(), "Heartbeat"),
    Case("Produce 9, 200 bytes", 9, _produce(200), _produced()),
    Case("Produce 12, 200 bytes", 12, _produce(200), _produced()),
    Case("Fetch 15, 200 bytes", 15, FetchRequest(max_wait_ms=1, min_bytes=1), _fetched(200)),
    Case("Fetch 17, 200 bytes", 17, FetchRequest(max_wait_ms=1, min_bytes=1), _fetched(200)),
    Case("Metadata, 10 partitions", 12, MetadataRequest(topics=[]), _metadata(10)),
)
LARGE: Final = (
    Case("Produce 12, 32 MB", 12, _produce(LARGE_BYTES), _produced()),
    Case("Fetch 16, 32 MB", 16, FetchRequest(max_wait_ms=1, min_bytes=1), _fetched(LARGE_BYTES)),
)


# -- processes ---------------------------------------------------------------------------------


class Parrot(asyncio.BufferedProtocol):
    """A broker that has one answer to all requests of an API and a version."""

    def __init__(self, answers: dict[tuple[int, int], bytes], buffer: bytearray) -> None:
        self._answers = answers
        self._buffer = buffer
        self._transport: asyncio.Transport | None = None
        self._head = b""
        self._left = 0
        self._next = (b"", b"")

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Called by the loop."""
        self._transport = cast("asyncio.Transport", transport)

    def get_buffer(self, sizehint: int) -> memoryview:
        """Called by the loop."""
        del sizehint
        self._buffer[: len(self._head)] = self._head
        return memoryview(self._buffer)[len(self._head) :]

    def buffer_updated(self, nbytes: int) -> None:
        """Called by the loop."""
        assert self._transport is not None
        pos, end = 0, nbytes + len(self._head)
        self._head = b""
        while pos < end:
            if self._left:
                step = min(self._left, end - pos)
                self._left -= step
                pos += step
                if not self._left:
                    self._transport.write(self._next[0] + self._next[1])
                continue
            if end - pos < 12:
                self._head = bytes(self._buffer[pos:end])
                return
            size, key, version, number = struct.unpack_from(">ihhi", self._buffer, pos)
            answer = self._answers[key, version]
            self._next = (answer[:4] + _CORRELATION.pack(number), answer[8:])
            self._left = size + 4


class Pipe(asyncio.BufferedProtocol):
    """One end of a relay that copies bytes."""

    def __init__(self, target: int, buffer: bytearray, other: Pipe | None = None) -> None:
        self._target = target
        self._buffer = buffer
        self._other = other
        self._transport: asyncio.Transport | None = None
        self._task: asyncio.Task[Any] | None = None
        self._early = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Called by the loop."""
        self._transport = cast("asyncio.Transport", transport)
        self._transport.set_write_buffer_limits(high=1 << 20)
        if self._other is None:
            self._task = asyncio.ensure_future(self._connect())

    async def _connect(self) -> None:
        assert self._transport is not None
        loop = asyncio.get_running_loop()
        other = Pipe(0, self._buffer, self)
        await loop.create_connection(lambda: other, "127.0.0.1", self._target)
        self._other = other
        assert other._transport is not None
        other._transport.write(self._early)

    def get_buffer(self, sizehint: int) -> bytearray:
        """Called by the loop."""
        del sizehint
        return self._buffer

    def buffer_updated(self, nbytes: int) -> None:
        """Called by the loop."""
        piece = bytes(memoryview(self._buffer)[:nbytes])
        if self._other is None:
            self._early += piece
            return
        assert self._other._transport is not None
        self._other._transport.write(piece)

    def pause_writing(self) -> None:
        """Called by the loop."""
        assert self._other is not None
        assert self._other._transport is not None
        self._other._transport.pause_reading()

    def resume_writing(self) -> None:
        """Called by the loop."""
        assert self._other is not None
        assert self._other._transport is not None
        self._other._transport.resume_reading()


async def _serve(make: Callable[[], asyncio.BufferedProtocol]) -> None:
    server = await asyncio.get_running_loop().create_server(make, "127.0.0.1", 0)
    bootstrap = f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
    sys.stdout.write(json.dumps({"bootstrap": bootstrap}) + "\n")
    sys.stdout.flush()
    await server.serve_forever()


def _be(role: str, target: int) -> None:
    import uvloop

    buffer = bytearray(1 << 18)
    answers = {}
    if role == "broker":
        for case in (*SMALL, *LARGE):
            key = api_key_of(case.request)
            answers[key, case.version] = bytes(encode_response(case.answer, case.version, 0))
    parrot = role == "broker"
    uvloop.run(_serve(lambda: Parrot(answers, buffer) if parrot else Pipe(target, buffer)))


@contextmanager
def _started(*arguments: str) -> Iterator[tuple[int, int]]:
    """A process and its port."""
    process = subprocess.Popen(
        [sys.executable, "-m", *arguments], stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        told = json.loads(process.stdout.readline())
        yield process.pid, int(told["bootstrap"].rpartition(":")[2])
    finally:
        process.kill()
        process.communicate()


def _cpu_s(pid: int) -> float:
    """CPU time of a process with one busy thread, to the nanosecond."""
    ran_ns = Path(f"/proc/{pid}/schedstat").read_text().split()[0]
    return int(ran_ns) / 1e9


# -- measuring ---------------------------------------------------------------------------------


def _exchange(sock: socket.socket, frame: bytes, answer_bytes: int, count: int) -> float:
    """Send requests one after the other; return the seconds."""
    room = memoryview(bytearray(max(answer_bytes, 1 << 16)))
    began = time.perf_counter()
    for _ in range(count):
        sock.sendall(frame)
        left = answer_bytes
        while left:
            received = sock.recv_into(room[:left])
            assert received, "the connection was closed"
            left -= received
    return time.perf_counter() - began


class Spent(NamedTuple):
    """What one way has cost."""

    cpu_s: float
    wall_s: float


def _measure(pid: int, port: int, case: Case, count: int) -> Spent:
    frame = bytes(encode_request(case.request, case.version, 7, "bench"))
    size = len(encode_response(case.answer, case.version, 7))
    with socket.create_connection(("127.0.0.1", port)) as sock:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        _exchange(sock, frame, size, max(count // 10, 2))
        before = _cpu_s(pid)
        wall = _exchange(sock, frame, size, count)
        return Spent(_cpu_s(pid) - before, wall)


class Row(NamedTuple):
    """A case: medians for the relay, and for the proxy."""

    case: Case
    relay: Spent
    proxy: Spent
    direct_s: float


def _medians(found: Sequence[Spent]) -> Spent:
    return Spent(median(each.cpu_s for each in found), median(each.wall_s for each in found))


def _rows(cases: Sequence[Case], count: int) -> list[Row]:
    rows = []
    with ExitStack() as stack:
        here = "tests.bench.proxy"
        broker, port = stack.enter_context(_started(here, "--be", "broker"))
        relay = stack.enter_context(_started(here, "--be", "relay", "--target", str(port)))
        for case in cases:
            plan = Path(f"/tmp/fencepost-bench-{os.getpid()}.toml")
            rule = f'match = {{api = "{case.rule}", client_id = "other"}}\n' if case.rule else ""
            with _plan(plan, rule) as more:
                words = ("fencepost_broker", "proxy", "--upstream", f"127.0.0.1:{port}")
                with _started(*words, "--port", "0", "--json", *more) as proxy:
                    found = [
                        (
                            _measure(*relay, case, count),
                            _measure(*proxy, case, count),
                            _measure(broker, port, case, count),
                        )
                        for _ in range(ROUNDS)
                    ]
            relays, proxies, direct = (_medians(each) for each in zip(*found, strict=True))
            rows.append(Row(case, relays, proxies, direct.wall_s))
    return rows


@contextmanager
def _plan(path: Path, rule: str) -> Iterator[tuple[str, ...]]:
    if not rule:
        yield ()
        return
    path.write_text(f'[[fault]]\nact = {{type = "drop-answer"}}\n{rule}', encoding="utf-8")
    try:
        yield ("--faults", str(path))
    finally:
        path.unlink()


SMALL_HEAD: Final = (
    "request and answer", "relay, us", "proxy, us", "ratio", "round trip, direct / through, us",
)  # fmt: skip
LARGE_HEAD: Final = (
    "request and answer", "relay, GB a CPU second", "proxy, GB a CPU second", "ratio",
    "GB/s, direct / through",
)  # fmt: skip


def _small(row: Row, count: int) -> list[str]:
    relay, proxy = (each.cpu_s / count * 1e6 for each in (row.relay, row.proxy))
    direct, through = (each / count * 1e6 for each in (row.direct_s, row.proxy.wall_s))
    shown = f"{microseconds(direct)} / {microseconds(through)}"
    return [
        row.case.name, microseconds(relay), microseconds(proxy), f"{proxy / relay:.2f}", shown,
    ]  # fmt: skip


def _large(row: Row) -> list[str]:
    size = LARGE_BYTES * LARGE_REQUESTS / 1e9
    relay, proxy = (size / each.cpu_s for each in (row.relay, row.proxy))
    return [
        row.case.name, f"{relay:.2f}", f"{proxy:.2f}", f"{relay / proxy:.2f}",
        f"{size / row.direct_s:.2f} / {size / row.proxy.wall_s:.2f}",
    ]  # fmt: skip


def main() -> int:
    """Measure, print and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=5_000)
    parser.add_argument("--out", type=Path, default=PAGE)
    parser.add_argument("--be", choices=["broker", "relay"], help=argparse.SUPPRESS)
    parser.add_argument("--target", type=int, default=0, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.be:
        _be(options.be, options.target)
        return 0
    count = options.requests
    small = [_small(each, count) for each in _rows(SMALL, count)]
    large = [_large(each) for each in _rows(LARGE, LARGE_REQUESTS)]
    sys.stdout.write(f"{plain_table(SMALL_HEAD, small)}\n\n{plain_table(LARGE_HEAD, large)}\n")
    load = os.getloadavg()[0]
    command = [sys.executable, "-m", "tests.bench.proxy_inside"]
    inside = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    page = f"""\
# What a proxy costs

Made by `make bench-proxy`. A broker that does nothing answers, and one client sends one request
after the other. CPU time is that of the process in between, user and kernel, for one request and
its answer: of `fencepost proxy`, and of a relay in the same event loop that copies bytes and looks
at nothing. Medians of {ROUNDS} rounds, all ways in turn in each. The load average of the machine
({os.cpu_count()} CPUs) was {load:.1f} at the end: with other work beside it, CPU times are higher
than on a machine of its own, and round trips much higher.

Goals: {SMALL_GOAL_US:.0f} us for a small request, {LARGE_GOAL_GB:.0f} GB/s for large ones. With one
request at a time each one costs two turns of the loop and four calls of the kernel, which is what
the relay's column shows; the goal for small ones can be met only where the relay is well below it.

{markdown_table(SMALL_HEAD, small)}

{markdown_table(LARGE_HEAD, large)}

## Without the loop and the kernel

`python -m tests.bench.proxy_inside` pushes frames into both ends of a connection, without sockets.
This is all that the code of a proxy costs a request and its answer; the rest of the columns above
is the loop and the kernel, and a cache that other processes have used in between. Where the relay
alone takes longer than the goal, no proxy in this loop can meet it.

{inside}"""
    options.out.write_text(page, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
