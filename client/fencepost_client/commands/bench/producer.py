"""``fencepost bench producer``: Apache Kafka's ProducerPerformance."""

from __future__ import annotations

import argparse
import asyncio
import random
from collections.abc import Iterator
from itertools import repeat
from pathlib import Path
from typing import Final

from fencepost_client.clients.producer import Producer
from fencepost_client.commands.bench.clients import (
    DEFAULT_TRANSACTION_MS,
    Stopwatch,
    now_ms,
    partitions_of,
    settings_of,
    some_number,
)
from fencepost_client.commands.bench.lines import ProducerStats, metric_lines, phase_told
from fencepost_client.commands.bench.settings import progress_of
from fencepost_client.commands.bench.throttle import Throttle
from fencepost_client.commands.errors import UsageError
from fencepost_client.commands.output import write, write_json
from fencepost_client.commands.text import reason
from fencepost_client.config.kafka_names import PRODUCER_NAMES, from_kafka_names
from fencepost_client.metrics import RequestMetrics
from fencepost_client.progress import Progress
from fencepost_client.types import TopicPartition

_SHOWN_MS: Final = 200
"""Progress costs little, but not for each record."""
_LETTERS: Final = range(ord("A"), ord("Z") + 1)


def _payloads(options: argparse.Namespace) -> Iterator[bytes]:
    """Values of records, endlessly; as Kafka's tool makes them."""
    if options.payload_monotonic:
        return (b"%d" % number for number in range(options.num_records))
    chance = random.Random(0)  # noqa: S311
    if options.payload_file is None:
        return repeat(bytes(chance.choices(_LETTERS, k=options.record_size)))
    try:
        text = Path(options.payload_file).read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise UsageError(f"--payload-file {options.payload_file}: {reason(error)}") from error
    delimiter = options.payload_delimiter.replace("\\n", "\n")
    if not text or not delimiter:
        raise UsageError("--payload-file and --payload-delimiter must not be empty")
    found = [each.encode() for each in text.removesuffix(delimiter).split(delimiter)]
    return (chance.choice(found) for _ in repeat(None))


class _Reports:
    """Tells how it goes, as it goes, and in the end."""

    def __init__(self, options: argparse.Namespace, progress: Progress) -> None:
        self._is_told = not options.json
        self._progress = progress
        self._shown_ms = 0.0
        self._interval_ms = options.reporting_interval
        self._warmup = options.warmup_records
        self._reported = 0
        self.total = ProducerStats(now_ms())
        self.window = ProducerStats(self.total.started_ms)
        self.steady: ProducerStats | None = None
        if self._warmup:
            self._write(
                f"The first {self._warmup} records warm up; what comes behind them is summed up "
                "by itself, in the last line."
            )

    def acknowledged(self, number: int, latency_ms: int, size_bytes: int) -> None:
        at_ms = now_ms()
        self.total.acknowledged(latency_ms, size_bytes)
        if self._warmup and number >= self._warmup:
            if self.steady is None:
                self._write("In steady state.")
                self.steady = ProducerStats(at_ms)
            self.steady.acknowledged(latency_ms, size_bytes)
        self.window.acknowledged(latency_ms, size_bytes)
        if at_ms - self.window.started_ms >= self._interval_ms:
            self._write(self.window.progress_line(at_ms))
            self.window = ProducerStats(at_ms)
        if at_ms - self._shown_ms >= _SHOWN_MS:
            self._shown_ms = at_ms
            self._progress.reach(self.total.latency_ms.count)

    def _write(self, line: str) -> None:
        if self._is_told:
            self._progress.clear()
            write(line)

    def conclude(self) -> None:
        at_ms = now_ms()
        self._progress.clear()
        self._write(self.total.total_line(at_ms))
        if self.steady is not None:
            self._write(self.steady.total_line(at_ms, " steady state"))


async def bench_producer(options: argparse.Namespace) -> None:
    """Send records, one by one, and tell how long each took to be acknowledged."""
    if options.warmup_records >= options.num_records:
        raise UsageError("--warmup-records must be fewer than --num-records")
    payloads = _payloads(options)
    settings = await settings_of(
        options, "producer", {"client.id": "perf-producer-client"},
        {"transactional.id": options.transactional_id},
    )  # fmt: skip
    if options.transaction_duration_ms is not None:
        settings.setdefault("transactional.id", f"performance-producer-{some_number():08x}")
    transaction_ms = None
    registered = None
    if "transactional.id" in settings:
        transaction_ms = options.transaction_duration_ms or DEFAULT_TRANSACTION_MS
        if options.preregister:
            registered = await partitions_of(options.topic, settings)
    elif options.preregister:
        raise UsageError("--preregister needs --transactional-id or --transaction-duration-ms")
    metrics = RequestMetrics() if options.print_metrics or options.json else None
    producer = Producer(**from_kafka_names(settings, PRODUCER_NAMES), metrics=metrics)
    with progress_of(options) as progress:
        async with producer:
            reports = _Reports(options, progress)
            await _send_all(producer, options, payloads, reports, transaction_ms, registered)
            await producer.flush()
            await asyncio.sleep(0)  # the last batch's callback
            reports.conclude()
            ended_ms = now_ms()
    if options.json:
        assert metrics is not None
        steady = reports.steady and reports.steady.told(ended_ms)
        requests = {key.name: phase_told(api.times_us) for key, api in metrics.apis.items()}
        write_json({**reports.total.told(ended_ms), "steady": steady, "requests_ms": requests})
    elif metrics is not None:
        write("")
        for line in metric_lines(metrics):
            write(line)


async def _send_all(
    producer: Producer,
    options: argparse.Namespace,
    payloads: Iterator[bytes],
    reports: _Reports,
    transaction_ms: int | None,
    registered: list[TopicPartition] | None,
) -> None:
    stopwatch = Stopwatch(reports.acknowledged)
    throttle = Throttle(options.throughput, now_ms() / 1000)
    begun_ms = None
    for number in range(options.num_records):
        if transaction_ms is not None and begun_ms is None:
            producer.begin(partitions=registered)
            begun_ms = now_ms()
        value = next(payloads)
        sent_ms = now_ms()
        delivery = await producer.send(options.topic, value)
        stopwatch.sent(number, delivery, sent_ms, len(value))
        if begun_ms is not None and sent_ms - begun_ms >= (transaction_ms or 0):
            await producer.commit()
            begun_ms = None
        pause = throttle.pause_seconds(number + 1, sent_ms / 1000)
        if pause:
            await asyncio.sleep(pause)
    if begun_ms is not None:
        await producer.commit()
