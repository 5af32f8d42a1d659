"""What a user with few rights asks about share groups: more of `authorizer_cases.py`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fencepost_protocol.generated import alter_share_group_offsets as altering
from fencepost_protocol.generated import delete_share_group_offsets as deleting
from fencepost_protocol.generated import delete_share_group_state as removing
from fencepost_protocol.generated import describe_share_group_offsets as describing
from fencepost_protocol.generated import initialize_share_group_state as initializing
from fencepost_protocol.generated import read_share_group_state as reading
from fencepost_protocol.generated import read_share_group_state_summary as summing
from fencepost_protocol.generated import write_share_group_state as writing
from fencepost_protocol.generated.find_coordinator import FindCoordinatorRequest
from fencepost_protocol.generated.share_group_describe import ShareGroupDescribeRequest
from fencepost_protocol.generated.share_group_heartbeat import ShareGroupHeartbeatRequest

from tests.conformance.authorizer_cases import ADMIN, BOTH, NOBODY, USER, Case

GROUPS = ("mine-shared", "shut-shared", "mine-denied")


def share_cases(ids: dict[str, bytes]) -> Iterator[Case]:
    """``ids`` are those of the topics."""
    for group in ("mine-shared", "shut-shared"):
        join = ShareGroupHeartbeatRequest(group, "A" * 22, 0, None, ["mine", "shut"])
        yield Case(f"join {group}", join, 1, ADMIN)
    for group in (*GROUPS, "mine-none"):
        for topics in (["mine"], ["mine", "shut"], ["seen"], ["none"]):
            for host in (USER, NOBODY):
                beat = ShareGroupHeartbeatRequest(group, "A" * 22, 9, None, topics)
                yield Case(f"beat {group} {topics} {host}", beat, 1, host)
    for include in (False, True):
        for group in (*GROUPS, "mine-none"):
            describe = ShareGroupDescribeRequest([group], include)
            yield Case(f"describe {group} {include}", describe, 1)
    for group in GROUPS:
        yield from _offsets(group)
    leave = ShareGroupHeartbeatRequest("mine-shared", "A" * 22, -1)
    yield Case("leave", leave, 1, ADMIN)
    yield from _offsets("mine-shared")
    yield from _state(ids)


def _offsets(group: str) -> Iterator[Case]:
    topics: Any = [
        describing.DescribeShareGroupOffsetsRequestTopic(each, [0]) for each in ("shut", "none")
    ]
    asked = describing.DescribeShareGroupOffsetsRequestGroup(group, topics)
    yield Case(f"offsets of {group}", describing.DescribeShareGroupOffsetsRequest([asked]), 1)
    start = altering.AlterShareGroupOffsetsRequestPartition(0, 1)
    for some in (BOTH, ("shut", "none"), ()):
        to_alter = [altering.AlterShareGroupOffsetsRequestTopic(each, [start]) for each in some]
        alter = altering.AlterShareGroupOffsetsRequest(group, to_alter)
        yield Case(f"alter {some} of {group}", alter, 0)
        to_delete = [deleting.DeleteShareGroupOffsetsRequestTopic(each) for each in some]
        delete = deleting.DeleteShareGroupOffsetsRequest(group, to_delete)
        yield Case(f"delete {some} of {group}", delete, 0)


def _state(ids: dict[str, bytes]) -> Iterator[Case]:
    topic_id = ids["mine"]
    key = "mine-shared:AAAAAAAAAAAAAAAAAAAAAQ:0"
    find = FindCoordinatorRequest(key_type=2, coordinator_keys=[key, "x"])
    yield Case("find a share coordinator", find, 6)
    requests: tuple[tuple[Any, Any, list[Any]], ...] = (
        (
            initializing.InitializeShareGroupStateRequest,
            initializing.InitializeStateData,
            [initializing.PartitionData(0), initializing.PartitionData(9)],
        ),
        (reading.ReadShareGroupStateRequest, reading.ReadStateData, [reading.PartitionData(0)]),
        (writing.WriteShareGroupStateRequest, writing.WriteStateData, [writing.PartitionData(0)]),
        (removing.DeleteShareGroupStateRequest, removing.DeleteStateData,
         [removing.PartitionData(0)]),
        (summing.ReadShareGroupStateSummaryRequest, summing.ReadStateSummaryData,
         [summing.PartitionData(0)]),
    )  # fmt: skip
    for message, topic, rows in requests:
        for group in ("mine-shared", "shut-shared"):
            request = message(group, [topic(topic_id, rows)])
            yield Case(f"{message.NAME} of {group}", request, message.MAX_VERSION)
