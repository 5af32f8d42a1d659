"""A figure for Prometheus: its name, what it means, and how it is read from a broker."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from fencepost_broker.coordinator.records import RecordFamily
from fencepost_broker.replication.partition import Partition

if TYPE_CHECKING:
    from typing import Any

    from fencepost_broker.server.broker_server import BrokerServer
    from fencepost_broker.server.process import BrokerProcess

Sample: TypeAlias = tuple[dict[str, str], float]
"""The labels and the value of a time series."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One metric, which may have many time series."""

    name: str
    """As Prometheus has it; that of a counter ends with ``_total`` or ``_count``."""
    kind: Literal["counter", "gauge"]
    about: str
    read: Callable[[BrokerProcess], Iterable[Sample]]
    labels: str = ""
    """The names of the labels, for people."""
    role: Literal["broker", "controller", "any"] = "broker"
    """The processes that have it."""

    def samples(self, process: BrokerProcess) -> Iterable[Sample]:
        """Return its time series as they are now."""
        if self.role != "any" and self.role not in process.settings.process_roles:
            return ()
        return self.read(process)


def one(read: Callable[[BrokerProcess], float]) -> Callable[[BrokerProcess], Iterable[Sample]]:
    """Read a single number, without labels."""
    return lambda process: (({}, read(process)),)


def replicas(process: BrokerProcess) -> Iterator[Partition]:
    """Yield the partitions that have a replica in this broker."""
    for topic in process.server.table.by_name.values():
        yield from (each for each in topic.partitions if each.is_here)


def of_replicas(
    read: Callable[[Partition], float], *, led: bool = False
) -> Callable[[BrokerProcess], Iterable[Sample]]:
    """Read a number of each replica, or of those that lead."""

    def samples(process: BrokerProcess) -> Iterator[Sample]:
        for each in replicas(process):
            if each.leads or not led:
                labels = {"topic": each.topic, "partition": str(each.number)}
                yield labels, read(each)

    return samples


def count_of_led(
    wanted: Callable[[Partition], bool],
) -> Callable[[BrokerProcess], Iterable[Sample]]:
    """Count the partitions that this broker leads, of a kind."""
    return one(lambda process: sum(each.leads and wanted(each) for each in replicas(process)))


def states_of(broker: BrokerServer, family: RecordFamily) -> Iterator[Any]:
    """Yield the state of each loaded coordinator; makes none."""
    runtime = broker.coordinators.made
    if runtime is not None:
        for shard in runtime.shards_of(family):
            yield shard.machine.state
