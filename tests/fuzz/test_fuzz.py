"""A bounded run of every fuzz target; ``make fuzz`` runs them for as long as you like."""

from __future__ import annotations

import importlib
import random
from pathlib import Path

import pytest

from tests.fuzz.mutate import mutated

RUNS = 3_000
TARGETS = sorted(path.stem for path in Path(__file__).parent.glob("fuzz_*.py"))


@pytest.mark.parametrize("name", TARGETS)
def test_a_target_survives_mutated_input(name: str) -> None:
    module = importlib.import_module(f"tests.fuzz.{name}")
    rng = random.Random(f"fuzz/{name}")
    for seed in module.SEEDS:
        module.target(seed)
    for run in range(RUNS):
        data = mutated(rng.choice(module.SEEDS), rng.choice(module.SEEDS), rng)
        try:
            module.target(data)
        except Exception as error:
            raise AssertionError(f"run {run} of {name}: {data.hex()}") from error
