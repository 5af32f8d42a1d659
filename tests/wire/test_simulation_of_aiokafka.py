"""The examples with aiokafka's open issues: each fails with what the issue describes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples" / "simulation"


@pytest.mark.parametrize(
    ("program", "error"),
    [
        ("lookups", "Unexpected error during batch delivery"),
        ("callbacks", "too early"),
        ("verifications", "StaleLeaderEpochCodeError"),
    ],
)
def test_a_seed_shows_it(program: str, error: str) -> None:
    command = [sys.executable, "-m", "fencepost_broker", "simulate", f"with_aiokafka:{program}"]
    done = subprocess.run(
        [*command, "--seeds", "10", "--no-shrink"],
        cwd=EXAMPLES,
        env={**os.environ, "AIOKAFKA_NO_EXTENSIONS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stderr[-2000:]
    assert error in done.stderr, done.stderr[-2000:]
