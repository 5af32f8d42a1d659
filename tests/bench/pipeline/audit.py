"""The audit's speed at several sizes.

    python -m tests.bench.pipeline.audit [GB ...] [--rounds 3] [--out PAGE]

Writes PAGE between its marks. Logs are made in a temporary folder, which must have
room for the largest; each size is audited in a process of its own. What the processor spent is
counted, too: other programs on the machine slow the clock down, and hardly that.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Final

from tests.bench.pipeline.audit_logs import write_logs
from tests.bench.pipeline.rounds import Budget, say

BEGIN: Final = "<!-- measured: make bench-audit -->"
END: Final = "<!-- end -->"
SIZES: Final = (0.1, 1.0, 10.0)
SMALL_RECORDS_GB: Final = 1.0
"""Of records of 100 bytes, or the largest size if that is less."""
SMALL_TRANSACTIONS: Final = 200_000
"""Of a batch of one record each."""
MINUTES: Final = 25.0


def measure(folder: Path) -> dict[str, float]:
    """Audit once, in this process."""
    from fencepost_pipeline.audit.audit_run import Wishes, compare, read_coordinator
    from fencepost_pipeline.audit.batch_headers import chunks
    from fencepost_pipeline.audit.coordinator_log import TOPIC
    from fencepost_pipeline.audit.data_directories import DataDirectory
    from fencepost_pipeline.audit.findings import Ledger
    from fencepost_pipeline.audit.partition_scan import scan_partition

    wall, processor = time.perf_counter(), time.process_time()
    logs = DataDirectory([folder])
    scanned = [scan_partition(*place, chunks(logs.batches(*place))) for place in logs.partitions()]
    scan = time.process_time() - processor
    ledger = Ledger()
    histories = {
        partition: read_coordinator(logs, partition, ledger)
        for topic, partition in logs.partitions()
        if topic == TOPIC
    }
    read = time.process_time() - processor - scan
    found = compare(logs, scanned, Wishes(), ledger, histories=histories)
    assert found.holds
    return {
        "wall": time.perf_counter() - wall,
        "cpu": time.process_time() - processor,
        "scan": scan,
        "read": read,
        "bytes": sum(s.summary.bytes for s in scanned),
        "batches": sum(s.summary.batches for s in scanned),
        "records": sum(s.summary.records for s in scanned),
        "transactions": found.transactions.num_rows,
        "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def _in_own_process(folder: Path) -> dict[str, float]:
    command = [sys.executable, "-m", "tests.bench.pipeline.audit", "--one", str(folder)]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    found: dict[str, float] = json.loads(result.stdout)
    return found


def run(sizes: list[float], rounds: int, budget: Budget) -> list[str]:
    """Measure all sizes; gives the page's lines."""
    rows: list[tuple[str, dict[str, float]]] = []
    small = min(SMALL_RECORDS_GB, max(sizes))
    parts = [*((size, 1000) for size in sizes), (small, 100)]
    for left, (gigabytes, record_bytes) in zip(range(len(parts), 0, -1), parts, strict=True):
        name = f"{gigabytes:g} GB of {record_bytes} B"
        with tempfile.TemporaryDirectory(prefix="bench-audit-") as above:
            folder = Path(above) / "data"
            say(f"{name}: writing the log")
            write_logs(folder, int(gigabytes * 1e9), record_bytes)
            taken = [_in_own_process(folder) for _ in budget.rounds(rounds, left, name)]
        rows.append((name, min(taken, key=lambda m: m["cpu"])))
    lines = [
        "| log | seconds | CPU s | of it comparing | GB/s | GB/s a core | records/s a core | "
        "transactions | peak memory |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    lines += [_line(name, measured) for name, measured in rows]
    lines += ["", _slope([measured for _, measured in rows[:-1]]), ""]
    lines += [_small_transactions(rounds, budget), "", _machine(rounds)]
    return lines


def _small_transactions(rounds: int, budget: Budget) -> str:
    """What comparing costs for each transaction, where they are many."""
    batch_bytes, record_bytes = 256, 100
    with tempfile.TemporaryDirectory(prefix="bench-audit-") as above:
        folder = Path(above) / "data"
        say("small transactions: writing the log")
        # A batch of one such record has 170 bytes.
        write_logs(folder, SMALL_TRANSACTIONS * 170, record_bytes, batch_bytes, 1)
        taken = [_in_own_process(folder) for _ in budget.rounds(rounds, 1, "small transactions")]
    least = min(taken, key=lambda m: m["cpu"] - m["scan"])
    count = least["transactions"] / 1e6
    compared = least["cpu"] - least["scan"] - least["read"]
    return (
        f"{count:.1f} million transactions of one record each: reading the coordinators' log costs "
        f"{least['read'] / count:.1f} us of CPU time a transaction, comparing "
        f"{compared / count:.1f} us; {least['peak']:,.0f} MB."
    )


def _line(name: str, m: dict[str, Any]) -> str:
    gigabytes = m["bytes"] / 1e9
    return (
        f"| {name} | {m['wall']:.2f} | {m['cpu']:.2f} | {m['cpu'] - m['scan']:.2f} | "
        f"{gigabytes / m['wall']:.2f} | {gigabytes / m['cpu']:.2f} | "
        f"{m['records'] / m['cpu'] / 1e6:.2f} M | {m['transactions']:,} | {m['peak']:,.0f} MB |"
    )


def _slope(measured: list[dict[str, float]]) -> str:
    """Of CPU time over size, both as logarithms: 1 is a time that grows as the log does."""
    if len(measured) < 2:
        return "One size has no slope."
    xs = [math.log(m["bytes"]) for m in measured]
    ys = [math.log(m["cpu"]) for m in measured]
    middle_x, middle_y = sum(xs) / len(xs), sum(ys) / len(ys)
    slope = sum((x - middle_x) * (y - middle_y) for x, y in zip(xs, ys, strict=True))
    slope /= sum((x - middle_x) ** 2 for x in xs)
    last, first = measured[-1], measured[0]
    each = (last["cpu"] - first["cpu"]) / (last["bytes"] - first["bytes"]) * 1e9
    said = f"Slope of CPU time over size, log-log: {slope:.2f}."
    return f"{said} Each further GB costs {each:.2f} CPU s."


def _machine(rounds: int) -> str:
    return (
        f"{time.strftime('%Y-%m-%d')}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} at "
        f"the end. Python {platform.python_version()}, one process, up to {rounds} rounds of which "
        "the one with the least CPU time is shown; files in the page cache as far as they fit."
    )


def main() -> None:
    """Measure and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sizes", nargs="*", type=float, metavar="GB")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--minutes", type=float, default=MINUTES, help="begin no round later")
    parser.add_argument("--out", type=Path, help="write into this page")
    parser.add_argument("--one", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one is not None:
        print(json.dumps(measure(given.one)))
        return
    if given.out is not None and BEGIN not in given.out.read_text(encoding="utf-8"):
        parser.error(f"{given.out} has no {BEGIN!r}: the numbers go between such marks")
    body = "\n".join(run(given.sizes or list(SIZES), given.rounds, Budget(given.minutes)))
    print(body)
    if given.out is not None:
        text = given.out.read_text(encoding="utf-8")
        before, _, rest = text.partition(BEGIN)
        _, _, behind = rest.partition(END)
        page = f"{before}{BEGIN}\n\n{body}\n\n{END}{behind}"
        given.out.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
