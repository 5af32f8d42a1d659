"""The built-in programs of the simulator with some seeds each; ``make simulate`` runs thousands.

300 seeds would cost 200 to 800 s of CPU; these 26 cost some 30 s.
"""

from __future__ import annotations

import pytest
from fencepost_broker.simulation.programs import PROGRAMS
from fencepost_broker.simulation.simulation import Simulation

NAMES = sorted(PROGRAMS)


@pytest.mark.simulate(seeds=10)
@pytest.mark.parametrize("name", NAMES)
async def test_one_broker(sim: Simulation, name: str) -> None:
    await PROGRAMS[name](1)(sim)


@pytest.mark.simulate(seeds=3)
@pytest.mark.parametrize("name", NAMES)
async def test_three_brokers(sim: Simulation, name: str) -> None:
    await PROGRAMS[name](3)(sim)
