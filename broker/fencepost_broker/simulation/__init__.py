"""Whole clusters and asyncio programs in one process, in virtual time: a seed is a run.

``simulate`` runs a coroutine function with each of many seeds. Brokers, clients and the program's
own code are the real ones; what is simulated is below them: the event loop, its time, the network,
and chance. The same seed gives the same run.

    simulation.py   runs a program with seeds, and what the program is given
    loop.py         an event loop whose time jumps to the next timer
    network.py      connections in memory, with latency, cuts and resets
    escapes.py      time and chance of a program come from the simulation; threads are refused
    faults.py       brokers that stop, ways that are cut, connections that break, by a seed
    programs.py     programs that ``fencepost simulate`` has by itself
"""

from __future__ import annotations

from fencepost_broker.simulation.loop import SimulationError, SimulationStuckError
from fencepost_broker.simulation.simulation import Run, Simulation, SimulationFailedError, simulate

__all__ = [
    "Run",
    "Simulation",
    "SimulationError",
    "SimulationFailedError",
    "SimulationStuckError",
    "simulate",
]
