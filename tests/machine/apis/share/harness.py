"""A broker without a socket whose share coordinator is the test."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from fencepost_broker.apis.request import NO_FRAME, Request
from fencepost_broker.apis.share.sessions import ShareSessions
from fencepost_broker.apis.share.share_acknowledge import share_acknowledge
from fencepost_broker.apis.share.share_fetch import share_fetch
from fencepost_broker.metadata.image.changes import PartitionChanged
from fencepost_broker.observability.metrics import Metrics
from fencepost_broker.ports import RemoteClient
from fencepost_broker.replication.share.group_settings import ShareGroupSettings
from fencepost_broker.replication.share.share_partition import ShareLimits, StateWrite
from fencepost_broker.replication.share.share_partitions import (
    ReadState,
    SharePartitionKey,
    SharePartitions,
    Then,
)
from fencepost_broker.storage.log import Origin
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated import share_acknowledge as a
from fencepost_protocol.generated import share_fetch as f
from fencepost_protocol.records.control import build_end_txn_marker
from fencepost_protocol.records.writer import build_batch

from tests.machine.server.harness import Clock, create, started
from tests.support.broker import memory_disk

MEMBER = "member-1"
OTHER = "member-2"


class Coordinator:
    """The share coordinator: keeps states, and answers at once unless it is held."""

    def __init__(self) -> None:
        self.states: dict[SharePartitionKey, ReadState] = {}
        self.error = ErrorCode.NONE
        self.is_held = False
        self.held: list[Callable[[], None]] = []
        self.writes: list[StateWrite] = []

    def read(
        self, key: SharePartitionKey, _epoch: int, then: Callable[[ReadState | ErrorCode], None]
    ) -> None:
        self._answer(lambda: then(self.error or self.states.get(key, ReadState(1, -1, []))))

    def write(
        self, key: SharePartitionKey, state_epoch: int, _epoch: int, write: StateWrite, then: Then
    ) -> None:
        def carry_out() -> None:
            if not self.error:
                self.writes.append(write)
                self.states[key] = ReadState(state_epoch, write.start_offset, write.batches)
            then(self.error)

        self._answer(carry_out)

    def _answer(self, call: Callable[[], None]) -> None:
        if self.is_held:
            self.held.append(call)
        else:
            call()

    def let_go(self) -> None:
        self.is_held = False
        held, self.held = self.held, []
        for call in held:
            call()


class Peer:
    """A connection, and the answers that it was released."""

    listener, client_host, user = "PLAINTEXT", "/127.0.0.1", "ANONYMOUS"
    client_software_name = client_software_version = ""
    may_park = True

    def __init__(self) -> None:
        self.metrics = Metrics()
        self.client = RemoteClient()
        self.answers: list[Any] = []
        self.lost: Callable[[], None] = lambda: None

    def release(self, request: Request, answer: Any) -> None:
        del request
        self.answers.append(answer)

    def refuse_parked(self, request: Request, error: Exception) -> None:
        raise error

    def on_loss(self, call: Callable[[], None]) -> None:
        self.lost = call

    def drop(self, reason: str) -> None:
        raise AssertionError(reason)


@dataclass
class Member:
    """A member of a share group."""

    broker: Broker
    member_id: str = MEMBER
    group_id: str = "g"
    peer: Peer = field(default_factory=Peer)
    epoch: int = 0

    def fetch(self, *acks: tuple[int, int, list[int]], partitions: int = 1, **more: Any) -> Any:
        """Send a ShareFetch; the answer, or ``None`` if it has to wait."""
        epoch = more.pop("epoch", self.epoch)
        batches = [f.AcknowledgementBatch(*each) for each in acks]
        wanted = [f.FetchPartition(n, batches if n == 0 else []) for n in range(partitions)]
        options = {"max_records": 500, "batch_size": 500, "max_bytes": 1 << 20, **more}
        message = f.ShareFetchRequest(
            self.group_id,
            self.member_id,
            epoch,
            topics=[f.FetchTopic(self.broker.topic_id, wanted)],
            **options,
        )
        answer = share_fetch(self.broker.context, self._request(78), message)
        self.epoch = epoch + 1
        return answer

    def acknowledge(self, *acks: tuple[int, int, list[int]], **more: Any) -> Any:
        """Send a ShareAcknowledge."""
        epoch = more.pop("epoch", self.epoch)
        batches = [a.AcknowledgementBatch(*each) for each in acks]
        topics = [a.AcknowledgeTopic(self.broker.topic_id, [a.AcknowledgePartition(0, batches)])]
        renews = more.pop("is_renew_ack", False)
        message = a.ShareAcknowledgeRequest(self.group_id, self.member_id, epoch, renews, topics)
        answer = share_acknowledge(self.broker.context, self._request(79), message)
        self.epoch = epoch + 1
        return answer

    def _request(self, api_key: int) -> Request:
        return Request(self.peer, api_key, 2, 1, None, NO_FRAME, 0)

    def told(self) -> Any:
        """The answer that was released last."""
        self.broker.node.ready.drain()
        return self.peer.answers.pop()

    def is_waiting(self) -> bool:
        """Whether no answer has come yet."""
        self.broker.node.ready.drain()
        return not self.peer.answers


class Broker:
    """The broker, one topic, and the share coordinator."""

    def __init__(
        self, reset: str = "earliest", *, committed: bool = False, partitions: int = 1
    ) -> None:
        self.clock = Clock()
        self.node = started(
            memory_disk(), clock=self.clock, transaction_partition_verification_enable="false"
        )
        create(self.node, "t", partitions)
        self.topic_id = self.node.table.by_name["t"].topic_id
        self.coordinator = Coordinator()
        self.settings = ShareGroupSettings(ShareLimits(), reset, committed)
        self.shares = SharePartitions(
            lambda: self.coordinator, lambda _: self.settings, self.clock.now_ms
        )
        self.node.publishers.add(self.shares)
        sessions = ShareSessions(self.shares.release, self.shares.group_is_gone)
        self.context = replace(self.node.context, shares=self.shares, share_sessions=sessions)

    def append(self, count: int, number: int = 0, **options: Any) -> None:
        """Append a batch of records."""
        records = build_batch(None, [b"value"] * count, self.clock.now, **options)
        self._append(number, records)

    def end_transaction(self, producer_id: int, *, commit: bool) -> None:
        """Append a marker."""
        marker = build_end_txn_marker(
            committed=commit,
            producer_id=producer_id,
            producer_epoch=0,
            coordinator_epoch=0,
            timestamp_ms=self.clock.now,
        )
        self._append(0, marker, Origin.COORDINATOR)

    def _append(self, number: int, records: bytearray, origin: Origin = Origin.CLIENT) -> None:
        partition = self.node.table.by_name["t"].partitions[number]
        now_ms = self.clock.now
        result = partition.log.append_as_leader(memoryview(records), 0, now_ms, origin)
        assert not result.error, result
        partition.appended(self.clock.now)

    def wait(self, ms: int) -> None:
        """Let time pass."""
        self.clock.now += ms
        self.shares.expire(self.clock.now)
        self.node.ready.drain()

    def move_leader(self) -> None:
        """Let another broker lead the partition."""
        topic = self.node.image.topics.by_name["t"]
        before = topic.partitions[0]
        self.node.table.by_name["t"].partitions[0].follow()
        after = before._replace(leader=9, leader_epoch=before.leader_epoch + 1)
        self.shares.on_changes((PartitionChanged(topic.topic_id, "t", before, after),))

    def time_is_over(self) -> None:
        """Let the timer that was asked for last run out."""
        self.clock.asked.pop()[1]()


def given(response: Any) -> list[tuple[int, int, int, int]]:
    """Partition, offsets and delivery count of the acquired records of a response."""
    return [
        (data.partition_index, each.first_offset, each.last_offset, each.delivery_count)
        for topic in response.responses
        for data in topic.partitions
        for each in data.acquired_records
    ]


def errors(response: Any) -> list[tuple[ErrorCode, ErrorCode]]:
    """The errors of the partitions in a ShareFetch response: of the fetch, of acknowledging."""
    return [
        (ErrorCode(data.error_code), ErrorCode(data.acknowledge_error_code))
        for topic in response.responses
        for data in topic.partitions
    ]


def codes(response: Any) -> list[ErrorCode]:
    """The errors of the partitions in a ShareAcknowledge response."""
    return [ErrorCode(d.error_code) for topic in response.responses for d in topic.partitions]
