"""The simulator: programs in virtual time, and connections in memory."""

from __future__ import annotations

import asyncio
import os
import random
import threading
import time
import uuid
from collections.abc import Callable, Coroutine
from contextlib import suppress
from functools import partial
from typing import Any

import pytest
from fencepost_broker.simulation import (
    Simulation,
    SimulationError,
    SimulationFailedError,
    SimulationStuckError,
    simulate,
)
from fencepost_broker.simulation.cluster import in_process
from fencepost_broker.simulation.network import HOST, SOCKET_BYTES
from fencepost_broker.simulation.process import Process
from fencepost_broker.simulation.programs import PROGRAMS
from fencepost_broker.simulation.runs import run_seed
from fencepost_broker.simulation.simulation import Program
from fencepost_broker.storage.log import reading
from fencepost_client import Consumer, Producer

PORT = 4000


def result_of(program: Program, seed: int = 0) -> BaseException | None:
    """The error of a program."""
    return run_seed(program, seed).error


# -- whole runs ----------------------------------------------------------------------------------


def test_writers_and_faults_leave_no_wrong_record() -> None:
    [run] = simulate(partial(PROGRAMS["transactions"], for_s=6, intensity=0.8), [1])
    assert run.verdict == "ok"
    assert run.faults


def test_a_reader_that_sees_aborted_records_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "aborted_entries", lambda *_: [])
    with pytest.raises(SimulationFailedError, match="aborted and read"):
        simulate(partial(PROGRAMS["transactions"], brokers=1), 5)


def test_a_failing_seed_is_named_and_its_error_is_the_cause() -> None:
    async def program(sim: Simulation) -> None:
        assert sim.seed < 3, "too large"

    with pytest.raises(SimulationFailedError, match=r"seed 3 .* too large.*\[3\]") as failed:
        simulate(program, 10)
    assert isinstance(failed.value.__cause__, AssertionError)
    assert failed.value.run.seed == 3


def test_a_group_reads_what_was_committed_while_a_broker_stops() -> None:
    async def program(sim: Simulation) -> None:
        cluster = await sim.cluster(brokers=3, topics={"orders": 3})
        async with Producer(cluster.bootstrap, transactional_id="t") as producer:
            for number in range(30):
                async with producer.transaction() as transaction:
                    await transaction.send("orders", b"%d" % number, partition=0)
                if number == 15:
                    await cluster.stop_broker(2)
        found: list[int] = []
        async with Consumer(
            cluster.bootstrap,
            group_id="readers",
            isolation_level="read_committed",
            auto_offset_reset="earliest",
        ) as consumer:
            consumer.subscribe(["orders"])
            while len(found) < 30:
                found += [
                    int(each.value or b"") for each in await consumer.getmany(timeout_ms=1000)
                ]
        assert found == list(range(30))

    simulate(program, 5)


def test_a_process_that_goes_on_after_it_was_cancelled_is_named() -> None:
    async def goes_on() -> None:
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(1000)
        await asyncio.sleep(1000)

    async def program(sim: Simulation) -> None:
        sim.start(goes_on(), "worker")
        await asyncio.sleep(1)

    assert str(result_of(program)) == "these go on after they were cancelled: worker"


# -- time and chance -----------------------------------------------------------------------------


def test_a_day_passes_at_once_for_all_clocks() -> None:
    async def program(sim: Simulation) -> None:
        before = time.time(), time.monotonic(), time.time_ns()
        await asyncio.sleep(86_400)
        assert time.time() - before[0] == pytest.approx(86_400)
        assert time.monotonic() - before[1] == pytest.approx(86_400)
        assert time.time_ns() - before[2] == pytest.approx(86_400e9)
        assert sim.now_s == pytest.approx(86_400)

    real = time.monotonic()
    simulate(program, 1, within_s=100_000)
    assert time.monotonic() - real < 86_400
    assert time.monotonic.__name__ == "monotonic"


def test_chance_is_the_seeds() -> None:
    drawn: list[Any] = []

    async def program(sim: Simulation) -> None:
        drawn.append(
            (
                random.random(),
                random.Random().random(),
                os.urandom(4),
                uuid.uuid4(),
                sim.random.random(),
            )
        )

    before = random.getstate()
    simulate(program, [7, 7, 8])
    assert random.getstate() == before
    assert drawn[0] == drawn[1]
    assert not set(drawn[0]) & set(drawn[2])


# -- what a simulation cannot do -----------------------------------------------------------------


async def _starts_a_thread(_: Simulation) -> None:
    threading.Thread(target=print).start()


async def _waits_for_ever(_: Simulation) -> None:
    await asyncio.get_running_loop().create_future()


async def _spins(_: Simulation) -> None:
    while True:  # noqa: ASYNC110 - it is what must be found
        await asyncio.sleep(0)


async def _takes_too_long(_: Simulation) -> None:
    while True:  # noqa: ASYNC110 - it is what must be found
        await asyncio.sleep(100)


async def _uses_tls(_: Simulation) -> None:
    await asyncio.open_connection(HOST, PORT, ssl=True)


async def _asks_another_host(_: Simulation) -> None:
    await asyncio.open_connection("kafka.example", PORT)


async def _starts_a_process(_: Simulation) -> None:
    await asyncio.create_subprocess_exec("true")


async def _loses_an_error(_: Simulation) -> None:
    asyncio.get_running_loop().call_soon(lambda: 1 // 0)
    await asyncio.sleep(1)


@pytest.mark.parametrize(
    ("program", "error", "text"),
    [
        (_starts_a_thread, SimulationError, "no threads"),
        (_waits_for_ever, SimulationError, "not ended within 3600 s"),
        (_spins, SimulationStuckError, "repeats without a wait"),
        (_takes_too_long, SimulationError, "not ended within 3600 s"),
        (_uses_tls, SimulationError, "no TLS"),
        (_asks_another_host, OSError, "kafka.example"),
        (_starts_a_process, SimulationError, "no subprocesses"),
        (_loses_an_error, ZeroDivisionError, ""),
    ],
)
def test_what_cannot_be_simulated_is_said(
    program: Callable[[Simulation], Coroutine[Any, Any, None]],
    error: type[BaseException],
    text: str,
) -> None:
    found = result_of(program)
    assert isinstance(found, error)
    assert text in str(found)


# -- the network ---------------------------------------------------------------------------------


async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(1 << 16):
        writer.write(data)
        await writer.drain()
    writer.close()


def test_bytes_come_back_in_order_and_the_end_after_them() -> None:
    async def program(sim: Simulation) -> None:
        await asyncio.start_server(echo, HOST, PORT)
        reader, writer = await asyncio.open_connection(HOST, PORT)
        sent = [b"%d," % number for number in range(500)]
        for each in sent:
            writer.write(each)
        writer.write_eof()
        assert await reader.read() == b"".join(sent)
        writer.close()
        await writer.wait_closed()

    simulate(program, 5)


def test_a_cut_keeps_back_what_is_sent_until_it_is_healed() -> None:
    async def program(sim: Simulation) -> None:
        await in_process(Process("server"), asyncio.start_server(echo, HOST, PORT))
        reader, writer = await asyncio.open_connection(HOST, PORT)
        sim.network.cut("server", "program")
        writer.write(b"hello")
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(reader.read(5), 60)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(asyncio.open_connection(HOST, PORT), 60)
        sim.network.heal("server", "program")
        assert await reader.readexactly(5) == b"hello"
        writer.close()

    simulate(program, 5)


def test_a_reset_is_seen_at_both_ends() -> None:
    async def program(sim: Simulation) -> None:
        seen: list[BaseException] = []

        async def serve(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
            try:
                await reader.read()
            except OSError as error:
                seen.append(error)

        await asyncio.start_server(serve, HOST, PORT)
        reader, writer = await asyncio.open_connection(HOST, PORT)
        await asyncio.sleep(1)
        sim.network.reset(next(iter(sim.network.ends)))
        with pytest.raises(ConnectionResetError):
            await reader.read()
        await asyncio.sleep(1)
        assert [type(each) for each in seen] == [ConnectionResetError]
        writer.close()
        with pytest.raises(ConnectionRefusedError):
            await asyncio.open_connection(HOST, PORT + 1)

    simulate(program, 5)


def test_a_writer_waits_for_a_reader_that_does_not_read() -> None:
    async def program(sim: Simulation) -> None:
        may_read = asyncio.Event()
        read = 0

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            nonlocal read
            await may_read.wait()
            while data := await reader.read(1 << 16):
                read += len(data)
            writer.close()

        await asyncio.start_server(serve, HOST, PORT)
        _, writer = await asyncio.open_connection(HOST, PORT)
        size = 4 * SOCKET_BYTES
        writer.write(bytes(size))
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(writer.drain(), 60)
        may_read.set()
        await writer.drain()
        writer.close()
        await asyncio.sleep(1)
        assert read == size

    simulate(program, 3)
