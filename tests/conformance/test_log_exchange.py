"""A broker of Apache Kafka serves a copy of our files, and we serve a copy of its.

Needs a Java runtime; Kafka's jars come from Maven Central (`tests/support/apache_kafka.py`).
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from fencepost_broker.storage.disk.files import FileDisk
from fencepost_broker.storage.log import (
    LockedError,
    LogConfig,
    LogManager,
    PartitionLog,
    UpperBound,
)
from fencepost_broker.storage.log.identity import check_identity
from fencepost_protocol.primitives import parse_uuid
from fencepost_protocol.records.compression import Compression
from fencepost_protocol.records.reader import iter_records

from tests.conformance.log_files import IDENTITY, SETTINGS, check_dump, everything
from tests.machine.storage.harness import NOW, fill, read_all
from tests.support.apache_kafka import ApacheKafka, KafkaUnavailableError

pytestmark = [
    pytest.mark.conformance,
    pytest.mark.slow,
    # kafka-python warns about itself while it is imported.
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]

# What the client in these tests can read with the libraries that are there anyway.
COMMON_CODECS = (Compression.NONE, Compression.GZIP, Compression.ZSTD)
CHECKPOINTS = (
    "recovery-point-offset-checkpoint",
    "log-start-offset-checkpoint",
    "replication-offset-checkpoint",
)

Seen = tuple[int, int, bytes | None, bytes | None]
"""Offset, time, key and value of a record."""


@pytest.fixture(scope="module")
def one_kafka() -> Iterator[ApacheKafka]:
    settings = {"log.retention.ms": "-1", "log.message.timestamp.after.max.ms": str(1 << 60)}
    try:
        with ApacheKafka(settings) as running:
            yield running
    except KafkaUnavailableError as error:
        pytest.skip(str(error))


@pytest.fixture
def kafka(one_kafka: ApacheKafka) -> ApacheKafka:
    """The one broker, running whatever the test before left behind."""
    if one_kafka.process_id is None:
        one_kafka.start()
    return one_kafka


def consume(kafka: ApacheKafka, topic: str, count: int, isolation: str) -> list[Seen]:
    """So many records, as a client gets them."""
    from kafka import KafkaConsumer, TopicPartition

    consumer = KafkaConsumer(
        bootstrap_servers=kafka.bootstrap,
        auto_offset_reset="earliest",
        isolation_level=isolation,
        enable_auto_commit=False,
        check_crcs=True,
    )
    try:
        consumer.assign([TopicPartition(topic, 0)])
        found: list[Seen] = []
        while len(found) < count:
            polled = consumer.poll(timeout_ms=20_000)
            assert polled, f"only {len(found)} of {count} records came"
            for records in polled.values():
                found += [(r.offset, r.timestamp, r.key, r.value) for r in records]
        return found
    finally:
        consumer.close()


def ours(log: PartitionLog, bound: UpperBound) -> list[Seen]:
    """The same from our own log."""
    result = log.read(log.log_start_offset, 1 << 30, bound)
    waiting = sorted(result.aborted or [], key=lambda entry: entry.first_offset)
    skipped: set[int] = set()
    found: list[Seen] = []
    for header, data in read_all(log, bound=bound):
        while waiting and waiting[0].first_offset <= header.last_offset:
            skipped.add(waiting.pop(0).producer_id)
        if header.is_control:
            skipped.discard(header.producer_id)
        elif not (header.is_transactional and header.producer_id in skipped):
            found += [
                (
                    record.offset,
                    record.timestamp,
                    None if record.key is None else bytes(record.key),
                    None if record.value is None else bytes(record.value),
                )
                for record in iter_records(data)
                if record.offset >= log.log_start_offset
            ]
    return found


def tool(kafka: ApacheKafka, name: str, *arguments: str) -> str:
    return kafka.run_tool(
        f"org.apache.kafka.tools.{name}", "--bootstrap-server", kafka.bootstrap, *arguments
    )


def their_offsets(kafka: ApacheKafka, topic: str, now: int) -> dict[str, str]:
    """What ListOffsets answers, by what was asked."""
    asked = {
        "earliest": "earliest",
        "latest": "latest",
        "largest": "max-timestamp",
        "time": str(now),
    }
    return {
        name: tool(kafka, "GetOffsetShell", "--topic", topic, "--time", what).strip().split(":")[2]
        for name, what in asked.items()
    }


def our_offsets(log: PartitionLog, now: int) -> dict[str, str]:
    largest = log.offset_of_max_timestamp()
    by_time = log.offset_for_timestamp(now)
    assert largest is not None
    assert by_time is not None
    found = {
        "earliest": log.earliest_offset(),
        "latest": log.latest_offset(),
        "largest": largest,
        "time": by_time,
    }
    return {name: str(answer.offset) for name, answer in found.items()}


def their_producers(kafka: ApacheKafka, topic: str) -> set[tuple[str, ...]]:
    said = tool(
        kafka, "TransactionsCommand", "describe-producers", "--topic", topic, "--partition", "0"
    )
    return {tuple(line.split()) for line in said.splitlines()[1:]}


def our_producers(log: PartitionLog) -> set[tuple[str, ...]]:
    found = set()
    for producer in log.describe_producers():
        start = producer.current_transaction_first_offset
        fields = (
            producer.producer_id,
            producer.producer_epoch,
            producer.coordinator_epoch,
            producer.last_sequence,
            producer.last_timestamp_ms,
            "None" if start < 0 else start,
        )
        found.add(tuple(map(str, fields)))
    return found


def exchange(theirs: Path, ours: Path, topic: str) -> None:
    """Put our files of a partition in the place of Kafka's, and our lines into its checkpoints."""
    folder = f"{topic}-0"
    shutil.rmtree(theirs / folder)
    shutil.copytree(ours / folder, theirs / folder)
    for name in CHECKPOINTS:
        kept = [
            line
            for line in (theirs / name).read_text().splitlines()[2:]
            if not line.startswith(f"{topic} ")
        ]
        kept += (ours / name).read_text().splitlines()[2:]
        (theirs / name).write_text("\n".join(["0", str(len(kept)), *kept]) + "\n")


@pytest.mark.parametrize("stop", ["clean", "crash"])
def test_kafka_serves_our_files(kafka: ApacheKafka, tmp_path: Path, stop: str) -> None:
    topic = f"ours-{stop}"
    tool(kafka, "TopicCommand", "--create", "--topic", topic, "--partitions", "1")
    kafka.stop()
    metadata = (kafka.data_dir / f"{topic}-0" / "partition.metadata").read_bytes()
    topic_id = parse_uuid(metadata.decode().split("topic_id: ")[1].strip())

    now = int(time.time() * 1000)  # Kafka forgets producers that are older than a day
    config = LogConfig(**SETTINGS)
    manager = LogManager.open(FileDisk(tmp_path), IDENTITY, lambda name: config, now)
    log = manager.create(topic, 0, topic_id, config, now)
    assert (tmp_path / f"{topic}-0" / "partition.metadata").read_bytes() == metadata
    # A client minds a leader epoch that its broker has not reached, so there is one only.
    everything(log, codecs=COMMON_CODECS, epochs=1, now=now)
    log.delete_records(5)
    uncommitted = ours(log, UpperBound.HIGH_WATERMARK)
    committed = ours(log, UpperBound.LAST_STABLE)
    assert len(uncommitted) > len(committed) > 100
    if stop == "clean":
        manager.close(now)
    else:
        manager.write_checkpoints()
        (kafka.data_dir / ".kafka_cleanshutdown").unlink()
    exchange(kafka.data_dir, tmp_path, topic)
    kafka.start()

    assert consume(kafka, topic, len(uncommitted), "read_uncommitted") == uncommitted
    assert consume(kafka, topic, len(committed), "read_committed") == committed
    assert their_offsets(kafka, topic, now + 333) == our_offsets(log, now + 333)
    assert their_producers(kafka, topic) == our_producers(log)
    if stop == "crash":
        manager.close(now)


def produce(kafka: ApacheKafka, topic: str) -> int:
    """Three transactional producers, a third of their transactions aborted."""
    from kafka import KafkaProducer

    for codec in (None, "gzip", "zstd"):
        producer = KafkaProducer(
            bootstrap_servers=kafka.bootstrap,
            transactional_id=f"{topic}-{codec}",
            compression_type=codec,
            linger_ms=0,
        )
        producer.init_transactions()
        for transaction in range(12):
            producer.begin_transaction()
            for number in range(10):
                producer.send(
                    topic,
                    key=b"%d" % number,
                    value=os.urandom(4000),
                    partition=0,
                    timestamp_ms=NOW + 100 * transaction + number,
                )
            producer.flush()
            if transaction % 3 == 1:
                producer.abort_transaction()
            else:
                producer.commit_transaction()
        producer.close()
    return 3 * 12 * 10


@pytest.mark.parametrize("stop", ["clean", "crash"])
def test_we_serve_kafkas_files(kafka: ApacheKafka, tmp_path: Path, stop: str) -> None:
    topic = f"theirs-{stop}"
    settings = ("--config", "segment.bytes=1048576", "--config", "index.interval.bytes=500")
    tool(kafka, "TopicCommand", "--create", "--topic", topic, "--partitions", "1", *settings)
    count = produce(kafka, topic)
    uncommitted = consume(kafka, topic, count, "read_uncommitted")
    committed = consume(kafka, topic, count * 2 // 3, "read_committed")
    offsets = their_offsets(kafka, topic, NOW + 555)
    with pytest.raises(LockedError):
        FileDisk(kafka.data_dir).lock(".lock")
    if stop == "clean":
        kafka.stop()
    else:
        kafka.kill()
    check_identity(FileDisk(tmp_path), IDENTITY)  # the directory is ours before the topic is in it
    shutil.copytree(kafka.data_dir / f"{topic}-0", tmp_path / f"{topic}-0")
    for path in kafka.data_dir.iterdir():
        if path.is_file() and path.name not in (".lock", "meta.properties"):
            shutil.copy(path, tmp_path)
    manager = LogManager.open(FileDisk(tmp_path), IDENTITY, lambda name: LogConfig(**SETTINGS), NOW)
    assert manager.was_clean == (stop == "clean")
    log = manager.logs[topic, 0]
    assert stop == "crash" or not any(event.unexpected for event in log.take_events())
    assert len(log.segments) > 1
    assert log.topic_id is not None
    assert len(log.describe_producers()) == 3
    assert ours(log, UpperBound.HIGH_WATERMARK) == uncommitted
    assert ours(log, UpperBound.LAST_STABLE) == committed
    assert our_offsets(log, NOW + 555) == offsets
    fill(log, 3)
    manager.close(NOW)
    check_dump(tmp_path / f"{topic}-0", log)
