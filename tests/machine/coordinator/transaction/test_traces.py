"""Every trace in ``traces/`` comes out as it is written there."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.machine.coordinator.transaction import trace_player

FOLDER = Path(__file__).parent / "traces"
CASES = [
    (path, index, scenario.title)
    for path in sorted(FOLDER.glob("*.txt"))
    for index, scenario in enumerate(trace_player.read(path)[1])
]


@pytest.mark.parametrize(
    ("path", "index"),
    [case[:2] for case in CASES],
    ids=[f"{path.stem}: {title}" for path, _, title in CASES],
)
def test_a_trace(path: Path, index: int) -> None:
    heading, scenarios = trace_player.read(path)
    scenario = scenarios[index]
    player = trace_player.Player()
    told = [player.play(step) for step in scenario.steps]
    if os.environ.get("UPDATE_TRACES"):
        for step, outcome in zip(scenario.steps, told, strict=True):
            step.told = outcome
        trace_player.write(path, heading, scenarios)
    for step, outcome in zip(scenario.steps, told, strict=True):
        assert outcome == step.told, f"{scenario.title}: {step.asked}"


def test_there_are_traces() -> None:
    assert len(CASES) > 50
