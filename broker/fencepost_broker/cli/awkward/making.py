"""Makes awkward topics in a running cluster, or in a data directory."""

from __future__ import annotations

import argparse
import base64
import json
from collections.abc import Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, Final

from fencepost_client.admin.topics import NewTopic
from fencepost_client.clients.admin import Admin
from fencepost_client.clients.producer import Producer
from fencepost_client.commands.bootstrap import check_that_a_broker_answers, client_config
from fencepost_client.commands.errors import NotDoneError, NotYetError, UsageError
from fencepost_client.commands.output import write_json, write_table
from fencepost_client.commands.runner import retry_until_timeout
from fencepost_client.config.kafka_names import COMMON_NAMES
from fencepost_client.consumer.list_offsets import LATEST
from fencepost_client.types import TopicPartition

from fencepost_broker.cli.awkward.contents import (
    AwkwardTopic,
    Batch,
    Compact,
    Contents,
    DeleteRecords,
    End,
    Writer,
)
from fencepost_broker.cli.awkward.topics import BEGIN_MS, awkward_topics

_PRODUCER: Final = {
    "batch.size": str(1 << 20),
    "linger.ms": "1000",  # so that a flush, and nothing else, ends a batch
    "max.request.size": str(4 << 20),
}


async def make_awkward(options: argparse.Namespace) -> None:
    """Make the topics, write the file that says what is in them, and print a summary."""
    topics = awkward_topics(options.seed, options.prefix)
    if options.data_dir is not None and options.bootstrap is not None:
        raise UsageError("--data-dir and --bootstrap exclude each other")
    _check_folder(options.expected)
    config = client_config(options, COMMON_NAMES, ["request.timeout.ms"])
    if options.data_dir is None:
        await check_that_a_broker_answers(config, options.timeout)
        topics = [each for each in topics if not each.needs_compaction]
        made = await _make(topics, config, options.timeout)
    else:
        made = await _make_in_data_dir(topics, options)
    described = [_described(topic, made[topic.name]) for topic in topics]
    _write(options.expected, {"seed": options.seed, "topics": described})
    _print(options, topics, made)


async def _make_in_data_dir(
    topics: list[AwkwardTopic], options: argparse.Namespace
) -> dict[str, Contents]:
    # Imported here: topics of a running cluster need no broker in this process.
    from fencepost_broker.server.clock import StateClock
    from fencepost_broker.server.embedded.broker import Broker
    from fencepost_broker.storage.log import StorageError

    clock = StateClock(manual=True, at_ms=BEGIN_MS)
    broker = Broker(data_dir=options.data_dir, clock=clock, log_level="error")
    try:
        async with broker:
            config = {"bootstrap.servers": broker.bootstrap}
            made = await _make(topics, config, options.timeout)
            clock.advance(minutes=5)  # compaction is due after 15 seconds
            clock.advance(minutes=5)  # the files of before are removed after a minute
    except StorageError as error:
        raise NotDoneError(f"--data-dir {options.data_dir}: {error}") from error
    return made


async def _make(
    topics: list[AwkwardTopic], config: Mapping[str, Any], timeout_s: float
) -> dict[str, Contents]:
    async with Admin.from_config(config) as admin:
        await admin.create_topics(
            [
                NewTopic(each.name, 1, configs={"retention.ms": "-1", **each.config})
                for each in topics
            ]
        )
        made = {}
        for topic in topics:
            making = _Making(topic, admin, config, timeout_s)
            async with making.producers:
                made[topic.name] = await making.run()
        return made


class _Making:
    """The steps of one topic, and what it has so far."""

    def __init__(
        self, topic: AwkwardTopic, admin: Admin, config: Mapping[str, Any], timeout_s: float
    ) -> None:
        self.producers = AsyncExitStack()
        self._topic = topic
        self._where = TopicPartition(topic.name, 0)
        self._admin = admin
        self._config = config
        self._timeout_s = timeout_s
        self._contents = Contents()
        self._by_writer: dict[Writer, Producer] = {}

    async def run(self) -> Contents:
        """Carry out all steps."""
        for step in self._topic.steps:
            match step:
                case Batch():
                    await self._send(step)
                case End(writer, commit):
                    producer = await self._producer(writer)
                    await (producer.commit() if commit else producer.abort())
                    self._contents.end(step)
                    # The coordinator writes the marker after it has answered.
                    await retry_until_timeout(self._check_end, self._timeout_s)
                case DeleteRecords(before):
                    await self._admin.delete_records({self._where: before})
                    self._contents.delete(step)
                case Compact():
                    self._contents.compact()
        await self._check_end()
        return self._contents

    async def _send(self, batch: Batch) -> None:
        producer = await self._producer(batch.writer)
        if batch.writer.is_transactional and not self._contents.is_open(batch.writer):
            producer.begin()
        sent = [
            await producer.send(
                self._topic.name,
                each.value,
                key=each.key,
                partition=0,
                headers=each.headers,
                timestamp_ms=each.timestamp_ms,
            )
            for each in batch.records
        ]
        await producer.flush()
        append_time_ms = (await sent[0]).timestamp_ms if self._topic.has_append_time else None
        self._contents.add(batch, append_time_ms)

    async def _producer(self, writer: Writer) -> Producer:
        if writer not in self._by_writer:
            config = {**self._config, **_PRODUCER, "compression.type": writer.codec}
            if writer.is_transactional:
                config["transactional.id"] = writer.name
            producer = Producer.from_config(config)
            self._by_writer[writer] = await self.producers.enter_async_context(producer)
        return self._by_writer[writer]

    async def _check_end(self) -> None:
        """Raise an error unless the partition has exactly what was written here."""
        found = (await self._admin.list_offsets({self._where: LATEST}))[self._where].offset
        expected = self._contents.end_offset
        if found != expected:
            error = NotYetError if found < expected else NotDoneError
            raise error(
                f"{self._topic.name} ends at offset {found}, and should end at {expected}: another"
                " program may write to it"
            )


def _check_folder(path: str) -> None:
    """Refuse a path before topics are made that nothing would describe."""
    if not Path(path).parent.is_dir():
        raise UsageError(f"--expected {path}: there is no folder {Path(path).parent}")


def _write(path: str, expected: Mapping[str, Any]) -> None:
    try:
        Path(path).write_text(f"{json.dumps(expected, indent=1)}\n", encoding="utf-8")
    except OSError as error:
        raise NotDoneError(f"--expected {path}: {error.strerror}") from error


def _described(topic: AwkwardTopic, contents: Contents) -> dict[str, Any]:
    return {
        "topic": topic.name,
        "partition": 0,
        "about": topic.about,
        "timestamp_type": "LogAppendTime" if topic.has_append_time else "CreateTime",
        "start_offset": contents.start_offset,
        "end_offset": contents.end_offset,
        "records": [
            {
                "offset": each.offset,
                "timestamp": each.timestamp_ms,
                "key": _base64(each.key),
                "value": _base64(each.value),
                "headers": [{"key": key, "value": _base64(value)} for key, value in each.headers],
                "aborted": each.is_aborted,
            }
            for each in contents.records()
        ],
    }


def _base64(data: bytes | None) -> str | None:
    return None if data is None else base64.b64encode(data).decode()


def _print(
    options: argparse.Namespace, topics: list[AwkwardTopic], made: Mapping[str, Contents]
) -> None:
    rows = []
    for topic in topics:
        contents = made[topic.name]
        aborted = [each.is_aborted for each in contents.records()]
        rows.append(
            (
                topic.name,
                contents.start_offset,
                contents.end_offset,
                len(aborted),
                aborted.count(False),
                topic.about,
            )
        )
    if options.json:
        names = ("topic", "start_offset", "end_offset", "records", "committed", "about")
        write_json([dict(zip(names, row, strict=True)) for row in rows])
        return
    headings = ("TOPIC", "START", "END", "RECORDS", "COMMITTED", "ABOUT")
    write_table(headings, rows, "no topics")
