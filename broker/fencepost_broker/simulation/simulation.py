"""What a program of a simulation is given."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping
from contextlib import suppress
from random import Random
from typing import Any, Final, TypeAlias

from fencepost_client.clients.history import History

from fencepost_broker.config import Value
from fencepost_broker.simulation.checks import Checks
from fencepost_broker.simulation.cluster import SimulatedCluster, in_process
from fencepost_broker.simulation.faults import KINDS, Fault, FaultsOfCluster, draw_plan
from fencepost_broker.simulation.invariants import Invariants
from fencepost_broker.simulation.logs import differing_replicas
from fencepost_broker.simulation.loop import SimLoop, SimulationError
from fencepost_broker.simulation.process import Process
from fencepost_broker.simulation.replays import not_as_logged
from fencepost_broker.simulation.restarting import Restarting, again
from fencepost_broker.simulation.timeline import Timeline

Program: TypeAlias = Callable[["Simulation"], Coroutine[Any, Any, object]]
REST_S: Final = 90.0
"""How long nothing is written before all is quiet."""
_REST_MAX_S: Final = 900.0
_LOOK_S: Final = 5.0
_CLOSES_WITHIN_S: Final = 300.0
"""Longer than clients take to abort a transaction or to leave a group."""
_SETTINGS: Final[Mapping[str, Value]] = {"tap.enable": False}


class Simulation:
    """What a program is given: clusters, processes of its own, and faults."""

    def __init__(self, seed: int, loop: SimLoop, kept: frozenset[int] | None = None) -> None:
        """``kept`` are the numbers of the only faults that happen; by default, all do."""
        self.seed = seed
        self.random = Random(f"program {seed}")  # noqa: S311 - no secrets
        """Chance for the program."""
        self.network = loop.network
        self.timeline = Timeline(loop)
        """What has happened, and when: the faults, and what the program notes."""
        self.invariants = Invariants(self._broken)
        """What is looked at whenever a log changes."""
        self.planned: list[Fault] = []
        """All faults that were drawn from the seed."""
        self.restarting: dict[str, Restarting] = {}
        """The processes that faults kill, by name."""
        self._kept = kept
        self._loop = loop
        self._clusters: list[SimulatedCluster] = []
        self._tasks: list[asyncio.Task[Any]] = []
        self._faults: list[asyncio.Task[None]] = []
        self.check = Checks(self._clusters, self.note)
        """Judges what was done so far."""

    def _broken(self, what: str) -> None:
        self.note(what)
        self._loop.stop()

    @property
    def history(self) -> History:
        """What clients do that are given it: ``Producer(bootstrap, history=sim.history)``."""
        return self.check.history

    @property
    def now_s(self) -> float:
        """Virtual seconds since the start."""
        return self._loop.time()

    def note(self, text: str) -> None:
        """Add a line to the timeline, which is printed if the program fails."""
        self.timeline.note(text)

    async def cluster(
        self,
        brokers: int = 3,
        topics: Iterable[str] | Mapping[str, int] = (),
        settings: Mapping[str, Value] | None = None,
    ) -> SimulatedCluster:
        """Start a controller and brokers; they are stopped at the end of the run."""
        cluster = SimulatedCluster(
            self._loop,
            Random(f"disks {self.seed} {len(self._clusters)}"),  # noqa: S311 - no secrets
            self.timeline.reached,
            self.invariants,
            brokers=brokers,
            topics=topics,
            settings={**_SETTINGS, **(settings or {})},
        )
        self._clusters.append(cluster)
        await cluster.start()
        return cluster

    # -- processes -------------------------------------------------------------------------------

    def start(
        self,
        work: Coroutine[Any, Any, Any] | Callable[[], Coroutine[Any, Any, Any]],
        name: str = "",
        *,
        restart: bool = False,
    ) -> asyncio.Task[Any]:
        """Run a part of the program as a process of its own.

        With ``restart``, faults kill the process at any ``await``, and start it again, until it
        returns.
        """
        name = name or f"process-{len(self._tasks) + 1}"
        if not restart:
            running = work() if callable(work) else work
            task = self._loop.create_task(in_process(Process(name), running), name=name)
        else:
            restarting = self.restarting[name] = Restarting(self._loop, name, again(work))
            task = self._loop.create_task(restarting.run(), name=name)
            task.add_done_callback(lambda _: self.restarting.pop(name, None))
        self._tasks.append(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[Any]) -> None:
        if not task.cancelled() and _has_unseen_error(task):
            self.note(f"{task.get_name()} has failed")

    def unseen_error(self) -> BaseException | None:
        """Return the error of a process, or of the faults, that no task has awaited."""
        for task in (*self._tasks, *self._faults):
            if task.done() and not task.cancelled() and _has_unseen_error(task):
                error = task.exception()
                assert error is not None
                error.add_note(f"in process {task.get_name()}")
                return error
        return None

    def kill(self, name: str) -> None:
        """Kill a process that was started with ``restart``; it starts again at once."""
        self.restarting[name].kill()

    # -- faults ----------------------------------------------------------------------------------

    def start_faults(
        self, intensity: float = 0.5, for_s: float = 60.0, kinds: Iterable[str] = KINDS
    ) -> None:
        """Let faults happen from now on; ``quiet`` waits for their end.

        ``intensity`` is 0 (hardly any) to 1 (several at a time). Each seed has a mix of ``kinds``
        of its own.
        """
        for cluster in self._clusters:
            first = len(self.planned)
            random = Random(f"faults {self.seed} {first}")  # noqa: S311 - no secrets
            plan = draw_plan(random, kinds, intensity, for_s, first)
            self.planned += plan
            happening = [each for each in plan if self._kept is None or each.number in self._kept]
            run = FaultsOfCluster(self._loop, cluster, self.timeline, self.restarting)
            self._faults.append(self._loop.create_task(run.run(happening), name="faults"))

    async def quiet(self, rest_s: float = REST_S) -> None:
        """Wait until faults have ended, what they broke is well, and nothing more is written.

        Nothing more is written if no transaction is open and all logs but those of committed
        offsets stay the same for ``rest_s`` seconds, which is longer than dead members and
        transactions live by default. With 0, it does not wait for that.
        """
        faults, self._faults = self._faults, []
        for each in faults:
            await each
        self.network.mend()
        for cluster in self._clusters:
            await cluster.heal()
        if rest_s > 0:
            await self._rest(rest_s)
            for cluster in self._clusters:
                for replica in differing_replicas(cluster):
                    self.invariants.fail(f"{replica} is not what its leader has")
            # Before, a broker's own markers may wait for replicas, and no request does.
            await self._check_leaks()
        self._check_replays()
        self.note("all is quiet")

    async def _rest(self, rest_s: float) -> None:
        begun_s = since_s = self.now_s
        before: list[Any] = []
        while self.now_s - since_s < rest_s:
            written = [each.written() for each in self._clusters]
            if written != before or any(each is None or each.is_open for each in written):
                before, since_s = written, self.now_s
            if self.now_s - begun_s > rest_s + _REST_MAX_S:
                raise SimulationError(
                    f"records are still written {_REST_MAX_S:g} s after the faults: stop writing"
                    " first, or call quiet(rest_s=0)"
                )
            await asyncio.sleep(_LOOK_S)

    def _check_replays(self) -> None:
        for cluster in self._clusters:
            for broker_id, server in cluster.servers.items():
                made = server.coordinators.made
                for partition in () if made is None else not_as_logged(made):
                    self.invariants.fail(
                        f"broker {broker_id}: its coordinator of {partition} is not what a replay"
                        " of the log gives"
                    )

    async def _check_leaks(self) -> None:
        if list(self._leaks()):
            await asyncio.sleep(_LOOK_S)  # a connection may be closing right now
            for leak in self._leaks():
                self.invariants.fail(leak)

    def _leaks(self) -> Iterator[str]:
        for cluster in self._clusters:
            yield from cluster.leaks()

    async def close(self) -> None:
        """End all processes and clusters."""
        self._check_replays()
        self.network.mend()
        running = [task for task in (*self._faults, *self._tasks) if not task.done()]
        for task in running:
            task.cancel()
        if running:
            _, goes_on = await asyncio.wait(running, timeout=_CLOSES_WITHIN_S)
            if goes_on:
                names = ", ".join(sorted(task.get_name() for task in goes_on))
                raise SimulationError(f"these go on after they were cancelled: {names}")
        for task in running:
            with suppress(Exception, asyncio.CancelledError):
                await task
        for cluster in self._clusters:
            await cluster.stop()


def _has_unseen_error(task: asyncio.Task[Any]) -> bool:
    """Whether a task has failed and its error was not read: asyncio would log it, too."""
    return bool(task._log_traceback)
