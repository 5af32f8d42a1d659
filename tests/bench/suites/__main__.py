"""How long 100 tests take: ``python -m tests.bench.suites`` prints docs/bench/suites.md's table.

Each row is a client, each column a broker. A run is the whole process of the test framework, and
the broker from before its start until it is gone. ``--rounds N`` takes the median of N runs.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final

from tests.bench.broker.build import GO_DIR, find_tool, run_build
from tests.bench.broker.peers import FencepostPeer, KafkaPeer, KfakePeer, Peer
from tests.bench.table import markdown_table
from tests.support.apache_kafka import build_once, run_maven

FOLDER: Final = Path(__file__).parent
PEERS: Final[Mapping[str, Callable[[], Peer]]] = {
    "`fencepost up`": FencepostPeer,
    "Apache Kafka": KafkaPeer,
    "kfake": KfakePeer,
}
FIXTURES: Final = ("fencepost", "fencepost_session")


@dataclass(frozen=True, slots=True)
class Suite:
    """The hundred tests by one client."""

    name: str
    command: Callable[[], Sequence[str]]
    settings: Mapping[str, str] = field(default_factory=dict)
    fixtures: Sequence[str] = ()


def pytest_command(test: str) -> list[str]:
    """Run one of the functions in Python."""
    options = [
        "-q",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:randomly",
        "--noconftest",
        "-c",
        os.devnull,
    ]
    return [sys.executable, "-m", "pytest", *options, f"{FOLDER / 'tests_in_python.py'}::{test}"]


def go_command() -> list[str]:
    """Build the tests in Go, which is not measured."""
    program = GO_DIR / "target" / "suite"
    run_build([find_tool("go", "Go"), "test", "-c", "-o", str(program), "."], GO_DIR)
    return [str(program)]


def java_command() -> list[str]:
    """Build the tests in Java, which is not measured."""
    folder = FOLDER / "java"
    sources = ["pom.xml", *(str(path.relative_to(folder)) for path in folder.glob("src/**/*.java"))]
    build_once(folder, sources, "target", run_maven)
    jars = f"{folder}/target/suite.jar:{folder}/target/lib/*"
    launcher = "org.junit.platform.console.ConsoleLauncher"
    options = ["--select-class", "fencepost.suite.SuiteTest", "--details=none", "--disable-banner"]
    return [find_tool("java", "Java"), "-cp", jars, launcher, "execute", *options]


SUITES: Final = (
    Suite("confluent-kafka, pytest", partial(pytest_command, "test_confluent_kafka"), {}, FIXTURES),
    Suite(
        "the same, `enable.sparse.connections=false`",
        partial(pytest_command, "test_confluent_kafka_connecting_at_once"),
        {},
        FIXTURES,
    ),
    Suite(
        "Fencepost's client, pytest", partial(pytest_command, "test_fencepost_client"), {}, FIXTURES
    ),
    Suite("franz-go, `go test`", go_command),
    Suite("Java, JUnit", java_command),
    Suite("the same, `fetch.max.wait.ms=20`", java_command, {"SUITE_FETCH_WAIT_MS": "20"}),
)


def used_seconds() -> float:
    """Return the CPU time of all processes that this one has started and that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run(suite: Suite, command: Sequence[str], broker: str) -> str | None:
    """Run the tests; return how they failed."""
    environment = {**os.environ, **suite.settings, "SUITE_BROKER": broker}
    ended = subprocess.run(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    return ended.stdout if ended.returncode else None


def measure(suite: Suite, broker: str, rounds: int) -> str:
    """Return a cell: wall time and CPU time, in seconds."""
    command = suite.command()
    wall, cpu = [], []
    for _ in range(rounds):
        began, used = time.perf_counter(), used_seconds()
        if broker in PEERS:
            with PEERS[broker]() as peer:
                failed = run(suite, command, f"127.0.0.1:{peer.port}")
        else:
            failed = run(suite, command, broker)
        wall.append(time.perf_counter() - began)
        cpu.append(used_seconds() - used)
        if failed is not None:
            print(f"{suite.name} at {broker}:\n{failed[-2000:]}", file=sys.stderr)
            return "fails"
    return f"{statistics.median(wall):.1f} ({statistics.median(cpu):.1f})"


def main() -> int:
    """Measure all, or what the arguments name."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="", help="part of the name of a row")
    options = parser.parse_args()
    rows = []
    for suite in SUITES:
        if options.only not in suite.name:
            continue
        cells = [suite.name]
        for broker in (*FIXTURES, *PEERS):
            is_run = broker in PEERS or broker in suite.fixtures
            cells.append(measure(suite, broker, options.rounds) if is_run else "")
            print(suite.name, broker, cells[-1], sep=": ", file=sys.stderr)
        rows.append(cells)
    heads = [f"`{each}`" for each in FIXTURES]
    print(markdown_table(["100 tests by", *heads, *PEERS], rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
