"""``fencepost bench eos``: KIP-609's EOSPerformance, poll, process, produce, offsets, commit."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

from fencepost_protocol.generated.index import ApiKey

from fencepost_client.clients.consumer import Consumer
from fencepost_client.clients.producer import Producer
from fencepost_client.commands.bench.clients import (
    DEFAULT_TRANSACTION_MS,
    Stopwatch,
    now_ms,
    partitions_of,
    settings_of,
    some_number,
)
from fencepost_client.commands.bench.lines import ProducerStats, phase_line, phase_told
from fencepost_client.commands.bench.settings import progress_of
from fencepost_client.commands.bench.throttle import Throttle
from fencepost_client.commands.output import write, write_json
from fencepost_client.config.kafka_names import CONSUMER_NAMES, PRODUCER_NAMES, from_kafka_names
from fencepost_client.metrics import Histogram, RequestMetrics
from fencepost_client.progress import Progress
from fencepost_client.types import ConsumerRecord, TopicPartition

_REQUESTS: Final = {
    "AddPartitionsToTxn": ApiKey.ADD_PARTITIONS_TO_TXN,
    "AddOffsetsToTxn": ApiKey.ADD_OFFSETS_TO_TXN,
    "Produce": ApiKey.PRODUCE,
    "TxnOffsetCommit": ApiKey.TXN_OFFSET_COMMIT,
    "EndTxn": ApiKey.END_TXN,
}
_POLL_RECORDS: Final = 500
_IDLE_POLLS: Final = 100
"""So many polls without a record, and the input is at its end."""


class _Clients(NamedTuple):
    consumer: Consumer
    producer: Producer
    registered: list[TopicPartition] | None
    """What each transaction registers, with the group."""


class _Measured:
    """How long each phase took, as the application sees it."""

    def __init__(self, requests: RequestMetrics) -> None:
        self.begin()
        self.transactions = 0
        self._requests = requests
        self._phases = {
            "poll": Histogram(),
            "add partitions": requests.of(ApiKey.ADD_PARTITIONS_TO_TXN).times_us,
            "produce": Histogram(),
            "offsets": Histogram(),
            "end": Histogram(),
        }

    def begin(self) -> None:
        """The first record is there: joining the group does not count."""
        self.records = ProducerStats(now_ms())
        self.window = ProducerStats(self.records.started_ms)

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Time one of them."""
        begun_ms = now_ms()
        yield
        self._phases[name].record(int((now_ms() - begun_ms) * 1000))

    def acknowledged(self, _: int, latency_ms: int, size_bytes: int) -> None:
        """A record was written."""
        self.records.acknowledged(latency_ms, size_bytes)
        self.window.acknowledged(latency_ms, size_bytes)

    def _counts(self) -> dict[str, int]:
        return {name: self._requests.of(key).times_us.count for name, key in _REQUESTS.items()}

    def report(self, interval_ms: int) -> str:
        """A line of progress when it is time, or else nothing."""
        at_ms = now_ms()
        if at_ms - self.window.started_ms < interval_ms:
            return ""
        line = self.window.progress_line(at_ms)
        self.window = ProducerStats(at_ms)
        return line

    def conclude(self) -> None:
        """All of it, for people."""
        write(self.records.total_line(now_ms()))
        for name, times_us in self._phases.items():
            write(phase_line(name, times_us))
        counts = self._counts()
        each = sum(counts.values()) / self.transactions if self.transactions else 0.0
        requests = ", ".join(f"{count} {name}" for name, count in counts.items())
        write(f"{self.transactions} transactions, {each:.2f} requests each: {requests}.")

    def told(self) -> dict[str, Any]:
        """All of it, for programs."""
        return {
            **self.records.told(now_ms()),
            "transactions": self.transactions,
            "phases_ms": {name: phase_told(times) for name, times in self._phases.items()},
            "requests": self._counts(),
        }


async def bench_eos(options: argparse.Namespace) -> None:
    """Copy records in transactions, and tell how long each phase of these took."""
    consumer_settings = await settings_of(
        options, "consumer",
        {"group.id": f"eos-perf-{some_number():08x}", "auto.offset.reset": "earliest"},
        {"group.id": options.group_id, "enable.auto.commit": "false"},
    )  # fmt: skip
    consumer_settings.setdefault("isolation.level", "read_committed")
    producer_settings = await settings_of(
        options, "producer", {"transactional.id": f"eos-perf-{some_number():08x}"},
        {"transactional.id": options.transactional_id},
    )  # fmt: skip
    registered = None
    if options.preregister:
        registered = await partitions_of(options.output_topic, producer_settings)
    requests = RequestMetrics()
    consumer = Consumer(**from_kafka_names(consumer_settings, CONSUMER_NAMES))
    producer = Producer(**from_kafka_names(producer_settings, PRODUCER_NAMES), metrics=requests)
    async with producer, consumer:
        consumer.subscribe([options.input_topic])
        measured = _Measured(requests)
        with progress_of(options) as progress:
            clients = _Clients(consumer, producer, registered)
            await _copy_all(clients, options, measured, progress)
        if options.json:
            write_json(measured.told())
        else:
            measured.conclude()


class _Copying:
    """From poll to commit, again and again; a transaction ends by its age, also between records."""

    def __init__(self, clients: _Clients, options: argparse.Namespace, measured: _Measured) -> None:
        self._clients = clients
        self._topic = options.output_topic
        self._measured = measured
        self._stopwatch = Stopwatch(measured.acknowledged)
        self._throughput = options.throughput
        self._throttle: Throttle | None = None
        self._transaction_ms = options.transaction_duration_ms or DEFAULT_TRANSACTION_MS
        self._begun_ms: float | None = None
        self._offsets: dict[TopicPartition, int] = {}
        """What the open transaction has copied."""
        self.copied = 0

    async def copy(self, record: ConsumerRecord) -> None:
        """Send one record on, and keep to the rate."""
        if self._throttle is None:
            self._measured.begin()
            self._throttle = Throttle(self._throughput, now_ms() / 1000)
        if self._begun_ms is None:
            self._begun_ms = now_ms()
            self._begin()
        sent_ms = now_ms()
        producer = self._clients.producer
        delivery = await producer.send(self._topic, record.value, key=record.key)
        size_bytes = len(record.key or b"") + len(record.value or b"")
        self._stopwatch.sent(self.copied, delivery, sent_ms, size_bytes)
        self._offsets[TopicPartition(record.topic, record.partition)] = record.offset + 1
        self.copied += 1
        pause = self._throttle.pause_seconds(self.copied, now_ms() / 1000)
        if pause:
            await asyncio.sleep(pause)
        await self.end_old()

    async def end_old(self) -> None:
        """Commit, if it is time."""
        if self._begun_ms is not None and now_ms() - self._begun_ms >= self._transaction_ms:
            await self.end()

    def _begin(self) -> None:
        consumer, producer, registered = self._clients
        if registered is None:
            producer.begin()
        else:
            producer.begin(partitions=registered, group_id=consumer.group_metadata().group_id)

    async def end(self) -> None:
        """Commit what is open."""
        if self._begun_ms is None:
            return
        consumer, producer, _ = self._clients
        with self._measured.phase("produce"):
            await producer.flush()
        with self._measured.phase("offsets"):
            await producer.send_offsets(self._offsets, consumer.group_metadata())
        with self._measured.phase("end"):
            await producer.commit()
        self._measured.transactions += 1
        self._begun_ms = None
        self._offsets.clear()


async def _copy_all(
    clients: _Clients, options: argparse.Namespace, measured: _Measured, progress: Progress
) -> None:
    copying = _Copying(clients, options, measured)
    idle = 0
    while (left := options.num_records - copying.copied) and idle < _IDLE_POLLS:
        with measured.phase("poll"):
            records = await clients.consumer.getmany(
                timeout_ms=options.poll_timeout, max_records=min(_POLL_RECORDS, left)
            )
        is_joining = clients.consumer.generation_id() < 0
        idle = 0 if records or is_joining else idle + 1
        for record in records:
            await copying.copy(record)
        await copying.end_old()
        if not options.json and (line := measured.report(options.reporting_interval)):
            progress.clear()
            write(line)
        progress.reach(copying.copied)
    await copying.end()
    progress.clear()
    if left:
        sys.stderr.write(
            f"WARNING: {copying.copied} of {options.num_records} records were copied: "
            f"{options.input_topic} has no more.\n"
        )
