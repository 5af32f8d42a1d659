"""Snapshots that our node writes: Apache Kafka's tool reads them, and Apache Kafka starts there."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from fencepost_broker import Broker, StateClock
from fencepost_broker.metadata.log.snapshot_files import (
    Snapshot,
    find_snapshots,
    read_snapshot_file,
)
from fencepost_broker.storage.disk.files import FileDisk
from fencepost_protocol.generated.describe_client_quotas import DescribeClientQuotasRequest
from fencepost_protocol.generated.describe_user_scram_credentials import (
    DescribeUserScramCredentialsRequest,
)

from tests.conformance.controller_harness import ACCESS, payload_of, quota_values, type_of, when_led
from tests.conformance.controller_peer import ask
from tests.support.apache_kafka import ApacheKafka, KafkaUnavailableError, run_tool

pytestmark = pytest.mark.conformance
FOLDER = "__cluster_metadata-0"


@pytest.fixture(scope="module")
def kafka() -> Iterator[ApacheKafka]:
    try:
        with ApacheKafka() as running:
            running.stop()
            yield running
    except KafkaUnavailableError as error:
        pytest.skip(str(error))


async def write_snapshots(data_dir: Path) -> list[Snapshot]:
    """Run our broker there for three hours, each of which brings a topic."""
    clock = StateClock(manual=True)
    async with Broker(data_dir=data_dir, clock=clock) as broker:
        for name in "abc":
            broker.create_topic(name, 2, {"retention.ms": "86400000"})
            port = int(broker.bootstrap.rpartition(":")[2])
            for message in ACCESS:
                await asyncio.to_thread(ask, port, message, message.MAX_VERSION)
            clock.advance(hours=1)
        broker.create_topic("d")
    return find_snapshots(FileDisk(data_dir), FOLDER)


def test_kafkas_tool_reads_them(tmp_path: Path) -> None:
    snapshot = asyncio.run(write_snapshots(tmp_path))[0]
    try:
        told = run_tool(
            "org.apache.kafka.tools.DumpLogSegments",
            "--cluster-metadata-decoder",
            "--skip-record-metadata",
            "--files",
            tmp_path / snapshot.path,
        )
    except KafkaUnavailableError as error:
        pytest.skip(str(error))
    payloads = [line for line in told.splitlines() if '"type":' in line]
    records = read_snapshot_file(FileDisk(tmp_path), snapshot)
    assert [payload_of(line) for line in payloads] == [type_of(each) for each in records], told
    assert told.count("isControl: true") == 2, "header and footer"
    assert "isvalid: false" not in told


def test_kafka_starts_from_them(kafka: ApacheKafka) -> None:
    folder = kafka.data_dir / FOLDER
    for path in (*folder.glob("0*"), folder / "leader-epoch-checkpoint"):
        path.unlink()
    latest = asyncio.run(write_snapshots(kafka.data_dir))[0]
    keep_from(folder, latest.end_offset)
    kafka.start()
    metadata = when_led(kafka.port)
    quotas = ask(kafka.port, DescribeClientQuotasRequest(), 1)
    users = ask(kafka.port, DescribeUserScramCredentialsRequest(None), 0)
    assert quota_values(quotas) == {("client-id", "c"): {"consumer_byte_rate": 2048.0}}
    assert [each.user for each in users.results] == ["alice"]
    topics = {topic.name: len(topic.partitions) for topic in metadata.topics}
    assert topics == {"a": 2, "b": 2, "c": 2, "d": 1}


def keep_from(folder: Path, offset: int) -> None:
    """Let the log begin behind the snapshot, so that what is before can only come from it.

    The log was rolled at the snapshot, so that these are whole files.
    """
    assert (folder / f"{offset:020d}.log").stat().st_size
    for path in folder.glob("0*"):
        if int(path.name[:20]) < offset:
            path.unlink()
