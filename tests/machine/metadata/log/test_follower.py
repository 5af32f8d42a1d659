"""A broker's copy of the metadata, while a decision is taken in step by step."""

from __future__ import annotations

from typing import Any, cast

import pytest
from fencepost_broker.config import Settings
from fencepost_broker.controller.channel.remote import RemoteController, Wire
from fencepost_broker.metadata.decision import MetadataRecord
from fencepost_broker.metadata.image.metadata_image import MetadataImage
from fencepost_broker.metadata.image.model import ResourceType
from fencepost_broker.metadata.log.follower import FollowError, MetadataFollower, UnfinishedError
from fencepost_broker.metadata.log.metadata_log import (
    LEADER_EPOCH,
    METADATA_TOPIC,
    METADATA_TOPIC_ID,
    MetadataLog,
    metadata_config,
)
from fencepost_broker.metadata.log.records import encode_record
from fencepost_broker.metadata.publishing import MetadataPublisher
from fencepost_broker.storage.disk.memory import MemoryDisk
from fencepost_broker.storage.log import LogConfig, StorageError
from fencepost_broker.storage.log.identity import Identity
from fencepost_broker.storage.log.manager import LogManager
from fencepost_protocol.generated import fetch
from fencepost_protocol.generated.clear_elr_record import ClearElrRecord
from fencepost_protocol.generated.config_record import ConfigRecord
from fencepost_protocol.generated.partition_record import PartitionRecord
from fencepost_protocol.generated.topic_record import TopicRecord
from fencepost_protocol.records.writer import build_batch

NOW_MS = 1_700_000_000_000
TOPICS = 20
SETTINGS = Settings().with_overrides({"metadata.log.max.record.bytes.between.snapshots": 1})
IDENTITY = Identity(1, "AAAAAAAAAAAAAAAAAAAAAA", "AAAAAAAAAAAAAAAAAAAAAQ")


class Broker:
    """What a broker has of the cluster's metadata, and nothing else of it."""

    def __init__(self, disk: MemoryDisk) -> None:
        self.image = MetadataImage()
        self.manager = LogManager.open(disk, IDENTITY, lambda _: LogConfig(), NOW_MS)
        config = metadata_config(SETTINGS)
        log = self.manager.create(METADATA_TOPIC, 0, METADATA_TOPIC_ID, config, NOW_MS)
        self.metadata = MetadataLog(log)
        told = self.publisher = MetadataPublisher()
        wire = cast("Wire", None)
        self.controller = RemoteController(self.image, self.metadata, self.now_ms, told, wire)
        self.follower = MetadataFollower(
            IDENTITY, self.image, self.metadata, self.now_ms, told, self.prepare
        )
        self.controller.replay()

    def now_ms(self) -> int:
        return NOW_MS

    def prepare(self, *_: Any) -> None:
        """No logs are made."""

    def close(self) -> None:
        self.manager.close(NOW_MS, 1)


def decision() -> fetch.FetchResponse:
    """One, about many topics."""
    records = []
    for number in range(1, TOPICS + 1):
        topic_id = bytes(15) + bytes([number])
        records.append(MetadataRecord(TopicRecord(f"t{number}", topic_id), 0))
        records.append(MetadataRecord(ConfigRecord(ResourceType.TOPIC, f"t{number}", "a", "b"), 0))
        records.append(MetadataRecord(ClearElrRecord(f"t{number}"), 0))
        partition = PartitionRecord(0, topic_id, [1], [1], [], [], 1, 0, 0, 0, [bytes(16)])
        records.append(MetadataRecord(partition, 1))
    values = [bytes(encode_record(record)) for record in records]
    batch = build_batch(None, values, NOW_MS, base_offset=0, partition_leader_epoch=LEADER_EPOCH)
    told = fetch.PartitionData(0, 0, len(records), records=bytes(batch))
    topic = fetch.FetchableTopicResponse(METADATA_TOPIC, METADATA_TOPIC_ID, [told])
    return fetch.FetchResponse(responses=[topic])


def test_between_two_steps_every_topic_has_its_partitions() -> None:
    """Clients are answered there, and FindCoordinator counts partitions."""
    broker = Broker(MemoryDisk())
    seen = 0
    for _ in broker.follower.answered(decision()):
        seen += 1
        assert all(each.partitions for each in broker.image.topics.by_name.values())
    assert seen == TOPICS, "a step before each topic"


def test_no_snapshot_is_written_of_a_part_of_a_decision() -> None:
    """It would be named by the log's end, and a start would never read the rest."""
    disk = MemoryDisk()
    broker = Broker(disk)
    seen = set()
    for _ in broker.follower.answered(decision()):
        seen.add(len(broker.image.topics.by_name))
        broker.controller.maintain(NOW_MS, SETTINGS)
        assert broker.metadata.latest_snapshot is None
    assert seen == set(range(TOPICS)), "there were steps in between"
    broker.controller.maintain(NOW_MS, SETTINGS)
    written = broker.metadata.latest_snapshot
    assert written is not None, "it was only put off"
    assert written.end_offset == 4 * TOPICS
    broker.close()
    again = Broker(disk)
    assert len(again.image.topics.by_name) == TOPICS
    again.close()


@pytest.mark.parametrize("at", [1, TOPICS, 2 * TOPICS])
@pytest.mark.parametrize(
    "error", [FollowError("no"), StorageError("make", "t1-0", "no"), OSError("no"), KeyError("no")]
)
def test_who_stops_in_a_decision_is_told_that_it_is_not_finished(error: Exception, at: int) -> None:
    """Whatever it was: the log ends behind the decision, and the next fetch would leave it out."""
    broker = Broker(MemoryDisk())
    done = []

    def carry_out(changes: Any) -> None:
        done.append(changes)
        if len(done) == at:
            raise error

    broker.publisher.on_changes = carry_out  # type: ignore[method-assign]
    with pytest.raises(UnfinishedError, match=type(error).__name__) as caught:
        list(broker.follower.answered(decision()))
    assert caught.value.__cause__ is error
    broker.close()


def test_what_could_not_be_written_is_fetched_again() -> None:
    broker = Broker(MemoryDisk())
    real = broker.metadata.append_fetched

    def append(*_: Any) -> Any:
        broker.metadata.append_fetched = real  # type: ignore[method-assign]
        raise StorageError("append to", METADATA_TOPIC, "no space left")

    broker.metadata.append_fetched = append  # type: ignore[method-assign, assignment]
    with pytest.raises(StorageError):
        list(broker.follower.answered(decision()))
    list(broker.follower.answered(decision()))
    assert len(broker.image.topics.by_name) == TOPICS
    broker.close()
