"""Wires between real processes are cut under load, and healed: nothing acknowledged is lost.

CI has one cluster of two brokers, in which first a follower does not hear its leader any more, and
then a leader and the controller do not hear each other. ``make cuts`` has three brokers and each
kind of cut. What every part does behind one is shown in one process by ``test_cuts.py``.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from fencepost_client import Admin, NewTopic, Producer
from fencepost_protocol.records.writer import build_batch

from tests.support.relay import Cut, Way
from tests.support.relayed_processes import (
    CONTROLLER_ID,
    TOPIC,
    RelayedProcesses,
    relayed_processes,
)
from tests.support.up import PRODUCE_VERSION, produce_request

# What is cut lies outside of the loop, and most of the time is a wait: one of them will do.
pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_factories=["asyncio"])]
ALL_OF_THEM = pytest.mark.skipif(
    not os.environ.get("FENCEPOST_TEST_CUTS"), reason="make cuts has it: it takes a minute"
)
PACE_SECONDS = 0.01
AT_LEAST = 5
"""Records that are acknowledged in each state of the cluster."""
BLIND = [(Cut.SWALLOW, Way.BOTH), (Cut.SWALLOW, Way.THERE), (Cut.HOLD, Way.BOTH)]
EACH = [*BLIND, (Cut.SWALLOW, Way.BACK), (Cut.RESET, Way.BOTH)]


class Writer:
    """Writes one record after the other, as fast as they are acknowledged by all in sync."""

    def __init__(self, producer: Producer, partitions: int) -> None:
        self._producer = producer
        self.acknowledged: list[list[bytes]] = [[] for _ in range(partitions)]
        self.count = 0
        self._is_over = False

    async def write(self) -> None:
        while not self._is_over:
            value, number = b"%d" % self.count, self.count % len(self.acknowledged)
            await self._producer.send_and_wait(TOPIC, value, partition=number)
            self.acknowledged[number].append(value)
            self.count += 1
            await asyncio.sleep(PACE_SECONDS)  # it is load, not a benchmark

    def end(self) -> None:
        self._is_over = True


class Wires:
    """A cluster with a topic that all brokers replicate, and somebody who writes to it."""

    def __init__(self, cluster: RelayedProcesses, writer: Writer) -> None:
        self.cluster = cluster
        self.writer = writer

    async def more(self) -> None:
        """Wait until more is acknowledged."""
        wanted = self.writer.count + AT_LEAST
        await self.cluster.until(
            lambda: self.writer.count >= wanted, "nothing is acknowledged any more"
        )

    async def leader_and_follower(self, cut: Cut, way: Way) -> None:
        """Both have the controller: the leader goes on without its follower."""
        cluster = self.cluster
        led_by = await cluster.leader()
        follower = min(cluster.brokers - {led_by})
        cluster.to_broker[led_by].cut(cut, way, whose=f"broker-{follower}-")
        await cluster.until_in_sync(*cluster.brokers - {follower}, sees=led_by)
        await self.more()
        cluster.to_broker[led_by].heal()
        await cluster.until_in_sync()
        for kind in ("isr-shrunk", "isr-grown"):
            await cluster.told(led_by, kind, partition=f"{TOPIC}-0")
        await cluster.told(follower, "leader-lost", leader=led_by)
        assert (await cluster.told(follower, "leader-back", leader=led_by))["after_ms"] > 0

    async def leader_and_controller(self, cut: Cut, way: Way) -> None:
        """Another broker leads; what the old one took on its own it cuts off again."""
        cluster = self.cluster
        old = await cluster.leader()
        cluster.to_controller[old].cut(cut, way)
        others = sorted(cluster.brokers - {old})
        for each in others:
            await cluster.leader(other_than=old, sees=each)
        await self.more()
        assert await asyncio.to_thread(self.write_without_followers, old) == 0
        cluster.to_controller[old].heal()
        await cluster.until_in_sync()
        await cluster.told(CONTROLLER_ID, "broker-fenced")
        await cluster.told(old, "controller-lost")
        assert (await cluster.told(old, "controller-back"))["after_ms"] > 0
        for kind in ("leader-changed", "truncated"):
            await cluster.told(old, kind, partition=f"{TOPIC}-0")

    def write_without_followers(self, broker_id: int) -> int:
        """A record that a broker takes which does not know yet that another one leads."""
        request = produce_request(TOPIC, bytes(build_batch(None, [b"zombie"], 0)), acks=1)
        with self.cluster.processes[broker_id].connect() as wire:
            answer = wire.ask(request, PRODUCE_VERSION)
            return int(answer.responses[0].partition_responses[0].error_code)

    async def controller_is_not_heard(self) -> None:
        """The broker's heartbeats arrive and their answers do not: it goes on leading."""
        cluster = self.cluster
        led_by = await cluster.leader()
        cluster.to_controller[led_by].cut(Cut.SWALLOW, Way.BACK)
        await cluster.told(led_by, "controller-lost")
        await self.more()
        cluster.to_controller[led_by].heal()
        await cluster.told(led_by, "controller-back")
        await cluster.until_in_sync()

    async def read_back(self) -> None:
        """The leaders have it all, and so has who leads after one of them."""
        await self._compare()
        await self.cluster.stop(await self.cluster.leader())
        await self._compare()

    async def _compare(self) -> None:
        for number, acknowledged in enumerate(self.writer.acknowledged):
            led_by = await self.cluster.leader(number)
            with self.cluster.processes[led_by].connect() as wire:
                found = await asyncio.to_thread(wire.fetch, TOPIC, number)
            assert [bytes(each.value or b"") for each in found] == acknowledged


@asynccontextmanager
async def wires(brokers: int) -> AsyncIterator[Wires]:
    """A cluster under load; at the end all is read back."""
    async with relayed_processes(brokers) as cluster:
        async with Admin(cluster.bootstrap) as admin:
            await admin.create_topics([NewTopic(TOPIC, brokers, brokers)])
        await cluster.until_in_sync()
        async with Producer(cluster.bootstrap, request_timeout_ms=2000) as producer:
            writer = Writer(producer, brokers)
            writing = asyncio.create_task(writer.write())
            try:
                it = Wires(cluster, writer)
                await it.more()
                yield it
                await it.more()
            finally:
                writer.end()
                await writing
        await it.read_back()


async def test_first_a_follower_and_then_the_controller_is_cut_off_from_a_leader() -> None:
    async with wires(2) as it:
        await it.leader_and_follower(Cut.SWALLOW, Way.BACK)
        await it.leader_and_controller(Cut.SWALLOW, Way.BOTH)


@ALL_OF_THEM
async def test_each_cut_between_a_leader_and_its_follower() -> None:
    async with wires(3) as it:
        for cut, way in EACH:
            await it.leader_and_follower(cut, way)


@ALL_OF_THEM
async def test_each_cut_between_a_leader_and_the_controller() -> None:
    async with wires(3) as it:
        for cut, way in (*BLIND, (Cut.RESET, Way.BOTH)):
            await it.leader_and_controller(cut, way)
        await it.controller_is_not_heard()
