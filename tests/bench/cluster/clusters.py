"""Three brokers and a controller, ours and Apache Kafka's, to be started, killed and stopped.

Ours are four processes. Apache Kafka's are three, of which one is the controller, too; that one is
never killed. Both keep their logs in files, and have the same settings.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final, Protocol, Self

from fencepost_protocol.generated import alter_partition_reassignments as reassignments
from fencepost_protocol.generated import create_topics as creation
from fencepost_protocol.generated import delete_topics as deletion
from fencepost_protocol.generated.elect_leaders import ElectLeadersRequest, TopicPartitions
from fencepost_protocol.generated.metadata import MetadataRequest, MetadataRequestTopic

from tests.support.apache_kafka import ApacheKafka
from tests.support.cluster_processes import ClusterProcesses
from tests.support.up import ClosedError, Wire

OURS: Final = "fencepost"
KAFKA: Final = "Apache Kafka"
SESSION_MS: Final = 3000
BROKERS: Final = (1, 2, 3)
SETTINGS: Final[Mapping[str, str]] = {
    "broker.session.timeout.ms": str(SESSION_MS),
    "broker.heartbeat.interval.ms": str(SESSION_MS // 10),
    "default.replication.factor": "3",
    "min.insync.replicas": "2",
    "offsets.topic.replication.factor": "3",
    "offsets.topic.num.partitions": "6",
    "transaction.state.log.replication.factor": "3",
    "transaction.state.log.min.isr": "2",
    "transaction.state.log.num.partitions": "6",
    "group.initial.rebalance.delay.ms": "0",
    "auto.leader.rebalance.enable": "false",
    "log.segment.delete.delay.ms": "1000",
}
LARGE_SETTINGS: Final[Mapping[str, str]] = {
    **SETTINGS,
    "broker.session.timeout.ms": "9000",
    "broker.heartbeat.interval.ms": "2000",
}
"""With Kafka's own times: a broker that takes in thousands of partitions sends no heartbeat."""
PATIENCE_S: Final = 300.0
_POLL_S: Final = 0.02
_KAFKA_HEAP: Final = "512m"
_LARGE_HEAP: Final = "1g"
_AWAY: Final = (ClosedError, OSError)


class SlowError(Exception):
    """Something did not come about in time; the text says what."""


def until(is_so: Callable[[], bool], what: str) -> None:
    """Look again and again."""
    give_up_at = time.monotonic() + PATIENCE_S
    while not is_so():
        if time.monotonic() > give_up_at:
            raise SlowError(f"{what}: not within {PATIENCE_S:.0f} s")
        time.sleep(_POLL_S)


class Cluster(Protocol):
    """What rows do with a cluster. All of it blocks."""

    name: str

    def __enter__(self) -> Self: ...
    def __exit__(self, *error: object) -> None: ...

    @property
    def bootstrap(self) -> str:
        """All brokers."""

    def port(self, broker_id: int) -> int:
        """Where a broker listens."""

    def kill(self, broker_id: int) -> None:
        """SIGKILL."""

    def stop(self, broker_id: int) -> None:
        """In order."""

    def start(self, broker_id: int) -> None:
        """Where it was."""

    def restarted(self) -> float:
        """Stop all and start all; gives how long the start took, in seconds."""


class Fencepost:
    """``fencepost up --brokers 3``."""

    name: str = OURS

    def __init__(self, *, large: bool = False) -> None:
        self._settings = LARGE_SETTINGS if large else SETTINGS
        self._folder = Path(tempfile.mkdtemp(prefix="bench-cluster-"))
        self._cluster = self._made()

    def _made(self) -> ClusterProcesses:
        return ClusterProcesses(self._folder, "--log-level", "warning", settings=self._settings)

    def __enter__(self) -> Self:
        self._cluster.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._cluster.end()
        shutil.rmtree(self._folder, ignore_errors=True)

    @property
    def bootstrap(self) -> str:
        """All brokers."""
        return self._cluster.bootstrap

    def port(self, broker_id: int) -> int:
        """Where a broker listens."""
        return self._cluster.port(broker_id)

    def kill(self, broker_id: int) -> None:
        """SIGKILL."""
        self._cluster.kill(broker_id)

    def stop(self, broker_id: int) -> None:
        """In order."""
        self._cluster.stop(broker_id)

    def start(self, broker_id: int) -> None:
        """Where it was."""
        self._cluster.start(broker_id)

    def restarted(self) -> float:
        """Stop all and start all; gives how long the start took."""
        self._cluster.end()
        self._cluster = self._made()
        begin = time.monotonic()
        self._cluster.__enter__()
        return time.monotonic() - begin


class Kafka:
    """Apache Kafka; broker 1 is the controller, too."""

    name: str = KAFKA

    def __init__(self, *, large: bool = False) -> None:
        self._heap = _LARGE_HEAP if large else _KAFKA_HEAP
        self._settings = LARGE_SETTINGS if large else SETTINGS
        self._stack = ExitStack()
        self._nodes: dict[int, ApacheKafka] = {}

    def __enter__(self) -> Self:
        first = self._stack.enter_context(self._node())
        self._nodes = {first.node_id: first}
        for number in BROKERS[1:]:
            node = self._node(node_id=number, joins=first)
            self._nodes[number] = self._stack.enter_context(node)
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()

    def _node(self, **which: Any) -> ApacheKafka:
        return ApacheKafka(self._settings, heap=self._heap, at_full_speed=True, **which)

    @property
    def bootstrap(self) -> str:
        """All brokers."""
        return ",".join(node.bootstrap for node in self._nodes.values())

    def port(self, broker_id: int) -> int:
        """Where a broker listens."""
        return self._nodes[broker_id].port

    def kill(self, broker_id: int) -> None:
        """SIGKILL."""
        self._nodes[broker_id].kill()

    def stop(self, broker_id: int) -> None:
        """In order."""
        self._nodes[broker_id].stop()

    def start(self, broker_id: int) -> None:
        """Where it was."""
        self._nodes[broker_id].start()

    def restarted(self) -> float:
        """Stop all and start all, the controller last and along with the others."""
        for broker_id in reversed(BROKERS):
            self.stop(broker_id)
        begin = time.monotonic()
        with ThreadPoolExecutor(len(BROKERS)) as threads:
            list(threads.map(self.start, BROKERS))
        return time.monotonic() - begin


CLUSTERS: Final[Mapping[str, Callable[..., Cluster]]] = {OURS: Fencepost, KAFKA: Kafka}


# -- what is asked of both -------------------------------------------------------------------------


def create(cluster: Cluster, name: str, replicas: Iterable[list[int]]) -> None:
    """A topic with a partition for each of these assignments; back when all brokers know it."""
    assigned = [
        creation.CreatableReplicaAssignment(number, each) for number, each in enumerate(replicas)
    ]
    request = creation.CreateTopicsRequest(
        topics=[creation.CreatableTopic(name, -1, -1, assigned)], timeout_ms=60_000
    )
    with Wire(cluster.port(BROKERS[0])) as wire:
        answer = wire.ask(request, 7).topics[0]
    if answer.error_code:
        raise SlowError(f"{cluster.name} does not create {name}: {answer.error_message}")
    until(lambda: all(_leads(cluster, each, name) for each in BROKERS), f"{name} is led")


def delete(cluster: Cluster, name: str) -> None:
    """A topic, and soon its files: half a minute of a row may be ten gigabytes."""
    request = deletion.DeleteTopicsRequest(topic_names=[name], timeout_ms=60_000)
    with Wire(cluster.port(BROKERS[0])) as wire:
        code = wire.ask(request, 5).responses[0].error_code
    if code:
        raise SlowError(f"{cluster.name} does not delete {name}: error {code}")
    until(lambda: not any(described(cluster, each, name) for each in BROKERS), f"{name} is gone")


def described(cluster: Cluster, broker_id: int, topic: str) -> list[Any]:
    """A topic's partitions as a broker tells them; none where it knows none, or is away."""
    request = MetadataRequest([MetadataRequestTopic(name=topic)], allow_auto_topic_creation=False)
    try:
        with Wire(cluster.port(broker_id)) as wire:
            answer = wire.ask(request, 9).topics[0]
    except _AWAY:
        return []
    return [] if answer.error_code else list(answer.partitions)


def _leads(cluster: Cluster, broker_id: int, topic: str) -> bool:
    partitions = described(cluster, broker_id, topic)
    return bool(partitions) and all(each.leader_id >= 0 for each in partitions)


def until_in_sync(cluster: Cluster, topic: str) -> None:
    """Until all brokers tell that all replicas have all."""

    def is_so() -> bool:
        told = [each for broker in BROKERS for each in described(cluster, broker, topic)]
        return bool(told) and all(len(each.isr_nodes) == len(each.replica_nodes) for each in told)

    until(is_so, f"all replicas of {topic} are in sync")


def prefer(cluster: Cluster, asked: int, topic: str, replicas: list[int]) -> None:
    """Let the first of these be who should lead partition 0; nothing moves by that."""
    partition = reassignments.ReassignablePartition(0, replicas)
    request = reassignments.AlterPartitionReassignmentsRequest(
        topics=[reassignments.ReassignableTopic(topic, [partition])]
    )
    with Wire(cluster.port(asked)) as wire:
        answer = wire.ask(request, 0)
    code = answer.error_code or answer.responses[0].partitions[0].error_code
    if code:
        raise SlowError(f"{cluster.name} does not take other replicas: error {code}")
    until(
        lambda: (
            [each.replica_nodes[0] for each in described(cluster, asked, topic)] == replicas[:1]
        ),
        f"{replicas[0]} is preferred",
    )


def elect_preferred(cluster: Cluster, asked: int, topic: str) -> None:
    """Let who is preferred lead partition 0."""
    request = ElectLeadersRequest(0, [TopicPartitions(topic, [0])], 30_000)
    with Wire(cluster.port(asked)) as wire:
        answer = wire.ask(request, 2)
    code = answer.error_code or answer.replica_election_results[0].partition_result[0].error_code
    if code:
        raise SlowError(f"{cluster.name} elects nobody: error {code}")
