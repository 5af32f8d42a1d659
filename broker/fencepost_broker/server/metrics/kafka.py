"""Figures under the names that the usual JMX exporter configuration gives Apache Kafka's."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from fencepost_broker.coordinator.records import RecordFamily
from fencepost_broker.replication.partition import Partition
from fencepost_broker.server.metrics.figure import (
    Figure,
    Sample,
    count_of_led,
    of_replicas,
    one,
    replicas,
    states_of,
)
from fencepost_broker.server.metrics.requests import REQUESTS

if TYPE_CHECKING:
    from fencepost_broker.coordinator.group.model import Group
    from fencepost_broker.metadata.image import model
    from fencepost_broker.server.process import BrokerProcess

_GROUP_STATES: Final = ("PreparingRebalance", "CompletingRebalance", "Stable", "Dead", "Empty")
_TYPES: Final[dict[str, tuple[str, ...]]] = {
    "Classic": (),
    "Consumer": ("Empty", "Assigning", "Reconciling", "Stable", "Dead"),
    "Share": ("Empty", "Stable", "Dead"),
    "Streams": ("Empty", "NotReady", "Assigning", "Reconciling", "Stable", "Dead"),
}
"""The types of groups, with the states whose groups Kafka counts by a label."""
_REBALANCES: Final = (
    ("Classic", "group_completed", "rebalances that classic groups have completed"),
    *(
        (kind, f"{kind.lower()}_group", f"new epochs of {kind.lower()} groups")
        for kind in ("Consumer", "Share", "Streams")
    ),
)
"""Types of groups, Kafka's name of the counter, and what it counts while they are here."""
_GROUPS: Final = "kafka_server_group_coordinator_metrics_"
_PREFIX: Final = "kafka_server_replicamanager_"
_CONTROLLER: Final = "kafka_controller_kafkacontroller_"
_OF_PARTITION: Final = "topic, partition"


def _isr(partition: Partition) -> int:
    state = partition.replication
    return 1 if state is None else len(state.partition.isr)


def _replicas(partition: Partition) -> int:
    state = partition.replication
    return 1 if state is None else len(state.partition.replicas)


def _least(partition: Partition) -> int:
    return min(partition.log.config.min_insync_replicas, _replicas(partition))


def _is_under_replicated(partition: Partition) -> bool:
    return _isr(partition) < _replicas(partition)


def _is_under_least(partition: Partition) -> bool:
    return _isr(partition) < _least(partition)


def _is_at_least(partition: Partition) -> bool:
    return _isr(partition) == _least(partition)


def _listeners(process: BrokerProcess) -> Iterator[Sample]:
    servers = (process.socket_server, process.socket_server.beside)
    for server in servers:
        if server is not None:
            for listener, count in server.connection_quotas.open_by_listener.items():
                yield {"listener": listener, "networkProcessor": "0"}, count


def _events(kind: str) -> Callable[[BrokerProcess], float]:
    return lambda process: process.server.metrics.log_events.get(kind, 0)


def _partitions(process: BrokerProcess) -> Iterator[model.Partition]:
    for topic in process.server.image.topics.by_name.values():
        yield from topic.partitions.values()


def _is_active(process: BrokerProcess) -> bool:
    controller: Any = process.server.controller
    return bool(controller.is_serving)


def _brokers(process: BrokerProcess, *, fenced: bool) -> int:
    return sum(each.fenced is fenced for each in process.server.image.cluster.brokers.values())


def _groups(process: BrokerProcess) -> Iterator[Group]:
    for each in states_of(process.broker, RecordFamily.GROUPS):
        yield from each.groups.values()


def _groups_in(state: str) -> Callable[[BrokerProcess], float]:
    return lambda process: sum(each.state_name == state for each in _groups(process))


def _groups_by_type(process: BrokerProcess) -> Iterator[Sample]:
    counts = Counter(each.TYPE for each in _groups(process))
    for kind in _TYPES:
        yield {"protocol": kind.lower()}, counts[kind]


def _rebalances(kind: str) -> Callable[[BrokerProcess], float]:
    return lambda process: sum(
        each.rebalances[kind] for each in states_of(process.broker, RecordFamily.GROUPS)
    )


def _groups_by_state(kind: str) -> Callable[[BrokerProcess], Iterator[Sample]]:
    def read(process: BrokerProcess) -> Iterator[Sample]:
        counts = Counter(each.state_name for each in _groups(process) if kind == each.TYPE)
        for state in _TYPES[kind]:
            yield {"state": state}, counts[state]

    return read


def _disk(field: str) -> Callable[[BrokerProcess], Iterator[Sample]]:
    """Read what Linux has counted for this process."""

    def read(process: BrokerProcess) -> Iterator[Sample]:
        del process
        try:
            lines = Path("/proc/self/io").read_text("ascii").splitlines()
        except OSError:
            return  # another system
        for name, _, value in (line.partition(": ") for line in lines):
            if name == field:
                yield {}, int(value)

    return read


def _of_controller(name: str, about: str, read: Callable[[BrokerProcess], float]) -> Figure:
    return Figure(_CONTROLLER + name, "gauge", about, one(read), role="controller")


def _of_partition(name: str, about: str, read: Callable[[Partition], float]) -> Figure:
    samples = of_replicas(read, led=True)
    return Figure(f"kafka_cluster_partition_{name}", "gauge", about, samples, _OF_PARTITION)


def _of_log(name: str, about: str, read: Callable[[Partition], float]) -> Figure:
    return Figure(f"kafka_log_log_{name}", "gauge", about, of_replicas(read), _OF_PARTITION)


KAFKA: Final = (
    *REQUESTS,
    _of_log("size", "bytes of the log", lambda each: each.log.size_in_bytes),
    _of_log("logstartoffset", "the first offset", lambda each: each.log.log_start_offset),
    _of_log("logendoffset", "the offset of the next record", lambda each: each.log.log_end_offset),
    _of_log("numlogsegments", "segments", lambda each: len(each.log.segments)),
    Figure(
        f"{_PREFIX}leadercount",
        "gauge",
        "partitions that this broker leads",
        count_of_led(lambda _: True),
    ),
    Figure(
        f"{_PREFIX}partitioncount",
        "gauge",
        "replicas in this broker",
        one(lambda process: sum(1 for _ in replicas(process))),
    ),
    Figure(
        f"{_PREFIX}offlinereplicacount",
        "gauge",
        "replicas whose log has failed",
        one(lambda process: sum(each.log.failure is not None for each in replicas(process))),
    ),
    Figure(
        f"{_PREFIX}underreplicatedpartitions",
        "gauge",
        "led partitions with fewer in-sync replicas than replicas",
        count_of_led(_is_under_replicated),
    ),
    Figure(
        f"{_PREFIX}underminisrpartitioncount",
        "gauge",
        "led partitions with fewer in-sync replicas than min.insync.replicas",
        count_of_led(_is_under_least),
    ),
    Figure(
        f"{_PREFIX}atminisrpartitioncount",
        "gauge",
        "led partitions with as many in-sync replicas as min.insync.replicas",
        count_of_led(_is_at_least),
    ),
    Figure(
        f"{_PREFIX}isrshrinks_total",
        "counter",
        "times at which replicas left the ISR; partitions at the same moment count once",
        one(_events("isr-shrunk")),
    ),
    Figure(
        f"{_PREFIX}isrexpands_total",
        "counter",
        "times at which replicas joined the ISR; partitions at the same moment count once",
        one(_events("isr-grown")),
    ),
    _of_partition("replicascount", "replicas", _replicas),
    _of_partition("insyncreplicascount", "in-sync replicas", _isr),
    _of_partition("underreplicated", "1: not all replicas are in sync", _is_under_replicated),
    _of_partition("underminisr", "1: fewer in sync than min.insync.replicas", _is_under_least),
    _of_partition("atminisr", "1: as many in sync as min.insync.replicas", _is_at_least),
    _of_partition(
        "laststableoffsetlag",
        "offsets from the last stable offset to the high watermark",
        lambda each: each.log.high_watermark - each.log.last_stable_offset,
    ),
    Figure(
        "kafka_server_socket_server_metrics_connection_count",
        "gauge",
        "open connections",
        _listeners,
        "listener, networkProcessor (always 0)",
        "any",
    ),
    *(
        Figure(
            f"kafka_server_kafkaserver_linux_disk_{field}",
            "gauge",
            f"{field.replace('_', ' ')} of this process, on Linux",
            _disk(field),
            role="any",
        )
        for field in ("read_bytes", "write_bytes")
    ),
    Figure(
        "kafka_coordinator_group_groupmetadatamanager_numgroups",
        "gauge",
        "groups that this broker coordinates",
        one(lambda process: sum(1 for _ in _groups(process))),
    ),
    *(
        Figure(
            f"kafka_coordinator_group_groupmetadatamanager_numgroups{state.lower()}",
            "gauge",
            f"groups in the state {state}",
            one(_groups_in(state)),
        )
        for state in _GROUP_STATES
    ),
    Figure(
        f"{_GROUPS}group_count",
        "gauge",
        "groups by type: classic, consumer, share or streams",
        _groups_by_type,
        "protocol",
    ),
    *(
        Figure(
            f"{_GROUPS}{name}_rebalance_count",
            "counter",
            about,
            one(_rebalances(kind)),
        )
        for kind, name, about in _REBALANCES
    ),
    *(
        Figure(
            f"{_GROUPS}{kind.lower()}_group_count",
            "gauge",
            f"{kind.lower()} groups by state",
            _groups_by_state(kind),
            "state",
        )
        for kind, states in _TYPES.items()
        if states
    ),
    _of_controller("activecontrollercount", "1: it is the active controller", _is_active),
    _of_controller(
        "activebrokercount", "brokers that are not fenced", lambda it: _brokers(it, fenced=False)
    ),
    _of_controller("fencedbrokercount", "fenced brokers", lambda it: _brokers(it, fenced=True)),
    _of_controller(
        "globaltopiccount", "topics", lambda process: len(process.server.image.topics.by_name)
    ),
    _of_controller(
        "globalpartitioncount", "partitions", lambda it: sum(1 for _ in _partitions(it))
    ),
    _of_controller(
        "offlinepartitionscount",
        "partitions without a leader",
        lambda process: sum(each.leader < 0 for each in _partitions(process)),
    ),
    _of_controller(
        "preferredreplicaimbalancecount",
        "partitions that their first replica does not lead",
        lambda process: sum(each.leader != each.replicas[0] for each in _partitions(process)),
    ),
    Figure(
        "kafka_controller_controllerstats_uncleanleaderelections_total",
        "counter",
        "elections of leaders that may lack records",
        one(lambda process: process.server.events.unclean_elections),
        role="controller",
    ),
)
