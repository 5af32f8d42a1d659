"""docs/cluster.md: its commands are taken from the page and run as they stand there.

Only ports are others, free ones. What the environment says (short sessions, a folder for temporary
files) is what a user could have set.
"""

from __future__ import annotations

import re
from contextlib import ExitStack
from pathlib import Path

import pytest
from fencepost_protocol.generated.metadata import MetadataRequest

from tests.support.up import METADATA_VERSION, Wire
from tests.support.waiting import polled
from tests.wire.page_harness import ROOT, Machine

PAGE = (ROOT / "docs" / "cluster.md").read_text(encoding="utf-8")
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"(?:^ {4}\S.*\n(?:^ {5,}\S.*\n)*)+", re.MULTILINE)
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
