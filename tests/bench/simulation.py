"""How fast simulations run: CPU for a virtual second and for a seed, and where it goes.

python -m tests.bench.simulation --out docs/bench/simulation.md
"""

from __future__ import annotations

import argparse
import asyncio
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType
from typing import Final, NamedTuple

from fencepost_broker.simulation import Simulation
from fencepost_broker.simulation.programs import PROGRAMS
from fencepost_broker.simulation.runs import Run, run_seed

from tests.bench.table import markdown_table

BROKERS: Final = 3
IDLE_S: Final = 600.0
IDLE_GOAL, LOADED_GOAL = 10_000, 20
NIGHT_S: Final = 2 * 8 * 3600
"""CPU time of two cores in a night."""
HOURS_GOAL: Final = 10_000
"""Of a cluster, a night."""
SAMPLE_S: Final = 0.001
MESSAGES: Final = 20_000
PARTS: Final = {
    "fencepost_broker/simulation": "the simulator: loop, network, disks, invariants",
    "fencepost_broker": "brokers and the controller",
    "fencepost_client": "the client's SDK, which brokers use among themselves, too",
    "fencepost_protocol": "encoding and decoding of messages and records",
    "asyncio": "asyncio: tasks, futures, locks",
}
"""Folders in the paths of files, and what they are."""
PAGE: Final = """\
# Speed of simulations

`make bench-simulation` runs the [simulator](../how-to/simulate-a-cluster.md) with a controller and
{brokers} brokers, in one process. Times are CPU times of one core, {date}, Python {python}, on a
machine that others used too.

## A seed of each built-in program

{programs}

The goal is {loaded_goal} times as fast as real time under load. Most of the load is replication:
for one transaction over four partitions, followers send some twenty Fetch requests, which is
[what its appends need](replication.md).

## An idle cluster

{idle}

The goal of {idle_goal:,} times as fast as real time is not reached, and it cannot be reached with
Kafka's own intervals. Each of {brokers} brokers asks the {others} others for records each 500 ms,
asks the controller for metadata each 500 ms, and sends it a heartbeat each 2 s. With the answers,
that is {needed:g} messages in each virtual second. {idle_goal:,} times as fast leaves
{allowed:.1f} us for each. In this simulator, a message between two protocols that do nothing costs
{bare:.1f} us, so brokers that do nothing would run {bound:,.0f} times as fast as real time.

## A night

Two cores have {night_s:,} s of CPU in eight hours: {loaded_hours:,.0f} cluster-hours of the
programs above, or {idle_hours:,.0f} of idle clusters. The goal of {hours_goal:,} cluster-hours a
night is not reached: it is {needed_ratio:g} times as fast as real time. By the bound above,
brokers that do nothing could reach it; brokers that replicate cannot.

## Where the time goes

Samples of the stack while the seeds above ran, by the code that was on top.

{profile}
"""


class Idle(NamedTuple):
    """A cluster without clients."""

    cpu_s: float
    messages: int


class Profile:
    """Counts which code runs."""

    def __init__(self) -> None:
        self.samples: Counter[str] = Counter()

    @contextmanager
    def taken(self) -> Iterator[None]:
        """Take samples of what runs meanwhile."""
        before = signal.signal(signal.SIGPROF, self._sample)
        signal.setitimer(signal.ITIMER_PROF, SAMPLE_S, SAMPLE_S)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.signal(signal.SIGPROF, before)

    def _sample(self, _: int, frame: FrameType | None) -> None:
        while frame is not None:
            for part, what in PARTS.items():
                if f"/{part}/" in frame.f_code.co_filename:
                    self.samples[what] += 1
                    return
            frame = frame.f_back  # such as the constructor of a dataclass: its caller's

    def shares(self) -> list[tuple[str, str]]:
        """Each part, and its share of the samples."""
        total = sum(self.samples.values())
        return [(what, f"{100 * self.samples[what] / total:.0f} %") for what in PARTS.values()]


class Echo(asyncio.Protocol):
    """Sends back what arrives, until enough has."""

    def __init__(self, left: int, done: asyncio.Event) -> None:
        self._left = left
        self._done = done

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Send it back."""
        self._left -= 1
        if self._left:
            self._transport.write(data)
        else:
            self._done.set()


def bare_message_us() -> float:
    """Return what a message costs that nobody reads."""

    async def program(sim: Simulation) -> None:
        loop, done = asyncio.get_running_loop(), asyncio.Event()
        server = await loop.create_server(lambda: Echo(MESSAGES, done), "127.0.0.1", 9000)
        client, _ = await loop.create_connection(lambda: Echo(MESSAGES, done), "127.0.0.1", 9000)
        client.write(bytes(60))
        await done.wait()
        server.close()
        sim.note("all messages have arrived")

    run = right(run_seed(program, 0))
    return run.cpu_s / run.events * 1e6


def idle() -> Idle:
    """Let a cluster be idle."""

    def program_for(seconds: float) -> Run:
        async def program(sim: Simulation) -> None:
            await sim.cluster(BROKERS, {"orders": 3})
            await asyncio.sleep(seconds)

        return right(run_seed(program, 0))

    start, whole = program_for(10), program_for(10 + IDLE_S)
    return Idle(whole.cpu_s - start.cpu_s, whole.events - start.events)


def right(run: Run) -> Run:
    """Return a run that has not failed."""
    if run.verdict != "ok":
        raise AssertionError(f"seed {run.seed}: {run.verdict}")
    return run


def page(seeds: int) -> str:
    """Measure everything, and return the page."""
    rows, profile = [], Profile()
    loaded_s = loaded_cpu_s = 0.0
    for name, program in PROGRAMS.items():
        run_seed(program, seeds)  # modules are imported once
        with profile.taken():
            runs = [right(run_seed(program, seed)) for seed in range(seeds)]
        cpu_s, virtual_s = sum(each.cpu_s for each in runs), sum(each.simulated_s for each in runs)
        loaded_s, loaded_cpu_s = loaded_s + virtual_s, loaded_cpu_s + cpu_s
        messages = sum(each.events for each in runs)
        ratio = virtual_s / cpu_s
        verdict = "met" if ratio >= LOADED_GOAL else "missed"
        rows.append(
            (name, str(seeds), f"{virtual_s / seeds:.0f}", f"{cpu_s / seeds:.2f}", f"{ratio:.0f}",
             f"{messages / seeds:,.0f}", f"{cpu_s / messages * 1e6:.0f}", verdict)
        )  # fmt: skip
        sys.stdout.write(f"{rows[-1]}\n")
    quiet, bare = idle(), bare_message_us()
    sys.stdout.write(f"{quiet}, {bare:.1f} us\n")
    needed = 2 * BROKERS * ((BROKERS - 1) * 2 + 2 + 0.5)
    return PAGE.format(
        brokers=BROKERS,
        others=BROKERS - 1,
        date=f"{datetime.now(UTC):%Y-%m-%d}",
        python=".".join(map(str, sys.version_info[:3])),
        loaded_goal=LOADED_GOAL,
        idle_goal=IDLE_GOAL,
        programs=markdown_table(
            ("program", "seeds", "virtual s a seed", "CPU s a seed", "times real time", "messages",
             "us a message", "goal"),
            rows,
        ),
        idle=markdown_table(
            ("what", "measured"),
            [
                ("virtual time per CPU time", f"{IDLE_S / quiet.cpu_s:,.0f}"),
                ("CPU for a virtual second, ms", f"{quiet.cpu_s / IDLE_S * 1000:.1f}"),
                ("messages in a virtual second", f"{quiet.messages / IDLE_S:.1f}"),
                ("CPU for a message, us", f"{quiet.cpu_s / quiet.messages * 1e6:.0f}"),
            ],
        ),
        needed=needed,
        allowed=1e6 / IDLE_GOAL / needed,
        bare=bare,
        bound=1e6 / needed / bare,
        night_s=NIGHT_S,
        loaded_hours=loaded_s / loaded_cpu_s * NIGHT_S / 3600,
        idle_hours=IDLE_S / quiet.cpu_s * NIGHT_S / 3600,
        hours_goal=HOURS_GOAL,
        needed_ratio=HOURS_GOAL * 3600 / NIGHT_S,
        profile=markdown_table(("code", "share"), profile.shares()),
    )  # fmt: skip


def main() -> None:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10, help="of each program")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    begun_s = time.process_time()
    text = page(options.seeds)
    sys.stdout.write(f"{time.process_time() - begun_s:.0f} s of CPU\n")
    if options.out is None:
        sys.stdout.write(text)
    else:
        options.out.write_text(text)


if __name__ == "__main__":
    main()
