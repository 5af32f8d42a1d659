"""The subcommands of ``fencepost groups``: ask, then write a table or JSON."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping
from typing import Any, Final

from fencepost_client.admin.groups import GroupDescription, GroupMember, MemberToRemove
from fencepost_client.admin.partitions import ListedOffset
from fencepost_client.admin.streams_groups import StreamsTask, StreamsTopology
from fencepost_client.clients.admin import Admin
from fencepost_client.commands.errors import NotDoneError, UsageError
from fencepost_client.commands.output import write, write_json, write_table
from fencepost_client.commands.runner import Action
from fencepost_client.consumer.list_offsets import EARLIEST, LATEST
from fencepost_client.errors import GroupIdNotFoundError, UnknownTopicOrPartitionError
from fencepost_client.types import TopicPartition

_SHARE: Final = "share"
_STREAMS: Final = "streams"


async def _list(admin: Admin, options: argparse.Namespace) -> None:
    found = await admin.list_groups(states=options.state, types=options.type)
    if options.json:
        write_json(found)
        return
    write_table(
        ("GROUP", "TYPE", "PROTOCOL", "STATE", "COORDINATOR"),
        [
            (each.group_id, each.group_type or None, each.protocol_type or None,
             each.state or None, each.coordinator_id)
            for each in found
        ],
        "no groups" + (" like that" if options.state or options.type else ""),
    )  # fmt: skip


async def _describe(admin: Admin, options: argparse.Namespace) -> None:
    group = (await admin.describe_groups([options.group]))[options.group]
    if group.group_type == _SHARE:
        await _describe_share_group(admin, options, group)
        return
    committed = await admin.list_group_offsets(options.group)
    readers: dict[TopicPartition, GroupMember] = {
        where: member for member in group.members for where in member.assignment
    }
    partitions = sorted(committed.keys() | readers.keys())
    ends = await _ends(admin, partitions)
    if group.group_type == _STREAMS:  # a task's topics may have different numbers of partitions
        partitions = [where for where in partitions if where in ends or where in committed]
    rows = []
    for where in partitions:
        at = committed[where].offset if where in committed else None
        end = ends.get(where)
        reader = readers.get(where)
        rows.append(
            (
                *where, at, end, None if at is None or end is None else end - at,
                None if reader is None else reader.member_id,
                None if reader is None else reader.client_id,
                None if reader is None else reader.host,
            )
        )  # fmt: skip
    if options.json:
        names = ("topic", "partition", "committed", "end", "lag", "member_id", "client_id", "host")
        offsets = [dict(zip(names, row, strict=True)) for row in rows]
        write_json({"group": group, "offsets": offsets})
        return
    _write_title(group)
    if group.topology is not None:
        _write_topology(group.topology)
    headings = ("TOPIC", "PARTITION", "COMMITTED", "END", "LAG", "MEMBER", "CLIENT", "HOST")
    write_table(headings, rows, "no offsets are committed, and there are no members")


async def _describe_share_group(
    admin: Admin, options: argparse.Namespace, group: GroupDescription
) -> None:
    """Several members may read a partition, so members are told by ``members`` only."""
    found = await admin.list_share_group_offsets(options.group)
    rows = [(*where, each.start_offset, each.lag) for where, each in sorted(found.items())]
    if options.json:
        names = ("topic", "partition", "start", "lag")
        offsets = [dict(zip(names, row, strict=True)) for row in rows]
        write_json({"group": group, "offsets": offsets})
        return
    _write_title(group)
    write_table(("TOPIC", "PARTITION", "START", "LAG"), rows, "no partition has been read")


def _write_title(group: GroupDescription) -> None:
    epochs = ""
    if group.group_type == _STREAMS:
        epochs = f", epoch {group.group_epoch}, assignment of epoch {group.assignment_epoch}"
    if group.topology is not None:
        epochs += f", topology of epoch {group.topology.epoch}"
    write(
        f"{group.group_id}: {group.state}, {group.group_type},"
        f" {len(group.members)} members, at broker {group.coordinator_id}{epochs}"
    )


def _write_topology(topology: StreamsTopology) -> None:
    write_table(
        ("SUBTOPOLOGY", "SOURCES", "REPARTITION SINKS", "CHANGELOGS"),
        [
            (
                each.subtopology_id,
                ",".join((*each.source_topics, *each.repartition_source_topics)) or None,
                ",".join(each.repartition_sink_topics) or None,
                ",".join(each.state_changelog_topics) or None,
            )
            for each in topology.subtopologies
        ],
        "no member has told a topology",
    )


async def _is_share_group(admin: Admin, group_id: str) -> bool:
    try:
        described = await admin.describe_groups([group_id])
    except GroupIdNotFoundError:
        return False
    return described[group_id].group_type == _SHARE


async def _ends(admin: Admin, partitions: list[TopicPartition]) -> dict[TopicPartition, int]:
    """Where partitions end; topics that are gone by now are left out."""
    try:
        found: Mapping[TopicPartition, Any]
        found = await admin.list_offsets(dict.fromkeys(partitions, LATEST))
    except UnknownTopicOrPartitionError as error:
        found = error.outcomes
    return {where: each.offset for where, each in found.items() if isinstance(each, ListedOffset)}


async def _members(admin: Admin, options: argparse.Namespace) -> None:
    group = (await admin.describe_groups([options.group]))[options.group]
    if options.json:
        write_json(group.members)
        return
    if group.group_type == _STREAMS:
        _write_streams_members(group)
        return
    write_table(
        ("MEMBER", "INSTANCE", "CLIENT", "HOST", "EPOCH", "PARTITIONS"),
        [
            (
                each.member_id, each.group_instance_id, each.client_id, each.host,
                each.member_epoch, _names(each.assignment),
            )
            for each in group.members
        ],
        "no members",
    )  # fmt: skip


def _write_streams_members(group: GroupDescription) -> None:
    def told(tasks: Iterable[StreamsTask]) -> str:
        return ",".join(map(str, tasks)) or "-"

    rows = []
    for each in group.members:
        streams = each.streams
        assert streams is not None
        rows.append(
            (
                each.member_id, streams.process_id, each.client_id, each.host, each.member_epoch,
                told(streams.tasks.active), told(streams.tasks.standby), told(streams.tasks.warmup),
                "-" if streams.tasks == streams.target_tasks else told(streams.target_tasks.active),
            )
        )  # fmt: skip
    headings = (
        "MEMBER", "PROCESS", "CLIENT", "HOST", "EPOCH", "ACTIVE", "STANDBY", "WARMUP", "TARGET",
    )  # fmt: skip
    write_table(headings, rows, "no members")


def _names(partitions: Iterable[TopicPartition]) -> str:
    return ",".join(f"{topic}-{number}" for topic, number in partitions) or "-"


async def _delete(admin: Admin, options: argparse.Namespace) -> None:
    await admin.delete_groups(options.groups)


async def _reset(admin: Admin, options: argparse.Namespace) -> None:
    described = (await admin.describe_topics([options.topic]))[options.topic]
    there = [part.partition for part in described.partitions]
    for number in options.partition:
        if number not in there:
            raise NotDoneError(
                f"{options.topic} has no partition {number}: it has 0 to {there[-1]}"
            )
    partitions = [TopicPartition(options.topic, number) for number in options.partition or there]
    first = await _offsets(admin, partitions, EARLIEST)
    end = await _offsets(admin, partitions, LATEST)
    is_share = await _is_share_group(admin, options.group)
    before = await _current_offsets(admin, options.group, partitions, is_share=is_share)
    if options.to_earliest:
        wanted = first
    elif options.to_latest:
        wanted = end
    elif options.to_offset is not None:
        wanted = dict.fromkeys(partitions, options.to_offset)
    elif options.to_time is not None:
        found = await _offsets(admin, partitions, options.to_time)
        wanted = {where: end[where] if at < 0 else at for where, at in found.items()}
    else:
        missing = [where for where in partitions if where not in before]
        if missing:
            raise NotDoneError(f"{_names(missing)}: no committed offset to shift")
        wanted = {where: before[where] + options.shift_by for where in partitions}
    # As Kafka's own tool does it: beyond what is there means to what is there.
    wanted = {where: min(max(at, first[where]), end[where]) for where, at in wanted.items()}
    if options.execute:
        alter = admin.alter_share_group_offsets if is_share else admin.alter_group_offsets
        await alter(options.group, wanted)
    rows = [(*where, before.get(where), at) for where, at in wanted.items()]
    if options.json:
        names = ("topic", "partition", "before", "after")
        told = [dict(zip(names, row, strict=True)) for row in rows]
        write_json({"executed": options.execute, "offsets": told})
        return
    write_table(("TOPIC", "PARTITION", "BEFORE", "AFTER"), rows, "no partitions")
    if not options.execute:
        write("nothing was changed; add --execute to apply")


async def _current_offsets(
    admin: Admin, group_id: str, partitions: list[TopicPartition], *, is_share: bool
) -> dict[TopicPartition, int]:
    if is_share:
        shares = await admin.list_share_group_offsets(group_id, partitions)
        return {where: each.start_offset for where, each in shares.items()}
    committed = await admin.list_group_offsets(group_id, partitions)
    return {where: each.offset for where, each in committed.items()}


async def _delete_offsets(admin: Admin, options: argparse.Namespace) -> None:
    if await _is_share_group(admin, options.group):
        await admin.delete_share_group_offsets(options.group, options.topic)
        return
    committed = await admin.list_group_offsets(options.group)
    named = [where for where in committed if where.topic in options.topic]
    missing = set(options.topic) - {where.topic for where in named}
    if missing:
        raise NotDoneError(f"{options.group} has no offsets of {', '.join(sorted(missing))}")
    await admin.delete_group_offsets(options.group, named)


async def _offsets(
    admin: Admin, partitions: list[TopicPartition], at: int
) -> dict[TopicPartition, int]:
    found = await admin.list_offsets(dict.fromkeys(partitions, at))
    return {where: each.offset for where, each in found.items()}


async def _remove(admin: Admin, options: argparse.Namespace) -> None:
    named = [MemberToRemove(each) for each in options.member]
    named += [MemberToRemove(group_instance_id=each) for each in options.instance]
    if options.all == bool(named):
        raise UsageError("no member is given: use --member, --instance or --all")
    await admin.remove_group_members(options.group, None if options.all else named)


ACTIONS: Final[dict[str, Action]] = {
    "list": _list,
    "describe": _describe,
    "members": _members,
    "delete": _delete,
    "reset-offsets": _reset,
    "delete-offsets": _delete_offsets,
    "remove-members": _remove,
}
