"""The built-in programs of the simulator with 300 seeds; ``make simulate`` runs thousands.

A seed here has its faults within 6 virtual seconds, and more of them in a second than there. All
seeds together cost some two minutes of CPU.
"""

from __future__ import annotations

import pytest
from fencepost_broker.simulation.programs import PROGRAMS
from fencepost_broker.simulation.simulation import Simulation

pytestmark = pytest.mark.slow  # once in CI, and not with each version of Python


@pytest.mark.parametrize("name", sorted(PROGRAMS))
@pytest.mark.parametrize("brokers", [1, 3])
@pytest.mark.simulate(seeds=50)
async def test_a_seed_is_right(sim: Simulation, brokers: int, name: str) -> None:
    await PROGRAMS[name](sim, brokers, for_s=6, intensity=0.8)
