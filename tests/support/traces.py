"""Traces: what is asked of a machine, and below ``----`` all that comes of it.

A file is a family, ``== title`` begins a scenario with a machine of its own; notes may follow. A
step is one command (or several lines of them), ``----``, and the outcome, up to an empty line. With
``UPDATE_TRACES=1`` outcomes are written anew, to be read before they are committed.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

_RULE: Final = "----"


@dataclass
class Step:
    """Commands, and their outcome as it is written."""

    asked: list[str]
    told: list[str]


@dataclass
class Scenario:
    """Steps with a machine of their own."""

    title: str
    notes: list[str]
    steps: list[Step]


class Player(Protocol):
    """Plays a scenario."""

    def play(self, step: Step) -> list[str]:
        """The outcome of a step."""
        ...


def cases(folder: Path) -> dict[str, tuple[Path, int]]:
    """File and number of every scenario, by what a test is called for it."""
    return {
        f"{path.stem}: {scenario.title}": (path, index)
        for path in sorted(folder.glob("*.txt"))
        for index, scenario in enumerate(read(path)[1])
    }


def check(path: Path, index: int, player: Player) -> None:
    """Play a scenario, and compare with what is written, or write it."""
    heading, scenarios = read(path)
    scenario = scenarios[index]
    told = [player.play(step) for step in scenario.steps]
    if os.environ.get("UPDATE_TRACES"):
        for step, outcome in zip(scenario.steps, told, strict=True):
            step.told = outcome
        write(path, heading, scenarios)
    for step, outcome in zip(scenario.steps, told, strict=True):
        assert outcome == step.told, f"{scenario.title}: {step.asked}"


def read(path: Path) -> tuple[list[str], list[Scenario]]:
    """A file's heading and its scenarios."""
    heading, *parts = re.split(r"^== ", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return heading.rstrip().splitlines(), [_scenario(part) for part in parts]


def _scenario(text: str) -> Scenario:
    title, _, rest = text.partition("\n")
    blocks = [block.splitlines() for block in re.split(r"\n\s*\n", rest.strip("\n"))]
    notes = blocks.pop(0) if blocks[0][0].startswith("#") else []
    steps = []
    for block in blocks:
        at = block.index(_RULE) if _RULE in block else len(block)
        steps.append(Step(block[:at], block[at + 1 :]))
    return Scenario(title, notes, steps)


def write(path: Path, heading: list[str], scenarios: list[Scenario]) -> None:
    """The file anew."""
    parts = ["\n".join(heading)]
    for scenario in scenarios:
        blocks = ["\n".join(scenario.notes)] if scenario.notes else []
        blocks += ["\n".join([*step.asked, _RULE, *step.told]) for step in scenario.steps]
        parts.append("\n\n".join([f"== {scenario.title}", *blocks]))
    path.write_text("\n\n".join(parts) + "\n", encoding="utf-8")
