"""A broker's copy of the cluster's metadata: fetched from the controller, appended, carried out.

The same records go through the same ``MetadataImage.apply`` as in the controller's own process, and
what they change is carried out in the same way. If the controller no longer has the next records,
it names a snapshot, which replaces all that is here. The differences are carried out as if the
records had come one by one.

One decision may be about thousands of partitions, and a broker that applied it at once would send
no heartbeat meanwhile. So it is applied in steps, between which the caller may let others go on.
Image and partitions stay in step, and no part of a topic can be seen: its logs, which take time to
make, are made before the image has the topic.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated import fetch as fetches
from fencepost_protocol.generated import fetch_snapshot as snapshots
from fencepost_protocol.generated.clear_elr_record import ClearElrRecord
from fencepost_protocol.generated.config_record import ConfigRecord
from fencepost_protocol.generated.partition_record import PartitionRecord
from fencepost_protocol.generated.topic_record import TopicRecord
from fencepost_protocol.primitives import parse_uuid

from fencepost_broker.metadata.decision import MetadataRecord
from fencepost_broker.metadata.image.changes import Change
from fencepost_broker.metadata.image.metadata_image import MetadataImage
from fencepost_broker.metadata.image.model import ResourceType
from fencepost_broker.metadata.log.metadata_log import (
    LEADER_EPOCH,
    METADATA_TOPIC,
    METADATA_TOPIC_ID,
    MetadataLog,
)
from fencepost_broker.metadata.log.snapshot import read_snapshot
from fencepost_broker.metadata.log.snapshot_files import Snapshot
from fencepost_broker.metadata.publishing import MetadataPublisher
from fencepost_broker.storage.log import StorageError
from fencepost_broker.storage.log.identity import Identity

WAIT_MS: Final = 500
"""How long the controller keeps a fetch if there are no records for it."""
_BYTES_MAX: Final = 8 << 20
_PIECE_BYTES: Final = 4 << 20
_OF_A_TOPIC: Final = (PartitionRecord, ConfigRecord, ClearElrRecord)
"""Records that follow the record of their topic, and are applied in the same step."""
_Records = Sequence[tuple[MetadataRecord | None, int]]


class FollowError(Exception):
    """The controller's log cannot be followed: the text says why."""


class UnfinishedError(Exception):
    """Records were appended here, and could not be applied; only a restart would apply them."""


class MetadataFollower:
    """Decides what to ask the controller for next, and applies its answers."""

    def __init__(
        self,
        identity: Identity,
        image: MetadataImage,
        log: MetadataLog,
        now_ms: Callable[[], int],
        publisher: MetadataPublisher,
        prepare: Callable[[str, bytes, int], None],
    ) -> None:
        """``prepare`` makes the log of a partition, given its topic, topic id and number.

        It is called before the publisher learns of the partition.
        """
        self._identity = identity
        self._image = image
        self._log = log
        self._now_ms = now_ms
        self._publisher = publisher
        self._prepare_log = prepare
        self._directory_id = parse_uuid(identity.directory_id)
        self._snapshot: Snapshot | None = None
        """The snapshot that is being read."""
        self._data = bytearray()

    def request(self) -> fetches.FetchRequest | snapshots.FetchSnapshotRequest:
        """Return the next request."""
        return self._fetch() if self._snapshot is None else self._fetch_piece(self._snapshot)

    def _fetch(self) -> fetches.FetchRequest:
        log = self._log.log
        wanted = fetches.FetchPartition(
            0,
            LEADER_EPOCH,
            log.log_end_offset,
            log.latest_epoch,
            log.log_start_offset,
            _BYTES_MAX,
            self._directory_id,
        )
        return fetches.FetchRequest(
            self._identity.cluster_id,
            replica_state=fetches.ReplicaState(self._identity.node_id),
            max_wait_ms=WAIT_MS,
            max_bytes=_BYTES_MAX,
            topics=[fetches.FetchTopic(METADATA_TOPIC, METADATA_TOPIC_ID, [wanted])],
        )

    def _fetch_piece(self, snapshot: Snapshot) -> snapshots.FetchSnapshotRequest:
        wanted = snapshots.FetchSnapshotRequestPartitionSnapshot(
            0,
            LEADER_EPOCH,
            snapshots.FetchSnapshotRequestSnapshotId(snapshot.end_offset, snapshot.epoch),
            len(self._data),
            self._directory_id,
        )
        topic = snapshots.FetchSnapshotRequestTopicSnapshot(METADATA_TOPIC, [wanted])
        identity = self._identity
        return snapshots.FetchSnapshotRequest(
            identity.cluster_id, identity.node_id, _PIECE_BYTES, [topic]
        )

    def answered(
        self, response: fetches.FetchResponse | snapshots.FetchSnapshotResponse
    ) -> Iterator[None]:
        """Apply a response, step by step; raises ``FollowError`` if that cannot be done.

        Ask nothing else before the last step, and nothing at all after an ``UnfinishedError``: the
        next fetch would ask for later records, and only a restart reads the log again.
        """
        end_offset = self._log.end_offset
        try:
            if isinstance(response, fetches.FetchResponse):
                yield from self._fetched(response)
            else:
                self._piece_read(response)
        except Exception as error:
            if self._log.end_offset == end_offset:
                raise
            raise UnfinishedError(f"{type(error).__name__}: {error}") from error

    def has_all(self, response: fetches.FetchResponse | snapshots.FetchSnapshotResponse) -> bool:
        """Whether nothing was left to read when the controller sent this response."""
        if self._snapshot is not None or not isinstance(response, fetches.FetchResponse):
            return False
        return response.responses[0].partitions[0].high_watermark <= self._log.end_offset

    # -- the log --------------------------------------------------------------------------------

    def _fetched(self, response: fetches.FetchResponse) -> Iterator[None]:
        _check(response.error_code)
        told = response.responses[0].partitions[0]
        _check(told.error_code)
        now_ms = self._now_ms()
        if told.snapshot_id is not None and told.snapshot_id.end_offset >= 0:
            self._snapshot = Snapshot(told.snapshot_id.end_offset, told.snapshot_id.epoch, "")
            self._data.clear()
            return
        diverging = told.diverging_epoch
        if diverging is not None and diverging.end_offset >= 0:
            raise FollowError(
                f"the controller's log ends at offset {diverging.end_offset}, this broker has read "
                f"up to {self._log.end_offset}: the controller has lost what it had decided"
            )
        if told.records:
            yield from self._take_in(self._log.append_fetched(memoryview(told.records), now_ms))

    def _take_in(self, records: _Records) -> Iterator[None]:
        yield from self._prepare(records)
        changed: list[Change] = []
        for record, offset in records:
            if record is None:
                self._image.skip(offset)
                continue
            if not isinstance(record.message, _OF_A_TOPIC):
                yield
            changes = self._image.apply(record.message, offset)
            self._publisher.on_changes(changes)
            changed += changes
        self._publisher.on_decision(tuple(changed), None)

    def _prepare(self, records: _Records) -> Iterator[None]:
        """Make the logs of new partitions.

        Topics with settings of their own are left out: their logs are made once the image has the
        settings.
        """
        messages = [record.message for record, _ in records if record is not None]
        configured = {
            each.resource_name
            for each in messages
            if isinstance(each, ConfigRecord) and each.resource_type == ResourceType.TOPIC
        }
        known = self._image.topics.by_id
        named = {each.topic_id: each.name for each in messages if isinstance(each, TopicRecord)}
        for each in messages:
            if not isinstance(each, PartitionRecord):
                continue
            if self._identity.node_id not in each.replicas:
                continue
            topic = known.get(each.topic_id)
            name = named.get(each.topic_id) if topic is None else topic.name
            if name is not None and name not in configured:
                self._prepare_log(name, each.topic_id, each.partition_id)
                yield

    # -- a snapshot -----------------------------------------------------------------------------

    def _piece_read(self, response: snapshots.FetchSnapshotResponse) -> None:
        _check(response.error_code)
        told = response.topics[0].partitions[0]
        if told.error_code == ErrorCode.SNAPSHOT_NOT_FOUND:
            self._snapshot = None  # a later one has taken its place: the next fetch names it
            return
        _check(told.error_code)
        self._data += told.unaligned_records or b""
        if len(self._data) < told.size or self._snapshot is None:
            return
        taken, self._snapshot = self._snapshot, None
        try:
            records = self._log.adopt_snapshot(taken, bytes(self._data), self._now_ms())
        except StorageError as error:
            raise FollowError(str(error)) from error
        finally:
            self._data.clear()
        changes = self._image.become(read_snapshot(records, taken.end_offset - 1))
        for change in changes:
            self._publisher.on_changes((change,))
        self._publisher.on_decision(changes, None)


def _check(code: int) -> None:
    if code:
        raise FollowError(f"the controller refuses to tell its metadata: {ErrorCode(code).name}")
