"""The history of a group: which member had which partitions, as the log of the coordinator has it.

The records are replayed into a coordinator of their own, so that there is no second reading of
what they mean.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from http import HTTPStatus
from typing import TYPE_CHECKING, Annotated, Any, Final

from fencepost_client.consumer.group_protocol import read_assignment
from fencepost_protocol.exceptions import ProtocolError
from fencepost_protocol.records.batch import split_batches
from fencepost_protocol.records.reader import iter_records
from msgspec import Meta, Struct

from fencepost_broker.coordinator.group.classic.group import ClassicGroup
from fencepost_broker.coordinator.group.consumer.group import ConsumerGroup
from fencepost_broker.coordinator.group.machine import GroupCoordinator
from fencepost_broker.coordinator.group.model import Group
from fencepost_broker.coordinator.records import RecordFamily, UnknownRecordTypeError, decode_record
from fencepost_broker.server.control.families.groups import Assigned, GroupName
from fencepost_broker.server.control.in_cluster import broker_that_has_it
from fencepost_broker.server.control.problems import ProblemError
from fencepost_broker.server.control.routes import ControlContext, Route
from fencepost_broker.storage.log.results import UpperBound

if TYPE_CHECKING:
    from fencepost_broker.metadata.image.topics import TopicsImage
    from fencepost_broker.replication.partition import Partition

RECORDS_MAX: Final = 20_000
"""So many of the last records of the log are looked at."""
EPOCHS_MAX: Final = 200
_READ_BYTES: Final = 1 << 18
_OFFSETS: Final = (b"\x00\x00", b"\x00\x01")
"""How keys of committed offsets begin; they change no member."""


class MemberThen(Struct, frozen=True):
    """A member, as it was in an epoch."""

    member_id: str
    client_id: str
    epoch: Annotated[int, Meta(description="what it has reached; less: it is not there yet")]
    partitions: list[Assigned]


class GroupThen(Struct, frozen=True):
    """A group, as it was for some time."""

    at_ms: Annotated[int, Meta(description="since when, in state time")]
    epoch: Annotated[int, Meta(description="of the group; of classic groups, the generation")]
    members: list[MemberThen]


class GroupHistory(Struct, frozen=True):
    """What a group was, the oldest first; compaction removes what is older."""

    epochs: list[GroupThen]


async def get_history(context: ControlContext, named: GroupName) -> GroupHistory:
    """Read the last changes of a group from the log of its coordinator."""
    shard = context.coordinators.shard(RecordFamily.GROUPS, named.group_id)
    if shard is None:
        raise ProblemError(HTTPStatus.NOT_FOUND, "this broker does not coordinate the group")
    assert isinstance(shard.machine, GroupCoordinator)
    state = shard.machine.state
    machine = GroupCoordinator(state.topics, state.chance, state.settings)
    topics = context.server.image.topics
    found: list[GroupThen] = []
    wanted = named.group_id.encode()
    for at_ms, records in _batches(shard.partition, wanted):
        for offset, key, value in records:
            try:
                machine.replay(decode_record(RecordFamily.GROUPS, key, value), offset, -1)
            except UnknownRecordTypeError:
                continue
        now = machine.state.groups.get(named.group_id)
        told = GroupThen(at_ms, *_told(now, topics))
        if not found or (told.epoch, told.members) != (found[-1].epoch, found[-1].members):
            found.append(told)
        await asyncio.sleep(0)
    return GroupHistory(found[-EPOCHS_MAX:])


_Records = list[tuple[int, Any, Any]]


def _batches(partition: Partition, group_id: bytes) -> Iterator[tuple[int, _Records]]:
    """Yield the time and the records of each batch that may be about members of a group."""
    log = partition.log
    offset, end = max(log.log_start_offset, log.log_end_offset - RECORDS_MAX), log.log_end_offset
    while offset < end:
        read = log.read(offset, _READ_BYTES, UpperBound.LOG_END, min_one_batch=True)
        if read.error:
            raise ProblemError(HTTPStatus.SERVICE_UNAVAILABLE, f"{read.error.name}: {read.message}")
        content = b"".join(read.pieces or ())
        before = offset
        for header, batch in split_batches(content, tolerate_partial=True):
            offset = header.last_offset + 1
            if header.is_control or header.is_transactional or group_id not in bytes(batch):
                continue
            records = [
                (each.offset, each.key, each.value)
                for each in iter_records(batch)
                if each.key is not None
                and bytes(each.key[:2]) not in _OFFSETS
                and group_id in bytes(each.key)
            ]
            if records:
                yield header.max_timestamp, records
        if offset == before:
            return


def _told(group: Group | None, topics: TopicsImage) -> tuple[int, list[MemberThen]]:
    if isinstance(group, ClassicGroup):
        return group.generation, [
            MemberThen(each.member_id, each.client_id, group.generation, _read(each.assignment))
            for each in group.members.values()
        ]
    if isinstance(group, ConsumerGroup):
        return group.group_epoch, [
            MemberThen(
                each.member_id,
                each.client_id,
                each.member_epoch,
                sorted(
                    (
                        Assigned(topics.by_id[topic_id].name, number)
                        for owned in (each.assigned, each.revoking)
                        for topic_id, numbers in owned.items()
                        if topic_id in topics.by_id
                        for number in numbers
                    ),
                    key=lambda at: (at.topic, at.partition),
                ),
            )
            for each in group.members.values()
        ]
    return 0, []


def _read(assignment: bytes) -> list[Assigned]:
    try:
        return [Assigned(*each) for each in sorted(read_assignment(assignment))]
    except ProtocolError:
        return []  # members may send each other what they like


ROUTES: Final = (
    Route(
        "GET",
        "/v1/groups/{group_id}/history",
        get_history,
        "which member of a group had which partitions when, from the log of its coordinator",
        request=GroupName,
        response=GroupHistory,
        in_cluster=broker_that_has_it,
        errors=(HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT, HTTPStatus.SERVICE_UNAVAILABLE),
    ),
)
