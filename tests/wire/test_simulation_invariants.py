"""Each invariant of a simulation: something breaks it, and the run ends and says so."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from contextvars import copy_context
from types import SimpleNamespace
from typing import Any

import pytest
from fencepost_broker.apis.produce import delayed_produce
from fencepost_broker.coordinator.records import LogRecord, RecordFamily, encode_batch
from fencepost_broker.coordinator.runtime.shard import Shard
from fencepost_broker.coordinator.transaction.model import Transaction
from fencepost_broker.coordinator.transaction.states import State
from fencepost_broker.replication.leader import LeaderState
from fencepost_broker.server.broker_server import BrokerServer
from fencepost_broker.simulation import Simulation
from fencepost_broker.simulation.cluster import SimulatedCluster, in_process
from fencepost_broker.simulation.invariants import Invariants
from fencepost_broker.simulation.logs import committed_records, differing_replicas
from fencepost_broker.simulation.process import Process, current_process
from fencepost_broker.simulation.runs import run_seed
from fencepost_broker.storage.log.producers import ProducerState
from fencepost_client import Producer
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.allocate_producer_ids import AllocateProducerIdsResponse
from fencepost_protocol.generated.transaction_log import TransactionLogKey
from fencepost_protocol.records.batch import unpack_header
from fencepost_protocol.records.writer import build_batch

from tests.support.compiled import pure_only

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


def written_by(name: str, tell: Callable[..., None], *batch: Any) -> None:
    context = copy_context()
    context.run(current_process.set, Process(name))
    context.run(tell, *batch)


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
                record = LogRecord(TransactionLogKey("other"), value, 1)
                records = encode_batch([record], 1_767_225_600_000)
                partition.log.append_built(records, partition.leader_epoch, 1_767_225_600_000)
                return


def marks_unprepared(leader: BrokerServer, _: BrokerServer) -> None:
    partition = leader.table.find("orders", 0)
    assert partition is not None
    partition.log.append_marker(
        99, 0, committed=True, coordinator_epoch=0, leader_epoch=partition.leader_epoch + 1,
        now_ms=1_767_225_600_000,
    )  # fmt: skip


def knows_too_much(leader: BrokerServer, follower: BrokerServer) -> None:
    for server in (leader, follower):
        for shard in server.coordinators.runtime.shards.values():
            if shard.family is RecordFamily.TRANSACTIONS:
                value = Transaction("other").next_value(State.EMPTY, 1_767_225_605_000)
                shard.machine.replay(LogRecord(TransactionLogKey("other"), value, 1), 0, -1)


@pytest.mark.parametrize(
    ("breaks", "told"),
    [
        (both_lead, "both lead it in epoch"),
        (writes_over, "records were acknowledged"),
        (differs, "has another batch at offset 0"),
        (leads_with_less, "with 4 records, and 20 were acknowledged"),
        (skips_a_state, "other goes from Dead to CompleteCommit"),
        (marks_unprepared, "and no record has prepared it"),
        (knows_too_much, "is not what a replay of the log gives"),
    ],
)
def test_what_breaks_an_invariant_ends_the_run(breaks: Broken, told: str) -> None:
    verdict = verdict_of(breaks)
    assert verdict.startswith("InvariantError: ")
    assert told in verdict


def test_a_former_leader_that_writes_on_breaks_nothing() -> None:
    def writes_on(leader: BrokerServer, follower: BrokerServer) -> None:
        former, new = leader.table.find("orders", 0), follower.table.find("orders", 0)
        assert former is not None
        assert new is not None
        new.log.begin_leader_epoch(former.leader_epoch + 1)
        new.log.append_as_leader(batch(b"x"), former.leader_epoch + 1, 1_767_225_600_000)
        new.log.set_high_watermark(new.log.log_end_offset)
        current_process.set(Process(f"broker-{leader.context.identity.node_id}"))
        former.log.truncate_to(4, 0)
        former.log.append_as_leader(batch(b"y"), former.leader_epoch, 1_767_225_600_000)

    assert verdict_of(writes_on) == "ok"


def test_producer_ids_that_are_given_twice_are_found() -> None:
    told: list[str] = []
    invariants = Invariants(told.append)
    for start in (0, 1000, 1500):
        answer = AllocateProducerIdsResponse(producer_id_start=start, producer_id_len=1000)
        invariants.took_block(answer)
    assert told == ["producer ids from 1500 on were given to brokers twice"]


def test_a_high_watermark_that_does_not_wait_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def runs_ahead(self: LeaderState, _: int) -> bool:
        return self._log.set_high_watermark(self._log.log_end_offset)

    monkeypatch.setattr(LeaderState, "advance", runs_ahead)
    assert "is in sync without the batch at offset" in verdict_of(lambda *_: None)


def test_a_high_watermark_needs_enough_replicas() -> None:
    told: list[str] = []
    log: Any = SimpleNamespace(
        config=SimpleNamespace(min_insync_replicas=2), topic_id=None, folder="/simulated/t-0",
        log_start_offset=0,
    )  # fmt: skip
    partition = SimpleNamespace(isr=(1,), replicas=(1, 2, 3))
    state: Any = SimpleNamespace(partition=partition, _node_id=1)
    Invariants(told.append).advanced(state, log, 0)
    assert told == ["t-0: the high watermark moves with 1 replicas in sync, and 2 are needed"]


class _Replicated:
    """A partition with two replicas: broker 1 leads, and both have two batches."""

    def __init__(self) -> None:
        self.told: list[str] = []
        self.invariants = Invariants(self.told.append)
        self.log: Any = SimpleNamespace(
            config=SimpleNamespace(min_insync_replicas=1), topic_id=None,
            folder="/simulated/t-0", log_start_offset=0, high_watermark=0,
            last_stable_offset=0,
        )  # fmt: skip
        partition = SimpleNamespace(isr=(1, 2), replicas=(1, 2))
        self.state: Any = SimpleNamespace(partition=partition, _node_id=1)
        for offset in range(2):
            records = self.batch(offset)
            written_by("broker-1", self.invariants.led, self.log, records, unpack_header(records))
            self.follow(offset)

    def batch(self, offset: int) -> memoryview:
        return memoryview(build_batch([None], [b"x"], 1_767_225_600_000, base_offset=offset))

    def follow(self, offset: int) -> None:
        written_by(
            "broker-2", self.invariants.followed, self.log, unpack_header(self.batch(offset))
        )

    def advance(self) -> None:
        self.log.high_watermark = 2
        self.invariants.moved(self.log)
        self.invariants.advanced(self.state, self.log, 0)

    def join(self) -> None:
        self.invariants.joined(self.state, self.log, [2])


def test_a_broker_that_loses_its_disk_counts_until_it_writes_anew() -> None:
    """A leader may take note of a Fetch after the follower's disk is gone."""
    replicated = _Replicated()
    replicated.invariants.lost("broker-2")
    replicated.advance()
    replicated.join()
    assert replicated.told == []
    replicated.follow(0)
    replicated.join()
    assert replicated.told == [
        "t-0: broker-2 is in sync without the batch at offset 1, and the high watermark is 2"
    ]


def test_a_replica_needs_nothing_from_before_the_latest_log_start() -> None:
    """Where a log begins is not synced: the next leader's may begin earlier than a replica's."""
    replicated = _Replicated()
    replicated.advance()
    replicated.log.log_start_offset = 1
    replicated.invariants.shortened(replicated.log)
    replicated.log.log_start_offset = 0
    replicated.invariants.lost("broker-2")
    replicated.follow(1)
    replicated.join()
    assert replicated.told == []


def test_an_acknowledgement_that_does_not_wait_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delayed_produce, "outcome", lambda *_: ErrorCode.NONE)
    assert "is acknowledged, and it is not replicated" in verdict_of(lambda *_: None)


def test_without_anything_broken_all_hold() -> None:
    assert verdict_of(lambda *_: None) == "ok"


@pure_only("fencepost_broker.coordinator.runtime.shard")
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


def test_a_replica_that_lacks_a_batch_is_named() -> None:
    async def program(sim: Simulation) -> None:
        cluster = await sim.cluster(brokers=2, topics={"orders": 1})
        async with Producer(cluster.bootstrap) as producer:
            await producer.send_and_wait("orders", b"x")
        await asyncio.sleep(5)
        assert not list(differing_replicas(cluster))
        [leader] = cluster.leaders("orders")
        for server in cluster.servers.values():
            replica = server.table.find("orders", 0)
            if replica is not None and replica is not leader:
                replica.log.truncate_to(0, 0)
        [found] = differing_replicas(cluster)
        assert found.startswith("orders-0 of broker ")

    assert run_seed(program, 1).verdict == "ok"


def test_a_last_stable_offset_that_does_not_wait_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ProducerState, "first_unstable_offset", property(lambda _: None))
    assert "and a transaction is open from" in verdict_of(lambda *_: None)
