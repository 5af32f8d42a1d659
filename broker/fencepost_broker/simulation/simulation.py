"""Runs a program with many seeds."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Iterable, Mapping
from contextlib import suppress
from contextvars import copy_context
from dataclasses import dataclass
from random import Random
from typing import Any, Final, TypeAlias

from fencepost_broker.config import Value
from fencepost_broker.server.embedded.cluster import CONTROLLER_ID, Cluster
from fencepost_broker.simulation.escapes import closed_world
from fencepost_broker.simulation.loop import SimLoop, SimulationError
from fencepost_broker.simulation.network import process_name

Program: TypeAlias = Callable[["Simulation"], Coroutine[Any, Any, object]]
WITHIN_S: Final = 3600.0
"""The virtual time that a program may take."""
_SETTINGS: Final[Mapping[str, Value]] = {"tap.enable": False}
_cpu_s: Final = time.process_time


@dataclass(frozen=True)
class Run:
    """How a program ran with a seed."""

    seed: int
    hash: str
    """Over all bytes that were received, and when: two equal runs have the same."""
    simulated_s: float
    cpu_s: float
    error: BaseException | None = None

    @property
    def verdict(self) -> str:
        """``ok``, or the error in a line."""
        if self.error is None:
            return "ok"
        text = str(self.error).partition("\n")[0]
        return f"{type(self.error).__name__}: {text}"[:500]


class SimulationFailedError(AssertionError):
    """A program failed with a seed; the cause is its error."""

    def __init__(self, program: Program, run: Run) -> None:
        name = getattr(program, "__name__", "program")
        super().__init__(
            f"{name} failed with seed {run.seed} after {run.simulated_s:.3f} virtual seconds:"
            f" {run.verdict}; run it again with simulate({name}, [{run.seed}])"
        )
        self.run = run


class SimulatedCluster(Cluster):
    """A cluster whose brokers are processes of the simulation: ``broker-1`` and on."""

    async def _start(self, node_id: int, topics: Any = ()) -> None:
        name = "controller" if node_id == CONTROLLER_ID else f"broker-{node_id}"
        await in_process(name, super()._start(node_id, topics))


async def in_process(name: str, work: Coroutine[Any, Any, Any]) -> Any:
    """Do work as a process of the simulation."""
    context = copy_context()
    context.run(process_name.set, name)
    return await asyncio.get_running_loop().create_task(work, context=context)


class Simulation:
    """What a program is given: clusters, processes of its own, and faults."""

    def __init__(self, seed: int, loop: SimLoop) -> None:
        self.seed = seed
        self.random = Random(f"program {seed}")  # noqa: S311 - no secrets
        """Chance for the program."""
        self.network = loop.network
        self._loop = loop
        self._clusters: list[SimulatedCluster] = []
        self._tasks: list[asyncio.Task[Any]] = []

    @property
    def now_s(self) -> float:
        """Virtual seconds since the start."""
        return self._loop.time()

    async def cluster(
        self,
        brokers: int = 3,
        topics: Iterable[str] | Mapping[str, int] = (),
        settings: Mapping[str, Value] | None = None,
    ) -> SimulatedCluster:
        """Start a controller and brokers; they are stopped at the end of the run."""
        cluster = SimulatedCluster(
            brokers=brokers, topics=topics, settings={**_SETTINGS, **(settings or {})}
        )
        self._clusters.append(cluster)
        await cluster.start()
        return cluster

    def start(self, work: Coroutine[Any, Any, Any], name: str = "") -> asyncio.Task[Any]:
        """Run a part of the program as a process of its own."""
        name = name or f"process-{len(self._tasks) + 1}"
        task = self._loop.create_task(in_process(name, work), name=name)
        self._tasks.append(task)
        return task

    async def close(self) -> None:
        """End all processes and clusters."""
        for task in self._tasks:
            task.cancel()
        for task in self._tasks:
            with suppress(Exception, asyncio.CancelledError):
                await task
        for cluster in self._clusters:
            await cluster.stop()


def run_seed(program: Program, seed: int, within_s: float = WITHIN_S) -> Run:
    """Run a program with a seed."""
    if asyncio._get_running_loop() is not None:
        raise RuntimeError("a simulation runs an event loop of its own: start it outside of one")
    begun_s = _cpu_s()
    loop = SimLoop(Random(f"network {seed}"))  # noqa: S311 - no secrets
    loop.set_exception_handler(lambda _, context: unheard.append(context))
    unheard: list[dict[str, Any]] = []
    error: BaseException | None = None
    with closed_world(loop, Random(f"chance {seed}")):  # noqa: S311 - no secrets
        asyncio.set_event_loop(loop)
        try:
            loop.run_until_complete(_bounded(program, Simulation(seed, loop), within_s))
        except Exception as raised:  # noqa: BLE001 - it is the run's result
            error = raised
        if error is None and unheard:
            error = _unheard(unheard[0])
        digest, simulated_s = loop.network.digest, loop.time()
        try:
            _end(loop)
        finally:
            asyncio.set_event_loop(None)
            loop.close()
    return Run(seed, digest, simulated_s, _cpu_s() - begun_s, error)


async def _bounded(program: Program, simulation: Simulation, within_s: float) -> None:
    try:
        async with asyncio.timeout(within_s) as limit:
            try:
                await program(simulation)
            finally:
                await simulation.close()
    except TimeoutError:
        if limit.expired():
            raise SimulationError(f"the program has not ended within {within_s:g} s") from None
        raise


def _end(loop: SimLoop) -> None:
    """Cancel what is left, and close connections."""
    tasks = sorted(asyncio.all_tasks(loop), key=lambda task: task.get_name())
    for task in tasks:
        task.cancel()
    if tasks:
        with suppress(SimulationError):
            loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
    for end in list(loop.network.ends):
        end.abort()


def _unheard(context: Mapping[str, Any]) -> BaseException:
    error: BaseException | None = context.get("exception")
    return error if error is not None else SimulationError(str(context.get("message")))


def simulate(
    program: Program,
    seeds: int | Iterable[int] = 100,
    *,
    within_s: float = WITHIN_S,
    told: Callable[[Run], object] = lambda _: None,
) -> list[Run]:
    """Run a program with each seed; the first failure ends it.

    ``seeds`` are 0 to ``seeds - 1``, or those that are given. Raises ``SimulationFailedError``,
    which names the seed and has the program's error as its cause.
    """
    runs = []
    for seed in range(seeds) if isinstance(seeds, int) else seeds:
        run = run_seed(program, seed, within_s)
        told(run)
        runs.append(run)
        if run.error is not None:
            raise SimulationFailedError(program, run) from run.error
    return runs
