"""The partitions that a broker leads: what a Fetch brings is done, whoever fails on the way."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

from fencepost_broker.observability.cluster_events import ClusterEvents
from fencepost_broker.ports import ReadyList
from fencepost_broker.replication.partition import Partition
from fencepost_broker.replication.replicated_partitions import Replica, ReplicatedPartitions
from fencepost_broker.storage.log import PartitionLog
from fencepost_protocol.generated.alter_partition import AlterPartitionRequest
from fencepost_protocol.generated.fetch import FetchPartition

from tests.machine.replication.harness import LAG_MS, Config, Log, placed, up

TOPIC_ID = b"t" * 16


class Host:
    """A node whose turns of the loop are made by the test."""

    node_id = 1
    broker_epoch = 1

    def __init__(self) -> None:
        self.image = SimpleNamespace(cluster=SimpleNamespace(brokers=up(1, 2, 3)))
        self.settings = SimpleNamespace(replica_lag_time_max_ms=LAG_MS)
        self.asked: list[AlterPartitionRequest] = []
        self.ready = ReadyList()

    def now_ms(self) -> int:
        return 0

    def ask(self, message: Any, then: Callable[[Any], None]) -> None:
        del then
        self.asked.append(message)

    def turn(self) -> None:
        self.ready.drain()


def replicated_by(host: Host) -> ReplicatedPartitions:
    parts: Any = SimpleNamespace(node_id=1, epoch=1)
    known, config = parts, cast("Any", SimpleNamespace(settings=host.settings))
    image, clock = cast("Any", host.image), cast("Any", host)
    return ReplicatedPartitions(
        known, image, config, clock, host.ready, host.ask, ClusterEvents(1), None
    )


class Broken:
    """Runs into a bug of ours when it may go on."""

    def __init__(self) -> None:
        self.heard: list[str] = []

    def partition_moved(self, partition: Partition) -> None:
        raise RuntimeError(partition.topic)

    def time_is_over(self) -> None:
        raise AssertionError

    def failed(self, error: Exception) -> None:
        self.heard.append(str(error))


def test_what_a_waiter_runs_into_keeps_no_proposal_from_being_asked_for() -> None:
    """A proposal that is made and not asked for is open, and nobody makes another one: for ever."""
    host, waiter = Host(), Broken()
    replicas = replicated_by(host)
    partition = Partition(
        "t", 0, cast("PartitionLog", Log(Config(), log_end_offset=5)), ready=host.ready
    )
    replicas.changed(partition, TOPIC_ID, placed(1, 2))
    partition.waiters.append(waiter)
    for follower in (2, 3):
        who = Replica(follower, host.image.cluster.brokers[follower].epoch)
        assert not replicas.fetched(partition, who, FetchPartition(0, fetch_offset=5))
    assert partition.log.high_watermark == 5
    host.turn()
    assert waiter.heard == ["t"]
    ((asked,),) = [topic.partitions for topic in host.asked[0].topics]
    assert [each.broker_id for each in asked.new_isr_with_epochs] == [1, 2, 3]
