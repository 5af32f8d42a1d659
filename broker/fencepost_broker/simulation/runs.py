"""Runs a program with many seeds."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any, Final

from fencepost_client import KafkaError

from fencepost_broker.simulation.escapes import closed_world
from fencepost_broker.simulation.faults import Fault
from fencepost_broker.simulation.invariants import watched
from fencepost_broker.simulation.loop import SimLoop, SimulationError
from fencepost_broker.simulation.network import End
from fencepost_broker.simulation.process import Process, current_process
from fencepost_broker.simulation.simulation import Program, Simulation
from fencepost_broker.simulation.tap import Tap
from fencepost_broker.simulation.timeline import Timeline

WITHIN_S: Final = 3600.0
"""The virtual time that a program may take."""
_END_S: Final = 1.0
"""The virtual time that tasks have to clean up after a run, until they are cancelled again."""
_END_ROUNDS: Final = 30
_AWAITS_MAX: Final = 100
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
    timeline: list[tuple[float, str]] = field(default_factory=list)
    """The faults and the notes of the program, and when they were."""
    faults: Counter[str] = field(default_factory=Counter)
    """How many faults there were, by kind."""
    steps: Counter[str] = field(default_factory=Counter)
    """The steps of transactions that brokers have reached, by name."""
    planned: list[Fault] = field(default_factory=list)
    """The faults that were drawn from the seed."""

    events: int = 0
    """How often something happened on a connection: bytes arrived, or it was opened or closed."""
    told: str = ""
    """What the error was that another process has had."""

    @property
    def is_right(self) -> bool:
        """Whether all went as it should."""
        return self.error is None and not self.told

    @property
    def verdict(self) -> str:
        """``ok``, or the error in a line."""
        if self.error is None:
            return self.told or "ok"
        text = str(self.error).partition("\n")[0]
        notes = "".join(f" ({each})" for each in getattr(self.error, "__notes__", ()))
        return f"{type(self.error).__name__}: {text}"[:500] + notes.partition("\n")[0]

    def without_error(self) -> Run:
        """Return the same for another process, which may not know the error's class."""
        told = "" if self.error is None else self.verdict
        return replace(self, error=None, told=told)


class SimulationFailedError(AssertionError):
    """A program failed with a seed; the cause is its error."""

    def __init__(self, program: Program, run: Run) -> None:
        name = getattr(program, "__name__", "program")
        super().__init__(
            f"{name} failed with seed {run.seed} after {run.simulated_s:.3f} virtual seconds:"
            f" {run.verdict}; run it again with simulate({name}, [{run.seed}])"
        )
        self.run = run


def run_seed(
    program: Program,
    seed: int,
    within_s: float = WITHIN_S,
    kept: frozenset[int] | None = None,
    tell: Callable[[str], object] | None = None,
) -> Run:
    """Run a program with a seed; ``kept`` are the numbers of the only faults that happen.

    ``tell`` is called with a line for each request, each answer, and each line of the timeline.
    """
    if asyncio._get_running_loop() is not None:
        raise RuntimeError("a simulation runs an event loop of its own: start it outside of one")
    begun_s = _cpu_s()
    loop = SimLoop(Random(f"network {seed}"))  # noqa: S311 - no secrets
    loop.set_exception_handler(lambda _, context: unheard.append(context))
    simulation = Simulation(seed, loop, kept)
    if tell is not None:
        _tap(loop, simulation.timeline, tell)
    unheard: list[dict[str, Any]] = []
    error: BaseException | None = None
    chance = Random(f"chance {seed}")  # noqa: S311 - no secrets
    with closed_world(loop, chance):
        asyncio.set_event_loop(loop)
        try:
            with watched(simulation.invariants):
                loop.run_until_complete(_bounded(program, simulation, within_s))
        except Exception as raised:  # noqa: BLE001 - it is the run's result
            error = _only_one(raised)
        error = simulation.invariants.error or error
        if error is None or isinstance(error, SimulationError):  # such as its time limit
            error = simulation.unseen_error() or error
        if error is None and unheard:
            error = _unheard(unheard[0])
        digest, simulated_s = loop.network.digest, loop.time()
        try:
            _end(loop)
        finally:
            asyncio.set_event_loop(None)
            loop.close()
    return Run(
        seed, digest, simulated_s, _cpu_s() - begun_s, error,
        simulation.timeline.lines, simulation.timeline.faults, simulation.timeline.steps,
        simulation.planned, loop.network.events,
    )  # fmt: skip


async def _bounded(program: Program, simulation: Simulation, within_s: float) -> None:
    try:
        async with asyncio.timeout(within_s) as limit:
            try:
                current_process.set(Process("program"))
                await program(simulation)
            finally:
                await simulation.close()
    except TimeoutError:
        if limit.expired():
            raise SimulationError(f"the program has not ended within {within_s:g} s") from None
        raise


def _tap(loop: SimLoop, timeline: Timeline, tell: Callable[[str], object]) -> None:
    def tell_at(text: str) -> None:
        tell(f"{loop.time():11.6f}  {text}")

    def written(end: End, data: bytes) -> None:
        way = (end.process.name, end.other.process.name)
        tap.written(end.number // 2, *way, data, by_client=end.number % 2 == 0)

    tap = Tap(tell_at)
    timeline.on_line = tell_at
    loop.network.tap = written


def _end(loop: SimLoop) -> None:
    """Cancel what is left, and close connections."""
    loop.revive()
    left: Iterable[asyncio.Task[Any]] = ()
    with suppress(SimulationError):
        for _ in range(_END_ROUNDS):  # what a task awaits while it cleans up is cancelled, too
            left = sorted(asyncio.all_tasks(loop), key=lambda task: task.get_name())
            if not left:
                break
            for task in left:
                task.cancel()
            loop.run_until_complete(asyncio.wait(left, timeout=_END_S))
    for task in asyncio.all_tasks(loop):  # of a killed process, half of which is gone
        task._log_destroy_pending = False  # type: ignore[attr-defined]
        _close(task.get_coro())
    for end in list(loop.network.ends):
        end.abort()


def _close(work: Any) -> None:
    """Close a coroutine, past what it awaits in order to clean up."""
    for _ in range(_AWAITS_MAX):
        try:
            with suppress(KafkaError, OSError):
                work.close()
        except RuntimeError:  # it has awaited
            continue
        return


def _only_one(error: BaseException) -> BaseException:
    """Return the error in a group of one."""
    while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    return error


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
