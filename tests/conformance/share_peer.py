"""A running broker that is asked about share groups: Apache Kafka's, or ours."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fencepost_broker.coordinator.records import LogRecord, RecordFamily, decode_record
from fencepost_protocol.generated import delete_share_group_state as deleting
from fencepost_protocol.generated import initialize_share_group_state as initializing
from fencepost_protocol.generated import read_share_group_state as reading
from fencepost_protocol.generated import read_share_group_state_summary as summing
from fencepost_protocol.generated import write_share_group_state as writing
from fencepost_protocol.generated.find_coordinator import FindCoordinatorRequest
from fencepost_protocol.generated.share_group_heartbeat import ShareGroupHeartbeatRequest
from fencepost_protocol.generated.share_group_state_partition_metadata import (
    ShareGroupStatePartitionMetadataKey,
)
from fencepost_protocol.primitives import uuid_text
from fencepost_protocol.records.batch import split_batches
from fencepost_protocol.records.reader import iter_records

from tests.conformance.groups_peer import KafkaSide
from tests.support.waiting import polled

SHARE_KEY = 2
ASSIGNMENTS = {"assigned_partitions", "topic_partitions"}


class ShareSide(KafkaSide):
    """What a ``KafkaSide`` can, and the share coordinator's requests for one partition each."""

    def wait_for_state(self, group_id: str) -> None:
        """Until the share coordinator of the group's first partition has been loaded."""
        key = f"{group_id}:{uuid_text(self.topic_ids['t'])}:0"
        find = FindCoordinatorRequest(key_type=SHARE_KEY, coordinator_keys=[key])
        polled(
            lambda: (
                not self.ask(find, 6).coordinators[0].error_code
                and not self.summary(group_id).error_code
            ),
            f"{key} has no coordinator",
        )

    def plain(self, value: Any) -> Any:
        """As in a ``Side``, but of an assignment only how many partitions it has."""
        found = super().plain(value)
        if isinstance(found, dict):
            for name in ASSIGNMENTS & found.keys():
                found[name] = sum(each["partitions"] or 0 for each in found[name])
        return found

    def wait_for_shares(self, group_id: str) -> None:
        """Until no share partition of the group is about to be initialized or deleted."""

        def is_settled() -> bool:
            values = [
                each.value
                for each in self.records(group_id)
                if isinstance(each.key, ShareGroupStatePartitionMetadataKey)
            ]
            last: Any = values[-1] if values else None
            return last is None or not (last.initializing_topics or last.deleting_topics)

        polled(is_settled, f"share partitions of {group_id} are not settled")

    def beat(
        self,
        group: str,
        member: str,
        epoch: int,
        topics: list[str] | None = None,
        rack: str | None = None,
    ) -> Any:
        answer = self.ask(ShareGroupHeartbeatRequest(group, member, epoch, rack, topics))
        self.wait_for_shares(group)
        return answer

    def initialize(self, group: str, epoch: int, start: int = -1, number: int = 0) -> Any:
        row = initializing.PartitionData(number, epoch, start)
        topics = [initializing.InitializeStateData(self.topic_ids["t"], [row])]
        return self._row(initializing.InitializeShareGroupStateRequest(group, topics))

    def read(self, group: str, leader_epoch: int, number: int = 0) -> Any:
        row = reading.PartitionData(number, leader_epoch)
        topics = [reading.ReadStateData(self.topic_ids["t"], [row])]
        return self._row(reading.ReadShareGroupStateRequest(group, topics))

    def write(
        self,
        group: str,
        epochs: tuple[int, int],
        start: int,
        *batches: tuple[int, int, int, int],
        complete: int = -1,
        number: int = 0,
    ) -> Any:
        rows = [writing.StateBatch(*each) for each in batches]
        row = writing.PartitionData(number, *epochs, start, complete, rows)
        topics = [writing.WriteStateData(self.topic_ids["t"], [row])]
        return self._row(writing.WriteShareGroupStateRequest(group, topics))

    def delete(self, group: str, number: int = 0) -> Any:
        topics = [deleting.DeleteStateData(self.topic_ids["t"], [deleting.PartitionData(number)])]
        return self._row(deleting.DeleteShareGroupStateRequest(group, topics))

    def summary(self, group: str, number: int = 0) -> Any:
        row = summing.PartitionData(number, -1)
        topics = [summing.ReadStateSummaryData(self.topic_ids["t"], [row])]
        return self._row(summing.ReadShareGroupStateSummaryRequest(group, topics))

    def _row(self, message: Any) -> Any:
        (topic,) = self.ask(message).results
        (row,) = topic.partitions
        return row

    def state_records(self, group_id: str) -> list[Any]:
        """What ``__share_group_state`` has of a group, partition by partition."""
        found = [
            (each.key.NAME, each.value_version, self.plain(each.key), self.plain(each.value))
            for each in share_log(self.kafka.data_dir)
            if each.key.group_id == group_id  # type: ignore[attr-defined]
        ]
        return sorted(found, key=lambda each: (each[2]["topic_id"], each[2]["partition"]))


def share_log(data_dir: Path) -> Iterator[LogRecord]:
    """The records in segments of ``__share_group_state``."""
    for path in sorted(data_dir.glob("__share_group_state-*/*.log")):
        for _, batch in split_batches(memoryview(path.read_bytes()), tolerate_partial=True):
            for record in iter_records(batch):
                yield decode_record(RecordFamily.SHARES, record.key, record.value)
