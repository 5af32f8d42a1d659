"""Faults of a simulated cluster: brokers that stop, ways that are cut, connections that break."""

from __future__ import annotations

import asyncio
from random import Random
from typing import Final

from fencepost_broker.simulation.network import Network
from fencepost_broker.simulation.simulation import SimulatedCluster, Simulation

_KINDS: Final = ("stop", "cut", "cut one way", "reset", "slow")
_SLOW_S: Final = (0.05, 0.3)


class Faults:
    """Makes faults one after another; each seed has a mix of its own."""

    def __init__(self, sim: Simulation, cluster: SimulatedCluster, intensity: float = 0.5) -> None:
        """``intensity`` is 0 (hardly any) to 1 (no rest between them)."""
        self._network: Network = sim.network
        self._cluster = cluster
        self._random = Random(f"faults {sim.seed}")  # noqa: S311 - no secrets
        self._rest_s = 4.0 * (1 - intensity) + 0.05
        self._weights = [self._random.random() for _ in _KINDS]

    async def make(self, count: int) -> None:
        """Make so many faults, and mend each."""
        for _ in range(count):
            await asyncio.sleep(self._random.uniform(0.05, self._rest_s))
            [kind] = self._random.choices(_KINDS, self._weights)
            lasts_s = self._random.choice((0.05, 0.5, 2.0, 6.0))
            match kind:
                case "stop":
                    await self._stop(lasts_s)
                case "cut" | "cut one way":
                    await self._cut(lasts_s, is_one_way=kind == "cut one way")
                case "reset":
                    await self._reset()
                case _:
                    await self._slow(lasts_s)

    async def _stop(self, for_s: float) -> None:
        broker = self._random.choice(list(self._cluster.brokers))
        await self._cluster.stop_broker(broker)
        await asyncio.sleep(for_s)
        await self._cluster.start_broker(broker)

    async def _cut(self, for_s: float, *, is_one_way: bool) -> None:
        names = sorted({each.process for each in self._network.ends})
        one, other = self._random.sample(names, 2)
        ways = [(one, other)] if is_one_way else [(one, other), (other, one)]
        for way in ways:
            self._network.cut(*way)
        await asyncio.sleep(for_s)
        for way in ways:
            self._network.heal(*way)

    async def _reset(self) -> None:
        for _ in range(self._random.randint(1, 12)):
            ends = list(self._network.ends)
            if ends:
                self._network.reset(self._random.choice(ends))
            await asyncio.sleep(self._random.uniform(0, 0.05))

    async def _slow(self, for_s: float) -> None:
        before = self._network.latency_s
        self._network.latency_s = _SLOW_S
        await asyncio.sleep(for_s)
        self._network.latency_s = before
