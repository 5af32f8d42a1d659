"""What loaded fault rules cost a request that they do not match: ``python -m tests.bench.faults``.

Frames are pushed into connections as in ``tests.bench.inside``. Each request is measured without
rules and with a thousand rules on other topics, by turns in one run: what counts is the ratio. Then
rules are added and removed by HTTP. Writes docs/bench/faults.md.
"""

from __future__ import annotations

import gc
import json
import random
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any, Final

from aiohttp import ClientSession
from fencepost_broker import Broker
from fencepost_broker.faults.rule import DropAnswer, Match, Rule
from fencepost_broker.faults.rules import FaultRules
from fencepost_broker.network.faulted_request import Faults
from fencepost_broker.server.states import BrokerStates

from tests.bench.inside import Inside, Step, fetching, producing
from tests.bench.table import markdown_table, plain_table

PAGE: Final = Path("docs/bench/faults.md")
RULES: Final = 1000
ROUNDS: Final = 9
TIMES: Final = 300
COUNTED: Final = 50
CHANGES: Final = 2000
CASES: Final[dict[str, Callable[[Inside], Step]]] = {
    "produce-100b": lambda inside: producing(inside, 100, 1),
    "produce-16k": lambda inside: producing(inside, 16_000, 16),
    "fetch-nothing": lambda inside: fetching(inside, 0),
    "fetch-16k": lambda inside: fetching(inside, 16_000),
}
HEADER: Final = ["request", "us", "with rules", "more", "bytecodes", "with rules", "more"]


def with_rules(inside: Inside, number: int) -> None:
    """Load rules on other topics, half for Produce and half for Fetch."""
    node = inside.node
    server = inside.server
    rules = FaultRules(
        server.served, node.context.clock.now_ms, random.Random, BrokerStates(lambda: node)
    )
    server.use_faults(Faults(rules))
    for each in range(number):
        match = Match(api=("Produce", "Fetch")[each % 2], topic=f"other-{each}")
        rules.add(Rule(act=DropAnswer(), match=match))


async def timed(step: Step) -> float:
    """Return the CPU time of a request in this round, in microseconds."""
    began = time.process_time()
    for _ in range(TIMES):
        await step()
    return (time.process_time() - began) / TIMES * 1e6


async def counted(step: Step) -> float:
    """Return the bytecodes of a request in our code."""
    count = 0

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal count
        del argument
        if event == "call":
            frame.f_trace_opcodes, frame.f_trace_lines = True, False
        elif event == "opcode":
            file = frame.f_code.co_filename
            count += "fencepost_" in file or file == "<string>"
        return trace

    gc.collect()
    gc.disable()  # the ends of objects of the steps before would be counted, too
    sys.settrace(trace)
    for _ in range(COUNTED):
        await step()
    sys.settrace(None)
    gc.enable()
    return count / COUNTED


async def both(name: str) -> tuple[list[Step], list[float]]:
    """Return the steps without and with rules, and their bytecodes."""
    bare, loaded = Inside(), Inside()
    steps = [CASES[name](bare), CASES[name](loaded)]
    with_rules(loaded, RULES)
    for step in steps:
        await timed(step)
    return steps, [await counted(step) for step in steps]


async def count() -> None:
    """Print the bytecodes of all cases, without and with rules, as JSON."""
    print(json.dumps({name: (await both(name))[1] for name in CASES}))


async def compare(name: str) -> list[str]:
    """Return a row of the table."""
    steps, codes = await both(name)
    best = [float("inf")] * 2
    gc.disable()
    for _ in range(ROUNDS):
        for index, step in enumerate(steps):
            best[index] = min(best[index], await timed(step))
    gc.enable()
    return [
        name,
        f"{best[0]:.2f}", f"{best[1]:.2f}", f"{100 * (best[1] / best[0] - 1):.0f} %",
        f"{codes[0]:,.0f}", f"{codes[1]:,.0f}", f"{100 * (codes[1] / codes[0] - 1):.0f} %",
    ]  # fmt: skip


async def changes_per_second() -> float:
    """Add and remove rules by HTTP; return how many changes that is in a second."""
    rule = {"name": "x", "match": {"api": "Produce", "topic": "t"}, "act": {"type": "hold"}}
    async with Broker(control=0) as broker, ClientSession(f"http://{broker.control}") as session:
        began = time.perf_counter()
        for _ in range(CHANGES // 2):
            async with session.post("/v1/faults", json=rule) as answer:
                assert answer.status == 201, await answer.text()
            async with session.delete("/v1/faults/x") as answer:
                assert answer.status == 204, await answer.text()
        return CHANGES / (time.perf_counter() - began)


async def measure() -> None:
    """Measure all, and write the page."""
    rows = [await compare(name) for name in CASES]
    changes = await changes_per_second()
    print(plain_table(HEADER, rows))
    print(f"{changes:,.0f} changes a second by HTTP")
    PAGE.write_text(
        f"""\
# What fault rules cost

Written by `python -m tests.bench.faults`: frames are pushed into a connection without a socket,
without rules and with {RULES:,} rules on other topics by turns. Time is CPU, the best of {ROUNDS}
rounds; bytecodes are exact.

Without rules a request costs as many bytecodes as `docs/bench/inside.md` says. While all rules
for its API name a topic, it stays on the direct path: its topics are looked up in a table. The goal
for rules on other topics is 5 % or less. A rule without a topic takes all requests for its API off
the direct path, and they are decoded twice: once for the rules, once to be carried out.

Times of one run can mislead: without any rules, produce-16k takes 30 or 45 us, depending on the
state of the machine. If that changes between two columns, the row shows the machine, not the rules.

{markdown_table(HEADER, rows)}

One client in the broker's own event loop adds and removes rules by HTTP, one request after the
other: {changes:,.0f} changes a second.
""",
        encoding="utf-8",
    )


def main() -> None:
    """Run it."""
    import uvloop

    uvloop.run(count() if "--count" in sys.argv else measure())


if __name__ == "__main__":
    main()
