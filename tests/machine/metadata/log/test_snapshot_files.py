"""Snapshots of the metadata: written by the node, read at its next start."""

from __future__ import annotations

import random
from typing import Any

import pytest
from fencepost_broker.config import load
from fencepost_broker.controller.channel.local import LocalController
from fencepost_broker.metadata.log.snapshot_files import find_snapshots, read_snapshot_file
from fencepost_broker.ports import Address
from fencepost_broker.server.broker_server import BrokerServer
from fencepost_broker.storage.disk.memory import MemoryDisk
from fencepost_broker.storage.log import CorruptFileError

from tests.machine.server.harness import Clock, create
from tests.machine.storage.harness import base_offsets

FOLDER = "__cluster_metadata-0"
HOUR_MS = 3_600_000


def started(disk: MemoryDisk, clock: Clock, **settings: Any) -> BrokerServer:
    given = {name.replace("_", "."): value for name, value in settings.items()}
    node = BrokerServer(load(overrides=given), disk, clock, random.Random(1))
    node.start([Address("PLAINTEXT", "127.0.0.1", 9092)])
    return node


def decider(node: BrokerServer) -> LocalController:
    assert isinstance(node.controller, LocalController)
    return node.controller


def an_hour_later(node: BrokerServer, clock: Clock) -> None:
    node.maintain(clock.now_ms())
    clock.now += HOUR_MS
    node.maintain(clock.now_ms())


def ends(disk: MemoryDisk) -> list[int]:
    return [snapshot.end_offset for snapshot in find_snapshots(disk, FOLDER)]


def topics(node: BrokerServer) -> dict[str, int]:
    return {topic.name: len(topic.partitions) for topic in node.table.by_name.values()}


def with_three_snapshots(disk: MemoryDisk, clock: Clock) -> list[int]:
    """Of which the first is gone; gives where they end."""
    node = started(disk, clock)
    written = []
    for name in "abc":
        create(node, name, 2, retention_ms="5")
        an_hour_later(node, clock)
        written.append(ends(disk)[0])
    create(node, "d", 3)
    node.stop()
    return written


def test_they_come_after_a_time_and_the_log_begins_at_the_older_one() -> None:
    disk, clock = MemoryDisk(), Clock()
    written = with_three_snapshots(disk, clock)
    assert ends(disk) == written[:0:-1]
    node = started(disk, clock)
    assert topics(node) == {"a": 2, "b": 2, "c": 2, "d": 3}
    assert node.table.by_name["a"].partitions[0].log.config.retention_ms == 5
    log = node.log_manager.get("__cluster_metadata", 0)
    assert log is not None
    assert log.log_start_offset == written[1]
    create(node, "e")
    assert node.image.last_offset == log.log_end_offset - 1


def test_the_log_is_rolled_at_each_so_that_files_can_go() -> None:
    disk, clock = MemoryDisk(), Clock()
    written = with_three_snapshots(disk, clock)
    node = started(disk, clock)
    log = node.log_manager.get("__cluster_metadata", 0)
    assert log is not None
    assert set(written[1:]) <= set(base_offsets(log))
    clock.now += HOUR_MS
    node.catch_up(clock.now_ms())
    assert base_offsets(log)[0] == log.log_start_offset >= written[1]
    node.stop()
    assert topics(started(disk, clock)) == {"a": 2, "b": 2, "c": 2, "d": 3}


def test_an_hour_without_a_change_is_worth_none() -> None:
    disk, clock = MemoryDisk(), Clock()
    node = started(disk, clock)
    an_hour_later(node, clock)
    before = ends(disk)
    assert before
    an_hour_later(node, clock)
    assert ends(disk) == before


def test_they_come_after_so_many_bytes() -> None:
    disk, clock = MemoryDisk(), Clock()
    name = "metadata.log.max.record.bytes.between.snapshots"
    node = started(disk, clock, **{name: 2000})
    node.maintain(clock.now_ms())
    assert ends(disk) == []
    create(node, "t", 50)
    node.maintain(clock.now_ms())
    assert len(ends(disk)) == 1


def test_zero_is_never() -> None:
    disk, clock = MemoryDisk(), Clock()
    node = started(disk, clock, **{"metadata.log.max.snapshot.interval.ms": 0})
    an_hour_later(node, clock)
    assert ends(disk) == []


@pytest.mark.parametrize("damage", ["bit", "end", "gone"])
def test_the_older_one_serves_if_the_newer_cannot_be_read(damage: str) -> None:
    disk, clock = MemoryDisk(), Clock()
    with_three_snapshots(disk, clock)
    newer, older = find_snapshots(disk, FOLDER)
    spoil(disk, newer.path, damage)
    node = started(disk, clock)
    assert topics(node) == {"a": 2, "b": 2, "c": 2, "d": 3}
    told = [event for event in node.log_manager.take_events() if event.kind == "snapshot-ignored"]
    assert len(told) == (damage != "gone")
    node.stop()
    spoil(disk, older.path, damage)
    with pytest.raises(CorruptFileError, match="no whole snapshot leads there"):
        started(disk, clock)


def spoil(disk: MemoryDisk, path: str, damage: str) -> None:
    data = bytearray(disk.read(path) or b"")
    if damage == "bit":
        data[len(data) // 2] ^= 1
    elif damage == "end":
        del data[-80:]
    if damage == "gone":
        disk.remove(path)
    else:
        disk.write(path, bytes(data), durable=True)


def test_a_snapshot_is_read_as_it_was_written() -> None:
    disk, clock = MemoryDisk(), Clock()
    node = started(disk, clock)
    create(node, "t", 3)
    an_hour_later(node, clock)
    (snapshot,) = find_snapshots(disk, FOLDER)
    assert read_snapshot_file(disk, snapshot) == list(decider(node).machine.snapshot())
