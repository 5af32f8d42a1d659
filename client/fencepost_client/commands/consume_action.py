"""``fencepost consume``: prints records, and commits the offsets of printed ones."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Sequence
from typing import Any, Final

from fencepost_client.clients.consumer import Consumer
from fencepost_client.commands.bootstrap import check_that_a_broker_answers, client_config
from fencepost_client.commands.errors import InterruptedRunError, NotDoneError, UsageError
from fencepost_client.commands.formats import Written, json_line, read_format
from fencepost_client.commands.output import discard_output, print_error
from fencepost_client.commands.terminal import Pace, run_until_interrupted, write_out
from fencepost_client.commands.text import reason
from fencepost_client.config.kafka_names import ADMIN_NAMES, CONSUMER_NAMES
from fencepost_client.consumer.list_offsets import EARLIEST
from fencepost_client.errors import CommitFailedError, ConfigError, FencedError
from fencepost_client.types import ConsumerRecord, TopicPartition

_RECORDS_AT_ONCE: Final = 500
_WAIT_MS: Final = 1_000
_COMMIT_SECONDS: Final = 1.0
_RESETS: Final = {"beginning": "earliest", "end": "latest"}


async def consume(options: argparse.Namespace) -> None:
    """Print until there is enough, nobody reads any more, or somebody presses Ctrl-C."""
    written = _format(options)
    _check(options)
    config = client_config(options, CONSUMER_NAMES, ["default.api.timeout.ms"])
    commits = options.group is not None and config.get("enable.auto.commit", "true") == "true"
    config["enable.auto.commit"] = False
    if options.isolation is not None:
        config["isolation.level"] = options.isolation
    if options.group is not None:
        config["group.id"] = options.group
        if options.offset is not None:
            config["auto.offset.reset"] = _RESETS[options.offset[0]]
    config.setdefault("auto.offset.reset", "earliest")
    try:
        consumer = Consumer.from_config(config)
    except ConfigError as error:
        raise UsageError(str(error)) from error
    await check_that_a_broker_answers(config, options.timeout)
    async with consumer:
        reading = Consumption(options, consumer, written, commits=commits)
        if options.group is None:
            await reading.assign(await _partitions(options, config))
        else:
            reading.subscribe()
        await reading.run()


def _format(options: argparse.Namespace) -> Written:
    if options.json:
        if options.format is not None:
            raise UsageError("--json and -f exclude each other")
        return json_line
    null = os.fsencode(options.null_value)
    if options.format is not None:
        try:
            return read_format(options.format, null)
        except ValueError as error:
            raise UsageError(f"-f: {error}") from error
    key_separator: bytes | None = options.key_separator
    delimiter: bytes = options.delimiter

    def line(record: ConsumerRecord) -> bytes:
        value = null if record.value is None else record.value
        if key_separator is None:
            return value + delimiter
        return (null if record.key is None else record.key) + key_separator + value + delimiter

    return line


def _check(options: argparse.Namespace) -> None:
    if options.regex is not None:
        try:
            re.compile(options.regex)
        except re.error as error:
            raise UsageError(f"--regex: {error}") from error
    if "group.id" in dict(options.property):
        options.group = options.group or dict(options.property)["group.id"]
    if options.group is None:
        return
    if options.partition:
        raise UsageError("-p and -g exclude each other: a group assigns its partitions")
    if options.offset is not None and options.offset[0] not in _RESETS:
        raise UsageError(
            "-o: with a group, use beginning or end, for partitions without a committed offset"
        )


async def _partitions(options: argparse.Namespace, config: dict[str, Any]) -> list[TopicPartition]:
    """All that there are of the topics, or those that were asked for."""
    from fencepost_client.clients.admin import Admin  # who has a group does not pay for it

    settings = {name: value for name, value in config.items() if name in ADMIN_NAMES}
    async with Admin.from_config(settings) as admin:
        names = options.topic
        if options.regex is not None:
            names = [
                each for each in await admin.list_topics() if re.fullmatch(options.regex, each)
            ]
            if not names:
                raise NotDoneError(f"no topic matches {options.regex}")
        found = await admin.describe_topics(names)
    there = [
        TopicPartition(topic.name, each.partition)
        for topic in found.values()
        for each in topic.partitions
    ]
    for name in found:
        for number in options.partition:
            if TopicPartition(name, number) not in there:
                raise NotDoneError(f"{name} has no partition {number}")
    return [each for each in there if not options.partition or each.partition in options.partition]


class Consumption:
    """One run: what was printed, and where it ends."""

    def __init__(
        self, options: argparse.Namespace, consumer: Consumer, written: Written, *, commits: bool
    ) -> None:
        self._options = options
        self._consumer = consumer
        self._written = written
        self._commits = commits
        self._left = options.count
        self._printed: dict[TopicPartition, int] = {}
        """What is printed and not committed yet: the next offsets."""
        self._ends: dict[TopicPartition, int] = {}
        self._pace = Pace(_COMMIT_SECONDS)

    async def assign(self, partitions: Sequence[TopicPartition]) -> None:
        """Read these from where the options say."""
        consumer = self._consumer
        consumer.assign(partitions)
        kind, number = self._options.offset or ("beginning", 0)
        ends = await consumer.end_offsets(partitions)
        if kind == "beginning":
            self._seek(await consumer.beginning_offsets(partitions))
        elif kind == "end":
            self._seek(ends)
        elif kind == "offset":
            self._seek(dict.fromkeys(partitions, number))
        elif kind == "before":
            begins = await consumer.beginning_offsets(partitions)
            self._seek({where: max(begins[where], end - number) for where, end in ends.items()})
        else:
            times = await consumer.offsets_for_times(dict.fromkeys(partitions, number))
            self._seek({where: ends[where] if at < 0 else at for where, at in times.items()})
        self._ends = ends

    def _seek(self, offsets: dict[TopicPartition, int]) -> None:
        for where, offset in offsets.items():
            self._consumer.seek(where, offset)

    def subscribe(self) -> None:
        """Read what the group gives."""
        self._consumer.subscribe(
            self._options.topic,
            regex=self._options.regex,
            on_assigned=self._assigned,
            on_revoked=self._revoked,
            on_lost=self._lost,
        )

    async def _assigned(self, partitions: set[TopicPartition]) -> None:
        if self._options.exit and partitions:
            self._ends |= await self._consumer.end_offsets(partitions)

    async def _revoked(self, partitions: set[TopicPartition]) -> None:
        # All that was given is printed: records are asked for one batch after the other.
        await self._commit()
        self._lost(partitions)

    def _lost(self, partitions: set[TopicPartition]) -> None:
        for where in partitions:
            self._printed.pop(where, None)
            self._ends.pop(where, None)

    async def run(self) -> None:
        """All of it."""
        try:
            is_complete = await run_until_interrupted(self._print_all())
        except BrokenPipeError:
            raise
        except OSError as error:
            discard_output()
            raise NotDoneError(f"cannot write to standard output: {reason(error)}") from error
        finally:
            # Also when nobody reads any more: what was flushed before counts as seen.
            await self._commit()
        if not is_complete:
            raise InterruptedRunError

    async def _print_all(self) -> None:
        while not self._is_done():
            records = await self._consumer.getmany(
                timeout_ms=_WAIT_MS, max_records=min(_RECORDS_AT_ONCE, self._left or 1 << 62)
            )
            if self._options.exit:
                records = [each for each in records if each.offset < self._end_of(each)]
            if records:
                await self._print(records)
            if self._printed and self._pace.is_due():
                await self._commit()

    def _end_of(self, record: ConsumerRecord) -> int:
        return self._ends.get(TopicPartition(record.topic, record.partition), record.offset + 1)

    def _is_done(self) -> bool:
        if self._left == 0:
            return True
        if not self._options.exit or not (assigned := self._consumer.assignment()):
            return False
        positions = self._consumer.positions()
        return all(
            where in self._ends and positions.get(where, EARLIEST) >= self._ends[where]
            for where in assigned
        )

    async def _print(self, records: list[ConsumerRecord]) -> None:
        written = self._written
        await write_out(b"".join([written(record) for record in records]))
        for record in records:
            self._printed[TopicPartition(record.topic, record.partition)] = record.offset + 1
        if self._left is not None:
            self._left -= len(records)

    async def _commit(self) -> None:
        if not self._commits or not self._printed:
            return
        printed, self._printed = self._printed, {}
        try:
            await self._consumer.commit(printed)
        except (CommitFailedError, FencedError) as error:
            print_error(self._options, f"offsets are not committed: {error}")
