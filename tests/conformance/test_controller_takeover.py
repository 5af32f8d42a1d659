"""An Apache Kafka starts on a metadata log that our controller wrote, and goes on from there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from fencepost_broker.cli.producer_id_history import read_history
from fencepost_broker.metadata.image.metadata_image import MetadataImage
from fencepost_broker.metadata.log.records import decode_record
from fencepost_protocol.generated.allocate_producer_ids import AllocateProducerIdsRequest
from fencepost_protocol.generated.delete_topics import DeleteTopicsRequest, DeleteTopicState
from fencepost_protocol.generated.describe_client_quotas import DescribeClientQuotasRequest
from fencepost_protocol.generated.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
)
from fencepost_protocol.primitives import parse_uuid
from fencepost_protocol.records.batch import assign_offset
from fencepost_protocol.records.writer import build_batch

from tests.conformance.controller_harness import ACCESS, quota_values, when_led
from tests.conformance.controller_peer import ask, log_values
from tests.machine.controller.cluster import Cluster
from tests.support.apache_kafka import ApacheKafka, KafkaUnavailableError

pytestmark = pytest.mark.conformance

EPOCH = 1
DYNAMIC_TOPIC_CONFIG = 1


def our_cluster(directory: bytes) -> Cluster:
    """A broker 1 with some topics in Kafka's directory, cleanly shut down."""
    cluster = Cluster()
    cluster.register(1, directory=directory)
    cluster.heartbeat(1)
    cluster.topic("a", 3, retention_ms="86400000")
    cluster.topic("gone")
    cluster.topic("b", cleanup_policy="compact")
    epoch = cluster.image.cluster.brokers[1].epoch
    cluster.ask(AllocateProducerIdsRequest(1, epoch))
    for message in ACCESS:
        cluster.ask(message)
    topic_id = cluster.image.topics.by_name["gone"].topic_id
    cluster.ask(DeleteTopicsRequest([DeleteTopicState(None, topic_id)]))
    while not cluster.heartbeat(1, shut_down=True).should_shut_down:
        pass
    return cluster


def directory_id(data_dir: Path) -> bytes:
    """What Kafka calls its directory (KIP-858)."""
    lines = (data_dir / "meta.properties").read_text().splitlines()
    return parse_uuid(next(line.partition("=")[2] for line in lines if "directory.id=" in line))


def exchange_log(folder: Path, values: list[bytes]) -> None:
    """Puts ours in the place of the log that Kafka has begun, one record a batch."""
    for path in folder.glob("0*"):
        path.unlink()
    content = bytearray()
    for offset, value in enumerate(values):
        batch = build_batch(None, [value], 1_700_000_000_000)
        assign_offset(batch, offset, EPOCH)
        content += batch
    (folder / "00000000000000000000.log").write_bytes(content)
    (folder / "leader-epoch-checkpoint").write_text(f"0\n1\n{EPOCH} 0\n")


def test_kafka_goes_on_with_our_cluster() -> None:
    try:
        with ApacheKafka() as kafka:
            kafka.stop()
            folder = kafka.data_dir / "__cluster_metadata-0"
            cluster = our_cluster(directory_id(kafka.data_dir))
            exchange_log(folder, cluster.log)
            kafka.start()
            metadata = when_led(kafka.port)
            resources = [DescribeConfigsResource(2, name, None) for name in ("a", "b")]
            configs = ask(kafka.port, DescribeConfigsRequest(resources), 4)
            quotas = ask(kafka.port, DescribeClientQuotasRequest(), 1)
            written = list(log_values(folder))
            history = read_history(str(kafka.data_dir))
    except KafkaUnavailableError as error:
        pytest.skip(str(error))
    assert [value for _, value in written][: len(cluster.log)] == cluster.log
    assert len(written) > len(cluster.log)
    assert [each.last_id for each in history.blocks][:1] == [999]
    assert history.is_whole
    assert not history.overlaps

    found = {topic.name: topic for topic in metadata.topics}
    assert set(found) == {"a", "b"}
    for name, topic in cluster.image.topics.by_name.items():
        assert found[name].topic_id == topic.topic_id
        partitions = {each.partition_index: each for each in found[name].partitions}
        assert set(partitions) == set(topic.partitions)
        for number, partition in partitions.items():
            assert (partition.error_code, partition.leader_id) == (0, 1)
            assert partition.leader_epoch > topic.partitions[number].leader_epoch
    told: dict[str, Any] = {
        result.resource_name: {
            config.name: config.value
            for config in result.configs
            if config.config_source == DYNAMIC_TOPIC_CONFIG
        }
        for result in configs.results
    }
    assert told == {"a": {"retention.ms": "86400000"}, "b": {"cleanup.policy": "compact"}}

    assert quota_values(quotas) == {("client-id", "c"): {"consumer_byte_rate": 2048.0}}

    image = MetadataImage()  # and what Kafka wrote behind ours, we can go on with in turn
    for offset, value in written:
        image.apply(decode_record(value).message, offset)
    assert image.cluster.brokers[1].epoch > cluster.image.cluster.brokers[1].epoch
    assert image.features.levels == cluster.image.features.levels
