"""A seed is the same run with another hash seed, after other runs, and with another Python."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import cache, partial
from pathlib import Path

import pytest
from fencepost_broker.simulation.programs import PROGRAMS
from fencepost_broker.simulation.runs import run_seed

ROOT = Path(__file__).parents[2]
SEED = 1
WITHIN_S = 2.0
"""Long enough for some faults, and short, since a run costs more CPU the longer it is."""
RUNS = [(name, brokers) for name in sorted(PROGRAMS) for brokers in (1, 3)]


def other_pythons() -> list[str]:
    """Return the interpreters of this checkout's other environments, such as ``.venv-3.13``."""
    installed = sorted(each.parent for each in ROOT.glob(".venv*/.installed"))
    return [str(each / "bin" / "python") for each in installed if each != Path(sys.prefix)]


@cache
def told(python: str, hash_seed: str) -> dict[str, list[object]]:
    """Return what another process has of each run."""
    command = subprocess.run(
        [python, "-m", "tests.wire.test_simulated_hashes"],
        env={**os.environ, "PYTHONHASHSEED": hash_seed},
        cwd=ROOT,
        stdout=subprocess.PIPE,
        check=True,
    )
    runs: dict[str, list[object]] = json.loads(command.stdout)
    return runs


def all_runs() -> dict[str, list[object]]:
    """Return the hash of each run, its end, and the faults that it has had."""
    found = {}
    for name, brokers in RUNS:
        run = run_seed(partial(PROGRAMS[name], brokers=brokers), SEED, WITHIN_S)
        found[f"{name} {brokers}"] = [run.hash, run.simulated_s, run.events, sorted(run.faults)]
    return found


def test_a_seed_is_a_run_whatever_the_hash_seed() -> None:
    first = told(sys.executable, "1")
    assert first == told(sys.executable, "2")
    assert len({str(each[0]) for each in first.values()}) == len(RUNS)
    assert all(each[-1] for each in first.values()), "each has faults"


def test_a_seed_is_a_run_whatever_ran_before() -> None:
    name, brokers = RUNS[-1]
    run = run_seed(partial(PROGRAMS[name], brokers=brokers), SEED, WITHIN_S)
    assert run.hash == told(sys.executable, "1")[f"{name} {brokers}"][0]


@pytest.mark.parametrize("number", range(2))
def test_a_seed_is_a_run_whatever_the_python(number: int) -> None:
    others = other_pythons()
    if number >= len(others):
        pytest.skip("this checkout has no further environment")
    assert told(sys.executable, "1") == told(others[number], "2")


if __name__ == "__main__":
    sys.stdout.write(json.dumps(all_runs()))
