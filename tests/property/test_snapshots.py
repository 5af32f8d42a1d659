"""Snapshots of a broker's machines: whatever happens later, each gives back the state it was of.

Operations come in any order, and at any time a copy of the disk is made while the broker runs. A
broker that starts on a copy has the state of that moment, needs no recovery, and shares nothing
with the first one: it does something of its own, and the next start on the snapshot is as before.
"""

from __future__ import annotations

from typing import Any

from fencepost_broker.server.broker_server import BrokerServer
from fencepost_broker.storage.disk.memory import MemoryDisk
from fencepost_protocol.generated.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from fencepost_protocol.generated.delete_topics import DeleteTopicsRequest, DeleteTopicState
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.machine.server.harness import Clock, create, started
from tests.machine.storage.harness import batch, of_producer

TOPICS = st.sampled_from(["a", "b"])
PARTITIONS = st.integers(0, 2)
OPERATIONS = st.one_of(
    st.tuples(st.just("create"), TOPICS, st.integers(1, 3)),
    st.tuples(st.just("delete"), TOPICS, st.just(0)),
    st.tuples(st.just("grow"), TOPICS, st.integers(2, 4)),
    *(
        st.tuples(st.just(name), TOPICS, PARTITIONS)
        for name in ("append", "append many", "idempotent", "open", "commit", "abort", "roll",
                     "delete records", "maintain")
    ),
    st.tuples(st.just("snapshot"), TOPICS, st.just(0)),
)  # fmt: skip


class Run:
    """A broker, and what it was asked so far."""

    def __init__(self) -> None:
        self.disk = MemoryDisk()
        self.node = started(self.disk)
        self.snapshots: list[tuple[MemoryDisk, Any]] = []
        self.number = 0

    def act(self, name: str, topic: str, number: int) -> None:
        node, self.number = self.node, self.number + 1
        if name == "create":
            create(node, topic, number)
        elif name == "delete":
            node.controller.command(DeleteTopicsRequest(topics=[DeleteTopicState(topic)]))
        elif name == "grow":
            asked = CreatePartitionsRequest([CreatePartitionsTopic(topic, number, None)])
            node.controller.command(asked)
        elif name == "maintain":
            node.maintain(Clock.now + self.number * 60_000)
        elif name == "snapshot":
            self.snapshots.append((snapshot_of(node, self.disk), state(node)))
        else:
            self.write(name, topic, number)

    def write(self, name: str, topic: str, number: int) -> None:
        partition = self.node.table.find(topic, number)
        if partition is None:
            return
        log, epoch = partition.log, partition.leader_epoch
        if name in ("commit", "abort"):
            log.append_marker(
                8, 0, committed=name == "commit", coordinator_epoch=0, leader_epoch=epoch,
                now_ms=Clock.now,
            )  # fmt: skip
        elif name == "roll":
            log.roll(Clock.now)
        elif name == "delete records":
            log.delete_records(log.high_watermark // 2)
        else:
            records = {
                "append": batch([b"%d" % self.number], time=Clock.now),
                "append many": batch(40, time=Clock.now),
                "idempotent": of_producer(sequence(log, 7), producer=7, time=Clock.now),
                "open": of_producer(sequence(log, 8), producer=8, txn=True, time=Clock.now),
            }[name]
            guard = log.start_verification(8, 0, 0, supports_epoch_bump=True, now_ms=Clock.now)
            answer = log.append_as_leader(
                records, epoch, Clock.now, guard=guard if name == "open" else None
            )
            assert not answer.error, answer


def sequence(log: Any, producer_id: int) -> int:
    """The next sequence of a producer."""
    known = log.producers.producers.get(producer_id)
    return 0 if known is None else known.last_sequence + 1


def snapshot_of(node: BrokerServer, disk: MemoryDisk) -> MemoryDisk:
    copies: list[MemoryDisk] = []
    node.copied(lambda: copies.append(disk.copy()) or copies[0])  # type: ignore[func-returns-value]
    return copies[0]


def state(node: BrokerServer) -> dict[str, Any]:
    """Everything of each topic that a client could see, and its id."""
    return {
        topic.name: (
            topic.topic_id,
            [described(partition.log) for partition in topic.partitions],
        )
        for topic in node.table.by_name.values()
    }


def described(log: Any) -> tuple[Any, ...]:
    data = [
        (each.base_offset, bytes(each.open().pread(0, each.size)))
        for each in log.segments
        if each.size  # an empty one has no file yet
    ]
    producers = [
        (each.producer_id, each.producer_epoch, each.last_sequence,
         each.current_transaction_first_offset)
        for each in log.describe_producers()
    ]  # fmt: skip
    offsets = log.log_start_offset, log.last_stable_offset, log.high_watermark, log.log_end_offset
    return offsets, data, sorted(producers), log.offset_of_max_timestamp()


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(OPERATIONS, max_size=30))
def test_each_snapshot_gives_its_state_back(operations: list[tuple[str, str, int]]) -> None:
    run = Run()
    run.act("create", "a", 2)
    for operation in [*operations, ("snapshot", "a", 0)]:
        run.act(*operation)
    after = state(run.node)
    for number, (snapshot, expected) in enumerate(run.snapshots):
        for turn in range(2):
            disk = snapshot.copy()
            restored = started(disk, seed=2 + number)
            assert restored.log_manager.was_clean
            assert [each.text for each in restored.take_events() if each.unexpected] == []
            assert state(restored) == expected, f"turn {turn}"
            for topic in restored.table.by_name.values():
                for partition in topic.partitions:
                    records = batch(3, time=Clock.now)
                    partition.log.append_as_leader(records, partition.leader_epoch, Clock.now)
            create(restored, "its own")
            assert restored.stop()
            disk.discard()
    assert state(run.node) == after, "the first broker saw nothing of it"
