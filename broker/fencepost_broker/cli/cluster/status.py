"""Status of a cluster on this machine: its processes, and what the brokers know about them."""

from __future__ import annotations

import argparse
import asyncio
from collections import Counter
from collections.abc import Awaitable, Iterable
from typing import Any, Final, NamedTuple, TypeVar

from fencepost_client.admin.cluster import ClusterDescription, QuorumDescription
from fencepost_client.admin.topics import TopicDescription
from fencepost_client.clients.admin import Admin
from fencepost_client.commands.output import print_error, write, write_json, write_table
from fencepost_client.commands.runner import run_to_exit_code
from fencepost_client.errors import KafkaError

from fencepost_broker.cli.cluster.control_socket import ask_supervisor, run_dir_of
from fencepost_broker.config.internal_topics import is_internal

T = TypeVar("T")

_HEADINGS: Final = (
    "id", "role", "state", "pid", "address", "fenced", "epoch", "leads", "replicas", "behind",
    "coordinates", "metadata lag",
)  # fmt: skip


class Row(NamedTuple):
    """One process; a field is ``None`` if no broker could tell it."""

    id: int
    role: str
    state: str
    pid: int | None
    address: str
    fenced: bool | None = None
    epoch: int | None = None
    """Epoch of its registration with the controller."""
    leads: int | None = None
    """Number of partitions that it leads."""
    replicas: int | None = None
    behind: int | None = None
    """Number of its replicas that are not in sync."""
    coordinates: int | None = None
    """Number of partitions of groups and transactions that it leads."""
    metadata_lag: int | None = None
    """Number of metadata records that it had not read at its last fetch."""

    @property
    def is_broker(self) -> bool:
        """Whether it is a broker (it may also be the controller)."""
        return self.role != "controller"


class Status(NamedTuple):
    """All processes, and reasons for what is unknown."""

    rows: list[Row]
    unknown: list[str]


def act(options: argparse.Namespace) -> int:
    """Run ``fencepost broker WHAT ID``."""

    async def do() -> None:
        told = ask_supervisor(run_dir_of(options.run_dir), options.subcommand, options.id)
        (member,) = [each for each in told["members"] if each["id"] == options.id]
        where = f" at {member['bootstrap']}" if member["state"] == "up" else ""
        write(f"{member['label']} is {member['state']}{where}")

    return run_to_exit_code(options, do)


def show(options: argparse.Namespace) -> int:
    """Run ``fencepost cluster status``."""

    async def tell() -> None:
        limit_s = options.timeout
        told = ask_supervisor(run_dir_of(options.run_dir), "list", timeout_s=limit_s)
        status = await status_of(told["members"], limit_s)
        for each in status.unknown:
            print_error(options, each)
        if options.json:
            write_json(status.rows)
            return
        write_table(_HEADINGS, status.rows, "the cluster has no process")

    return run_to_exit_code(options, tell)


async def status_of(members: list[dict[str, Any]], timeout_s: float) -> Status:
    """Return a row for each process, with what brokers answer within ``timeout_s``."""
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
        return Status(rows, [])
    has_controller = any(
        "controller" in each["roles"] and each["state"] == "up" for each in members
    )
    unknown: list[str] = []

    async def asked(what: str, answer: Awaitable[T]) -> T | None:
        try:
            return await answer
        except KafkaError as error:
            unknown.append(f"{what} unknown: {error.message}")
            return None

    limit_ms = int(timeout_s * 1000)
    bootstrap = ",".join(each["inside"] for each in up)
    admin = Admin(bootstrap, default_api_timeout_ms=limit_ms, request_timeout_ms=limit_ms)
    try:
        await admin.start()
        topics, described, quorum = await asyncio.gather(
            asked("the leaders are", admin.describe_topics()),
            asked("the fenced brokers are", admin.describe_cluster(include_fenced=True)),
            asked("the metadata lag is", admin.describe_quorum()) if has_controller else _nothing(),
        )
    except KafkaError as error:
        return Status(rows, [f"no broker answers: {error.message}"])
    finally:
        await admin.close()
    if described is not None:
        rows = _with_registrations(rows, described)
    if topics is not None:
        rows = _with_replicas(rows, topics.values())
    if quorum is not None:
        rows = _with_lags(rows, quorum)
    return Status(rows, unknown)


async def _nothing() -> None:
    """Stand in for a question to a controller that is down."""


def _with_registrations(rows: list[Row], described: ClusterDescription) -> list[Row]:
    known = {each.broker_id: each for each in described.brokers}
    return [
        row._replace(
            fenced=row.id not in known or known[row.id].is_fenced,
            epoch=known[row.id].epoch if row.id in known else None,
        )
        if row.is_broker
        else row
        for row in rows
    ]


def _with_replicas(rows: list[Row], topics: Iterable[TopicDescription]) -> list[Row]:
    counts = _counted(topics)
    return [
        row._replace(
            leads=counts["leads", row.id],
            replicas=counts["replicas", row.id],
            behind=counts["behind", row.id],
            coordinates=counts["coordinates", row.id],
        )
        if row.is_broker
        else row
        for row in rows
    ]


def _with_lags(rows: list[Row], quorum: QuorumDescription) -> list[Row]:
    end = quorum.high_watermark
    lags = {each.replica_id: end - each.log_end_offset for each in quorum.observers}
    return [row._replace(metadata_lag=lags.get(row.id)) if row.is_broker else row for row in rows]


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
