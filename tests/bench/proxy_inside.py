"""What a request costs a proxy in Python alone: ``python -m tests.bench.proxy_inside [--count]``.

Frames are pushed into both ends of a connection, without sockets, a loop or the kernel. Prints a
table of CPU time and bytecodes for docs/bench/proxy.md; with ``--count``, the bytecodes as JSON.
"""

from __future__ import annotations

import json
import sys
import time
from types import FrameType
from typing import Any, Final, cast

from fencepost_broker.ports import Address
from fencepost_broker.server.proxy.broker import ProxiedBroker
from fencepost_broker.server.proxy.client_end import ClientEnd
from fencepost_broker.server.proxy.proxy import Proxy
from fencepost_protocol.framing import encode_request, encode_response

from tests.bench.proxy import SMALL, Case
from tests.bench.table import markdown_table

ROUNDS: Final = 15
TIMES: Final = 500
HEADER: Final = ("request and answer", "in Python, us", "bytecodes")
CASES: Final = tuple(case for case in SMALL if not case.rule)


class Sink:
    """A transport that sends nothing."""

    def write(self, data: bytes) -> None:
        """Drop the data."""

    def set_write_buffer_limits(self, high: int) -> None:
        """Ignore the limit."""

    def get_extra_info(self, name: str) -> tuple[str, int]:
        """Return a client's address."""
        del name
        return "127.0.0.1", 1

    def is_closing(self) -> bool:
        """Return that it is open."""
        return False


class Inside:
    """A client's connection through a proxy."""

    def __init__(self, case: Case) -> None:
        context = Proxy("127.0.0.1:1").clients
        broker = ProxiedBroker(context, [Address("", "127.0.0.1", 1)])
        self.client = ClientEnd(broker, lambda _: None, lambda _: None)
        for end in (self.client, self.client.broker_end):
            end.connection_made(cast("Any", Sink()))
        self.client.connected()
        self._request = bytes(encode_request(case.request, case.version, 7, "bench"))
        self._answer = bytes(encode_response(case.answer, case.version, 7))

    def exchange(self, times: int) -> None:
        """Pass on a request and its answer."""
        for _ in range(times):
            for end, frame in (
                (self.client, self._request), (self.client.broker_end, self._answer),
            ):  # fmt: skip
                end.get_buffer(-1)[: len(frame)] = frame
                end.buffer_updated(len(frame))


def microseconds_of(inside: Inside) -> float:
    """Return the CPU time of a request and its answer, the best of some rounds."""
    best = float("inf")
    for _ in range(ROUNDS):
        began = time.process_time()
        inside.exchange(TIMES)
        best = min(best, (time.process_time() - began) / TIMES * 1e6)
    return best


def bytecodes_of(inside: Inside) -> int:
    """Return the bytecodes of a request and its answer in our code."""
    count = 0

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal count
        del argument
        if event == "call":
            frame.f_trace_opcodes, frame.f_trace_lines = True, False
        elif event == "opcode":
            count += "fencepost_" in frame.f_code.co_filename
        return trace

    inside.exchange(20)  # modules are imported, and ports are made
    sys.settrace(trace)
    inside.exchange(1)
    sys.settrace(None)
    return count


async def measure(*, counts_only: bool) -> None:
    """Print the bytecodes, or the table."""
    insides = {case.name: Inside(case) for case in CASES}
    counted = {name: bytecodes_of(inside) for name, inside in insides.items()}
    if counts_only:
        print(json.dumps(counted))
        return
    rows = [
        [name, f"{microseconds_of(insides[name]):.1f}", f"{count:,}"]
        for name, count in counted.items()
    ]
    print(markdown_table(HEADER, rows))


if __name__ == "__main__":
    import uvloop

    uvloop.run(measure(counts_only="--count" in sys.argv))
