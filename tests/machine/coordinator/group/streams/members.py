"""Heartbeats of members of streams groups."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from fencepost_protocol.generated.streams_group_heartbeat import (
    CopartitionGroup,
    KeyValue,
    StreamsGroupHeartbeatRequest,
    StreamsGroupHeartbeatRequestTaskIds,
    Subtopology,
    TopicInfo,
    Topology,
)

GROUP = "g"
AT_ONCE: Any = {
    "group_streams_assignment_interval_ms": 0,
    "group_streams_initial_rebalance_delay_ms": 0,
}
Numbers = Mapping[str, Iterable[int]]


def internal(name: str, partitions: int = 0, **configs: str) -> TopicInfo:
    given = [KeyValue(key.replace("_", "."), value) for key, value in configs.items()]
    return TopicInfo(name, partitions, 0, given)


def part(
    name: str = "0",
    *sources: str,
    changelogs: Iterable[TopicInfo] = (),
    sinks: Iterable[str] = (),
    repartitions: Iterable[TopicInfo] = (),
    together: Iterable[tuple[list[int], list[int]]] = (),
) -> Subtopology:
    groups = [CopartitionGroup(first, [], second) for first, second in together]
    return Subtopology(
        name, list(sources), [], list(changelogs), list(sinks), list(repartitions), groups
    )


def topology(*parts: Subtopology, epoch: int = 0) -> Topology:
    return Topology(epoch, list(parts))


SIMPLE = topology(part("0", "t"))


def tasks(numbers: Numbers) -> list[StreamsGroupHeartbeatRequestTaskIds]:
    return [StreamsGroupHeartbeatRequestTaskIds(name, list(each)) for name, each in numbers.items()]


def join(
    member: str, told: Topology = SIMPLE, process: str = "", group: str = GROUP, **fields: Any
) -> StreamsGroupHeartbeatRequest:
    given: dict[str, Any] = {
        "rebalance_timeout_ms": 5000,
        "topology": told,
        "active_tasks": [],
        "standby_tasks": [],
        "warmup_tasks": [],
        "process_id": process or member,
    }
    return StreamsGroupHeartbeatRequest(group, member, 0, **given | fields)


def beat(
    member: str,
    epoch: int,
    active: Numbers | None = None,
    standby: Numbers | None = None,
    group: str = GROUP,
    **fields: Any,
) -> StreamsGroupHeartbeatRequest:
    """A heartbeat; without ``active``, it reports no tasks."""
    if active is not None:
        fields |= {"active_tasks": tasks(active), "standby_tasks": tasks(standby or {})}
        fields["warmup_tasks"] = []
    return StreamsGroupHeartbeatRequest(group, member, epoch, **fields)
