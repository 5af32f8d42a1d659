"""``fencepost produce``: reads lines, sends records, and prints a summary."""

from __future__ import annotations

import argparse
import os
import sys
from collections import deque
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from fencepost_client.clients.delivery import Delivery
from fencepost_client.clients.producer import Producer
from fencepost_client.commands.bootstrap import check_that_a_broker_answers, client_config
from fencepost_client.commands.errors import InterruptedRunError, NotDoneError, UsageError
from fencepost_client.commands.lines import BrokenLineError, JsonLines, LineSplitter, PlainLines
from fencepost_client.commands.output import print_error
from fencepost_client.commands.terminal import read_chunks, run_until_interrupted
from fencepost_client.commands.text import count, reason
from fencepost_client.config.kafka_names import PRODUCER_NAMES
from fencepost_client.errors import (
    ConfigError,
    KafkaError,
    RecordTooLargeError,
    UnknownTopicOrPartitionError,
)
from fencepost_client.producer.sender_settings import LINGER_MS
from fencepost_client.progress import Progress
from fencepost_client.types import RecordMetadata

_LINE_BYTES_MAX: Final = 16 << 20
_ERRORS_TOLD: Final = 10
_BROKEN: Final = (BrokenLineError, RecordTooLargeError)
"""A fault of one line; all other lines can still be records."""


async def produce(options: argparse.Namespace) -> None:
    """Write until the input ends, something breaks, or somebody presses Ctrl-C."""
    reader = _reader(options)
    config = producer_config(options)
    try:
        producer = Producer.from_config(config)
    except ConfigError as error:
        raise UsageError(str(error)) from error
    options.transactional_id = config.get("transactional.id")
    if options.commit_every and not options.transactional_id:
        raise UsageError("--commit-every needs --transactional-id")
    fd = _input(options)
    await check_that_a_broker_answers(config, options.timeout)
    async with producer:
        await Production(options, producer, reader).run(fd)


def _input(options: argparse.Namespace) -> int:
    if options.file is None:
        if sys.stdin is None:
            raise UsageError("there is no standard input: use --file")
        return sys.stdin.fileno()
    if Path(options.file).is_dir():
        raise UsageError(f"--file {options.file}: Is a directory")
    try:
        return os.open(options.file, os.O_RDONLY)
    except OSError as error:
        raise UsageError(f"--file {options.file}: {reason(error)}") from error


def _reader(options: argparse.Namespace) -> PlainLines | JsonLines:
    headers = tuple(options.header)
    if options.json:
        if options.key_separator or options.header_separator or options.null_value is not None:
            raise UsageError("--json excludes options for keys, headers and nulls")
        return JsonLines(headers)
    null = None if options.null_value is None else os.fsencode(options.null_value)
    return PlainLines(options.key_separator, options.header_separator, null, headers)


def producer_config(options: argparse.Namespace) -> dict[str, Any]:
    """Settings of the producer, by Kafka's names, as the options have it."""
    limit_s = options.timeout
    config = client_config(options, PRODUCER_NAMES, ["max.block.ms"])
    if limit_s is not None:
        _limit_records(options, config, max(int(limit_s * 1000), 1))
    given = {
        "acks": options.acks,
        "compression.type": options.compression,
        "transactional.id": options.transactional_id,
    }
    config |= {name: value for name, value in given.items() if value is not None}
    if config.get("acks", "all") not in {"all", "-1"}:
        config.setdefault("enable.idempotence", "false")  # as in Apache Kafka's producer
    return config


def _limit_records(options: argparse.Namespace, config: dict[str, Any], limit_ms: int) -> None:
    """A record that is refused again and again (a full disk) is not tried for longer, either."""
    said = dict([*options.property, *options.property_behind])
    request_ms, linger_ms = (
        int(text) if (text := str(config.get(name, default))).isdecimal() else 0
        for name, default in (("request.timeout.ms", limit_ms), ("linger.ms", LINGER_MS))
    )
    if "request.timeout.ms" not in said:
        request_ms = config["request.timeout.ms"] = min(request_ms, limit_ms)
    if "delivery.timeout.ms" not in said:
        config["delivery.timeout.ms"] = linger_ms + max(request_ms, limit_ms)


class Production:
    """One run: what is under way, what was written, what went wrong."""

    def __init__(
        self, options: argparse.Namespace, producer: Producer, reader: PlainLines | JsonLines
    ) -> None:
        self._options = options
        self._producer = producer
        self._reader = reader
        self._line = 0
        self._under_way: deque[tuple[int, Delivery]] = deque()
        self._written: dict[int, tuple[int, int, int]] = {}
        """By partition: how many records, the first and the last offset."""
        self._in_transaction: list[RecordMetadata] = []
        self._open = 0
        """Records in the transaction that is open."""
        self._errors = 0
        self._progress = Progress(0, "records taken", None)

    async def run(self, fd: int) -> None:
        """All of it; raises ``NotDoneError`` if something is not written."""
        is_complete = False
        if sys.stderr.isatty() and not os.isatty(fd) and not self._options.quiet:
            self._progress = Progress(0, "records taken", sys.stderr)
        try:
            is_complete = await run_until_interrupted(self._take_all(fd))
            if self._options.transactional_id is None:
                await self._flush()
            elif self._open:
                await self._end_transaction(commit=is_complete and self._may_go_on())
        except OSError as error:
            self._tell(f"cannot read the input: {reason(error)}")
            await self._give_up()
        except KafkaError as error:
            self._tell(str(error))
            await self._give_up()
        finally:
            self._progress.clear()
            self._account()
        if not is_complete and not self._errors:
            raise InterruptedRunError
        if self._errors:
            raise NotDoneError(f"{count(self._errors, 'error')}: not all records were written")

    async def _give_up(self) -> None:
        """What was taken before an error is still written, not in a transaction."""
        if self._options.transactional_id is None:
            await self._flush()
        elif self._open:
            try:
                await self._end_transaction(commit=False)
            except KafkaError as error:
                self._tell(f"the transaction could not be aborted: {error}")

    def _may_go_on(self) -> bool:
        return not self._errors or self._options.ignore_errors

    # -- taking --------------------------------------------------------------------------------

    async def _take_all(self, fd: int) -> None:
        splitter = LineSplitter(self._options.delimiter, _LINE_BYTES_MAX)
        async for piece in read_chunks(fd):
            if not await self._take(splitter.feed(piece)):
                return
        await self._take(splitter.end())

    async def _take(self, lines: list[bytes | None]) -> bool:
        """Send them; whether more may come."""
        for line in lines:
            self._line += 1
            try:
                await self._send(line)
            except _BROKEN as error:
                self._tell(f"line {self._line}: {error}")
            except UnknownTopicOrPartitionError as error:
                self._tell(f"line {self._line}: {error}")
                return False
            if not self._may_go_on():
                return False
        await self._settle()
        self._progress.reach(self._line)
        return self._may_go_on()

    async def _send(self, line: bytes | None) -> None:
        if line is None:
            raise BrokenLineError(f"longer than {_LINE_BYTES_MAX} bytes")
        record = self._reader.read(line)
        options = self._options
        if options.transactional_id is not None and not self._open:
            self._producer.begin()
            self._open = 1  # there is one to be ended, also if this record is refused
        partition = record.partition if options.partition is None else options.partition
        delivery = await self._producer.send(
            options.topic,
            record.value,
            key=record.key,
            partition=partition,
            headers=record.headers,
            timestamp_ms=record.timestamp_ms,
        )
        self._under_way.append((self._line, delivery))
        if options.transactional_id is not None:
            self._open += 1
            if options.commit_every and self._open > options.commit_every:
                await self._end_transaction(commit=True)

    # -- what became of it ---------------------------------------------------------------------

    async def _settle(self) -> None:
        """Count what is known of the records that were sent first."""
        while self._under_way and self._under_way[0][1].done:
            await self._count(*self._under_way.popleft())

    async def _count(self, line: int, delivery: Delivery) -> None:
        if delivery.error is not None:
            self._tell(f"line {line}: {delivery.error}")
            return
        metadata = await delivery
        if self._options.transactional_id is not None:
            self._in_transaction.append(metadata)
        else:
            self._add(metadata)

    def _add(self, metadata: RecordMetadata) -> None:
        number, first, _ = self._written.get(metadata.partition, (0, metadata.offset, 0))
        self._written[metadata.partition] = (number + 1, first, metadata.offset)

    async def _flush(self) -> None:
        with suppress(KafkaError):  # each record says so itself
            await self._producer.flush()
        await self._settle()

    async def _end_transaction(self, *, commit: bool) -> None:
        lost = self._open - 1
        if commit:
            await self._producer.commit()
            await self._settle()
            for metadata in self._in_transaction:
                self._add(metadata)
        else:
            await self._producer.abort()
            self._under_way.clear()
            print_error(self._options, f"the transaction of {count(lost, 'record')} was aborted")
        self._in_transaction.clear()
        self._open = 0

    # -- telling -------------------------------------------------------------------------------

    def _tell(self, reason: str) -> None:
        self._errors += 1
        if self._errors <= _ERRORS_TOLD:
            self._progress.clear()
            print_error(self._options, reason)

    def _account(self) -> None:
        if self._options.quiet:
            return
        total = sum(number for number, _, _ in self._written.values())
        sys.stderr.write(f"{count(total, 'record')} written to {self._options.topic}\n")
        for partition, (_, first, last) in sorted(self._written.items()):
            if first >= 0:
                sys.stderr.write(f"  partition {partition}: offsets {first} to {last}\n")
