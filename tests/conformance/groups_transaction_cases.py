"""Scripts about offsets in transactions: who may commit, what is pending, what a marker leaves."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from fencepost_protocol.generated.add_offsets_to_txn import AddOffsetsToTxnRequest
from fencepost_protocol.generated.delete_groups import DeleteGroupsRequest
from fencepost_protocol.generated.end_txn import EndTxnRequest
from fencepost_protocol.generated.error_code import ErrorCode
from fencepost_protocol.generated.find_coordinator import FindCoordinatorRequest
from fencepost_protocol.generated.init_producer_id import InitProducerIdRequest
from fencepost_protocol.generated.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from fencepost_protocol.generated.offset_fetch import OffsetFetchRequest, OffsetFetchRequestTopic
from fencepost_protocol.generated.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)

from tests.conformance.groups_cases import commit, fetch, first_beat, join_stable
from tests.conformance.groups_peer import Case, Side
from tests.support.waiting import polled

PATIENCE_SECONDS = 60.0


class Producer:
    """A transactional producer, and its transaction's offsets."""

    def __init__(self, side: Side, group: str) -> None:
        self.side, self.group, self.name = side, group, f"txn-{group}"
        self.begin()

    def begin(self) -> None:
        """Initialises, again and again until the coordinator is there and idle."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            self.side.ask(FindCoordinatorRequest(key_type=1, coordinator_keys=[self.name]), 4)
            answer = self.side.ask(InitProducerIdRequest(self.name, 60_000), 4)
            if answer.error_code == 0:
                break
            if time.monotonic() > deadline:
                raise TimeoutError(ErrorCode(answer.error_code).name)
            time.sleep(0.01)
        self.id, self.epoch = answer.producer_id, answer.producer_epoch

    def commit(
        self,
        offset: int = 5,
        generation: int = -1,
        member: str = "",
        instance: str | None = None,
        *,
        topic: str = "t",
        partition: int = 0,
        version: int = 5,
        epoch: int | None = None,
    ) -> list[str]:
        rows = [TxnOffsetCommitRequestPartition(partition, offset)]
        request = TxnOffsetCommitRequest(
            self.name, self.group, self.id, self.epoch if epoch is None else epoch,
            generation, member, instance, [TxnOffsetCommitRequestTopic(topic, rows)],
        )  # fmt: skip
        answer = self.side.ask(request, version)
        return [ErrorCode(each.error_code).name for row in answer.topics for each in row.partitions]

    def end(self, *, committed: bool, version: int = 5) -> list[Any]:
        """Ends the transaction; what the group has when the marker is there."""
        request = EndTxnRequest(self.name, self.id, self.epoch, committed)
        code = ErrorCode(self.side.ask(request, version).error_code).name
        polled(
            lambda: all(row[2] != "UNSTABLE_OFFSET_COMMIT" for row in self.seen(stable=True)),
            "the marker does not come",
        )
        return [code, self.seen()]

    def seen(self, *, stable: bool = False) -> list[Any]:
        request = fetch(self.group)
        request.require_stable = stable
        (group,) = self.side.ask(request, 9).groups
        return [
            (each.partition_index, each.committed_offset, ErrorCode(each.error_code).name)
            for topic in group.topics
            for each in topic.partitions
        ]


def pending_and_plain(side: Side, group: str) -> Iterator[Any]:
    producer = Producer(side, group)
    yield producer.commit(5)
    yield producer.seen()
    yield producer.seen(stable=True)
    for version in (1, 6, 7):
        yield side.ask(OffsetFetchRequest(group, [OffsetFetchRequestTopic("t", [0, 1])]), version)
    yield side.ask(commit(group), 9)
    yield producer.seen()
    yield producer.end(committed=True)
    producer.begin()
    yield producer.commit(50)
    yield producer.end(committed=False)
    producer.begin()
    yield producer.commit(60)
    yield producer.commit(61, partition=1)
    yield producer.end(committed=True)


def refusals(side: Side, group: str) -> Iterator[Any]:
    producer = Producer(side, group)
    yield producer.commit(5, 3, "m")
    yield producer.commit(5, 0, "")
    yield producer.commit(5, -1, "m", "i")
    yield producer.commit(5, 3, "m")
    yield producer.commit(5, partition=9)
    yield producer.commit(5, topic="nowhere")
    yield producer.commit(-1)
    yield producer.commit(5, epoch=99)
    yield producer.end(committed=True)
    yield producer.commit(5)  # with the epoch before
    producer.begin()
    for version in (3, 4):
        yield producer.commit(5, version=version)


def old_protocol(side: Side, group: str) -> Iterator[Any]:
    producer = Producer(side, group)
    request = AddOffsetsToTxnRequest(producer.name, producer.id, producer.epoch, group)
    yield ErrorCode(side.ask(request, 3).error_code).name
    yield producer.commit(7, version=3)
    yield producer.commit(8, version=2)
    yield producer.end(committed=True, version=3)


def classic_members(side: Side, group: str) -> Iterator[Any]:
    producer = Producer(side, group)
    member = join_stable(side, group, "i").member_id
    for generation, name, instance in (
        (-1, "", None), (-1, member, None), (-1, "x", None), (-1, "", "j"), (2, member, None),
        (1, member, None), (1, member, "i"), (1, "x", None), (1, "", None), (1, "x", "i"),
        (-1, "", "i"), (0, member, "i"),
    ):  # fmt: skip
        yield producer.commit(5, generation, name, instance)
    yield producer.end(committed=True)


def consumer_members(side: Side, group: str) -> Iterator[Any]:
    producer = Producer(side, group)
    side.ask(first_beat(group, "m", "t"))
    for epoch, member in ((2, "m"), (1, "m"), (3, "m"), (2, "x"), (-1, ""), (-1, "m"), (-2, "")):
        yield producer.commit(5, epoch, member)
    yield producer.end(committed=True)


def deletions(side: Side, group: str) -> Iterator[Any]:
    producer = Producer(side, group)
    yield producer.commit(5)
    rows = [OffsetDeleteRequestTopic("t", [OffsetDeleteRequestPartition(0)])]
    yield side.ask(OffsetDeleteRequest(group, rows))
    yield producer.end(committed=True)
    producer.begin()
    yield producer.commit(6)
    yield side.ask(DeleteGroupsRequest([group]))
    yield producer.end(committed=True)
    yield side.ask(DeleteGroupsRequest([group]))


TRANSACTION_CASES: tuple[Case, ...] = (
    pending_and_plain,
    refusals,
    old_protocol,
    classic_members,
    consumer_members,
    deletions,
)
