"""What a process uses, read from outside, and which core it may use."""

from __future__ import annotations

import mmap
import os
import resource
import statistics
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_SCHEDULED: Final = 2
"""Linux's number of the clock that counts what all threads of a process have run."""


def cpu_seconds(pid: int) -> float:
    """The CPU time of a process, threads that have ended included.

    Of a thread that runs right now on another core the kernel knows it as of its last tick (1 to
    10 ms ago), so that what is measured by this must take a good part of a second.
    """
    return time.clock_gettime((~pid << 3) | _SCHEDULED)


_POPULATE_WRITE: Final = 23
"""Linux's advice to give memory its pages now."""


@dataclass(frozen=True, slots=True)
class Memory:
    """What a process holds, in bytes."""

    resident: int
    """All that is in memory now, files that it has mapped included."""
    own: int
    """Only what no file stands behind: what is gone when the process ends."""


def memory(pid: int) -> Memory:
    """The memory of a process."""
    fields = dict(
        line.split(":", 1)
        for line in Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines()
    )

    def kilobytes(name: str) -> int:
        return int(fields[name].split()[0]) << 10

    return Memory(kilobytes("VmRSS"), kilobytes("RssAnon"))


def cores() -> tuple[int, int] | None:
    """A core for the broker and one for the client; None where there are no two."""
    free = sorted(os.sched_getaffinity(0))
    return (free[0], free[1]) if len(free) > 1 else None


@contextmanager
def pinned(core: int | None) -> Iterator[None]:
    """Processes that are started in here run on that core alone, with all their threads."""
    if core is None:
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {core})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def touch_free_memory(size: int) -> None:
    """Use memory for a moment, so that what uses it next does not pay for its first use.

    The host of a virtual machine takes back memory that is free. The process that uses it next
    waits until the host has found some again, and this counts as its CPU time: 1 MB written to new
    pages takes 2,500 us then, and 200 after this. It would hit one broker or another by chance.
    """
    if hasattr(mmap, "MADV_HUGEPAGE"):
        with mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as memory:
            memory.madvise(mmap.MADV_HUGEPAGE)
            with suppress(OSError):  # kernels before 5.14
                memory.madvise(_POPULATE_WRITE)


def allow_many_files(count: int) -> int:
    """Lets this process and those that it starts open so many files; gives how many they may."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = count if hard == resource.RLIM_INFINITY else min(count, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        soft = wanted
    return soft


@dataclass(frozen=True, slots=True)
class Spread:
    """What several rounds gave."""

    median: float
    low: float
    high: float
    rounds: int


def spread(values: Sequence[float]) -> Spread:
    """The middle and the ends."""
    return Spread(statistics.median(values), min(values), max(values), len(values))
