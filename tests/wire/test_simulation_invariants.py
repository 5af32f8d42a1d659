"""Each invariant of a simulation: something breaks it, and the run ends and says so."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress

import pytest
from fencepost_broker.coordinator.records import encode_batch
from fencepost_broker.coordinator.runtime.shard import Shard
from fencepost_broker.coordinator.transaction.model import Transaction, log_record
from fencepost_broker.coordinator.transaction.states import State
from fencepost_broker.server.broker_server import BrokerServer
from fencepost_broker.simulation import Simulation
from fencepost_broker.simulation.cluster import SimulatedCluster, in_process
from fencepost_broker.simulation.logs import committed_records
from fencepost_broker.simulation.runs import run_seed
from fencepost_client import Producer
from fencepost_protocol.records.writer import build_batch

from tests.support.broken_servers import forgets, gets_ids_again

Broken = Callable[[BrokerServer, BrokerServer], object]
"""Does something to a leader's broker and a follower's."""


def verdict_of(breaks: Broken, transactional_id: str | None = "payments") -> str:
    """The verdict when something breaks after ten records, of which all replicas have each."""

    async def work(cluster: SimulatedCluster) -> None:
        async with Producer(cluster.bootstrap, transactional_id=transactional_id) as producer:
            for number in range(10):
                async with producer.transaction() as transaction:
                    await transaction.send("orders", b"%d" % number)
        await asyncio.sleep(5)
        leader = next(
            each
            for each in cluster.servers
            if (here := cluster.servers[each].table.find("orders", 0)) and here.leads
        )
        follower = next(each for each in cluster.servers if each != leader)

        async def broken() -> None:
            breaks(cluster.servers[leader], cluster.servers[follower])

        await in_process(cluster.processes[follower], broken())
        await asyncio.sleep(1)

    async def program(sim: Simulation) -> None:
        await work(await sim.cluster(brokers=2, topics={"orders": 1}))

    return run_seed(program, 1).verdict


def batch(text: bytes) -> memoryview:
    return memoryview(build_batch([None], [text], 1_767_225_600_000))


def both_lead(_: BrokerServer, follower: BrokerServer) -> None:
    partition = follower.table.find("orders", 0)
    assert partition is not None
    partition.log.append_as_leader(batch(b"x"), partition.leader_epoch, 1_767_225_600_000)


def writes_over(_: BrokerServer, follower: BrokerServer) -> None:
    partition = follower.table.find("orders", 0)
    assert partition is not None
    partition.log.truncate_to(4, 0)
    partition.log.append_as_leader(batch(b"x"), partition.leader_epoch + 1, 1_767_225_600_000)


def differs(_: BrokerServer, follower: BrokerServer) -> None:
    partition = follower.table.find("orders", 0)
    assert partition is not None
    partition.log.truncate_to(0, 0)
    partition.log.append_as_follower(batch(b"x"), partition.leader_epoch, 1_767_225_600_000)


def leads_with_less(_: BrokerServer, follower: BrokerServer) -> None:
    partition = follower.table.find("orders", 0)
    assert partition is not None
    partition.log.truncate_to(4, 0)
    partition.log.begin_leader_epoch(partition.leader_epoch + 1)


def skips_a_state(leader: BrokerServer, follower: BrokerServer) -> None:
    for server in (leader, follower):
        for partition in server.table.by_name["__transaction_state"].partitions:
            if partition.leads:
                value = Transaction("other").next_value(State.EMPTY, 0)
                value.transaction_status = State.COMPLETE_COMMIT
                records = encode_batch([log_record("other", value, 2)], 1_767_225_600_000)
                partition.log.append_built(records, partition.leader_epoch, 1_767_225_600_000)
                return


def marks_unprepared(leader: BrokerServer, _: BrokerServer) -> None:
    partition = leader.table.find("orders", 0)
    assert partition is not None
    partition.log.append_marker(
        99, 0, committed=True, coordinator_epoch=0, leader_epoch=partition.leader_epoch + 1,
        now_ms=1_767_225_600_000,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("breaks", "told"),
    [
        (both_lead, "both lead it in epoch"),
        (writes_over, "records were acknowledged"),
        (differs, "has another batch at offset 0"),
        (leads_with_less, "with 4 records, and 20 were acknowledged"),
        (skips_a_state, "other goes from Dead to CompleteCommit"),
        (marks_unprepared, "and no record has prepared it"),
        (gets_ids_again, "were given to brokers twice"),
        (forgets, "is not what a replay of the log gives"),
    ],
)
def test_what_breaks_an_invariant_ends_the_run(breaks: Broken, told: str) -> None:
    verdict = verdict_of(breaks)
    assert verdict.startswith("InvariantError: ")
    assert told in verdict


def test_without_anything_broken_all_hold() -> None:
    assert verdict_of(lambda *_: None) == "ok"


def test_markers_that_do_not_wait_for_replicas_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Shard, "look_behind", lambda _: None)
    assert "before the record that prepares it is replicated" in verdict_of(lambda *_: None)


def test_what_is_committed_is_decided_by_markers() -> None:
    async def program(sim: Simulation) -> None:
        cluster = await sim.cluster(brokers=1, topics={"orders": 1})
        async with Producer(cluster.bootstrap, transactional_id="payments") as producer:
            for number in range(4):
                with suppress(ValueError):
                    async with producer.transaction() as transaction:
                        await transaction.send("orders", b"%d" % number, partition=0)
                        if number % 2:
                            await producer.flush()
                            raise ValueError("abort")
            [partition] = cluster.leaders("orders")
            found = [bytes(each.value or b"") for each in committed_records(partition.log)]
            assert found == [b"0", b"2"]

    assert run_seed(program, 1).verdict == "ok"
