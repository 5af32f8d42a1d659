"""Damaged data directories, in a short form; ``make damaged-directory`` runs all cells."""

from __future__ import annotations

import pytest

from tests.hostile.damaged_directory import WRONG, run

pytestmark = pytest.mark.asyncio(loop_factories=["asyncio"])  # files are all that matters
CELLS = 60


@pytest.mark.slow
async def test_no_damage_of_a_data_directory_goes_in_silence() -> None:
    outcomes = await run("short", CELLS)
    assert len(outcomes) == CELLS
    wrong = [(cell, came, why) for cell, (came, why) in outcomes.items() if came in WRONG]
    assert not wrong
    assert {came for came, _ in outcomes.values()} >= {"whole", "healed", "cut", "refused"}
