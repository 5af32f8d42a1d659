"""The node with an in-memory disk and a clock of the test: no socket, no loop."""

from __future__ import annotations

import pytest
from fencepost_broker.storage.disk.memory import MemoryDisk
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.delete_topics import DeleteTopicsRequest, DeleteTopicState
from fencepost_protocol.records.writer import build_batch

from tests.machine.server.harness import Clock, create, started


def test_a_restart_finds_what_was_decided() -> None:
    disk = MemoryDisk()
    node = started(disk)
    assert create(node, "a", 3, cleanup_policy="compact") is ErrorCode.NONE
    assert create(node, "b") is ErrorCode.NONE
    node.controller.command(DeleteTopicsRequest(topics=[DeleteTopicState("b")]))
    topic_id = node.table.by_name["a"].topic_id
    cluster_id = node.identity.cluster_id
    assert node.stop()

    again = started(disk, seed=2)
    assert again.identity.cluster_id == cluster_id
    assert list(again.table.by_name) == ["a"]
    topic = again.table.by_name["a"]
    assert topic.topic_id == topic_id
    assert [partition.number for partition in topic.partitions] == [0, 1, 2]
    assert all(partition.log.config.compact for partition in topic.partitions)


def test_a_topic_that_was_made_anew_keeps_its_records_over_a_restart() -> None:
    disk = MemoryDisk()
    node = started(disk)
    create(node, "t", 2)
    node.controller.command(DeleteTopicsRequest(topics=[DeleteTopicState("t")]))
    create(node, "t", retention_bytes="77")
    log = node.table.by_name["t"].partitions[0].log
    batch = memoryview(build_batch(None, [b"kept"], Clock.now))
    assert log.append_as_leader(batch, 0, Clock.now).error is ErrorCode.NONE
    node.stop()

    again = started(disk, seed=2)
    (partition,) = again.table.by_name["t"].partitions
    assert partition.log.log_end_offset == 1
    assert partition.log.config.retention_bytes == 77


def test_what_a_crash_left_of_a_deleted_topic_goes_at_the_next_start() -> None:
    disk = MemoryDisk()
    node = started(disk)
    create(node, "t")
    rename = disk.rename
    disk.rename = lambda source, target: None  # type: ignore[method-assign]
    node.controller.command(DeleteTopicsRequest(topics=[DeleteTopicState("t")]))
    disk.rename = rename  # type: ignore[method-assign]
    assert disk.exists("t-0")
    node.stop()
    again = started(disk, seed=2)
    assert not again.table.by_name
    assert not disk.exists("t-0")


def test_a_topics_settings_reach_its_logs() -> None:
    node = started(MemoryDisk(), log_retention_ms="5000")
    create(node, "t", retention_bytes="77")
    config = node.table.by_name["t"].partitions[0].log.config
    assert (config.retention_ms, config.retention_bytes) == (5000, 77)
    assert not config.compact


def test_a_setting_that_cannot_be_is_refused() -> None:
    assert create(started(MemoryDisk()), "t", retention_ms="soon") is ErrorCode.INVALID_CONFIG


def test_producer_ids_come_in_blocks_and_are_never_given_twice() -> None:
    disk = MemoryDisk()
    node = started(disk)
    taken = [node.producer_ids.take()[1] for _ in range(1001)]
    assert taken == list(range(1001))
    node.stop()
    assert started(disk, seed=2).producer_ids.take() == (ErrorCode.NONE, 2000)


def test_the_registration_needs_the_directorys_own_node_id() -> None:
    disk = MemoryDisk()
    started(disk).stop()
    with pytest.raises(Exception, match=r"node\.id"):
        started(disk, node_id="2")


def test_a_topic_that_cannot_be_created_by_asking_is_warned_of_once() -> None:
    node = started(MemoryDisk(), default_replication_factor="3")
    for _ in range(3):
        node.topics.auto_create(["orders"])
    (warning,) = node.warnings.take()
    assert "orders" in warning
    assert "replication factor" in warning.lower()
    for number in range(1000):
        node.topics.auto_create([f"orders-{number}"])
    assert len(node.warnings.take()) < 1000
    assert node.warnings.take() == []


def test_a_topic_that_is_created_by_asking_can_be_late_as_in_kafka() -> None:
    clock = Clock()
    node = started(MemoryDisk(), clock=clock, auto_create_topics_delay_ms="30")
    clock.asked.clear()
    node.topics.auto_create(["orders"])
    node.topics.auto_create(["orders"])
    assert "orders" not in node.table.by_name
    ((delay_ms, create_now),) = clock.asked
    assert delay_ms == 30
    create_now()
    assert "orders" in node.table.by_name

    node.topics.auto_create(["late"])
    node.stop()
    clock.asked[-1][1]()
    assert "late" not in node.table.by_name


def test_a_topic_that_is_created_by_asking_is_not_warned_of() -> None:
    node = started(MemoryDisk())
    node.topics.auto_create(["orders"])
    assert "orders" in node.table.by_name
    assert node.warnings.take() == []
