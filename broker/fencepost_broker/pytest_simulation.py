"""The pytest mark for simulations, which is available wherever Fencepost is installed.

    @pytest.mark.simulate(seeds=20)
    async def test_exactly_once(sim):
        cluster = await sim.cluster(brokers=3, topics={"orders": 3})

Each seed is a test of its own, so a failing one is run again by its name. ``seeds`` is how many, or
which ones; ``within_s`` is the virtual time that the test may take. Other fixtures work as always,
but those that start an event loop.
"""

from __future__ import annotations

import inspect
import shlex
from collections.abc import Generator
from typing import TYPE_CHECKING, Any, Final

import pytest

if TYPE_CHECKING:
    from fencepost_broker.simulation import Simulation

_SEEDS: Final = 100
_run: Final = pytest.StashKey[Any]()


def pytest_configure(config: pytest.Config) -> None:
    """Register the mark."""
    config.addinivalue_line(
        "markers",
        "simulate(seeds=100, within_s=3600): run an async test, which is given `sim`, in a"
        " simulation with each of these seeds",
    )


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Make a test of each seed."""
    mark = metafunc.definition.get_closest_marker("simulate")
    if mark is None:
        return
    if "sim" not in metafunc.fixturenames or not inspect.iscoroutinefunction(metafunc.function):
        raise pytest.UsageError(
            f"{metafunc.definition.nodeid}: a test with @pytest.mark.simulate is an async function"
            " with the argument sim"
        )
    seeds = mark.kwargs.get("seeds", _SEEDS)
    numbers = list(range(seeds) if isinstance(seeds, int) else seeds)
    metafunc.parametrize("sim", numbers, ids=[f"seed-{each}" for each in numbers], indirect=True)


@pytest.fixture
def sim(request: pytest.FixtureRequest) -> int:
    """The simulation of a test with `@pytest.mark.simulate(seeds=20)`."""
    seed = getattr(request, "param", None)
    if seed is None:
        raise pytest.UsageError(f"{request.node.nodeid}: sim needs @pytest.mark.simulate(seeds=20)")
    return int(seed)  # the test itself is given the simulation


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run the test in a simulation."""
    mark = pyfuncitem.get_closest_marker("simulate")
    if mark is None:
        return None
    from fencepost_broker.simulation.runs import WITHIN_S, run_seed

    given: dict[str, Any] = {
        each: pyfuncitem.funcargs[each] for each in pyfuncitem._fixtureinfo.argnames
    }
    seed = given.pop("sim")
    test: Any = inspect.unwrap(pyfuncitem.obj)

    async def program(sim: Simulation) -> None:
        await test(sim=sim, **given)

    run = run_seed(program, seed, mark.kwargs.get("within_s", WITHIN_S))
    if run.error is not None:
        pyfuncitem.stash[_run] = run
        raise run.error
    return True


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Say what happened in a failed simulation, and how to run it again."""
    report = yield
    run = item.stash.get(_run, None)
    if report.failed and call.when == "call" and run is not None:
        lines = [f"{at_s:11.6f}  {what}" for at_s, what in run.timeline]
        again = f"seed {run.seed} again: pytest {shlex.quote(item.nodeid)}"
        report.sections.append(("fencepost simulation", "\n".join([*lines, again])))
    return report
