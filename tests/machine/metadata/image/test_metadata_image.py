"""The metadata image: what records do to it, what it refuses, and what it tells of changes."""

from __future__ import annotations

from typing import Any

import pytest
from fencepost_broker.metadata.image.changes import (
    BrokerChanged,
    ConfigChanged,
    FeatureChanged,
    OtherChange,
    PartitionChanged,
    ProducerIdsChanged,
    TopicCreated,
    TopicDeleted,
)
from fencepost_broker.metadata.image.metadata_image import MetadataImage
from fencepost_broker.metadata.image.model import (
    UNASSIGNED_DIRECTORY,
    InconsistentMetadataError,
    Partition,
    ProducerIds,
)
from fencepost_broker.metadata.log.snapshot import snapshot_records
from fencepost_protocol.apis import Message
from fencepost_protocol.generated.abort_transaction_record import AbortTransactionRecord
from fencepost_protocol.generated.access_control_entry_record import AccessControlEntryRecord
from fencepost_protocol.generated.begin_transaction_record import BeginTransactionRecord
from fencepost_protocol.generated.broker_registration_change_record import (
    BrokerRegistrationChangeRecord,
)
from fencepost_protocol.generated.clear_elr_record import ClearElrRecord
from fencepost_protocol.generated.client_quota_record import ClientQuotaRecord, EntityData
from fencepost_protocol.generated.config_record import ConfigRecord
from fencepost_protocol.generated.end_transaction_record import EndTransactionRecord
from fencepost_protocol.generated.end_txn import EndTxnRequest
from fencepost_protocol.generated.feature_level_record import FeatureLevelRecord
from fencepost_protocol.generated.fence_broker_record import FenceBrokerRecord
from fencepost_protocol.generated.no_op_record import NoOpRecord
from fencepost_protocol.generated.partition_change_record import PartitionChangeRecord
from fencepost_protocol.generated.partition_record import PartitionRecord
from fencepost_protocol.generated.producer_ids_record import ProducerIdsRecord
from fencepost_protocol.generated.register_broker_record import RegisterBrokerRecord
from fencepost_protocol.generated.remove_access_control_entry_record import (
    RemoveAccessControlEntryRecord,
)
from fencepost_protocol.generated.remove_topic_record import RemoveTopicRecord
from fencepost_protocol.generated.remove_user_scram_credential_record import (
    RemoveUserScramCredentialRecord,
)
from fencepost_protocol.generated.topic_record import TopicRecord
from fencepost_protocol.generated.unfence_broker_record import UnfenceBrokerRecord
from fencepost_protocol.generated.unregister_broker_record import UnregisterBrokerRecord
from fencepost_protocol.generated.user_scram_credential_record import UserScramCredentialRecord

ID = b"topic-id-16bytes"
OTHER_ID = b"other-id-16bytes"
DIRECTORY = b"directory-a-16by"
OTHER_DIRECTORY = b"directory-b-16by"


def image_of(*records: Message) -> MetadataImage:
    image = MetadataImage()
    for record in records:
        image.apply(record, image.next_offset)
    return image


def apply(image: MetadataImage, record: Message) -> tuple[Any, ...]:
    return image.apply(record, image.next_offset)


def partition_record(number: int = 0, **fields: Any) -> PartitionRecord:
    values: dict[str, Any] = {
        "replicas": [1, 2, 3],
        "isr": [1, 2],
        "leader": 1,
        "leader_epoch": 0,
        "partition_epoch": 0,
        "directories": [DIRECTORY, OTHER_DIRECTORY, DIRECTORY],
    }
    return PartitionRecord(partition_id=number, topic_id=ID, **(values | fields))


def one_partition(image: MetadataImage) -> Partition:
    found = image.topics.partition("t", 0)
    assert found is not None
    return found


def with_topic(**fields: Any) -> MetadataImage:
    return image_of(TopicRecord("t", ID), partition_record(**fields))


class TestTopics:
    def test_found_by_name_and_by_id(self) -> None:
        image = with_topic()
        assert image.topics.by_name["t"] is image.topics.by_id[ID]
        assert image.topics.by_name["t"].partitions[0] is one_partition(image)
        assert image.topics.partition("t", 1) is None
        assert image.topics.partition("u", 0) is None
        assert list(image.topics.by_name["t"].partitions) == [0]

    def test_changes_of_a_creation_name_topic_and_partitions(self) -> None:
        image = MetadataImage()
        assert apply(image, TopicRecord("t", ID)) == (TopicCreated(ID, "t"),)
        changes = apply(image, partition_record())
        assert changes == (PartitionChanged(ID, "t", None, one_partition(image)),)

    def test_removal_takes_partitions_and_settings_along(self) -> None:
        image = with_topic()
        apply(image, ConfigRecord(2, "t", "retention.ms", "1"))
        apply(image, ConfigRecord(4, "t", "retention.ms", "1"))  # a broker's
        partition = one_partition(image)
        assert apply(image, RemoveTopicRecord(ID)) == (TopicDeleted(ID, "t", (partition,)),)
        assert not image.topics.by_name
        assert not image.topics.by_id
        assert list(image.configs.by_resource) == [(4, "t")]

    def test_a_name_is_free_again_after_removal(self) -> None:
        image = with_topic()
        apply(image, RemoveTopicRecord(ID))
        apply(image, TopicRecord("t", OTHER_ID))
        assert image.topics.by_name["t"].partitions == {}

    @pytest.mark.parametrize(
        "record",
        [
            TopicRecord("t", OTHER_ID),
            TopicRecord("u", ID),
            PartitionRecord(partition_id=0, topic_id=OTHER_ID),
            PartitionChangeRecord(partition_id=1, topic_id=ID),
            PartitionChangeRecord(partition_id=0, topic_id=OTHER_ID),
            PartitionChangeRecord(partition_id=0, topic_id=ID, directories=[DIRECTORY]),
            partition_record(1, directories=[DIRECTORY]),
            RemoveTopicRecord(OTHER_ID),
            ClearElrRecord("u"),
            EndTransactionRecord(),
            AbortTransactionRecord(),
            UnregisterBrokerRecord(9, 9),
            FenceBrokerRecord(9, 9),
            BrokerRegistrationChangeRecord(9, 9),
            ProducerIdsRecord(1, 1, 0),
            EndTxnRequest(),
        ],
        ids=lambda record: type(record).__name__,
    )
    def test_a_contradiction_is_refused_and_changes_nothing(self, record: Message) -> None:
        image = with_topic()
        before = list(snapshot_records(image))
        with pytest.raises(InconsistentMetadataError, match=f"{record.NAME} at offset 2: "):
            image.apply(record, 2)
        assert list(snapshot_records(image)) == before
        assert image.last_offset == 1

    def test_offsets_only_grow(self) -> None:
        image = with_topic()
        with pytest.raises(InconsistentMetadataError, match="at offset 1 comes after offset 1"):
            image.apply(NoOpRecord(), 1)
        image.apply(NoOpRecord(), 7)
        image.skip(9)
        assert image.last_offset == 9
        assert image.next_offset == 10


class TestCollisions:
    def test_a_dot_and_an_underscore_are_the_same(self) -> None:
        image = image_of(TopicRecord("a.b_c", ID))
        assert image.topics.colliding("a_b.c") == "a.b_c"
        assert image.topics.colliding("a-b_c") is None

    def test_names_without_either_collide_with_nothing(self) -> None:
        image = image_of(TopicRecord("ab", ID))
        assert image.topics.colliding("ab") is None

    def test_the_first_by_name_is_told_and_removal_forgets(self) -> None:
        image = image_of(TopicRecord("x_y", ID), TopicRecord("x.y", OTHER_ID))
        assert image.topics.colliding("x_y") == "x.y"
        apply(image, RemoveTopicRecord(OTHER_ID))
        assert image.topics.colliding("x.y") == "x_y"
        apply(image, RemoveTopicRecord(ID))
        assert image.topics.colliding("x.y") is None


class TestPartitionChanges:
    def test_what_is_not_given_stays(self) -> None:
        image = with_topic()
        before = one_partition(image)
        changes = apply(image, PartitionChangeRecord(0, ID))
        after = one_partition(image)
        assert after == before._replace(partition_epoch=1)
        assert changes == (PartitionChanged(ID, "t", before, after),)

    def test_a_leader_given_is_a_new_leadership_even_if_it_is_the_same(self) -> None:
        image = with_topic()
        apply(image, PartitionChangeRecord(0, ID, leader=1))
        assert one_partition(image).leader_epoch == 1
        apply(image, PartitionChangeRecord(0, ID, leader=-1))
        assert one_partition(image)[3:6] == (-1, 2, 2)

    def test_a_smaller_isr_leaves_the_leader_epoch(self) -> None:
        image = with_topic()
        apply(image, PartitionChangeRecord(0, ID, isr=[1]))
        after = one_partition(image)
        assert (after.isr, after.leader_epoch, after.partition_epoch) == ((1,), 0, 1)

    def test_directories_follow_their_replicas(self) -> None:
        image = with_topic()
        apply(image, PartitionChangeRecord(0, ID, replicas=[4, 2]))
        assert one_partition(image).directories == (UNASSIGNED_DIRECTORY, OTHER_DIRECTORY)
        apply(image, PartitionChangeRecord(0, ID, directories=[DIRECTORY, DIRECTORY]))
        assert one_partition(image).directories == (DIRECTORY, DIRECTORY)

    def test_a_reassignment_and_a_recovery_show(self) -> None:
        image = with_topic()
        change = PartitionChangeRecord(
            0, ID, removing_replicas=[1], adding_replicas=[4], leader_recovery_state=1
        )
        apply(image, change)
        after = one_partition(image)
        assert (after.removing_replicas, after.adding_replicas) == ((1,), (4,))
        assert after.leader_recovery_state == 1
        apply(image, PartitionChangeRecord(0, ID, removing_replicas=[], leader_recovery_state=0))
        after = one_partition(image)
        assert (after.removing_replicas, after.adding_replicas) == ((), (4,))
        assert after.leader_recovery_state == 0

    def test_version_0_has_no_directories(self) -> None:
        image = with_topic(directories=[])
        assert one_partition(image).directories == (UNASSIGNED_DIRECTORY,) * 3

    @pytest.mark.parametrize("name", ["t", ""])
    def test_eligible_leaders_are_cleared(self, name: str) -> None:
        image = with_topic(eligible_leader_replicas=[3], last_known_elr=[2])
        assert one_partition(image).eligible_leader_replicas == (3,)
        changes = apply(image, ClearElrRecord(name))
        assert len(changes) == 1
        assert one_partition(image).eligible_leader_replicas == ()
        assert one_partition(image).last_known_elr == ()
        assert one_partition(image).partition_epoch == 1, "its leader has to hear of it"
        assert apply(image, ClearElrRecord(name)) == ()

    def test_what_was_handed_out_stays_as_it_was(self) -> None:
        image = with_topic()
        held = one_partition(image)
        apply(image, PartitionChangeRecord(0, ID, isr=[1], leader=2))
        assert (held.isr, held.leader) == ((1, 2), 1)


class TestBrokers:
    def test_a_life(self) -> None:
        image = MetadataImage()
        (registered,) = apply(image, RegisterBrokerRecord(broker_id=1, broker_epoch=0))
        assert registered == BrokerChanged(1, None, image.cluster.brokers[1])
        assert image.cluster.brokers[1].fenced
        for record, fenced, is_active in (
            (BrokerRegistrationChangeRecord(1, 0, fenced=-1), False, True),
            (BrokerRegistrationChangeRecord(1, 0, in_controlled_shutdown=1), False, False),
            (BrokerRegistrationChangeRecord(1, 0, fenced=1), True, False),
            (UnfenceBrokerRecord(1, 0), False, False),
            (FenceBrokerRecord(1, 0), True, False),
        ):
            apply(image, record)
            broker = image.cluster.brokers[1]
            assert (broker.fenced, broker.is_active) == (fenced, is_active), record
        assert image.cluster.brokers[1].in_controlled_shutdown
        before = image.cluster.brokers[1]
        assert apply(image, UnregisterBrokerRecord(1, 0)) == (BrokerChanged(1, before, None),)
        assert not image.cluster.brokers

    def test_directories_change_and_are_kept_when_not_given(self) -> None:
        image = image_of(RegisterBrokerRecord(broker_id=1, broker_epoch=0, log_dirs=[DIRECTORY]))
        apply(image, BrokerRegistrationChangeRecord(1, 0, fenced=-1))
        assert image.cluster.brokers[1].log_dirs == (DIRECTORY,)
        assert image.cluster.brokers[1].cordoned_log_dirs is None
        change = BrokerRegistrationChangeRecord(
            1, 0, log_dirs=[OTHER_DIRECTORY], cordoned_log_dirs=[]
        )
        apply(image, change)
        assert image.cluster.brokers[1].log_dirs == (OTHER_DIRECTORY,)
        assert image.cluster.brokers[1].cordoned_log_dirs == ()

    def test_another_epoch_is_refused(self) -> None:
        image = image_of(RegisterBrokerRecord(broker_id=1, broker_epoch=0))
        with pytest.raises(InconsistentMetadataError, match="registered with epoch 0, not 5"):
            image.apply(UnfenceBrokerRecord(1, 5), 1)


class TestTheRest:
    def test_settings(self) -> None:
        image = MetadataImage()
        assert apply(image, ConfigRecord(2, "t", "a", "1")) == (ConfigChanged(2, "t", "a", "1"),)
        assert image.configs.of_topic("t") == {"a": "1"}
        assert image.configs.of(4, "") == {}
        assert apply(image, ConfigRecord(2, "t", "a", None)) == (ConfigChanged(2, "t", "a", None),)
        assert image.configs.by_resource == {}
        apply(image, ConfigRecord(2, "t", "a", None))  # twice does no harm
        with pytest.raises(TypeError):
            image.configs.of(2, "none")["a"] = "1"  # type: ignore[index]

    def test_a_feature_at_level_0_is_absent(self) -> None:
        image = MetadataImage()
        assert apply(image, FeatureLevelRecord("f", 2)) == (FeatureChanged("f", 2),)
        assert image.features.levels == {"f": 2}
        apply(image, FeatureLevelRecord("f", 0))
        assert image.features.levels == {}

    def test_producer_ids_only_grow(self) -> None:
        image = MetadataImage()
        changes = apply(image, ProducerIdsRecord(1, 4, 1000))
        assert changes == (ProducerIdsChanged(1, 4, 1000),)
        assert image.producer_ids.latest == ProducerIds(1, 4, 1000)
        with pytest.raises(InconsistentMetadataError, match="1000 is not above 1000"):
            image.apply(ProducerIdsRecord(2, 4, 1000), 1)

    def test_what_is_kept_for_later(self) -> None:
        quota = ClientQuotaRecord([EntityData("user", None)], "producer_byte_rate", 1.0)
        scram = UserScramCredentialRecord("u", 1, b"s", b"k", b"k", 4096)
        acl = AccessControlEntryRecord(ID, 2, "t", 3, "User:u", "*", 3, 3)
        image = image_of(quota, scram, acl)
        assert list(image.client_quotas.records.values()) == [quota]
        assert list(image.scram.credentials.values()) == [scram]
        assert list(image.acls.by_id.values()) == [acl]
        by_a_snapshot = MetadataImage().become(image_of(quota, scram))
        assert set(by_a_snapshot) == {
            OtherChange.CLIENT_QUOTAS,
            OtherChange.SCRAM,
        }
        gone = ClientQuotaRecord([EntityData("user", None)], "producer_byte_rate", 0.0, remove=True)
        assert apply(image, gone) == (OtherChange.CLIENT_QUOTAS,)
        assert apply(image, RemoveUserScramCredentialRecord("u", 1)) == (OtherChange.SCRAM,)
        assert apply(image, RemoveAccessControlEntryRecord(ID)) == (OtherChange.ACLS,)
        assert image == MetadataImage()

    def test_equality_is_of_state_not_of_offset(self) -> None:
        assert image_of(TopicRecord("t", ID)) == image_of(NoOpRecord(), TopicRecord("t", ID))
        assert image_of(TopicRecord("t", ID)) != MetadataImage()


class TestTransactions:
    """KIP-868: nothing shows before the end."""

    def test_records_count_at_the_end(self) -> None:
        image = image_of(BeginTransactionRecord("x"))
        assert apply(image, TopicRecord("t", ID)) == ()
        assert apply(image, FeatureLevelRecord("f", 1)) == ()
        assert (image.in_transaction, len(image.topics.by_name)) == (True, 0)
        changes = apply(image, EndTransactionRecord())
        assert changes == (TopicCreated(ID, "t"), FeatureChanged("f", 1))
        assert (image.in_transaction, len(image.topics.by_name)) == (False, 1)
        assert image.last_offset == 3

    def test_or_never(self) -> None:
        image = image_of(BeginTransactionRecord(), TopicRecord("t", ID), AbortTransactionRecord())
        assert image == MetadataImage()
        assert not image.in_transaction

    def test_one_at_a_time(self) -> None:
        image = image_of(BeginTransactionRecord())
        with pytest.raises(InconsistentMetadataError, match="before it has no end"):
            image.apply(BeginTransactionRecord(), 1)

    def test_no_snapshot_within(self) -> None:
        image = image_of(BeginTransactionRecord())
        with pytest.raises(ValueError, match="within a transaction"):
            list(snapshot_records(image))
