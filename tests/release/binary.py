"""Tries the single file without Python, and writes docs/proofs/binary.md: `make binary-test`."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

from tests.bench.protocol_report import machine, today
from tests.release.every_command import Installed, names, use_each

ROOT = Path(__file__).parents[2]
MEGABYTES_MAX = 40
STARTS = 15
PAGE = """\
<!-- Generated from a run by `make binary-test`. Do not edit. -->

# Every command of the single file

`make binary-test` copies `dist/fencepost` to an empty directory, and runs it there with an
environment that has an empty `PATH` and a `HOME`, and nothing else: no Python, and no cache from an
earlier start. The commands are those of the table of entry points; the run fails if one of them is
not used. Measured {today} on {machine}.

The file has {megabytes:.1f} MB (at most {most}). The time from the start of the process
`fencepost up --port 0 --json` to its line, in ms, of {starts} starts of each in turn, at a load
of {load:.1f} on {cores} cores, and the CPU time of the process until then:

| start | shortest | median | least CPU time |
|---|---|---|---|
| the file, first start, which unpacks it | {first.wall_ms:.0f} | | {first.cpu_ms:.0f} |
| the file, later starts | {file} |
| `fencepost` in an environment of Python | {checkout} |

The goal is 300 ms. The first start also unpacks the file, once for each version.

Each command was used; the shortest use of each took this many seconds:

| command | seconds |
|---|---|
{rows}

`fencepost audit` needs numpy and pyarrow, which are not in the file, and says so. Spark's parts are
not in it either.
"""


class Start(NamedTuple):
    """The start of a broker, from its process's begin to its line."""

    wall_ms: float
    cpu_ms: float


def start(installed: Installed) -> Start:
    """Start a broker, and stop it."""
    begun = time.perf_counter()
    with installed.serving("up", "--port", "0") as told:
        wall_ms = (time.perf_counter() - begun) * 1000
        ran_ns = int(Path(f"/proc/{told['pid']}/schedstat").read_text().split()[0])
        return Start(wall_ms, ran_ns / 1e6)


def row(starts: Sequence[Start]) -> str:
    """Return the numbers of several starts."""
    times = [each.wall_ms for each in starts]
    cpu_ms = min(each.cpu_ms for each in starts)
    return f"{min(times):.0f} | {median(times):.0f} | {cpu_ms:.0f}"


def main() -> int:
    """Try the file, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--file", type=Path, default=ROOT / "dist/fencepost")
    parser.add_argument("--out", type=Path, default=ROOT / "docs/proofs/binary.md")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        copy = folder / "fencepost"
        copy.write_bytes(options.file.read_bytes())
        copy.chmod(0o755)
        size = copy.stat().st_size / 1e6
        assert size <= MEGABYTES_MAX, f"{size:.1f} MB"
        installed = Installed([str(copy)], {"HOME": made, "PATH": ""}, folder)
        here = Installed([str(Path(sys.executable).parent / "fencepost")], {"HOME": made}, folder)
        first = start(installed)
        pairs = [(start(installed), start(here)) for _ in range(STARTS)]
        load = os.getloadavg()[0]
        used = use_each(installed)
    assert used.keys() == names()
    options.out.write_text(
        PAGE.format(
            today=today(), machine=machine(), megabytes=size, most=MEGABYTES_MAX, starts=STARTS,
            first=first, load=load, cores=os.cpu_count(), file=row([each for each, _ in pairs]),
            checkout=row([each for _, each in pairs]),
            rows="\n".join(f"| `{name}` | {used[name]:.2f} |" for name in sorted(used)),
        ),
        encoding="utf-8",
    )  # fmt: skip
    print(f"{options.out}: every command was used")
    return 0


if __name__ == "__main__":
    sys.exit(main())
