"""Faults of a simulation: a plan is drawn from the seed beforehand, and then carried out.

A fault of a plan is data, so a plan can be made smaller: without some of its faults, the others
stay as they are. Each seed has a mix of its own: it leaves out about half of the kinds.

At most one broker at a time loses what it has: Kafka promises nothing if more than one of three
loses what it has not synced. Several may be killed, whose files stay: then leaders are elected from
those that were in sync. The controller may be down at the same time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from random import Random
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

from fencepost_broker.server.embedded.cluster import CONTROLLER_ID
from fencepost_broker.storage.disk.faults import DiskFault, DiskFull, FailingSync, SlowDisk

if TYPE_CHECKING:
    from fencepost_broker.simulation.cluster import SimulatedCluster
    from fencepost_broker.simulation.loop import SimLoop
    from fencepost_broker.simulation.restarting import Restarting
    from fencepost_broker.simulation.timeline import Timeline

_LASTS_S: Final = (0.05, 0.5, 2.0, 6.0)
_SLOW_S: Final = (0.05, 0.3)
_SYNC_MS: Final = 500
_JUMPS_S: Final = (-30.0, -1.0, 1.0, 30.0)
_DRIFTS: Final = (-0.05, -0.001, 0.001, 0.05)
_T = TypeVar("_T")


class Fault(NamedTuple):
    """A fault of a plan."""

    number: int
    kind: str
    at_s: float
    """When it begins, after the plan does."""
    lasts_s: float
    first: float
    """A number from 0 to 1 that selects a broker, process or connection of those that there are."""
    second: float
    """The same for another one, or for what happens to it."""

    def __str__(self) -> str:
        return f"fault {self.number}: {self.kind}"


def draw_plan(
    random: Random, kinds: Iterable[str], intensity: float, for_s: float, first_number: int = 0
) -> list[Fault]:
    """Draw faults from a seed; ``intensity`` is 0 (hardly any) to 1 (several at a time)."""
    if not 0 <= intensity <= 1:
        raise ValueError(f"the intensity is 0 to 1, not {intensity}")
    weights = {each: random.choice((0.0, random.random())) for each in kinds}
    if not any(weights.values()):
        weights = dict.fromkeys(weights, 1.0)
    mean_s = 8.0 * (1 - intensity) ** 2 + 0.4
    plan: list[Fault] = []
    at_s = random.expovariate(1 / mean_s)
    while at_s < for_s:
        [kind] = random.choices(list(weights), list(weights.values()))
        number = first_number + len(plan)
        lasts_s = random.choice(_LASTS_S)
        plan.append(Fault(number, kind, at_s, lasts_s, random.random(), random.random()))
        at_s += random.expovariate(1 / mean_s)
    return plan


class FaultsOfCluster:
    """Carries out the faults of a plan."""

    def __init__(
        self,
        loop: SimLoop,
        cluster: SimulatedCluster,
        timeline: Timeline,
        restarting: Mapping[str, Restarting],
    ) -> None:
        """``restarting`` are the processes that may be killed, by name."""
        self._loop = loop
        self._network = loop.network
        self._timeline = timeline
        self._restarting = restarting
        self._cluster = cluster
        self._down: set[str] = set()
        """The kinds of nodes of which one is down."""

    async def run(self, plan: Iterable[Fault]) -> None:
        """Begin each fault at its time, and return after the last one has ended."""
        start_s = self._loop.time()
        async with asyncio.TaskGroup() as group:
            for fault in plan:
                await asyncio.sleep(start_s + fault.at_s - self._loop.time())
                group.create_task(self._one(fault))

    async def _one(self, fault: Fault) -> None:
        if not self._cluster.brokers or len(self._names()) < 2:
            self._note(fault, "not done: too little runs")
        elif fault.kind in _OF_A_BROKER:
            with self._alone(fault, "broker") as is_alone:
                if is_alone:
                    await _OF_A_BROKER[fault.kind](self, fault, self._broker(fault))
        elif fault.kind in _OF_THE_CONTROLLER:
            with self._alone(fault, "controller") as is_alone:
                if is_alone:
                    await _OF_THE_CONTROLLER[fault.kind](self, fault)
        else:
            await _OTHERS[fault.kind](self, fault)

    @contextmanager
    def _alone(self, fault: Fault, node: str) -> Iterator[bool]:
        """Give whether no other such node is down; meanwhile, this one is."""
        if node in self._down:
            self._note(fault, f"not done: a {node} is down")
            yield False
            return
        self._down.add(node)
        try:
            yield True
        finally:
            self._down.remove(node)

    def _note(self, fault: Fault, what: str) -> None:
        self._timeline.note(f"{fault}: {what}")

    def _begin(self, fault: Fault, what: str) -> None:
        self._timeline.faults[fault.kind] += 1
        self._note(fault, what)

    def _broker(self, fault: Fault) -> int:
        return _selected(fault.first, sorted(self._cluster.brokers))

    # -- brokers ---------------------------------------------------------------------------------

    async def _stop(self, fault: Fault, broker: int) -> None:
        self._begin(fault, f"broker {broker} stops for {fault.lasts_s:g} s")
        await self._cluster.stop_broker(broker)
        await self._start_again(fault, broker)

    async def _kill(self, fault: Fault, broker: int) -> None:
        self._begin(fault, f"broker {broker} is killed for {fault.lasts_s:g} s")
        await self._cluster.kill(broker)
        await self._start_again(fault, broker)

    async def _kill_several(self, fault: Fault, broker: int) -> None:
        """Kill two brokers or more, one after the other.

        They start in the same order: the first one lacks what the others have written after it.
        """
        others = [each for each in sorted(self._cluster.brokers) if each != broker]
        if not others:
            self._note(fault, "not done: one broker runs")
            return
        least = max(len(others) // 2, 1)  # no majority runs then
        killed = [broker, *others[: _selected(fault.second, range(least, len(others) + 1))]]
        named = " and ".join(map(str, killed))
        self._begin(fault, f"brokers {named} are killed, each for {fault.lasts_s:g} s or more")
        apart_s = fault.second * 10 % 1 * fault.lasts_s
        for each in killed:
            await self._cluster.kill(each)
            await asyncio.sleep(apart_s)
        await asyncio.sleep(fault.lasts_s)
        for each in killed:
            await self._cluster.start_surely(each)
            await asyncio.sleep(apart_s)
        self._note(fault, f"brokers {named} run again")

    async def _cut_power(self, fault: Fault, broker: int) -> None:
        if not self._cluster.is_in_sync:
            self._note(fault, "not done: a replica is not in sync")
            return
        self._begin(fault, f"broker {broker} loses power for {fault.lasts_s:g} s")
        await self._cluster.kill(broker, power_cut=True)
        await self._start_again(fault, broker)
        await self._cluster.wait_until_in_sync()

    async def _lose_disk(self, fault: Fault, broker: int) -> None:
        if len(self._cluster.brokers) < 2 or not self._cluster.is_in_sync:
            self._note(fault, "not done: no other replica has all")
            return
        self._begin(fault, f"broker {broker} loses its disk, and is away for {fault.lasts_s:g} s")
        await self._cluster.kill(broker)
        self._cluster.lose_disk(broker)
        await self._start_again(fault, broker)
        await self._cluster.wait_until_in_sync()

    async def _skew(self, fault: Fault, broker: int) -> None:
        by_s = _selected(fault.second, _JUMPS_S)
        self._begin(fault, f"broker {broker} is killed; after it, its clock is {by_s:+g} s ahead")
        await self._cluster.kill(broker)
        self._cluster.processes[broker].clock_ahead_s = by_s
        await self._start_again(fault, broker)

    async def _start_again(self, fault: Fault, broker: int) -> None:
        await asyncio.sleep(fault.lasts_s)
        await self._cluster.start_surely(broker)
        self._note(fault, f"broker {broker} runs again")

    async def _pause(self, fault: Fault, broker: int) -> None:
        self._begin(fault, f"broker {broker} stands still for {fault.lasts_s:g} s")
        self._cluster.pause(broker)
        await asyncio.sleep(fault.lasts_s)
        self._cluster.resume(broker)

    async def _disk(self, fault: Fault, broker: int, what: DiskFault) -> None:
        node = self._cluster.brokers[broker]
        self._begin(fault, f"of broker {broker}, for {fault.lasts_s:g} s")
        loaded = node.disk.add(what)
        await asyncio.sleep(fault.lasts_s)
        loaded.remove()
        self._note(fault, f"it has changed {loaded.fired} operations")
        if what.reason and broker in self._cluster.brokers:
            # A log takes no records after a failed sync until its broker is started again.
            await self._cluster.kill(broker)
            await self._cluster.start_surely(broker)

    async def _disk_full(self, fault: Fault, broker: int) -> None:
        await self._disk(fault, broker, DiskFull(after_bytes=int(fault.second * 100_000)))

    async def _failing_sync(self, fault: Fault, broker: int) -> None:
        await self._disk(fault, broker, FailingSync())

    # -- the controller --------------------------------------------------------------------------

    async def _kill_controller(self, fault: Fault) -> None:
        self._begin(fault, f"the controller is killed for {fault.lasts_s:g} s")
        self._cluster.kill_controller()
        await asyncio.sleep(fault.lasts_s)
        await self._cluster.start_controller()
        self._note(fault, "the controller runs again")

    async def _pause_controller(self, fault: Fault) -> None:
        self._begin(fault, f"the controller stands still for {fault.lasts_s:g} s")
        self._cluster.pause(CONTROLLER_ID)
        await asyncio.sleep(fault.lasts_s)
        self._cluster.resume(CONTROLLER_ID)

    # -- others ----------------------------------------------------------------------------------

    async def _slow_disk(self, fault: Fault) -> None:
        await self._disk(fault, self._broker(fault), SlowDisk(sync_ms=_SYNC_MS))

    async def _jump(self, fault: Fault) -> None:
        broker, by_s = self._broker(fault), _selected(fault.second, _JUMPS_S)
        self._begin(fault, f"the clock of broker {broker} jumps by {by_s:+g} s")
        self._cluster.processes[broker].clock_ahead_s += by_s

    async def _drift(self, fault: Fault) -> None:
        broker, by = self._broker(fault), _selected(fault.second, _DRIFTS)
        self._begin(fault, f"the clock of broker {broker} gains {by:+g} s each second")
        process = self._cluster.processes[broker]
        process.set_drift(by, self._loop.time())
        await asyncio.sleep(fault.lasts_s)
        process.set_drift(0, self._loop.time())

    def _names(self) -> list[str]:
        return sorted({each.process.name for each in self._network.ends})

    def _two(self, fault: Fault) -> tuple[str, str]:
        names = self._names()
        one = _selected(fault.first, names)
        names.remove(one)
        return one, _selected(fault.second, names)

    async def _cut(self, fault: Fault) -> None:
        one, other = self._two(fault)
        self._begin(fault, f"nothing gets between {one} and {other} for {fault.lasts_s:g} s")
        await self._cut_ways(fault, [(one, other), (other, one)])

    async def _cut_one_way(self, fault: Fault) -> None:
        one, other = self._two(fault)
        self._begin(fault, f"nothing gets from {one} to {other} for {fault.lasts_s:g} s")
        await self._cut_ways(fault, [(one, other)])

    async def _cut_ways(self, fault: Fault, ways: list[tuple[str, str]]) -> None:
        for way in ways:
            self._network.cut(*way)
        await asyncio.sleep(fault.lasts_s)
        for way in ways:
            self._network.heal(*way)

    async def _slow_link(self, fault: Fault) -> None:
        one, other = self._two(fault)
        self._begin(fault, f"the way from {one} to {other} is slow for {fault.lasts_s:g} s")
        self._network.slow(one, other, _SLOW_S)
        await asyncio.sleep(fault.lasts_s)
        self._network.slow(one, other, None)

    async def _slow(self, fault: Fault) -> None:
        self._begin(fault, f"the network is slow for {fault.lasts_s:g} s")
        before, self._network.latency_s = self._network.latency_s, _SLOW_S
        await asyncio.sleep(fault.lasts_s)
        self._network.latency_s = before

    async def _drip(self, fault: Fault) -> None:
        self._begin(fault, f"bytes arrive one by one for {fault.lasts_s:g} s")
        self._network.is_dripping = True
        await asyncio.sleep(fault.lasts_s)
        self._network.is_dripping = False

    async def _reset(self, fault: Fault) -> None:
        ends = list(self._network.ends)
        if ends:
            end = _selected(fault.first, ends)
            self._begin(fault, f"a connection breaks: {end}")
            self._network.reset(end)

    async def _half_open(self, fault: Fault) -> None:
        ends = list(self._network.ends)
        if ends:
            end = _selected(fault.first, ends)
            self._begin(fault, f"a connection is half open: {end}")
            self._network.vanish(end)

    async def _restart_process(self, fault: Fault) -> None:
        names = sorted(self._restarting)
        if names:
            name = _selected(fault.first, names)
            self._begin(fault, f"{name} is killed, and started again")
            self._restarting[name].kill()


def _selected(number: float, among: Sequence[_T]) -> _T:
    return among[int(number * len(among))]


_OF_A_BROKER: Final[Mapping[str, Callable[[FaultsOfCluster, Fault, int], Awaitable[None]]]] = {
    "stop": FaultsOfCluster._stop,
    "kill": FaultsOfCluster._kill,
    "kill of several": FaultsOfCluster._kill_several,
    "power cut": FaultsOfCluster._cut_power,
    "lost disk": FaultsOfCluster._lose_disk,
    "restart with another time": FaultsOfCluster._skew,
    "pause": FaultsOfCluster._pause,
    "disk full": FaultsOfCluster._disk_full,
    "failing fsync": FaultsOfCluster._failing_sync,
}
_OF_THE_CONTROLLER: Final[Mapping[str, Callable[[FaultsOfCluster, Fault], Awaitable[None]]]] = {
    "kill of the controller": FaultsOfCluster._kill_controller,
    "pause of the controller": FaultsOfCluster._pause_controller,
}
_OTHERS: Final[Mapping[str, Callable[[FaultsOfCluster, Fault], Awaitable[None]]]] = {
    "slow disk": FaultsOfCluster._slow_disk,
    "clock jump": FaultsOfCluster._jump,
    "clock drift": FaultsOfCluster._drift,
    "cut": FaultsOfCluster._cut,
    "cut one way": FaultsOfCluster._cut_one_way,
    "slow way": FaultsOfCluster._slow_link,
    "slow network": FaultsOfCluster._slow,
    "byte by byte": FaultsOfCluster._drip,
    "reset": FaultsOfCluster._reset,
    "half open": FaultsOfCluster._half_open,
    "restart of a process": FaultsOfCluster._restart_process,
}
KINDS: Final = (*_OF_A_BROKER, *_OF_THE_CONTROLLER, *_OTHERS)
