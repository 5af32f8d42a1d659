"""The subcommands of ``fencepost topics``: ask, then write a table or JSON."""

from __future__ import annotations

import argparse
from typing import Final

from fencepost_client.admin.topics import NewTopic
from fencepost_client.clients.admin import Admin
from fencepost_client.commands.output import write, write_json, write_table
from fencepost_client.commands.runner import Action
from fencepost_client.consumer.list_offsets import EARLIEST, LATEST
from fencepost_client.errors import (
    KafkaError,
    TopicAlreadyExistsError,
    UnknownTopicOrPartitionError,
)
from fencepost_client.types import TopicPartition


async def _list(admin: Admin, options: argparse.Namespace) -> None:
    found = await admin.list_topics(include_internal=options.internal)
    if options.json:
        write_json(list(found.values()))
        return
    for name in found:
        write(name)


async def _describe(admin: Admin, options: argparse.Namespace) -> None:
    found = await admin.describe_topics(options.names or None)
    if options.json:
        write_json(list(found.values()))
        return
    write_table(
        ("TOPIC", "PARTITION", "LEADER", "EPOCH", "REPLICAS", "IN SYNC", "OFFLINE"),
        [
            (
                topic.name, part.partition, part.leader, part.leader_epoch,
                _ids(part.replicas), _ids(part.in_sync_replicas), _ids(part.offline_replicas),
            )
            for topic in found.values()
            for part in topic.partitions
        ],
        "no topics",
    )  # fmt: skip


def _ids(brokers: tuple[int, ...]) -> str:
    return ",".join(map(str, brokers)) or "-"


async def _create(admin: Admin, options: argparse.Namespace) -> None:
    topics = [
        NewTopic(name, options.partitions, options.replication_factor, dict(options.config))
        for name in options.names
    ]
    try:
        made = await admin.create_topics(topics, validate_only=options.dry_run)
    except TopicAlreadyExistsError as error:
        errors = [each for each in error.outcomes.values() if isinstance(each, KafkaError)]
        others = [each for each in errors if not isinstance(each, TopicAlreadyExistsError)]
        if others or not options.if_not_exists:
            raise
        made = {name: each for name, each in error.outcomes.items() if each not in errors}
    if options.json:
        write_json(list(made.values()))


async def _grow(admin: Admin, options: argparse.Namespace) -> None:
    await admin.create_partitions({options.name: options.partitions})


async def _delete(admin: Admin, options: argparse.Namespace) -> None:
    try:
        await admin.delete_topics(options.names)
    except UnknownTopicOrPartitionError as error:
        errors = [each for each in error.outcomes.values() if isinstance(each, KafkaError)]
        others = [each for each in errors if not isinstance(each, UnknownTopicOrPartitionError)]
        if others or not options.if_exists:
            raise


async def _offsets(admin: Admin, options: argparse.Namespace) -> None:
    topics = await admin.describe_topics(options.names)
    partitions = [
        TopicPartition(topic.name, part.partition)
        for topic in topics.values()
        for part in topic.partitions
    ]
    first = await admin.list_offsets(dict.fromkeys(partitions, EARLIEST))
    stable = await admin.list_offsets(dict.fromkeys(partitions, LATEST), read_committed=True)
    end = await admin.list_offsets(dict.fromkeys(partitions, LATEST))
    rows = [
        (*where, first[where].offset, stable[where].offset, end[where].offset)
        for where in partitions
    ]
    if options.json:
        names = ("topic", "partition", "first", "last_stable", "end")
        write_json([dict(zip(names, row, strict=True)) for row in rows])
        return
    write_table(("TOPIC", "PARTITION", "FIRST", "LAST STABLE", "END"), rows, "no partitions")


ACTIONS: Final[dict[str, Action]] = {
    "list": _list,
    "describe": _describe,
    "create": _create,
    "grow": _grow,
    "delete": _delete,
    "offsets": _offsets,
}
