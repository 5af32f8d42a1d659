"""``fencepost bench consumer``: Apache Kafka's ConsumerPerformance."""

from __future__ import annotations

import argparse
import sys
import time
from typing import Any, Final

from fencepost_client.clients.consumer import Consumer
from fencepost_client.commands.bench.clients import now_ms, settings_of, some_number
from fencepost_client.commands.bench.lines import (
    CONSUMER_DETAILED_HEADER,
    CONSUMER_HEADER,
    ConsumerStats,
    metric_lines,
    moment,
)
from fencepost_client.commands.bench.settings import progress_of
from fencepost_client.commands.errors import UsageError
from fencepost_client.commands.output import write, write_json
from fencepost_client.config.kafka_names import CONSUMER_NAMES, from_kafka_names
from fencepost_client.metrics import RequestMetrics
from fencepost_client.progress import Progress

_POLL_MS: Final = 100


class _Reading:
    """What was read, with its interval, and how long rebalances took."""

    def __init__(self, options: argparse.Namespace, progress: Progress) -> None:
        self._options = options
        self._progress = progress
        self.started_s = time.time()
        self.total = ConsumerStats(now_ms())
        self._interval = ConsumerStats(self.total.started_ms)
        self._before = ConsumerStats(self.total.started_ms)
        self._joining_ms: float | None = self.total.started_ms

    def assigned(self, _: Any) -> None:
        """A rebalance is over."""
        if self._joining_ms is not None:
            took_ms = now_ms() - self._joining_ms
            self.total.rebalance_ms += took_ms
            self._interval.rebalance_ms += took_ms
            self._joining_ms = None

    def revoked(self, _: Any) -> None:
        """A rebalance begins."""
        self._joining_ms = now_ms()

    def read(self, size_bytes: int) -> None:
        """One more record."""
        for stats in (self.total, self._interval):
            stats.records += 1
            stats.size_bytes += size_bytes

    def report(self) -> None:
        """A line of the interval, if it is over and lines are wanted."""
        options, at_ms = self._options, now_ms()
        self._progress.reach(self.total.records)
        if at_ms - self._interval.started_ms < options.reporting_interval:
            return
        if options.show_detailed_stats and not options.json:
            at = moment(time.time(), options.date_format)
            self._progress.clear()
            write(self._interval.line(f"{at}, 0", at_ms, self._before))
        self._before.records, self._before.size_bytes = self.total.records, self.total.size_bytes
        self._interval = ConsumerStats(at_ms)

    def conclude(self, ended_ms: float) -> None:
        """The line of it all."""
        options = self._options
        ended_s = self.started_s + (ended_ms - self.total.started_ms) / 1000
        if options.json:
            write_json(self.total.told(ended_ms))
        elif not options.show_detailed_stats:
            times = ", ".join(moment(at, options.date_format) for at in (self.started_s, ended_s))
            write(self.total.line(times, ended_ms))


async def bench_consumer(options: argparse.Namespace) -> None:
    """Read so many records as a group's only member, and tell how long it took."""
    try:
        moment(0, options.date_format)
    except ValueError as error:
        raise UsageError(f"--date-format: {error}") from error
    settings = await settings_of(
        options, "consumer",
        {
            "group.id": f"perf-consumer-{some_number() % 100_000}",
            "client.id": "perf-consumer-client",
            "auto.offset.reset": "latest" if options.from_latest else "earliest",
        },
        {"group.id": options.group, "max.partition.fetch.bytes": options.fetch_size},
    )  # fmt: skip
    metrics = RequestMetrics() if options.print_metrics else None
    consumer = Consumer(**from_kafka_names(settings, CONSUMER_NAMES), metrics=metrics)
    if not options.hide_header and not options.json:
        write(CONSUMER_DETAILED_HEADER if options.show_detailed_stats else CONSUMER_HEADER)
    with progress_of(options) as progress:
        async with consumer:
            reading = _Reading(options, progress)
            consumer.subscribe(
                [] if options.topic is None else [options.topic],
                regex=options.include,
                on_assigned=reading.assigned,
                on_revoked=reading.revoked,
            )
            ended_ms = await _read_all(consumer, options, reading)
    if reading.total.records < options.num_records:
        sys.stderr.write(
            f"WARNING: no record came for {options.timeout} ms (--timeout), before all "
            "records were read\n"
        )
    reading.conclude(ended_ms)
    if metrics is not None:
        write("")
        for line in metric_lines(metrics):
            write(line)


async def _read_all(consumer: Consumer, options: argparse.Namespace, reading: _Reading) -> float:
    at_ms = last_ms = now_ms()
    while reading.total.records < options.num_records and at_ms - last_ms <= options.timeout:
        records = await consumer.getmany(timeout_ms=_POLL_MS)
        at_ms = now_ms()
        if records:
            last_ms = at_ms
        for record in records:
            reading.read(len(record.key or b"") + len(record.value or b""))
        reading.report()
    return at_ms
