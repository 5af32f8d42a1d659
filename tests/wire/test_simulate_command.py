"""``fencepost simulate``: programs of users, replays, and failures with few faults."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from fencepost_broker.cli.main import main
from fencepost_broker.simulation import Simulation
from fencepost_broker.simulation.runs import run_seed
from fencepost_broker.simulation.shrinking import shrink

SVG = "{http://www.w3.org/2000/svg}"
PROGRAM = """
async def right(sim):
    await sim.cluster(brokers=1)

async def wrong(sim):
    assert sim.seed != 6, "six"

async def fragile(sim):
    await sim.cluster(brokers=1)
    sim.start_faults(0.9, for_s=10)
    await sim.quiet()
    assert not sim.timeline.faults["kill"], "was killed"
"""


@pytest.fixture(autouse=True)
def program_of_the_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A module in the current directory."""
    (tmp_path / "my_simulated_program.py").write_text(PROGRAM)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))


def test_the_command_runs_a_program_of_the_user_and_says_which_seed_failed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["simulate", "my_simulated_program:right", "--seed", "9"]) == 0
    assert capsys.readouterr().out.startswith("seed 9 ")
    assert main(["simulate", "my_simulated_program:wrong", "--first", "5"]) == 1
    assert "seed 6 failed: AssertionError: six" in capsys.readouterr().err
    for wrong in (["my_simulated_program:none"], ["x"], ["--program", "none"], []):
        assert main(["simulate", *wrong]) == 2
    for wrong in (["--tap"], ["--until", "3"], ["--jobs", "0"]):
        assert main(["simulate", "my_simulated_program:right", *wrong]) == 2


@pytest.mark.skipif(sys.platform == "win32", reason="has no SIGTERM to catch, and no groups")
@pytest.mark.parametrize("send", ["kill", "killpg"])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_all_its_processes_without_a_word(number: int, send: str) -> None:
    words = ["simulate", "--program", "transactions", "--seeds", "300", "--jobs", "2"]
    with subprocess.Popen(
        [sys.executable, "-m", "fencepost_broker", *words],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    ) as running:  # fmt: skip
        assert running.stdout is not None
        assert running.stdout.readline().startswith("seed 0 ")
        getattr(os, send)(running.pid, number)
        _, errors = running.communicate(timeout=60)
    assert running.returncode == 130
    assert "Traceback" not in errors
    assert "leaked" not in errors


def test_seeds_are_run_by_several_processes_in_order(capsys: pytest.CaptureFixture[str]) -> None:
    told = []
    for jobs in ("1", "2"):
        options = ["--seeds", "2", "--jobs", jobs, "--json"]
        assert main(["simulate", "my_simulated_program:right", *options]) == 0
        told.append([json.loads(each) for each in capsys.readouterr().out.splitlines()])
        for each in told[-1]:
            del each["cpu_s"]
    assert told[0] == told[1]
    assert [each["seed"] for each in told[0]] == [0, 1]


def test_a_replay_names_requests_and_ends_early(capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--seed", "3", "--until", "0.5", "--tap"]
    assert main(["simulate", "my_simulated_program:fragile", *options]) == 0
    out = capsys.readouterr().out
    assert "broker-1 -> controller: BROKER_REGISTRATION v" in out
    assert "controller -> broker-1: answer to BROKER_REGISTRATION v" in out


def test_a_failure_is_told_with_the_faults_that_it_needs(
    capsys: pytest.CaptureFixture[str],
) -> None:
    options = ["--seeds", "50", "--json", "--picture", "failure.svg", "--report", "failure.html"]
    assert main(["simulate", "my_simulated_program:fragile", *options]) == 1
    told = capsys.readouterr()
    *_, failed, shrunk = map(json.loads, told.out.splitlines())
    assert sum(failed["faults"].values()) > 1
    assert "1 of " in told.err
    assert "faults are enough: AssertionError: was killed" in told.err
    kills, runs_again, quiet = (each["what"] for each in shrunk["timeline"])
    assert "broker 1 is killed" in kills
    assert "broker 1 runs again" in runs_again
    assert quiet == "all is quiet"
    texts = [each.text for each in ElementTree.parse("failure.svg").iter(f"{SVG}text")]
    assert len(list(ElementTree.parse("failure.svg").iter(f"{SVG}circle"))) == 4
    assert kills in str(texts[1])
    assert str(texts[-1]).endswith("AssertionError: was killed")
    page = Path("failure.html").read_text(encoding="utf-8")
    seeds = len(told.out.splitlines()) - 1
    assert f"1 of {seeds} seeds failed." in page
    assert page.count("<circle") == 4
    assert f"<h2>Seed {failed['seed']}: AssertionError: was killed</h2>" in page
    assert "in fragile\n" in page, "the stack"
    assert "fencepost simulate my_simulated_program:fragile --first 0 --seeds 50" in page


def test_a_report_of_right_seeds_counts_them_and_a_wrong_place_is_refused_first(
    capsys: pytest.CaptureFixture[str],
) -> None:
    right = ["simulate", "my_simulated_program:right", "--seeds", "2", "--within", "60"]
    assert main([*right, "--report", "right.html"]) == 0
    assert capsys.readouterr().out.endswith("report: right.html\n")
    page = Path("right.html").read_text(encoding="utf-8")
    assert "2 of 2 seeds were right." in page
    assert "my_simulated_program:right --within 60 --first 0 --seeds 2" in page
    capsys.readouterr()
    with pytest.raises(SystemExit):
        main([*right, "--report", "none/right.html"])
    told = capsys.readouterr()
    assert "none/right.html cannot be written" in told.err
    assert told.out == ""


def test_of_two_faults_that_are_needed_together_none_is_left_out() -> None:
    async def program(sim: Simulation) -> None:
        await sim.cluster(brokers=1)
        sim.start_faults(0.9, for_s=12)
        await sim.quiet()
        numbers = {int(text.split()[1][:-1]) for _, text in sim.timeline.lines if "fault" in text}
        assert not {2, 5} <= numbers

    failed = next(run for run in (run_seed(program, each) for each in range(20)) if run.error)
    assert len(failed.planned) > 6
    shrunk = shrink(program, failed)
    assert {int(text.split()[1][:-1]) for _, text in shrunk.timeline if "fault" in text} == {2, 5}
