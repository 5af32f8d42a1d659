"""A topology and the topics that there are: how many tasks it has, and which topics it lacks.

A repartition topic without a number of partitions gets the largest number of its writers' sources.
Source topics that are read together must have equally many; repartition topics among them are given
that number. A subtopology has a task for each partition of its largest source. A changelog has a
partition for each task.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, Final

from fencepost_protocol.generated.create_topics import CreatableTopic, CreatableTopicConfig

from fencepost_broker.coordinator.group.ports import Topics


class StatusCode(IntEnum):
    """What the answer to a heartbeat says beside tasks."""

    STALE_TOPOLOGY = 0
    MISSING_SOURCE_TOPICS = 1
    INCORRECTLY_PARTITIONED_TOPICS = 2
    MISSING_INTERNAL_TOPICS = 3
    SHUTDOWN_APPLICATION = 4
    ASSIGNMENT_DELAYED = 5


@dataclass(frozen=True, slots=True)
class InternalTopic:
    """A topic that the application writes and reads by itself."""

    name: str
    partitions: int
    """0: as many as follow from the topology."""
    replication_factor: int
    """0: as many as topics have by default."""
    configs: tuple[tuple[str, str], ...] = ()

    def to_create(self) -> CreatableTopic:
        """Return the topic as CreateTopics has it."""
        configs = [CreatableTopicConfig(name, value) for name, value in self.configs]
        replicas = self.replication_factor or -1
        return CreatableTopic(self.name, self.partitions, replicas, configs=configs)


@dataclass(frozen=True, slots=True)
class Copartitioned:
    """Positions of the source topics that are read together."""

    sources: tuple[int, ...]
    repartitions: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Subtopology:
    """A part of a topology, which has tasks of its own."""

    name: str
    sources: tuple[str, ...] = ()
    changelogs: tuple[InternalTopic, ...] = ()
    sinks: tuple[str, ...] = ()
    repartitions: tuple[InternalTopic, ...] = ()
    copartitioned: tuple[Copartitioned, ...] = ()


@dataclass(frozen=True, slots=True)
class Topology:
    """What the members of a group run."""

    epoch: int
    subtopologies: tuple[Subtopology, ...]

    def topics(self) -> set[str]:
        """Return the names of all topics that it reads and keeps."""
        return {
            name
            for each in self.subtopologies
            for name in (
                *each.sources,
                *(topic.name for topic in (*each.repartitions, *each.changelogs)),
            )
        }


@dataclass(frozen=True, slots=True)
class Configured:
    """A topology with numbers of tasks; without any if something is wrong."""

    tasks: Mapping[str, int] = field(default_factory=dict)
    """By subtopology."""
    stateful: frozenset[str] = frozenset()
    partitions: Mapping[str, int] = field(default_factory=dict)
    """By internal topic."""
    missing: tuple[InternalTopic, ...] = ()
    status: tuple[StatusCode, str] | None = None

    @property
    def is_ready(self) -> bool:
        """Whether tasks can be assigned."""
        return self.status is None


class _WrongTopicsError(Exception):
    def __init__(self, code: StatusCode, text: str) -> None:
        super().__init__(text)
        self.status = code, text


def topology_of(value: Any) -> Topology:
    """Return the topology of a heartbeat or a record."""

    def internal(rows: Iterable[Any]) -> tuple[InternalTopic, ...]:
        return tuple(
            InternalTopic(
                row.name,
                row.partitions,
                row.replication_factor,
                tuple((each.key, each.value) for each in row.topic_configs),
            )
            for row in rows
        )

    return Topology(
        value.epoch,
        tuple(
            Subtopology(
                each.subtopology_id,
                tuple(each.source_topics),
                internal(each.state_changelog_topics),
                tuple(each.repartition_sink_topics),
                internal(each.repartition_source_topics),
                tuple(
                    Copartitioned(
                        tuple(group.source_topics), tuple(group.repartition_source_topics)
                    )
                    for group in each.copartition_groups
                ),
            )
            for each in value.subtopologies
        ),
    )


def configure(topology: Topology, topics: Topics) -> Configured:
    """Work out the tasks of a topology, and which topics have to be made."""
    try:
        counts = _counts(topology, topics)
    except _WrongTopicsError as wrong:
        return Configured(status=wrong.status)
    tasks = {each.name: _tasks(each, counts) for each in topology.subtopologies}
    stateful = frozenset(each.name for each in topology.subtopologies if each.changelogs)
    wanted: dict[str, InternalTopic] = {}
    for each in topology.subtopologies:
        for topic in (*each.repartitions, *each.changelogs):
            count = counts[topic.name] if topic in each.repartitions else tasks[each.name]
            wanted[topic.name] = InternalTopic(
                topic.name, count, topic.replication_factor, topic.configs
            )
    missing = []
    for topic in wanted.values():
        there = topics.partition_count(topic.name)
        if not there:
            missing.append(topic)
        elif there != topic.partitions:
            text = (
                f"the internal topic {topic.name} has {there} partitions, and {topic.partitions}"
                " are needed: delete it, and let it be made again"
            )
            return Configured(status=(StatusCode.INCORRECTLY_PARTITIONED_TOPICS, text))
    partitions = {topic.name: topic.partitions for topic in wanted.values()}
    if missing:
        names = ", ".join(sorted(topic.name for topic in missing))
        status = StatusCode.MISSING_INTERNAL_TOPICS, f"internal topics do not exist yet: {names}"
        return Configured({}, stateful, partitions, tuple(missing), status)
    return Configured(tasks, stateful, partitions)


def _counts(topology: Topology, topics: Topics) -> dict[str, int]:
    """Return the number of partitions of each source and repartition topic."""
    counts: dict[str, int] = {}
    absent = []
    for each in topology.subtopologies:
        for name in each.sources:
            counts[name] = topics.partition_count(name)
            if not counts[name]:
                absent.append(name)
    if absent:
        text = f"source topics do not exist: {', '.join(dict.fromkeys(absent))}"
        raise _WrongTopicsError(StatusCode.MISSING_SOURCE_TOPICS, text)
    open_ = {}
    for each in topology.subtopologies:
        for topic in each.repartitions:
            if topic.partitions:
                counts[topic.name] = topic.partitions
            else:
                open_[topic.name] = topic
    _copartition(topology, counts, open_.keys())
    while unknown := open_.keys() - counts.keys():
        found = {name: count for name in unknown if (count := _written(topology, name, counts))}
        if not found:
            text = f"nothing says how many partitions these have: {', '.join(sorted(unknown))}"
            raise _WrongTopicsError(StatusCode.INCORRECTLY_PARTITIONED_TOPICS, text)
        counts |= found
        _copartition(topology, counts, open_.keys())
    return counts


def _written(topology: Topology, name: str, counts: Mapping[str, int]) -> int:
    """Return the largest number of partitions of what is written to a repartition topic."""
    writers = [each for each in topology.subtopologies if name in each.sinks]
    read = [topic for each in writers for topic in _read(each)]
    return max((counts.get(topic, 0) for topic in read), default=0)


def _read(subtopology: Subtopology) -> list[str]:
    return [*subtopology.sources, *(each.name for each in subtopology.repartitions)]


def _copartition(topology: Topology, counts: dict[str, int], free: Iterable[str]) -> None:
    """Give equally many partitions to topics that are read together."""
    movable = set(free)
    for each in topology.subtopologies:
        for group in each.copartitioned:
            names = [each.sources[at] for at in group.sources if at < len(each.sources)]
            names += [
                each.repartitions[at].name
                for at in group.repartitions
                if at < len(each.repartitions)
            ]
            fixed = {name: counts[name] for name in names if name in counts and name not in movable}
            if len(set(fixed.values())) > 1:
                told = ", ".join(f"{name}: {count}" for name, count in sorted(fixed.items()))
                text = f"topics that are read together differ in their partitions: {told}"
                raise _WrongTopicsError(StatusCode.INCORRECTLY_PARTITIONED_TOPICS, text)
            known = fixed or {name: counts[name] for name in names if name in counts}
            if known:
                counts |= dict.fromkeys(movable.intersection(names), max(known.values()))


def _tasks(subtopology: Subtopology, counts: Mapping[str, int]) -> int:
    return max((counts[name] for name in _read(subtopology)), default=0)


NOT_READY: Final = Configured(status=(StatusCode.STALE_TOPOLOGY, "the group has no topology"))
