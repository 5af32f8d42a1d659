"""What a cluster on this machine looks like: its processes, and what the brokers say of them."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from fencepost_client.adapters.admin import Admin
from fencepost_client.adapters.running import conclude, write, write_json, write_table
from fencepost_client.admin.topics import TopicDescription

from fencepost_broker.adapters.supervision import ask_supervisor, run_dir_of
from fencepost_broker.internal_topics import is_internal

_HEADINGS: Final = (
    "id", "role", "state", "pid", "address", "fenced", "epoch", "leads", "replicas", "behind",
    "coordinates", "metadata lag",
)  # fmt: skip


class Row(NamedTuple):
    """One process; ``None`` is what nobody could be asked."""

    id: int
    role: str
    state: str
    pid: int | None
    address: str
    fenced: str | None = None
    epoch: int | None = None
    """Of its registration with the controller."""
    leads: int | None = None
    """How many partitions."""
    replicas: int | None = None
    behind: int | None = None
    """How many of its replicas are not in sync."""
    coordinates: int | None = None
    """How many partitions of groups and transactions it leads."""
    metadata_lag: int | None = None
    """How many records of the metadata log it has yet to read, when it last asked."""


def act(options: argparse.Namespace) -> int:
    """``fencepost broker WHAT ID``."""

    async def do() -> None:
        told = ask_supervisor(run_dir_of(options.run_dir), options.subcommand, options.id)
        (member,) = [each for each in told["members"] if each["id"] == options.id]
        where = f" at {member['bootstrap']}" if member["state"] == "up" else ""
        write(f"{member['label']} is {member['state']}{where}")

    return conclude(options, do)


def show(options: argparse.Namespace) -> int:
    """``fencepost cluster status``."""

    async def tell() -> None:
        told = ask_supervisor(run_dir_of(options.run_dir), "list")
        rows = await rows_of(told["members"])
        if options.json:
            write_json(rows)
            return
        write_table(_HEADINGS, rows, "there is no process")

    return conclude(options, tell)


async def rows_of(members: list[dict[str, Any]]) -> list[Row]:
    """A row for each process that the supervisor tells of."""
    up = [each for each in members if each["state"] == "up" and "broker" in each["roles"]]
    rows = [
        Row(
            each["id"],
            "+".join(each["roles"]),
            each["state"],
            each["pid"],
            each["bootstrap"],
        )
        for each in members
    ]
    if not up:
        return rows
    async with Admin(",".join(each["bootstrap"] for each in up)) as admin:
        topics = (await admin.describe_topics()).values()
        described = await admin.describe_cluster(include_fenced=True)
        quorum = None
        if any("controller" in each["roles"] and each["state"] == "up" for each in members):
            quorum = await admin.describe_quorum()
    known = {each.broker_id: each for each in described.brokers}
    counts = _counted(topics)
    lags = {}
    if quorum is not None:
        end = quorum.high_watermark
        lags = {each.replica_id: end - each.log_end_offset for each in quorum.observers}
    return [
        row
        if row.role == "controller"
        else row._replace(
            fenced="no" if row.id in known and not known[row.id].is_fenced else "yes",
            epoch=known[row.id].epoch if row.id in known else None,
            leads=counts["leads", row.id],
            replicas=counts["replicas", row.id],
            behind=counts["behind", row.id],
            coordinates=counts["coordinates", row.id],
            metadata_lag=lags.get(row.id),
        )
        for row in rows
    ]


def _counted(topics: Iterable[TopicDescription]) -> Counter[tuple[str, int]]:
    counts: Counter[tuple[str, int]] = Counter()
    for topic in topics:
        for partition in topic.partitions:
            counts["leads", partition.leader] += 1
            if is_internal(topic.name):
                counts["coordinates", partition.leader] += 1
            for replica in partition.replicas:
                counts["replicas", replica] += 1
                counts["behind", replica] += replica not in partition.in_sync_replicas
    return counts
