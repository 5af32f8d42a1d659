"""Whatever becomes of a cluster's processes and wires: when it is over, all is in sync again.

A controller and three brokers, the real ones, in a loop of virtual time: each is killed, stopped,
restarted (also without what it had), and cut off from others, some of it at the same time, while
somebody writes. Then all that is left alone has to come back: nobody is fenced, each partition has
all replicas in sync, and these are equal.

    HEAL_SEEDS=1000 .venv/bin/pytest tests/property/test_cluster_heals.py

A seed leads to the same run, to the microsecond: what failed once can be looked at again. Here,
several brokers lose their disks at a time. The simulator's faults spare one that has all records,
since its programs expect to find them.
"""

from __future__ import annotations

import asyncio
import os
import random
from collections.abc import Callable
from typing import Any, Final

import pytest
from fencepost_broker.config import Settings
from fencepost_broker.server.clock import StateClock
from fencepost_broker.server.links.dialing import PeerAddress, dialled
from fencepost_broker.server.process import BrokerProcess
from fencepost_broker.storage.log import UpperBound
from fencepost_client.errors import KafkaError
from fencepost_protocol.apis import Message
from fencepost_protocol.generated.create_topics import CreatableTopic, CreateTopicsRequest
from fencepost_protocol.generated.find_coordinator import FindCoordinatorRequest
from fencepost_protocol.generated.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from fencepost_protocol.records.writer import build_batch

from tests.support.broker import memory_disk
from tests.support.simulated import Cut, Process, SimulatedLoop

CONTROLLER: Final = 100
BROKERS: Final = (1, 2, 3)
NODES: Final = (CONTROLLER, *BROKERS)
PARTITIONS: Final = 4
BEGIN_MS: Final = 1_700_000_000_000
SETTINGS: Final = {
    "broker.session.timeout.ms": 2500,
    "broker.heartbeat.interval.ms": 250,
    "leader.imbalance.check.interval.seconds": 7,
    "min.insync.replicas": 2,
    "offsets.topic.replication.factor": 3,
    "transaction.state.log.replication.factor": 3,
    "offsets.topic.num.partitions": 2,
    "transaction.state.log.num.partitions": 2,
    "tap.enable": False,
}
HEALED_S: Final = 60.0


class LoopClock(StateClock):
    """State time is the loop's."""

    def __init__(self, loop: SimulatedLoop) -> None:
        super().__init__()
        self._loop = loop

    def now_ms(self) -> int:
        return BEGIN_MS + int(self._loop.time() * 1000)


class Lines:
    """Keeps what processes say."""

    def __init__(self, world: World, node_id: int) -> None:
        self._world, self._node_id = world, node_id

    def _say(self, event: str, **values: Any) -> None:
        at = self._world.loop.time()
        error = values.pop("exc_info", None)
        if error is not None:
            self._world.loop.failures.append(f"{self._node_id}: {event}: {error!r}")
        self._world.said.append(f"{at:8.3f} {self._node_id:3} {event} {values}")

    info = debug = warning = error = exception = _say

    def area(self, _: str) -> Lines:
        return self

    def bind(self, **_: Any) -> Lines:
        return self


class World:
    """All nodes, whether a process runs there or not."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.loop = SimulatedLoop(random.Random(seed + 1))
        self.said: list[str] = []
        self.disks = {each: memory_disk() for each in NODES}
        self.processes: dict[int, Process] = {}
        self.brokers: dict[int, BrokerProcess] = {}
        """Also the controller; what it is by now, once it has begun."""

    # -- processes ------------------------------------------------------------------------------

    def start(self, node_id: int) -> None:
        process = self.processes[node_id] = Process(node_id)
        self.disks[node_id].unlock()
        self.brokers.pop(node_id, None)
        self.said.append(f"{self.loop.time():8.3f} {node_id:3} STARTED")
        self.loop.begin(process, self._run(node_id))

    async def _run(self, node_id: int) -> None:
        given: dict[str, Any] = {
            "process.roles": "broker",
            "controller.quorum.bootstrap.servers": f"127.0.0.1:{9000 + CONTROLLER}",
            "listeners": f"PLAINTEXT://127.0.0.1:{9000 + node_id}",
        }
        if node_id == CONTROLLER:
            given = {
                "process.roles": "controller",
                "controller.listener.names": "CONTROLLER",
                "listeners": f"CONTROLLER://127.0.0.1:{9000 + node_id}",
            }
        settings = Settings().with_overrides({**SETTINGS, **given, "node.id": node_id})
        lines = Lines(self, node_id)
        while True:
            broker = BrokerProcess(settings, self.disks[node_id], lines, LoopClock(self.loop))
            self.brokers[node_id] = broker
            try:
                await broker.start()
            except OSError as error:
                lines.info("did not start", why=str(error))
                self.disks[node_id].unlock()
                await asyncio.sleep(1)
                continue
            return

    def kill(self, node_id: int) -> None:
        self.said.append(f"{self.loop.time():8.3f} {node_id:3} KILLED")
        self.loop.kill(self.processes[node_id])

    # -- what somebody does meanwhile -----------------------------------------------------------

    async def ask(self, node_id: int, request: Message, version: int) -> Any:
        place = PeerAddress("127.0.0.1", 9000 + node_id)
        async with dialled(place, "somebody", within_ms=1000) as link:
            return (await link.send(request, version, 2000))[0]

    async def write_all_the_time(self) -> None:
        """Whatever comes of it."""
        number, slowest_s = 0, self.rng.choice((0.3, 3, 10))
        while True:
            await asyncio.sleep(self.rng.random() * slowest_s)
            number += 1
            records = bytes(build_batch(None, [b"%d" % number], BEGIN_MS))
            data = [PartitionProduceData(self.rng.randrange(PARTITIONS), records)]
            acks = self.rng.choice((1, -1))
            request = ProduceRequest(None, acks, 1000, [TopicProduceData("t", partition_data=data)])
            try:
                await self.ask(self.rng.choice(BROKERS), request, 9)
            except (KafkaError, OSError):
                continue

    async def until(self, is_so: Callable[[], bool], within_s: float = HEALED_S) -> None:
        over = self.loop.time() + within_s
        while not is_so():
            assert self.loop.time() < over, "it does not come to that"
            await asyncio.sleep(0.1)

    # -- what holds in the end ------------------------------------------------------------------

    def is_healed(self) -> bool:
        for node_id in NODES:
            node = getattr(self.brokers.get(node_id), "server", None)
            image = None if node is None else node.image
            if (
                image is None
                or set(image.cluster.brokers) != set(BROKERS)
                or "t" not in image.topics.by_name
            ):
                return False
            if any(each.fenced for each in image.cluster.brokers.values()):
                return False
            for topic in image.topics.by_name.values():
                for partition in topic.in_order():
                    is_whole = set(partition.isr) == set(BROKERS)
                    if not is_whole or partition.leader < 0:
                        return False
        return True

    def contents(self, node_id: int) -> dict[tuple[str, int], tuple[bytes, int]]:
        found = {}
        for topic in self.brokers[node_id].server.table.by_name.values():
            for partition in topic.partitions:
                log = partition.log
                read = log.read(
                    log.log_start_offset, 1 << 24, UpperBound.LOG_END, min_one_batch=True
                )
                data = b"".join(bytes(piece) for piece in read.pieces or ())
                found[topic.name, partition.number] = (data, log.high_watermark)
        return found

    def are_equal(self) -> bool:
        first, *others = (self.contents(each) for each in BROKERS)
        return all(each == first for each in others)

    # -- faults ---------------------------------------------------------------------------------

    async def fail(self) -> None:
        rng, loop = self.rng, self.loop
        node_id = rng.choice((CONTROLLER, *BROKERS, *BROKERS))
        process = self.processes[node_id]
        kind = rng.choice(("kill", "kill", "crash", "pause", "pause", "cut", "cut", "stall"))
        for_s = rng.choice((0.5, 3.0, 3.0, 8.0, 35.0)) * rng.random()
        self.said.append(f"{loop.time():8.3f} {node_id:3} {kind} {for_s:.3f}")
        if kind in {"kill", "crash"}:
            if process.is_killed:
                return
            self.kill(node_id)
            if kind == "kill":
                await asyncio.sleep(for_s)
            if rng.random() < 0.3 and node_id != CONTROLLER:
                self.disks[node_id] = memory_disk()
                self.said.append(f"{loop.time():8.3f} {node_id:3} EMPTY")
            if self.processes[node_id] is process:
                self.start(node_id)
        elif kind in {"pause", "stall"}:
            loop.pause(process)
            await asyncio.sleep(for_s if kind == "pause" else 1.0 * rng.random())
            loop.resume(process)
        else:
            other = rng.choice([each for each in NODES if each != node_id])
            ways = rng.choice((((node_id, other),), ((node_id, other), (other, node_id))))
            for way in ways:
                loop.cuts[way] = rng.choice(list(Cut))
                self.said.append(f"{loop.time():8.3f} {way} {loop.cuts[way]}")
            await asyncio.sleep(for_s)
            loop.heal()

    async def live(self) -> None:
        for each in NODES:
            self.start(each)
            await asyncio.sleep(0.5)
        await self.until(lambda: len(self.brokers) == len(NODES))
        topics = [CreatableTopic("t", PARTITIONS, 3)]
        await self.ask(1, CreateTopicsRequest(topics=topics), 7)
        for key_type in (0, 1):
            await self.ask(1, FindCoordinatorRequest(key_type=key_type, coordinator_keys=["a"]), 4)
        await self.until(self.is_healed)
        writing = asyncio.ensure_future(self.write_all_the_time())
        for _ in range(self.rng.randrange(1, 5)):
            async with asyncio.TaskGroup() as faults:
                for _ in range(self.rng.choice((1, 1, 2, 3))):
                    faults.create_task(self.fail())
                    await asyncio.sleep(self.rng.choice((0.01, 1.0, 4.0)) * self.rng.random())
        self.loop.heal()
        for node_id in NODES:
            if self.processes[node_id].is_killed:
                self.start(node_id)
            self.loop.resume(self.processes[node_id])
        self.said.append(f"{self.loop.time():8.3f} ALL IS OVER")
        if self.rng.random() < 0.5:
            writing.cancel()
        await self.until(self.is_healed)
        writing.cancel()
        await self.until(self.are_equal)


def tell(world: World) -> None:
    """What was said, and how it stands, for whoever reads why it failed."""
    for node_id in NODES:
        node = getattr(world.brokers.get(node_id), "server", None)
        if node is None:
            continue
        image = node.image
        brokers = {
            each.broker_id: (each.epoch, each.fenced) for each in image.cluster.brokers.values()
        }
        world.said.append(f"{node_id} at {image.last_offset}: {brokers}")
        for topic in image.topics.by_name.values():
            for each in topic.in_order():
                partition = f"{topic.name}-{each.partition_id}: leader {each.leader}"
                epochs = f"epochs {each.leader_epoch} {each.partition_epoch}"
                world.said.append(f"  {partition} isr {each.isr} {epochs}")
    print("\n".join(world.said[-400:]), *world.loop.failures, sep="\n")


@pytest.mark.slow  # and so on one version of Python: the loop is made of insides of asyncio's
@pytest.mark.parametrize("seed", range(int(os.environ.get("HEAL_SEEDS", "11"))))
def test_all_is_in_sync_when_it_is_over(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(seed)
    monkeypatch.setattr(random, "SystemRandom", lambda: random.Random(world.rng.random()))
    try:
        world.loop.run_until_complete(world.live())
        assert not world.loop.failures
    except BaseException:
        tell(world)
        raise
    finally:
        world.loop.finish()
