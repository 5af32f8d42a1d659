"""docs/cluster.md: its commands are taken from the page and run as they stand there.

Only ports are others, free ones. What the environment says (short sessions, a folder for temporary
files) is what a user could have set.
"""

from __future__ import annotations

import asyncio
import os
import re
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from fencepost_broker.cli.cluster.control_socket import ask_supervisor
from fencepost_broker.cli.cluster.status import Row, status_of
from fencepost_protocol.generated.metadata import MetadataRequest

from tests.support.up import METADATA_VERSION, PATIENCE_SECONDS, Wire
from tests.support.waiting import polled

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "cluster.md").read_text(encoding="utf-8")
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"(?:^ {4}\S.*\n(?:^ {5,}\S.*\n)*)+", re.MULTILINE)
PORT = re.compile(r"\b1909\d\b")
SESSION_TIMEOUT_MS = 1500
BECOMES = {"kill": "down", "stop": "down", "start": "up", "pause": "paused", "resume": "up"}
"""The state that follows a command."""


def commands(beginning: str) -> list[str]:
    """The commands of the page's block that begins so, each as one types it."""
    (block,) = [
        found for each in BLOCK.findall(PAGE) if (found := each.strip()).startswith(beginning)
    ]
    lines = re.sub(r"\\\n\s*", "", block).splitlines()
    return [line.strip() for line in lines]


def without_remark(command: str) -> str:
    return command.partition("#")[0].strip()


class Machine:
    """Where a user has installed Fencepost and opens terminals."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.run_dir = folder / f"fencepost-{os.getuid()}"
        self._ports: dict[str, int] = {}
        installed = Path(sys.executable).parent
        assert (installed / "fencepost").exists()
        self._environment = os.environ | {
            "PATH": f"{installed}:{os.environ['PATH']}",
            "TMPDIR": str(folder),
            "FENCEPOST_BROKER_SESSION_TIMEOUT_MS": str(SESSION_TIMEOUT_MS),
            "FENCEPOST_BROKER_HEARTBEAT_INTERVAL_MS": str(SESSION_TIMEOUT_MS // 10),
        }

    def port(self, written: str) -> int:
        """The free port that stands for one of the page's."""
        if written not in self._ports:
            with socket.create_server(("127.0.0.1", 0)) as taken:
                self._ports[written] = taken.getsockname()[1]
        return self._ports[written]

    def _typed(self, command: str) -> list[str]:
        typed = PORT.sub(lambda found: str(self.port(found[0])), command)
        return ["sh", "-c", f"exec {typed}"]

    def run(self, command: str) -> str:
        """What it prints; it has to go well."""
        done = subprocess.run(
            self._typed(command), check=False, capture_output=True, text=True,
            env=self._environment, cwd=self._folder, timeout=PATIENCE_SECONDS,
        )  # fmt: skip
        assert done.returncode == 0, (command, done.stderr)
        return done.stdout

    @contextmanager
    def terminal(self, command: str) -> Iterator[str]:
        """It runs here until Ctrl-C; gives the line that it prints when it is ready."""
        said = self._folder / f"terminal-{time.monotonic_ns()}"
        with said.open("wb") as stderr:
            process = subprocess.Popen(
                self._typed(command), stdout=subprocess.PIPE, stderr=stderr, text=True,
                env=self._environment, cwd=self._folder,
            )  # fmt: skip
        with process:
            try:
                assert process.stdout is not None
                said_so = select.select([process.stdout], [], [], PATIENCE_SECONDS)[0]
                line = process.stdout.readline() if said_so else ""
                assert line.startswith("ready at "), (command, said.read_text())
                yield line
                process.send_signal(signal.SIGINT)
                assert process.wait(PATIENCE_SECONDS) == 0, said.read_text()
            finally:
                process.kill()

    def status(self) -> dict[int, Row]:
        """As `fencepost cluster status` tells it, without a process for each look."""
        told = ask_supervisor(self.run_dir, "list")
        found = asyncio.run(status_of(told["members"], PATIENCE_SECONDS))
        return {each.id: each for each in found.rows}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("beginning", "brokers"),
    [
        ("fencepost up --port 19093", {1: "19092"}),
        ("fencepost up -c process.roles=broker,controller", {1: "19092", 2: "19094"}),
    ],
)
def test_processes_are_started_by_hand(
    tmp_path: Path, beginning: str, brokers: dict[int, str]
) -> None:
    machine = Machine(tmp_path)
    with ExitStack() as stack:
        for command in commands(beginning):
            stack.enter_context(machine.terminal(command))
        wire = stack.enter_context(Wire(machine.port(brokers[1])))
        answer = wire.ask(MetadataRequest(topics=[]), METADATA_VERSION)
        told = {each.node_id: each.port for each in answer.brokers}
        assert told == {each: machine.port(port) for each, port in brokers.items()}
        wire.create("t", len(brokers))
        (topic,) = wire.ask(MetadataRequest(topics=None), METADATA_VERSION).topics
        assert {each.leader_id for each in topic.partitions} == set(brokers)


@pytest.mark.slow
def test_a_cluster_is_started_and_its_brokers_are_treated_badly(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    (up,) = commands("fencepost up --brokers")
    with machine.terminal(up) as line:
        assert "(3 brokers)" in line
        assert ":9092" not in line, "on free ports, says the page"
        first = machine.status()
        assert sum(each.leads or 0 for each in first.values()) == 6
        for command in commands("fencepost cluster status"):
            _, about, what, *numbers = without_remark(command).split()
            printed = machine.run(command)
            if about == "cluster":
                assert len(printed.splitlines()) == len(first) + 1
                continue
            node_id = int(numbers[0])
            assert f" is {BECOMES[what]}" in printed
            if what == "start":
                assert machine.status()[node_id].address == first[node_id].address
            elif what == "stop":
                assert not machine.status()[node_id].leads, "others have it"
            elif what == "pause":
                polled(lambda node_id=node_id: machine.status()[node_id].fenced is True)  # type: ignore[misc]
        with Wire(int(first[1].address.rpartition(":")[2])) as wire:
            wire.create("made-afterwards", 3)
        polled(lambda: sum(each.leads or 0 for each in machine.status().values()) == 6 + 3)
        (kept,) = machine.run_dir.glob("controller-*")
    assert not kept.exists()


def test_readme_shows_what_the_page_shows() -> None:
    shown = README.partition("## Run a cluster")[2].partition("```console")[2].partition("```")[0]
    lines = {without_remark(line.removeprefix("$ ")) for line in shown.strip().splitlines()}
    known = commands("fencepost up --brokers") + commands("fencepost cluster status")
    assert lines, "README has a section of it"
    assert lines <= {without_remark(each) for each in known}
