"""The simulator: disks, processes that are killed and paused, clocks, and plans of faults."""

from __future__ import annotations

import asyncio
import time
import traceback
from random import Random

import pytest
from fencepost_broker.simulation import Simulation, simulate
from fencepost_broker.simulation.cluster import in_process
from fencepost_broker.simulation.disk import SimDisk
from fencepost_broker.simulation.faults import KINDS, Fault, FaultsOfCluster, draw_plan
from fencepost_broker.simulation.loop import SimLoop
from fencepost_broker.simulation.network import HOST
from fencepost_broker.simulation.process import Process
from fencepost_broker.simulation.programs.settings import settings_for
from fencepost_broker.simulation.runs import run_seed
from fencepost_client import Consumer, Producer, TopicPartition

PORT = 4000


async def send(bootstrap: str, first: int, count: int) -> None:
    """Send numbers to the only partition, each of them acknowledged by all replicas."""
    async with Producer(bootstrap) as producer:
        for number in range(first, first + count):
            await producer.send_and_wait("orders", b"%d" % number, partition=0)


async def read(bootstrap: str) -> list[int]:
    """Read the numbers of the only partition."""
    where = TopicPartition("orders", 0)
    async with Consumer(bootstrap, auto_offset_reset="earliest") as consumer:
        consumer.assign([where])
        found: list[int] = []
        end = (await consumer.end_offsets([where]))[where]
        while await consumer.position(where) < end:
            found += [int(each.value or b"") for each in await consumer.getmany(timeout_ms=500)]
    return found


# -- disks ---------------------------------------------------------------------------------------


def written(random: Random, disk: SimDisk) -> tuple[bytes, bytes]:
    """Write to a file, sync it, and write on; returns what was synced, and all."""
    disk.make_folder("t-0")
    file = disk.open("t-0/log")
    parts = [random.randbytes(random.randint(1, 50)) for _ in range(8)]
    for number, part in enumerate(parts):
        file.pwrite(file.size(), part)
        if number == 3:
            file.sync_later()()
            disk.sync_folder_later("t-0")()
    return b"".join(parts[:4]), b"".join(parts)


def test_a_power_cut_loses_an_end_of_what_was_not_synced() -> None:
    lengths = set()
    for seed in range(200):
        disk = SimDisk()
        synced, everything = written(Random(seed), disk)
        disk.cut_power(Random(seed))
        left = disk.read("t-0/log") or b""
        assert left == everything[: len(left)]
        assert len(left) >= len(synced)
        lengths.add(len(left) - len(synced))
    assert 0 in lengths
    assert len(lengths) > 50  # torn in many places


def test_a_power_cut_undoes_changes_of_the_middle_and_of_names() -> None:
    states = set()
    for seed in range(200):
        disk = SimDisk()
        file = disk.open("log")
        file.pwrite(0, b"abcdef")
        file.sync_later()()
        file.pwrite(1, b"XY")
        file.truncate(4)
        disk.write("point", b"1", durable=True)
        disk.write("point", b"2", durable=False)
        disk.rename("log", "old")
        disk.remove("old")
        disk.cut_power(Random(seed))
        states.add((disk.read("log"), disk.read("old"), disk.read("point")))
    assert {each[2] for each in states} == {b"1", b"2"}
    assert (None, None, b"2") in states  # nothing was lost
    assert (None, b"aXYd", b"2") in states
    assert (b"aXYd", None, b"1") in states


def test_a_killed_broker_finds_its_files_and_one_without_power_what_it_has_synced() -> None:
    lost = []

    async def program(sim: Simulation) -> None:
        cluster = await sim.cluster(brokers=1, topics={"orders": 1})
        await send(cluster.bootstrap, 0, 20)
        await cluster.kill(1)
        await asyncio.sleep(3)
        await cluster.start_broker(1)
        assert await read(cluster.bootstrap) == list(range(20))
        await cluster.kill(1, power_cut=True)
        await asyncio.sleep(3)
        await cluster.start_broker(1)
        found = await read(cluster.bootstrap)
        assert found == list(range(len(found)))
        lost.append(20 - len(found))

    simulate(program, 5)
    assert any(lost)


def test_a_broker_with_fsync_loses_nothing_without_power() -> None:
    async def program(sim: Simulation) -> None:
        cluster = await sim.cluster(1, {"orders": 1}, {"fsync": "always"})
        for _ in range(3):
            before = await read(cluster.bootstrap)
            await send(cluster.bootstrap, len(before), 5)
            await cluster.kill(1, power_cut=True)
            await asyncio.sleep(3)
            await cluster.start_broker(1)
            assert await read(cluster.bootstrap) == list(range(len(before) + 5))

    simulate(program, 5)


def test_a_broker_whose_copy_of_the_metadata_is_empty_fetches_it_before_it_opens_logs() -> None:
    log = f"__cluster_metadata-0/{0:020d}.log"

    async def program(sim: Simulation) -> None:
        cluster = await sim.cluster(brokers=2, topics={"orders": 1})
        await send(cluster.bootstrap, 0, 20)
        disk = cluster.brokers[2]._disk
        assert isinstance(disk, SimDisk)
        await cluster.kill(2)
        records = bytes(disk.read("orders-0/" + f"{0:020d}.log") or b"")
        disk.write(log, b"", durable=True)
        await cluster.start_surely(2)
        await cluster.wait_until_in_sync()
        assert disk.read(log)
        assert not [each for each in disk.list_folder("") if each.name.startswith("orders-0.")]
        assert bytes(disk.read("orders-0/" + f"{0:020d}.log") or b"").startswith(records)
        assert await read(cluster.bootstrap) == list(range(20))

    simulate(program, 3)


# -- processes -----------------------------------------------------------------------------------


def test_nothing_of_a_killed_process_runs_and_one_that_stands_still_runs_late() -> None:
    async def program(sim: Simulation) -> None:
        ticks: dict[str, list[float]] = {"killed": [], "paused": []}

        async def tick(name: str) -> None:
            try:
                for _ in range(10):
                    await asyncio.sleep(1)
                    ticks[name].append(sim.now_s)
            finally:
                ticks[name].append(-1.0)

        killed, paused = Process("killed"), Process("paused")
        tasks = [
            asyncio.create_task(in_process(killed, tick("killed"))),
            asyncio.create_task(in_process(paused, tick("paused"))),
        ]
        await asyncio.sleep(2.5)
        asyncio.get_running_loop().kill(killed)  # type: ignore[attr-defined]
        paused.pause()
        await asyncio.sleep(100)
        assert len(ticks["killed"]) == len(ticks["paused"]) == 2
        paused.resume()
        await tasks[1]
        assert len(ticks["killed"]) == 2
        assert ticks["paused"][2] == pytest.approx(102.5, abs=0.01)
        assert ticks["paused"][-1] == -1.0

    simulate(program, 2)


def test_the_clock_of_a_process_is_its_own() -> None:
    async def program(sim: Simulation) -> None:
        process, right = Process("other"), time.time()

        async def now() -> float:
            return time.time()

        process.clock_ahead_s = 30
        assert await in_process(process, now()) - right == pytest.approx(30, abs=0.01)
        process.set_drift(0.5, sim.now_s)
        await asyncio.sleep(10)
        assert await in_process(process, now()) - right == pytest.approx(45, abs=0.01)
        process.set_clock()
        assert await in_process(process, now()) - right == pytest.approx(10, abs=0.01)

    simulate(program, 1)


@pytest.mark.parametrize("by_s", [-3600, 3600])
def test_sessions_last_as_long_as_before_when_the_systems_clocks_are_set(by_s: int) -> None:
    """As in Apache Kafka, whose sessions go by a monotonic clock."""

    async def member(sim: Simulation, bootstrap: str, joined: list[float]) -> None:
        async with Consumer(bootstrap, group_id="g", session_timeout_ms=10_000) as consumer:
            consumer.subscribe(["orders"])
            while not consumer.assignment():
                await consumer.getmany(timeout_ms=100)
            joined.append(sim.now_s)
            while True:
                await consumer.getmany(timeout_ms=100)

    async def program(sim: Simulation) -> None:
        cluster = await sim.cluster(1, {"orders": 1})
        joined: list[float] = []
        sim.start(member(sim, cluster.bootstrap, joined), "first")
        await asyncio.sleep(30)
        sim.network.cut("first", "broker-1")
        cut_s = sim.now_s
        for process in cluster.processes.values():
            process.clock_ahead_s += by_s
        sim.start(member(sim, cluster.bootstrap, joined), "second")
        await asyncio.sleep(60)
        assert [6 < each - cut_s < 12 for each in joined] == [False, True], joined

    simulate(program, 1)


def test_a_process_is_killed_and_started_again_until_it_returns() -> None:
    async def program(sim: Simulation) -> None:
        begun: list[float] = []

        async def work() -> str:
            begun.append(sim.now_s)
            await asyncio.sleep(5)
            return "done"

        task = sim.start(work, "worker", restart=True)
        await asyncio.sleep(3)
        sim.kill("worker")
        await asyncio.sleep(3)
        sim.kill("worker")
        assert await task == "done"
        assert begun == pytest.approx([0, 3, 6], abs=0.01)
        assert not sim.restarting
        assert [await sim.start(work(), restart=True), len(begun)] == ["done", 4]
        begun_work = work()
        begun_work.send(None)
        with pytest.raises(TypeError, match="has not begun"):
            sim.start(begun_work, restart=True)
        begun_work.close()

    simulate(program, 1)


def test_an_error_of_a_process_that_nobody_awaits_fails_the_run_with_its_stack() -> None:
    async def broken() -> None:
        await asyncio.sleep(1)
        raise ValueError("broken")

    async def unseen(sim: Simulation) -> None:
        sim.start(broken, "worker", restart=True)
        await asyncio.sleep(2)

    async def waits_for_it(sim: Simulation) -> None:
        sim.start(broken(), "worker")
        await asyncio.Event().wait()

    async def seen(sim: Simulation) -> None:
        with pytest.raises(ValueError, match="broken"):
            await sim.start(broken(), "worker")

    for program in (unseen, waits_for_it):
        run = run_seed(program, 1, within_s=10)
        assert run.verdict == "ValueError: broken (in process worker)"
        assert run.error is not None
        assert "raise ValueError" in "".join(traceback.format_exception(run.error))
        assert [text for _, text in run.timeline] == ["worker has failed"]
    assert run_seed(seen, 1).verdict == "ok"


# -- the network ---------------------------------------------------------------------------------


def test_a_half_open_connection_is_silent_until_its_process_starts_again() -> None:
    async def program(sim: Simulation) -> None:
        async def serve(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
            await reader.read()

        server = Process("server")
        await in_process(server, asyncio.start_server(serve, HOST, PORT))
        reader, writer = await asyncio.open_connection(HOST, PORT)
        asyncio.get_running_loop().kill(server, silently=True)  # type: ignore[attr-defined]
        writer.write(b"hello")
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(reader.read(1), 600)
        sim.network.started("server")
        with pytest.raises(ConnectionResetError):
            await reader.read(1)
        writer.close()

    simulate(program, 2)


def test_a_way_is_slow_and_bytes_arrive_one_by_one() -> None:
    async def program(sim: Simulation) -> None:
        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            while data := await reader.read(100):
                writer.write(b"%d," % len(data))

        await in_process(Process("server"), asyncio.start_server(serve, HOST, PORT))
        reader, writer = await asyncio.open_connection(HOST, PORT)
        sim.network.slow("program", "server", (5.0, 5.0))
        before = sim.now_s
        writer.write(b"x")
        assert await reader.readuntil(b",") == b"1,"
        assert 5 <= sim.now_s - before < 5.1
        sim.network.mend()
        sim.network.is_dripping = True
        writer.write(b"xxxx")
        await asyncio.sleep(1)
        assert (await reader.read(100)).count(b"1,") == 4
        writer.close()

    simulate(program, 2)


# -- plans ---------------------------------------------------------------------------------------


def test_each_seed_has_a_mix_and_intensity_is_how_many() -> None:
    def kinds(seed: int) -> set[str]:
        return {each.kind for each in draw_plan(Random(seed), KINDS, 0.9, 500)}

    assert len({frozenset(kinds(seed)) for seed in range(20)}) == 20
    assert set.union(*map(kinds, range(20))) == set(KINDS)
    few, many = (len(draw_plan(Random(1), KINDS, each, 1000)) for each in (0.1, 0.9))
    assert few * 5 < many
    with pytest.raises(ValueError, match="0 to 1"):
        draw_plan(Random(1), KINDS, 2, 10)


def test_a_cluster_is_well_after_faults_of_all_kinds() -> None:
    async def program(sim: Simulation) -> None:
        async def work() -> None:
            await asyncio.sleep(6 * len(KINDS))

        cluster = await sim.cluster(3, {"orders": 1}, settings_for(3))
        worker = sim.start(work, "worker", restart=True)
        loop = asyncio.get_running_loop()
        assert isinstance(loop, SimLoop)
        plan = [
            Fault(number, kind, 5 * number, 1, sim.random.random(), sim.random.random())
            for number, kind in enumerate(KINDS)
        ]
        faults = FaultsOfCluster(loop, cluster, sim.timeline, sim.restarting)
        running = asyncio.create_task(faults.run(plan))
        for number in range(len(KINDS)):
            await send(cluster.bootstrap, number, 1)
            await asyncio.sleep(5)
        await running
        await worker
        await sim.quiet()
        assert sim.timeline.faults == dict.fromkeys(KINDS, 1)
        assert await read(cluster.bootstrap) == list(range(len(KINDS)))

    simulate(program, 1)


@pytest.mark.parametrize("is_unclean", [False, True])
def test_what_is_acknowledged_stays_when_several_brokers_are_killed(is_unclean: bool) -> None:
    """The first one that is killed starts first, and may lead only if leaders may lose records."""

    async def program(sim: Simulation) -> None:
        settings = {**settings_for(3), "unclean.leader.election.enable": is_unclean}
        cluster = await sim.cluster(3, {"orders": 3}, settings)

        async def work() -> None:
            async with Producer(cluster.bootstrap, delivery_timeout_ms=100_000) as producer:
                for number in range(300):
                    await producer.send_and_wait("orders", b"%d" % number)

        sim.start_faults(0.6, 12, ["kill of several"])
        await work()
        await sim.quiet(rest_s=0)

    runs = [run_seed(program, seed) for seed in range(4)]
    lost = [each.verdict for each in runs if "were acknowledged" in each.verdict]
    assert bool(lost) == is_unclean, lost
    assert is_unclean or {each.verdict for each in runs} == {"ok"}
    assert {kind for each in runs for kind in each.faults} == {"kill of several"}
