"""While a simulation runs, time and chance are its own, also in modules that imported them by name.

``from time import monotonic`` binds a function that a change of the module ``time`` does not reach.
So every module is searched for the functions below, and each name is bound to the simulation's one
until the end. Threads, processes, names of other hosts and sleep that blocks are refused, each with
the stack of the code that wanted it.
"""

from __future__ import annotations

import _socket
import os
import random
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from random import Random
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any, Final

from fencepost_broker.network.worker_threads import WorkerThreads
from fencepost_broker.simulation.dates import REAL, SimulatedDatetime
from fencepost_broker.simulation.loop import SimLoop, SimulationError
from fencepost_broker.simulation.process import current_process
from fencepost_broker.storage.disk.faulty import LoadedDiskFault

EPOCH_S: Final = 1_767_225_600
"""When simulations begin: 2026-01-01."""
_NS: Final = 1_000_000_000
_WORK_S: Final = (0.000_1, 0.003)
"""What work takes that is done in a thread outside of simulations: a sync, for instance."""
_LEFT_ALONE: Final = (
    "_pytest", "asyncio", "concurrent", "coverage", "execnet", "multiprocessing", "pluggy",
    "pytest", "queue", "sched", "selectors", "subprocess", "threading", "xdist",
)  # fmt: skip
"""Packages that need the real time."""


_HAVE_THE_REAL: Final = (__name__, SimulatedDatetime.__module__)


class _World:
    """The simulation that runs, if any. The functions are real again when none does."""

    def __init__(self) -> None:
        self.loop: SimLoop | None = None
        self.chance = Random()  # noqa: S311 - no secrets

    def time(self) -> float:
        return _time() if self.loop is None else EPOCH_S + self.wall_s(self.loop)

    def time_ns(self) -> int:
        return (
            _time_ns() if self.loop is None else EPOCH_S * _NS + int(self.wall_s(self.loop) * _NS)
        )

    def wall_s(self, loop: SimLoop) -> float:
        return current_process.get().wall_s(loop.time())

    def monotonic(self) -> float:
        return _monotonic() if self.loop is None else self.loop.now_s

    def monotonic_ns(self) -> int:
        return _monotonic_ns() if self.loop is None else int(self.loop.now_s * _NS)

    def perf_counter(self) -> float:
        return _perf_counter() if self.loop is None else self.loop.now_s

    def perf_counter_ns(self) -> int:
        return _perf_counter_ns() if self.loop is None else int(self.loop.now_s * _NS)

    def sleep(self, seconds: float) -> None:
        if self.is_outside():
            _sleep(seconds)
        else:
            raise SimulationError("time.sleep would block everything: await asyncio.sleep instead")

    def getaddrinfo(self, host: Any, *args: Any, **options: Any) -> Any:
        if self.is_outside():
            return _getaddrinfo(host, *args, **options)
        raise SimulationError(f"a simulation has no DNS: {host}")

    def is_outside(self) -> bool:
        """Whether no simulation runs, or another thread asks, as those of pytest do."""
        return self.loop is None or threading.get_ident() != self.loop.thread

    def urandom(self, size: int) -> bytes:
        return _urandom(size) if self.loop is None else self.chance.randbytes(size)


_time, _time_ns = time.time, time.time_ns
_monotonic, _monotonic_ns = time.monotonic, time.monotonic_ns
_perf_counter, _perf_counter_ns = time.perf_counter, time.perf_counter_ns
_urandom, _sleep, _getaddrinfo = os.urandom, time.sleep, _socket.getaddrinfo
_world: Final = _World()
_FAKES: Final[dict[Any, Callable[..., Any]]] = {
    _time: _world.time,
    _time_ns: _world.time_ns,
    _monotonic: _world.monotonic,
    _monotonic_ns: _world.monotonic_ns,
    _perf_counter: _world.perf_counter,
    _perf_counter_ns: _world.perf_counter_ns,
    _urandom: _world.urandom,
    _sleep: _world.sleep,
    _getaddrinfo: _world.getaddrinfo,
    REAL: SimulatedDatetime,
}


@lru_cache(1)
def _functions_with_defaults(modules: int) -> list[FunctionType]:
    """Return the functions one of whose defaults is a function of time or chance.

    They are looked for again when there are more modules.
    """
    del modules
    names = (
        value
        for name, module in list(sys.modules.items())
        if isinstance(module, ModuleType) and name.partition(".")[0] not in _LEFT_ALONE
        for value in list(vars(module).values())
    )
    each_once = {
        id(each): each
        for value in names
        for each in (list(vars(value).values()) if isinstance(value, type) else [value])
        if isinstance(each, FunctionType) and any(map(_is_faked, each.__defaults__ or ()))
    }
    return list(each_once.values())


def _is_faked(value: object) -> bool:
    return value is REAL or (isinstance(value, BuiltinFunctionType) and value in _FAKES)


@contextmanager
def closed_world(loop: SimLoop, chance: Random) -> Iterator[None]:
    """Let time and chance be those of a simulation."""
    bound = [
        (module, name, value)
        for module in list(sys.modules.values())
        if isinstance(module, ModuleType) and module.__name__.partition(".")[0] not in _LEFT_ALONE
        if module.__name__ not in _HAVE_THE_REAL
        for name, value in list(vars(module).items())
        if (type(value) is BuiltinFunctionType or value is REAL) and value in _FAKES
    ]
    defaults = [
        (function, function.__defaults__ or ())
        for function in _functions_with_defaults(len(sys.modules))
    ]
    seed, state = random.Random.seed, random.getstate()
    popen = subprocess.Popen.__init__
    run, start, wait = WorkerThreads.run, threading.Thread.start, LoadedDiskFault.wait
    slow_s = 0.0

    def seeded(self: Random, a: Any = None, version: int = 2) -> None:
        seed(self, chance.getrandbits(64) if a is None else a, version)

    def at_once(self: WorkerThreads, work: Callable[[], None], done: Callable[[], None]) -> None:
        nonlocal slow_s
        slow_s = chance.uniform(*_WORK_S)
        self._untold += 1
        work()
        loop.call_later(slow_s, self._tell, done)

    def waited(self: LoadedDiskFault) -> None:
        nonlocal slow_s
        slow_s += self.fault.delay_ms() / 1000

    def refused(self: threading.Thread) -> None:
        raise SimulationError(f"a simulation has no threads: {self.name}")

    def no_process(*args: Any, **options: Any) -> None:
        if _world.is_outside():
            popen(*args, **options)
        else:
            raise SimulationError(f"a simulation has no other processes: {args[1:2]}")

    for module, name, value in bound:
        setattr(module, name, _FAKES[value])
    for function, values in defaults:
        fakes = (_FAKES[each] if _is_faked(each) else each for each in values)
        function.__defaults__ = tuple(fakes)
    random.Random.seed = seeded  # type: ignore[method-assign]
    WorkerThreads.run = at_once  # type: ignore[method-assign]
    LoadedDiskFault.wait = waited  # type: ignore[method-assign]
    threading.Thread.start = refused  # type: ignore[method-assign]
    subprocess.Popen.__init__ = no_process  # type: ignore[method-assign]
    random.seed(chance.getrandbits(64))
    _world.loop, _world.chance = loop, chance
    try:
        yield
    finally:
        _world.loop = None
        LoadedDiskFault.wait = wait  # type: ignore[method-assign]
        subprocess.Popen.__init__ = popen  # type: ignore[method-assign]
        threading.Thread.start = start  # type: ignore[method-assign]
        WorkerThreads.run = run  # type: ignore[method-assign]
        random.Random.seed = seed  # type: ignore[method-assign]
        random.setstate(state)
        for module, name, value in bound:
            setattr(module, name, value)
        for function, values in defaults:
            function.__defaults__ = values
