"""Where a request's CPU time goes inside of the broker: no sockets, no kernel, no client.

    python -m tests.bench.inside                    # all cases; writes docs/bench/inside.md
    python -m tests.bench.inside produce-100b       # one of them, shown with its functions
    python -m tests.bench.inside --count            # bytecodes alone, as JSON
    python -m tests.bench.inside --time             # microseconds alone, as JSON

Frames are pushed into a ``Connection`` whose transport takes answers and forgets them. Time is the
process's, the best of several rounds; bytecodes are counted by a tracing function, which makes them
exact and comparable on any machine, however noisy.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import random
import struct
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any, Final, cast

import structlog
from fencepost_broker.apis.registry import SERVED
from fencepost_broker.config import Settings
from fencepost_broker.network.connection import Connection
from fencepost_broker.network.limits import Limits
from fencepost_broker.network.socket_server import SocketServer
from fencepost_broker.ports import Address
from fencepost_broker.server.broker_server import BrokerServer
from fencepost_broker.server.clock import ProcessClock, StateClock
from fencepost_broker.storage.disk.memory import MemoryDisk
from fencepost_broker.storage.disk.memory_chunks import MemoryBudget
from fencepost_protocol.apis import Message
from fencepost_protocol.framing import encode_request, read_response_head
from fencepost_protocol.generated.api_versions import ApiVersionsRequest
from fencepost_protocol.generated.create_topics import CreatableTopic, CreateTopicsRequest
from fencepost_protocol.generated.end_txn import EndTxnRequest
from fencepost_protocol.generated.fetch import FetchPartition, FetchRequest, FetchTopic
from fencepost_protocol.generated.find_coordinator import FindCoordinatorRequest
from fencepost_protocol.generated.init_producer_id import (
    InitProducerIdRequest,
    InitProducerIdResponse,
)
from fencepost_protocol.generated.metadata import MetadataRequest, MetadataRequestTopic
from fencepost_protocol.generated.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from fencepost_protocol.records.batch import set_producer_state
from fencepost_protocol.records.writer import build_batch

from tests.bench.table import markdown_table, plain_table

PAGE: Final = Path("docs/bench/inside.md")
ROUNDS: Final = 7
COUNTED: Final = 100
MEMORY_BYTES: Final = 1 << 30
STEPS: Final = {
    "frame": ("fencepost_broker/network/", "framing", "apis/request", "apis/response_cache",
              "apis/served", "observability/metrics"),
    "codec": ("generated/", "primitives", "varint"),
    "record check": ("records/checking", "log/validation"),
    "records built": ("records/writer", "records/batch", "records/control", "coordinator/records"),
    "log": ("fencepost_broker/storage/", "replication/partition"),
    "objects": ("<string>",),
    "coordinator": ("fencepost_broker/coordinator/", "server/clock"),
}  # fmt: skip
"""What a function belongs to, by a part of its file's name; the first that fits. The rest are the
handlers of APIs. ``<string>`` is where dataclasses have their ``__init__``."""
REST: Final = "handler"


class Sink:
    """A transport that keeps the last answer and sends nothing."""

    def __init__(self) -> None:
        self.last: Any = b""

    def write(self, data: Any) -> None:
        """Take an answer."""
        self.last = data

    def writelines(self, pieces: list[Any]) -> None:
        """Take an answer in pieces."""
        self.last = pieces[-1]

    def get_extra_info(self, name: str) -> Any:
        """Say who is at the other end."""
        return ("127.0.0.1", 1) if name == "peername" else None

    def set_write_buffer_limits(self, **limits: int) -> None:
        """Have none."""


class Inside:
    """A broker in memory, and one connection to it."""

    def __init__(self, other_partitions: int = 0) -> None:
        loop = asyncio.get_running_loop()
        disk = MemoryDisk(MemoryBudget(MEMORY_BYTES, None))
        self.node = BrokerServer(
            Settings(), disk, ProcessClock(StateClock(), loop), random.Random(1)
        )
        self.server = SocketServer(
            self.node.context, SERVED, structlog.get_logger(), Limits(), self.node.ready
        )
        self.node.start([Address("PLAINTEXT", "127.0.0.1", 9092)])
        topics = [CreatableTopic("t", 6, -1)]
        if other_partitions:
            topics.append(CreatableTopic("others", other_partitions, -1))
        self.node.controller.command(CreateTopicsRequest(topics=topics))
        self.topic_id = self.node.image.topics.by_name["t"].topic_id
        self.sink = Sink()
        self.connection = Connection(self.server, self.server.shared, "PLAINTEXT")
        self.connection.connection_made(cast("asyncio.BaseTransport", self.sink))

    def push(self, frame: bytes | bytearray) -> None:
        """Have a frame arrive, in as many pieces as the buffers have room for."""
        at = 0
        while at < len(frame):
            room = self.connection.get_buffer(-1)
            count = min(len(room), len(frame) - at)
            room[:count] = frame[at : at + count]
            at += count
            self.connection.buffer_updated(count)

    def ask(self, request: Message, version: int, response: Any) -> Any:
        """Send a request and read its answer."""
        self.push(encode_request(request, version, 1, "client"))
        frame = memoryview(bytes(self.sink.last))[4:]
        _, body = read_response_head(frame, request.API_KEY, version)  # type: ignore[attr-defined]
        return response.decode(frame, version, body)[0]


Step = Callable[[], Awaitable[None]]


def repeating(inside: Inside, request: Message, version: int) -> Step:
    """The same request again and again."""
    frame = encode_request(request, version, 1, "client")

    async def step() -> None:
        inside.push(frame)

    return step


def producing(inside: Inside, size: int, records: int) -> Step:
    """A batch of so many records that weigh ``size`` together."""
    batch = build_batch(
        None, [b"x" * (size // records)] * records, inside.node.context.clock.now_ms()
    )
    topic = TopicProduceData("t", partition_data=[PartitionProduceData(0, bytes(batch))])
    return repeating(inside, ProduceRequest(None, -1, 1000, [topic]), 9)


def fetching(inside: Inside, size: int) -> Step:
    """A Fetch that finds this much, or nothing."""
    wanted = FetchPartition(1, fetch_offset=0, partition_max_bytes=max(size, 1))
    if size:
        batch = bytes(
            build_batch(None, [b"x" * 100] * (size // 110), inside.node.context.clock.now_ms())
        )
        data = [PartitionProduceData(1, batch)]
        fill = ProduceRequest(None, -1, 1000, [TopicProduceData("t", partition_data=data)])
        inside.push(encode_request(fill, 9, 1, "client"))
    else:
        wanted.partition = 5
    request = FetchRequest(
        max_wait_ms=0, min_bytes=0, topics=[FetchTopic("t", partitions=[wanted])]
    )
    return repeating(inside, request, 12)


def transaction(inside: Inside) -> Step:
    """One record, committed, by a producer of transaction version 2: two requests, and markers."""
    inside.push(encode_request(FindCoordinatorRequest("x", 1), 2, 1, "client"))
    state = [-1, -1]
    now_ms = inside.node.context.clock.now_ms()
    batch = build_batch(
        None, [b"x" * 100], now_ms, producer_id=0, producer_epoch=0, base_sequence=0,
        transactional=True,
    )  # fmt: skip
    topic = TopicProduceData(
        "t", topic_id=inside.topic_id, partition_data=[PartitionProduceData(3, batch)]
    )
    data = encode_request(ProduceRequest("x", -1, 1000, [topic]), 12, 1, "client")
    batch_at = data.index(batch)
    end = encode_request(EndTxnRequest("x", 0x0102030405060708, 0x090A, True), 5, 1, "client")
    end_at = end.index(bytes(range(1, 11)))
    producer = struct.Struct(">qh")

    async def step() -> None:
        if state[0] < 0:
            await asyncio.sleep(0.1)  # the coordinator loads
            asked = InitProducerIdRequest("x", 60_000)
            made = inside.ask(asked, 5, InitProducerIdResponse)
            assert not made.error_code, made
            state[:] = made.producer_id, made.producer_epoch
        set_producer_state(data, state[0], state[1], 0, batch_at)
        producer.pack_into(end, end_at, *state)
        inside.push(data)
        inside.push(end)
        answer = bytes(inside.sink.last)
        state[:] = producer.unpack_from(answer, len(answer) - 11)
        await asyncio.sleep(0)  # markers go out behind the answer
        await asyncio.sleep(0)

    return step


CASES: Final[dict[str, tuple[int, Callable[[Inside], Step]]]] = {
    "metadata": (
        3000,
        lambda inside: repeating(inside, MetadataRequest([MetadataRequestTopic(name="t")]), 12),
    ),
    "find-coordinator": (
        3000,
        lambda inside: repeating(inside, FindCoordinatorRequest("g", 0), 3),
    ),
    "api-versions": (3000, lambda inside: repeating(inside, ApiVersionsRequest("a", "1"), 3)),
    "init-producer-id": (
        3000,
        lambda inside: repeating(inside, InitProducerIdRequest(None, 60_000), 4),
    ),
    "produce-100b": (2000, lambda inside: producing(inside, 100, 1)),
    "produce-16k": (1000, lambda inside: producing(inside, 16_000, 16)),
    "produce-1m": (60, lambda inside: producing(inside, 1_000_000, 1000)),
    "fetch-nothing": (2000, lambda inside: fetching(inside, 0)),
    "fetch-16k": (2000, lambda inside: fetching(inside, 16_000)),
    "transaction": (1000, transaction),
}
"""How often in a round, and what."""


@dataclass(slots=True)
class Finding:
    """What one case costs."""

    name: str
    us: float = 0.0
    bytecodes: Counter[tuple[str, str]] = field(default_factory=Counter)
    calls: Counter[tuple[str, str]] = field(default_factory=Counter)

    def by_step(self) -> dict[str, float]:
        """Bytecodes of each step, a request."""
        found = dict.fromkeys((*STEPS, REST), 0.0)
        for (file, _), count in self.bytecodes.items():
            step = next((name for name, parts in STEPS.items() if _is_of(file, parts)), REST)
            found[step] += count / COUNTED
        return found

    @property
    def all_bytecodes(self) -> float:
        """Of a request."""
        return sum(self.bytecodes.values()) / COUNTED

    @property
    def all_calls(self) -> float:
        """Of Python functions, a request."""
        return sum(self.calls.values()) / COUNTED


def _is_of(file: str, parts: tuple[str, ...]) -> bool:
    return any(part in file for part in parts)


async def look(name: str) -> Finding:
    """Measure one case, then count."""
    step = CASES[name][1](Inside())
    us = await _measure(name, step)
    finding = await _count(name, step)
    finding.us = us
    return finding


async def measure(name: str) -> float:
    """Measure one case, in microseconds, without counting."""
    return await _measure(name, CASES[name][1](Inside()))


async def _measure(name: str, step: Step) -> float:
    times = CASES[name][0]
    for _ in range(100):
        await step()
    best = float("inf")
    gc.disable()
    for _ in range(ROUNDS):
        began = time.process_time()
        for _ in range(times):
            await step()
        best = min(best, (time.process_time() - began) / times)
    gc.enable()
    return best * 1e6


async def count(name: str, other_partitions: int = 0) -> Finding:
    """Count the bytecodes of one case, without measuring its time."""
    times, make = CASES[name]
    step = make(Inside(other_partitions))
    for _ in range(times):  # the durations of a client's first requests are all noted
        await step()
    return await _count(name, step)


async def _count(name: str, step: Step) -> Finding:
    finding = Finding(name)

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        del argument
        where = (frame.f_code.co_filename, frame.f_code.co_name)
        if event == "call":
            frame.f_trace_opcodes, frame.f_trace_lines = True, False
            if "fencepost_" in where[0] or where[0] == "<string>":
                finding.calls[where] += 1
        elif event == "opcode" and ("fencepost_" in where[0] or where[0] == "<string>"):
            finding.bytecodes[where] += 1
        return trace

    before = sys.gettrace()
    gc.collect()
    gc.disable()  # the ends of objects of the case before would be counted, too
    sys.settrace(trace)
    try:
        for _ in range(COUNTED):
            await step()
    finally:
        sys.settrace(before)
        gc.enable()
    return finding


def table(findings: list[Finding]) -> tuple[list[str], list[list[str]]]:
    """A row for each case."""
    header = ["request", "us", "bytecodes", "calls", *STEPS, REST]
    rows = []
    for each in findings:
        shares = [f"{100 * count / each.all_bytecodes:.0f} %" for count in each.by_step().values()]
        counts = [f"{each.all_bytecodes:,.0f}", f"{each.all_calls:.0f}"]
        rows.append([each.name, f"{each.us:.2f}", *counts, *shares])
    return header, rows


def functions(finding: Finding) -> str:
    """The functions that cost most."""
    lines = []
    for where, count in finding.bytecodes.most_common(40):
        file = where[0].rpartition("fencepost_")[2]
        lines.append(
            f"{count / COUNTED:8.1f} {finding.calls[where] / COUNTED:5.1f}  {file}:{where[1]}"
        )
    return "\n".join(lines)


def main() -> None:
    """Look at what is named, or at everything and write it down."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("cases", nargs="*", choices=[[], *CASES], metavar="CASE")
    parser.add_argument("--count", action="store_true", help="print bytecodes alone, as JSON")
    parser.add_argument("--time", action="store_true", help="print microseconds alone, as JSON")
    arguments = parser.parse_args()
    wanted = arguments.cases
    import uvloop

    if arguments.count:
        counted = {name: uvloop.run(count(name)).all_bytecodes for name in wanted or CASES}
        print(json.dumps(counted))
        return
    if arguments.time:
        print(json.dumps({name: uvloop.run(measure(name)) for name in wanted or CASES}))
        return
    findings = [uvloop.run(look(name)) for name in wanted or CASES]
    header, rows = table(findings)
    print(plain_table(header, rows))
    if wanted:
        for finding in findings:
            print(f"\n{finding.name}: bytecodes and calls of each function\n{functions(finding)}")
        return
    begin, end = "<!-- measured: python -m tests.bench.inside -->", "<!-- end -->"
    page = PAGE.read_text(encoding="utf-8")
    before, _, rest = page.partition(begin)
    after = rest.partition(end)[2]
    PAGE.write_text(
        f"{before}{begin}\n\n{markdown_table(header, rows)}\n\n{end}{after}", encoding="utf-8"
    )


if __name__ == "__main__":
    main()
