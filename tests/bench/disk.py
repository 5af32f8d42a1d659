"""What writing 1 MB to a file costs, in parts: `make bench-disk` writes docs/bench/disk.md.

CPU time of the process that writes counts, kernel included; ways are compared by turns.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import mmap
import os
import random
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

from fencepost_broker.storage.disk.room import reserve_room

from tests.bench.broker.loader import Load
from tests.bench.broker.measure import cpu_seconds
from tests.bench.broker.peers import FencepostOnDisk, FencepostPeer, Peer
from tests.bench.broker.rows import Effort, Run
from tests.bench.broker.rows_raw import (
    CONNECTIONS,
    KB,
    MEGABYTE,
    batch_of,
    look,
    produce_request,
    replay_to,
)
from tests.bench.broker.wire import Wire
from tests.bench.protocol_report import machine, today
from tests.bench.table import markdown_table

MB: Final = 1 << 20
FILES: Final = 4
WRITES: Final = 256
ROUNDS: Final = 5
STEP_MB: Final = 256
START_WRITE: Final = 2
"""``SYNC_FILE_RANGE_WRITE``"""
DEFAULT_GIGABYTES: Final = 4
RETURNED_S: Final = 10.0
"""By then a host has taken back the memory that was freed."""
WITHOUT_ROOM: Final = """\
import sys
from fencepost_broker.cli.main import main
from fencepost_broker.storage.disk import room
room._find_fallocate = lambda: None
sys.exit(main())
"""

libc = ctypes.CDLL(None)
libc.sync_file_range.argtypes = [ctypes.c_int, ctypes.c_int64, ctypes.c_int64, ctypes.c_uint]


class Cost(NamedTuple):
    """Microseconds for 1 MB."""

    cpu: float
    wall: float


def used() -> float:
    """CPU seconds of this process."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


@contextlib.contextmanager
def timed(megabytes: float, found: list[Cost]) -> Iterator[None]:
    """Add what the block costs."""
    cpu, wall = used(), time.perf_counter()
    yield
    found.append(
        Cost((used() - cpu) / megabytes * 1e6, (time.perf_counter() - wall) / megabytes * 1e6)
    )


# -- bare writes ---------------------------------------------------------------------------------

Write = Callable[[int, int], None]
"""Writes 1 MB to a file, at a position."""
data = mmap.mmap(-1, MB)  # O_DIRECT wants whole pages
data.write(os.urandom(MB))


def plain(file: int, position: int) -> None:
    """Write at the end."""
    os.pwrite(file, data, position)


def with_room(pieces: int) -> Write:
    """Reserve room in pieces."""

    def write(file: int, position: int) -> None:
        if position % pieces == 0:
            reserve_room(file, position, pieces)
        os.pwrite(file, data, position)

    return write


def started(file: int, position: int) -> None:
    """Start writing back what was written."""
    os.pwrite(file, data, position)
    libc.sync_file_range(file, position, MB, START_WRITE)


WAYS: Final[dict[str, tuple[int, Write]]] = {
    "at the end of the file": (0, plain),
    "with room reserved, 1 MB at a time": (0, with_room(MB)),
    "with room reserved, 4 MB at a time": (0, with_room(4 * MB)),
    "with room reserved, 64 MB at a time": (0, with_room(64 * MB)),
    "`sync_file_range` after each": (0, started),
    "O_DIRECT": (getattr(os, "O_DIRECT", 0), plain),
    "again to the same pages": (0, plain),
}


def bare(folder: Path) -> dict[str, Cost]:
    """Write in all ways, by turns."""
    found: dict[str, list[Cost]] = {way: [] for way in WAYS}
    for _ in range(ROUNDS):
        for way in random.sample(list(WAYS), len(WAYS)):
            flags, write = WAYS[way]
            paths = [folder / str(number) for number in range(FILES)]
            flags |= os.O_RDWR | os.O_CREAT
            files = [os.open(path, flags, 0o600) for path in paths]
            places = [(files[n % FILES], n // FILES * MB) for n in range(WRITES)]
            if way.startswith("again"):
                for place in places:
                    write(*place)
            with timed(WRITES, found[way]):
                for place in places:
                    write(*place)
            for file, path in zip(files, paths, strict=True):
                os.close(file)
                path.unlink()
    return {
        way: Cost(*(statistics.median(column) for column in zip(*costs, strict=True)))
        for way, costs in found.items()
    }


def growing(folder: Path, gigabytes: int) -> list[Cost]:
    """Write one file, and give the cost of each step of it."""
    found: list[Cost] = []
    path = folder / "growing"
    file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    for step in range(gigabytes * 1024 // STEP_MB):
        with timed(STEP_MB, found):
            for number in range(STEP_MB):
                os.pwrite(file, data, (step * STEP_MB + number) * MB)
    os.close(file)
    path.unlink()
    return found


# -- the broker ----------------------------------------------------------------------------------


class WithoutRoom(FencepostOnDisk):
    """Reserves no room."""

    name = "fencepost-without-room"

    def command(self) -> list[str]:
        line = super().command()
        return [sys.executable, "-c", WITHOUT_ROOM, *line[line.index("up") :]]


KINDS: Final[dict[str, type[FencepostPeer]]] = {
    "in memory": FencepostPeer,
    "on disk, without room reserved": WithoutRoom,
    "on disk": FencepostOnDisk,
}


def produce(peer: Peer, requests: int) -> Cost:
    """Produce batches of 1 MB to four partitions."""
    batch = batch_of(MEGABYTE, KB)
    with Wire(peer.port, peer.newest_right) as wire:
        run = Run(peer, wire, Effort(), None)
        topic = run.topic(FILES)
        asked = [look(run, produce_request(topic, each, batch)) for each in range(FILES)]
        loaded = replay_to(run, asked, Load(requests, CONNECTIONS, 1))
        wire.delete(topic)
    return Cost(loaded.cpu_us, 1e6 / loaded.per_second)


def brokers() -> dict[str, Cost]:
    """Produce to each kind of broker, by turns."""
    found: dict[str, list[Cost]] = {kind: [] for kind in KINDS}
    with contextlib.ExitStack() as stack:
        peers = {kind: stack.enter_context(each()) for kind, each in KINDS.items()}
        for peer in peers.values():
            produce(peer, 40)
        for _ in range(ROUNDS):
            for kind in random.sample(list(peers), len(peers)):
                found[kind].append(produce(peers[kind], WRITES))
    return {
        kind: Cost(*(statistics.median(column) for column in zip(*costs, strict=True)))
        for kind, costs in found.items()
    }


def calls() -> dict[str, float]:
    """Count system calls for a batch, by strace."""
    if shutil.which("strace") is None:
        return {}
    with FencepostOnDisk() as peer, tempfile.NamedTemporaryFile() as out:
        produce(peer, 40)
        command = ["strace", "-f", "-c", "-U", "calls,name", "-p", str(peer.pid), "-o", out.name]
        with subprocess.Popen(command, stderr=subprocess.DEVNULL) as tracer:
            while cpu_seconds(tracer.pid) == 0.0 and tracer.poll() is None:
                if "TracerPid:\t0" not in Path(f"/proc/{peer.pid}/status").read_text("ascii"):
                    break
                time.sleep(0.01)
            produce(peer, WRITES)
            tracer.terminate()
            tracer.wait()
        rows = [line.split() for line in Path(out.name).read_text("ascii").splitlines()]
    return {
        row[1]: int(row[0]) / WRITES
        for row in rows
        if len(row) == 2 and row[0].isdigit() and row[1] != "total"
    }


# -- the page ------------------------------------------------------------------------------------


def page(gigabytes: int) -> str:
    """Measure everything."""
    folder = Path(tempfile.mkdtemp(prefix="fencepost-bench-"))
    try:
        ways = bare(folder)
        served = brokers()
        counted = calls()
        time.sleep(RETURNED_S)
        grown = growing(folder, gigabytes)
    finally:
        shutil.rmtree(folder)
    costs_head = ["", "CPU, us for 1 MB", "wall, us for 1 MB"]
    text = Path(__file__).with_name("disk_page.md").read_text("utf-8")
    return text.format(
        when=f"{today()}, {machine()}",
        gigabytes=gigabytes,
        step=STEP_MB,
        ways=markdown_table(
            costs_head,
            [[way, f"{cost.cpu:,.0f}", f"{cost.wall:,.0f}"] for way, cost in ways.items()],
        ),
        brokers=markdown_table(
            costs_head,
            [[kind, f"{cost.cpu:,.0f}", f"{cost.wall:,.0f}"] for kind, cost in served.items()],
        ),
        steps=", ".join(f"{cost.cpu:,.0f}" for cost in grown),
        calls=", ".join(
            f"{name} {count:.2f}"
            for name, count in sorted(counted.items(), key=lambda each: -each[1])
            if count >= 0.01
        )
        or "strace is not installed",
    )


def main() -> None:
    """Write the page."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.disk")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--gb", type=int, default=DEFAULT_GIGABYTES, help="how much is written")
    options = parser.parse_args()
    options.out.write_text(page(options.gb), encoding="utf-8")


if __name__ == "__main__":
    main()
