"""The built-in programs of the simulator with some seeds each; ``make simulate`` runs thousands.

These 78 seeds cost some 55 s of CPU; 300 would cost four times as much.
"""

from __future__ import annotations

import pytest
from fencepost_broker.simulation.programs import PROGRAMS
from fencepost_broker.simulation.simulation import Simulation

pytestmark = pytest.mark.slow  # once in CI, and not with each version of Python

NAMES = sorted(PROGRAMS)


@pytest.mark.simulate(seeds=20)
@pytest.mark.parametrize("name", NAMES)
async def test_one_broker(sim: Simulation, name: str) -> None:
    await PROGRAMS[name](1)(sim)


@pytest.mark.simulate(seeds=6)
@pytest.mark.parametrize("name", NAMES)
async def test_three_brokers(sim: Simulation, name: str) -> None:
    await PROGRAMS[name](3)(sim)
