"""The metadata log and snapshots that a real Apache Kafka wrote, and ours read by its tools."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fencepost_broker.metadata.image.metadata_image import MetadataImage
from fencepost_broker.metadata.image.model import ProducerIds
from fencepost_broker.metadata.log.records import decode_record, encode_record
from fencepost_broker.metadata.log.snapshot import read_snapshot, snapshot_records
from fencepost_protocol.apis import Message
from fencepost_protocol.generated.alter_client_quotas import (
    AlterClientQuotasRequest,
    AlterClientQuotasRequestEntityData,
    AlterClientQuotasRequestEntryData,
    OpData,
)
from fencepost_protocol.generated.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)
from fencepost_protocol.generated.create_acls import AclCreation, CreateAclsRequest
from fencepost_protocol.generated.create_topics import CreateTopicsRequest
from fencepost_protocol.generated.delete_acls import DeleteAclsFilter, DeleteAclsRequest
from fencepost_protocol.generated.init_producer_id import InitProducerIdRequest
from fencepost_protocol.records.writer import build_batch

from tests.conformance import controller_cases as cases
from tests.conformance.controller_harness import payload_of, type_of
from tests.conformance.controller_peer import KafkaSide, ask, log_values
from tests.machine.controller.cluster import Cluster
from tests.support.apache_kafka import ApacheKafka, KafkaUnavailableError, run_tool
from tests.support.waiting import polled

pytestmark = pytest.mark.conformance

SETTINGS = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": "User:ANONYMOUS",
    "metadata.log.max.snapshot.interval.ms": "1500",
    "broker.session.timeout.ms": "4000",
}

VERSIONS = {
    "AccessControlEntryRecord": {0},
    "BeginTransactionRecord": {0},
    "BrokerRegistrationChangeRecord": {0, 1, 3},  # the lowest that can say it
    "ClientQuotaRecord": {0},
    "ConfigRecord": {0},
    "EndTransactionRecord": {0},
    "FeatureLevelRecord": {0},
    "NoOpRecord": {0},
    "PartitionChangeRecord": {2},
    "PartitionRecord": {2},
    "ProducerIdsRecord": {0},
    "RegisterBrokerRecord": {4},
    "RegisterControllerRecord": {0},
    "RemoveAccessControlEntryRecord": {0},
    "RemoveTopicRecord": {0},
    "RemoveUserScramCredentialRecord": {0},
    "TopicRecord": {0},
    "UnregisterBrokerRecord": {0},
    "UserScramCredentialRecord": {0},
}
"""What Kafka 4.3.1 writes at metadata.version 30; ours writes these versions too."""


def other_requests() -> Iterator[Message]:
    """Requests that write what the cases of the differential test do not."""
    user = [
        AlterClientQuotasRequestEntityData("user", "u"),
        AlterClientQuotasRequestEntityData("client-id", None),
    ]
    address = [AlterClientQuotasRequestEntityData("ip", "1.2.3.4")]
    for entity, operation in (
        (user, OpData("producer_byte_rate", 1024.0)),
        (user, OpData("producer_byte_rate", 2048.5)),
        (address, OpData("connection_creation_rate", 7.0)),
        (address, OpData("connection_creation_rate", remove=True)),
    ):
        entry = AlterClientQuotasRequestEntryData(entity, [operation])
        yield AlterClientQuotasRequest([entry])
    upsertions = [
        ScramCredentialUpsertion(name, 1, 4096, b"salt", b"password") for name in ("u", "v")
    ]
    yield AlterUserScramCredentialsRequest(upsertions=upsertions)
    yield AlterUserScramCredentialsRequest(deletions=[ScramCredentialDeletion("v", 1)])
    acls = [AclCreation(2, name, 3, "User:u", "*", 3, 3) for name in ("a", "b")]
    yield CreateAclsRequest(acls)
    yield DeleteAclsRequest([DeleteAclsFilter(2, "b", 3, None, None, 1, 1)])
    yield InitProducerIdRequest(None, 60_000)


def drive(kafka: ApacheKafka) -> None:
    """Makes a running Kafka write every kind of record, over a restart and a crash."""
    side = KafkaSide(kafka)
    groups = (
        *(cases.creations, cases.deletions, cases.growths, cases.topic_alterations),
        *(cases.broker_alterations, cases.feature_updates, cases.registrations, cases.elections),
    )
    for group in groups:
        for _, case in group():
            side.compared(case)
    for message in other_requests():
        ask(kafka.port, message, min(message.MAX_VERSION, 5))
    kafka.restart()
    ask(kafka.port, CreateTopicsRequest([cases.topic("late", 3)], 10_000), 7)
    kafka.kill()
    kafka.start()
    ask(kafka.port, CreateTopicsRequest([cases.topic("later", 2)], 10_000), 7)
    folder = kafka.data_dir / "__cluster_metadata-0"
    polled(
        lambda: snapshots(folder) and snapshots(folder)[-1][1] > last_topic(folder),
        "Kafka wrote no snapshot",
    )
    kafka.stop()


def snapshots(folder: Path) -> list[tuple[Path, int]]:
    """The finished snapshots and the offset behind the last record that they stand for."""
    found = sorted(folder.glob("*.checkpoint"))
    return [(path, int(path.name.split("-")[0])) for path in found]


def last_topic(folder: Path) -> int:
    at = (
        offset
        for offset, value in log_values(folder)
        if decode_record(value).message.NAME == "PartitionRecord"
    )
    return max(at)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a metadata log that Kafka wrote."""
    kept = tmp_path_factory.mktemp("kafka") / "__cluster_metadata-0"
    try:
        with ApacheKafka(SETTINGS) as kafka:
            drive(kafka)
            (kafka.data_dir / "__cluster_metadata-0").rename(kept)
    except KafkaUnavailableError as error:
        pytest.skip(str(error))
    return kept


def test_every_record_is_read_and_written_back_byte_for_byte(written: Path) -> None:
    versions = defaultdict(set)
    for folder, pattern in ((written, "*.log"), (written, "*.checkpoint")):
        for offset, value in log_values(folder, pattern):
            record = decode_record(value)
            assert encode_record(record) == value, f"{record.message.NAME} at {offset}"
            versions[record.message.NAME].add(record.version)
    known = {name: versions.get(name) for name in VERSIONS}
    assert known == VERSIONS
    # What only eligible leader replicas (KIP-966) bring.
    assert set(versions) - set(VERSIONS) <= {"ClearElrRecord"}


def test_the_image_of_kafkas_log_is_the_image_of_kafkas_snapshot(written: Path) -> None:
    path, end = snapshots(written)[-1]
    live = MetadataImage()
    for offset, value in log_values(written):
        if offset < end:
            live.apply(decode_record(value).message, offset)
    kept = [decode_record(value) for _, value in log_values(written, path.name)]
    restored = read_snapshot(kept, live.last_offset)
    assert len(live.topics.by_name) > 15
    assert live.cluster.brokers
    assert live.acls.by_id
    assert live.client_quotas.records
    assert live.scram.credentials
    # Kafka's snapshot forgets who got the last block.
    blocks = [image.producer_ids.latest for image in (restored, live)]
    assert blocks[0].next_producer_id == blocks[1].next_producer_id > 0
    live.producer_ids.latest = restored.producer_ids.latest = ProducerIds(-1, -1, 1000)
    assert list(restored.differences(live)) == []
    assert restored == live


def test_our_snapshot_has_the_records_of_kafkas(written: Path) -> None:
    path, _ = snapshots(written)[-1]
    kept = [decode_record(value) for _, value in log_values(written, path.name)]
    image = read_snapshot(kept, 0)
    assert comparable(snapshot_records(image)) == comparable(kept)


def comparable(records: Any) -> list[str]:
    found = []
    for record in records:
        message = record.message
        if message.NAME == "RegisterBrokerRecord":
            message.features.sort(key=lambda feature: feature.name)
        found.append(f"v{record.version} {message}")
    return sorted(found)


def test_kafkas_tool_reads_our_log_and_our_snapshot(tmp_path: Path) -> None:
    cluster = Cluster().up(1, 2)
    cluster.topic("a", 2, 2, retention_ms="5")
    cluster.topic("b")
    cluster.heartbeat(2, fence=True)
    log = [decode_record(value) for value in cluster.log]
    for number, records in enumerate((log, list(snapshot_records(cluster.image)))):
        folder = tmp_path / str(number)
        folder.mkdir()
        path = folder / "00000000000000000000.log"
        path.write_bytes(build_batch(None, [bytes(encode_record(each)) for each in records], 1))
        try:
            told = run_tool(
                "org.apache.kafka.tools.DumpLogSegments",
                "--cluster-metadata-decoder",
                "--skip-record-metadata",
                "--files",
                path,
            )
        except KafkaUnavailableError as error:
            pytest.skip(str(error))
        payloads = [line for line in told.splitlines() if '"type":' in line]
        assert [payload_of(line) for line in payloads] == [type_of(each) for each in records], told
