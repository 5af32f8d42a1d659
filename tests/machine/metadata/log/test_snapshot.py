"""Snapshots: the latest state only, in an order that says nothing of how it came to be."""

from __future__ import annotations

import random
from typing import Any

import pytest
from fencepost_broker.metadata.image.metadata_image import MetadataImage
from fencepost_broker.metadata.log.records import encode_record
from fencepost_broker.metadata.log.snapshot import read_snapshot, snapshot_records
from fencepost_protocol.apis import Message
from fencepost_protocol.generated.access_control_entry_record import AccessControlEntryRecord
from fencepost_protocol.generated.client_quota_record import ClientQuotaRecord, EntityData
from fencepost_protocol.generated.config_record import ConfigRecord
from fencepost_protocol.generated.delegation_token_record import DelegationTokenRecord
from fencepost_protocol.generated.feature_level_record import FeatureLevelRecord
from fencepost_protocol.generated.partition_record import PartitionRecord
from fencepost_protocol.generated.producer_ids_record import ProducerIdsRecord
from fencepost_protocol.generated.register_broker_record import (
    BrokerEndpoint,
    BrokerFeature,
    RegisterBrokerRecord,
)
from fencepost_protocol.generated.register_controller_record import RegisterControllerRecord
from fencepost_protocol.generated.topic_record import TopicRecord
from fencepost_protocol.generated.user_scram_credential_record import UserScramCredentialRecord

from tests.machine.controller.cluster import Cluster

IDS = [bytes([number]) * 16 for number in range(1, 4)]


def full_partition(topic_id: bytes, number: int) -> PartitionRecord:
    """A partition with nothing left at its default."""
    return PartitionRecord(
        partition_id=number,
        topic_id=topic_id,
        replicas=[1, 2, 3],
        isr=[2],
        removing_replicas=[1],
        adding_replicas=[3],
        leader=2,
        leader_recovery_state=1,
        leader_epoch=7,
        partition_epoch=9,
        directories=IDS,
        eligible_leader_replicas=[1],
        last_known_elr=[3],
    )


def full_broker(broker_id: int) -> RegisterBrokerRecord:
    return RegisterBrokerRecord(
        broker_id=broker_id,
        is_migrating_zk_broker=True,
        incarnation_id=IDS[0],
        broker_epoch=5,
        end_points=[BrokerEndpoint("B", "b", 2, 1), BrokerEndpoint("A", "a", 1, 0)],
        features=[BrokerFeature("x", 1, 2), BrokerFeature("y", 0, 3)],
        rack="r",
        fenced=False,
        in_controlled_shutdown=True,
        log_dirs=[IDS[1]],
        cordoned_log_dirs=[IDS[1]],
    )


EVERYTHING: list[list[Message]] = [
    [FeatureLevelRecord("metadata.version", 30)],
    [FeatureLevelRecord("a", 1)],
    [full_broker(2)],
    [full_broker(1)],
    [RegisterControllerRecord(3, IDS[0])],
    [TopicRecord("u", IDS[0]), full_partition(IDS[0], 0)],
    [TopicRecord("t", IDS[1]), *(full_partition(IDS[1], number) for number in (1, 0, 2))],
    [ConfigRecord(2, "t", "b", "1")],
    [ConfigRecord(2, "t", "a", "")],
    [ConfigRecord(4, "", "z", "1")],
    [ProducerIdsRecord(1, 5, 3000)],
    [ClientQuotaRecord([EntityData("user", None)], "producer_byte_rate", 1.5)],
    [ClientQuotaRecord([EntityData("user", "a"), EntityData("client-id", None)], "rate", 2.0)],
    [ClientQuotaRecord([EntityData("user", "")], "producer_byte_rate", 2.0)],
    [AccessControlEntryRecord(IDS[1], 2, "t", 3, "User:u", "*", 3, 3)],
    [AccessControlEntryRecord(IDS[0], 2, "t", 3, "User:u", "*", 3, 3)],
    [UserScramCredentialRecord("u", 2, b"s", b"k", b"k", 4096)],
    [UserScramCredentialRecord("u", 1, b"s", b"k", b"k", 4096)],
    [DelegationTokenRecord("User:u", "User:v", ["User:w"], 1, 2, 3, "b")],
    [DelegationTokenRecord("User:u", "User:u", [], 1, 2, 3, "a")],
]


def image_of(groups: list[list[Message]]) -> MetadataImage:
    image = MetadataImage()
    for group in groups:
        for record in group:
            image.apply(record, image.next_offset)
    return image


def snapshot_of(image: MetadataImage) -> list[bytes]:
    return [bytes(encode_record(record)) for record in snapshot_records(image)]


def test_everything_comes_back() -> None:
    image = image_of(EVERYTHING)
    restored = read_snapshot(snapshot_records(image), 77)
    assert restored == image
    assert restored.last_offset == 77
    assert snapshot_of(restored) == snapshot_of(image)
    written: Any = [record.message for record in snapshot_records(image)]
    assert {type(message) for message in written} == {
        type(record) for group in EVERYTHING for record in group
    }
    (partition, *_) = [each for each in written if isinstance(each, PartitionRecord)]
    assert partition == full_partition(IDS[1], 0)
    (broker, *_) = [each for each in written if isinstance(each, RegisterBrokerRecord)]
    assert broker == full_broker(1)


@pytest.mark.parametrize("group", EVERYTHING, ids=lambda group: group[0].NAME)
def test_a_later_image_differs_by_what_its_records_changed(group: list[Message]) -> None:
    later = MetadataImage()
    changes = [change for at, record in enumerate(group) for change in later.apply(record, at)]
    image = MetadataImage()
    assert image != later
    assert sorted(image.become(later), key=repr) == sorted(changes, key=repr)
    assert image == later


def test_the_order_of_events_does_not_show() -> None:
    expected = snapshot_of(image_of(EVERYTHING))
    groups = list(EVERYTHING)
    for seed in range(20):
        random.Random(seed).shuffle(groups)
        assert snapshot_of(image_of(groups)) == expected


def test_what_is_gone_leaves_nothing() -> None:
    assert snapshot_of(MetadataImage()) == []


def test_the_controller_gives_its_own() -> None:
    cluster = Cluster().up(1)
    cluster.topic("t")
    records = list(cluster.controller.snapshot())
    assert read_snapshot(records, 0) == cluster.image
