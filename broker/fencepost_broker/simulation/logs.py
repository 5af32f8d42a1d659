"""What is in the logs of a simulated cluster, read without a client."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Final

from fencepost_protocol.generated.offset_commit import OffsetCommitKey, OffsetCommitValue
from fencepost_protocol.records.batch import BatchHeader
from fencepost_protocol.records.control import ControlType, read_control_records
from fencepost_protocol.records.reader import Record, iter_records

from fencepost_broker.coordinator.records import RecordFamily, UnknownRecordTypeError, decode_record
from fencepost_broker.simulation.cluster import SimulatedCluster
from fencepost_broker.simulation.invariants import batches
from fencepost_broker.storage.log import PartitionLog, replay_batches

_READ_BYTES: Final = 1 << 20


def committed_records(log: PartitionLog) -> list[Record]:
    """Return the records below the high watermark that are committed.

    Markers decide it, not the index of aborted transactions that the broker answers with.
    """
    found: list[Record] = []
    pending: dict[int, list[Record]] = defaultdict(list)

    def take(header: BatchHeader, batch: memoryview) -> None:
        if header.next_offset > log.high_watermark:
            return
        if header.is_control:
            for control in read_control_records(batch):
                ended = pending.pop(header.producer_id, [])
                if control.type is ControlType.COMMIT:
                    found.extend(ended)
        else:
            into = pending[header.producer_id] if header.is_transactional else found
            into.extend(iter_records(batch))

    for _ in replay_batches(log, log.log_start_offset, _READ_BYTES, take):
        pass
    return sorted(found, key=lambda each: each.offset)


def differing_replicas(cluster: SimulatedCluster) -> Iterator[str]:
    """Name each replica that has other batches than its leader, after the last write."""
    for topic in cluster.topic_names:
        for leader in cluster.leaders(topic):
            for broker_id, server in cluster.servers.items():
                replica = server.table.find(topic, leader.number)
                if replica is None:
                    continue
                logs = leader.log, replica.log
                start = max(each.log_start_offset for each in logs)
                found = [[each for each in batches(log) if each[0] >= start] for log in logs]
                if found[0] != found[1] or logs[0].high_watermark != logs[1].high_watermark:
                    yield f"{topic}-{leader.number} of broker {broker_id}"


def committed_offsets(cluster: SimulatedCluster) -> dict[tuple[str, str, int], int]:
    """Return the offset that each group has committed, by group, topic and partition."""
    offsets: dict[tuple[str, str, int], int] = {}
    for partition in cluster.leaders(RecordFamily.GROUPS.value):
        for record in committed_records(partition.log):
            try:
                decoded = decode_record(RecordFamily.GROUPS, record.key, record.value)
            except UnknownRecordTypeError:
                continue
            key, value = decoded.key, decoded.value
            if isinstance(key, OffsetCommitKey):
                of = (key.group, key.topic, key.partition)
                if isinstance(value, OffsetCommitValue):
                    offsets[of] = value.offset
                else:
                    offsets.pop(of, None)
    return offsets
