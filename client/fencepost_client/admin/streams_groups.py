"""Streams groups (KIP-1071): topologies, and the tasks of members."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from fencepost_client.types import TopicPartition


class StreamsTask(NamedTuple):
    """A task: a subtopology, and the partition that it processes."""

    subtopology_id: str
    partition: int

    def __str__(self) -> str:
        """As Kafka Streams writes it: ``0_1``."""
        return f"{self.subtopology_id}_{self.partition}"


@dataclass(frozen=True, slots=True)
class StreamsTasks:
    """The tasks of a member."""

    active: tuple[StreamsTask, ...] = ()
    standby: tuple[StreamsTask, ...] = ()
    """Tasks whose state the member keeps, to take them over quickly."""
    warmup: tuple[StreamsTask, ...] = ()
    """Tasks whose state the member reads before it gets them."""


@dataclass(frozen=True, slots=True)
class StreamsMember:
    """What only members of streams groups have."""

    process_id: str
    """The same for all members of one process."""
    topology_epoch: int
    endpoint: str | None
    """Host and port for interactive queries."""
    client_tags: Mapping[str, str]
    tasks: StreamsTasks
    target_tasks: StreamsTasks
    """The tasks after other members have given up theirs."""


@dataclass(frozen=True, slots=True)
class StreamsSubtopology:
    """A part of a topology, with the names of its topics."""

    subtopology_id: str
    source_topics: tuple[str, ...]
    repartition_source_topics: tuple[str, ...] = ()
    repartition_sink_topics: tuple[str, ...] = ()
    state_changelog_topics: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StreamsTopology:
    """The topology of a streams group."""

    epoch: int
    subtopologies: tuple[StreamsSubtopology, ...]

    def partitions_of(self, tasks: Iterable[StreamsTask]) -> tuple[TopicPartition, ...]:
        """Return the partitions that tasks read; not every topic may have as many."""
        sources = {
            each.subtopology_id: (*each.source_topics, *each.repartition_source_topics)
            for each in self.subtopologies
        }
        return tuple(
            sorted(
                TopicPartition(topic, task.partition)
                for task in tasks
                for topic in sources.get(task.subtopology_id, ())
            )
        )


def read_topology(told: Any) -> StreamsTopology:
    """Read the topology of StreamsGroupDescribe."""
    return StreamsTopology(
        told.epoch,
        tuple(
            StreamsSubtopology(
                each.subtopology_id,
                tuple(each.source_topics),
                tuple(topic.name for topic in each.repartition_source_topics),
                tuple(each.repartition_sink_topics),
                tuple(topic.name for topic in each.state_changelog_topics),
            )
            for each in told.subtopologies or ()
        ),
    )


def read_member(told: Any) -> StreamsMember:
    """Read a member of StreamsGroupDescribe."""
    endpoint = told.user_endpoint
    return StreamsMember(
        told.process_id,
        told.topology_epoch,
        None if endpoint is None else f"{endpoint.host}:{endpoint.port}",
        {tag.key: tag.value for tag in told.client_tags},
        _tasks(told.assignment),
        _tasks(told.target_assignment),
    )


def _tasks(assignment: Any) -> StreamsTasks:
    def read(ids: Any) -> tuple[StreamsTask, ...]:
        return tuple(
            sorted(
                StreamsTask(each.subtopology_id, part) for each in ids for part in each.partitions
            )
        )

    return StreamsTasks(
        read(assignment.active_tasks), read(assignment.standby_tasks), read(assignment.warmup_tasks)
    )
