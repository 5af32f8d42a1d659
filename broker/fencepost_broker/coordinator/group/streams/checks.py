"""What is wrong with a StreamsGroupHeartbeat, whatever the state of its group."""

from __future__ import annotations

from typing import Final

from fencepost_protocol.generated.error_code import ErrorCode
from fencepost_protocol.generated.streams_group_heartbeat import (
    StreamsGroupHeartbeatRequest,
    Subtopology,
)

from fencepost_broker.coordinator.group.consumer.member import AWAY
from fencepost_broker.coordinator.group.refusal import Refusal

TOPICS_MAX: Final = 10_000
"""So many topics, and positions of topics that are read together, a topology may have."""


def check(request: StreamsGroupHeartbeatRequest) -> None:
    """Raise a ``Refusal`` if the request by itself is wrong."""
    problem = None
    joins = request.member_epoch == 0
    if not request.member_id:
        problem = "a member needs an id"
    elif not request.group_id:
        problem = "the group has no id"
    elif request.rack_id == "":
        problem = "a rack id cannot be empty"
    elif request.instance_id is not None:
        problem = "streams groups have no static members yet"
    elif request.member_epoch < AWAY:
        problem = f"the member epoch {request.member_epoch} is invalid"
    elif request.member_epoch == AWAY:
        problem = "only a static member can leave temporarily"
    elif request.warmup_tasks:
        problem = "streams groups have no warm-up tasks yet"
    elif request.topology is not None and not joins:
        problem = "the topology can be told on joining only"
    elif joins:
        problem = _joining_problem(request)
    if problem is not None:
        raise Refusal(ErrorCode.INVALID_REQUEST, problem)


def _joining_problem(request: StreamsGroupHeartbeatRequest) -> str | None:
    if request.rebalance_timeout_ms == -1:
        return "the first heartbeat must have a rebalance timeout"
    if request.topology is None:
        return "the first heartbeat must have a topology"
    if any(each.source_topic_regex for each in request.topology.subtopologies):
        return "this topology names its source topics by a pattern, which is not supported"
    names = [each.subtopology_id for each in request.topology.subtopologies]
    if len(set(names)) < len(names):
        return "two subtopologies have the same id"
    if sum(_size(each) for each in request.topology.subtopologies) > TOPICS_MAX:
        return f"a topology may name {TOPICS_MAX} topics"
    for what, tasks in (
        ("active", request.active_tasks),
        ("standby", request.standby_tasks),
        ("warm-up", request.warmup_tasks),
    ):
        if tasks is None or tasks:
            return f"the first heartbeat must have an empty list of {what} tasks"
    return None


def _size(subtopology: Subtopology) -> int:
    lists = (
        subtopology.source_topics,
        subtopology.state_changelog_topics,
        subtopology.repartition_sink_topics,
        subtopology.repartition_source_topics,
    )
    together = (
        (*each.source_topics, *each.repartition_source_topics)
        for each in subtopology.copartition_groups
    )
    return 1 + sum(len(each) for each in lists) + sum(len(each) for each in together)
