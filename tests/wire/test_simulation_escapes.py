"""Time and chance of a program are a simulation's; what cannot be is an error with its stack."""

from __future__ import annotations

import datetime as dates
import socket
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Coroutine
from datetime import date, datetime

import pytest
from fencepost_broker.simulation import Simulation, SimulationError, simulate
from fencepost_broker.simulation.runs import run_seed

BEGIN = datetime(2026, 1, 1, tzinfo=dates.UTC)


def test_dates_are_the_simulations() -> None:
    class_before = datetime
    found: list[object] = []

    async def program(sim: Simulation) -> None:
        now = datetime.now(dates.UTC)
        found.append(now)
        assert 0 <= (now - BEGIN).total_seconds() < 60
        assert dates.datetime.now().astimezone(dates.UTC) - now < dates.timedelta(minutes=1)
        utc = datetime.utcnow().replace(tzinfo=dates.UTC)  # noqa: DTZ003 - programs use it
        assert abs(utc - now) < dates.timedelta(minutes=1)
        assert date.today() == dates.date.fromtimestamp(time.time())  # noqa: DTZ011, DTZ012
        assert datetime.today().date() == date.today()  # noqa: DTZ002, DTZ011
        for made in (
            now,
            datetime(2020, 2, 3, tzinfo=dates.UTC),
            datetime.fromtimestamp(5, dates.UTC),
        ):
            assert type(made) is class_before
            assert isinstance(made, datetime)
        assert issubclass(class_before, datetime)
        assert not isinstance(date(2020, 1, 1), datetime)

    simulate(program, [3, 3])
    assert found[0] == found[1]
    assert datetime is class_before
    assert datetime.now(dates.UTC) != found[0]


async def _blocks(_: Simulation) -> None:
    time.sleep(0.001)  # noqa: ASYNC251 - it is what must be found


async def _starts_a_process(_: Simulation) -> None:
    subprocess.run([sys.executable, "-V"], check=False)  # noqa: ASYNC221 - as above


async def _asks_for_an_address(_: Simulation) -> None:
    socket.getaddrinfo("kafka.example", 9092)


@pytest.mark.parametrize(
    ("program", "text"),
    [
        (_blocks, "await asyncio.sleep"),
        (_starts_a_process, "no other processes"),
        (_asks_for_an_address, "no DNS: kafka.example"),
    ],
)
def test_what_escapes_is_an_error_with_its_stack(
    program: Callable[[Simulation], Coroutine[None, None, None]], text: str
) -> None:
    error = run_seed(program, 0).error
    assert isinstance(error, SimulationError)
    assert text in str(error)
    names = [each.name for each in traceback.extract_tb(error.__traceback__)]
    assert program.__name__ in names
    time.sleep(0)
    assert subprocess.run([sys.executable, "-c", ""], check=False).returncode == 0
