"""What an open event stream costs the broker: ``python -m tests.bench.watching``.

Frames are pushed into connections as in ``tests.bench.inside``, without a stream and with one that
reads requests and steps of transactions, by turns. Writes docs/bench/watching.md.
"""

from __future__ import annotations

import gc
import time
from pathlib import Path
from typing import Final

from fencepost_broker.server.control import sampling
from fencepost_broker.server.control.events import EventHub, Reader
from fencepost_broker.server.control.sampling import SampledRequests
from fencepost_broker.server.control.seen import RequestsSeen
from fencepost_broker.server.control.steps import TransactionSteps
from fencepost_broker.server.states import BrokerStates

from tests.bench.faults import CASES, ROUNDS, TIMES, counted
from tests.bench.inside import Inside, Step
from tests.bench.table import markdown_table, plain_table

PAGE: Final = Path("docs/bench/watching.md")
PER_SECOND: Final = 20_000
BURST: Final = sampling.BURST
"""What is measured sets it to other values."""
HEADER: Final = [
    "request", "us", "told us", "left out us", "bytecodes", "told", "left out", "at 20,000/s",
]  # fmt: skip


def watched(inside: Inside) -> Reader:
    """Open a stream of requests and steps, as the control port does."""
    events, states = EventHub(), BrokerStates(lambda: inside.node)
    sampled = SampledRequests(inside.server, events, inside.server)
    reader = events.open(())
    RequestsSeen(sampled, events, None, lambda _: 0).stream()
    TransactionSteps(
        sampled, events, lambda: states, lambda _: 0, lambda: inside.node.coordinators
    ).stream()
    return reader


async def timed(step: Step, reader: Reader | None) -> float:
    """Return the CPU time of a request in this round, in microseconds; the stream is read, too."""
    began = time.process_time()
    for _ in range(TIMES):
        await step()
    if reader is not None:
        await reader.take()
    return (time.process_time() - began) / TIMES * 1e6


async def compare(name: str) -> list[str]:
    """Return a row of the table."""
    insides = [Inside() for _ in range(3)]
    steps = [CASES[name](each) for each in insides]
    best, codes = [float("inf")] * 3, [0.0] * 3
    readers = [None, watched(insides[1]), watched(insides[2])]
    bursts = [sampling.BURST, 1 << 40, 0]
    gc.disable()
    for round_number in range(ROUNDS + 1):
        for index, step in enumerate(steps):
            sampling.BURST = bursts[index]  # type: ignore[misc]
            took = await timed(step, readers[index] if index == 1 else None)
            if round_number:
                best[index] = min(best[index], took)
    gc.enable()
    for index, step in enumerate(steps):
        sampling.BURST = bursts[index]  # type: ignore[misc]
        codes[index] = await counted(step)
    told = sampling.REQUESTS_PER_SECOND * (best[1] - best[0])
    left_out = PER_SECOND * best[0] * (codes[2] / codes[0] - 1)
    return [
        name, *(f"{each:.2f}" for each in best), *(f"{each:,.0f}" for each in codes),
        f"{(told + left_out) / 1e6:.1%}",
    ]  # fmt: skip


async def measure() -> None:
    """Measure all, and write the page."""
    rows = [await compare(name) for name in CASES]
    told = sampling.REQUESTS_PER_SECOND
    print(plain_table(HEADER, rows))
    PAGE.write_text(
        f"""\
# What an open event stream costs

Written by `python -m tests.bench.watching`: frames are pushed into a connection without a socket,
without a stream, and with one that reads requests and steps of transactions, as the console does.
Time is CPU, the best of {ROUNDS} rounds; bytecodes are exact.

Of each API, {told} requests a second are told, and up to {BURST} at once after a calm. The
others take the same path as without a stream, which the equal bytecodes show; a difference of
their times is the machine's. The last column is the share of one core that a stream takes at
{PER_SECOND:,} requests a second of this kind; the goal is 3 %. Before there was a sample, each
request cost as much as a told one.

{markdown_table(HEADER, rows)}
""",
        encoding="utf-8",
    )


def main() -> None:
    """Run it."""
    import uvloop

    uvloop.run(measure())


if __name__ == "__main__":
    main()
