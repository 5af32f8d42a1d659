"""Whole clusters and asyncio programs in one process, in virtual time: a seed is a run.

``simulate`` runs a coroutine function with each of many seeds. Brokers, clients and the program's
own code are the real ones; what is simulated is below them: the event loop, its time, the network,
and chance. The same seed gives the same run.

    runs.py         runs a program with seeds
    shrinking.py    leaves out faults that a failing run does not need
    picture.py      draws the timeline of a run
    tap.py          names the requests that processes send to each other
    simulation.py   what the program is given
    cluster.py      clusters whose nodes are processes of the simulation
    faults.py       a plan of faults that is drawn from the seed, and what each fault does
    process.py      processes, which are killed and paused, and have clocks of their own
    loop.py         an event loop whose time jumps to the next timer
    network.py      connections in memory, with latency, cuts and resets
    disk.py         disks in memory, which a power cut sets back
    escapes.py      time and chance of a program come from the simulation; threads are refused
    dates.py        datetime of the time of a simulation
    checks.py       judges what a program has done, by histories and logs
    invariants.py   what must hold at each step, whatever the program does
    replays.py      compares coordinators with replays of their logs
    leaks.py        what brokers keep of requests and connections that are gone
    logs.py         reads logs of clusters without a client
    programs/       programs that ``fencepost simulate`` has by itself
"""

from __future__ import annotations

from fencepost_broker.simulation.invariants import InvariantError
from fencepost_broker.simulation.loop import SimulationError, SimulationStuckError
from fencepost_broker.simulation.runs import Run, SimulationFailedError, simulate
from fencepost_broker.simulation.simulation import Simulation

__all__ = [
    "InvariantError",
    "Run",
    "Simulation",
    "SimulationError",
    "SimulationFailedError",
    "SimulationStuckError",
    "simulate",
]
