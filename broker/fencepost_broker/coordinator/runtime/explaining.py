"""Why nothing goes on, as this broker knows it: its coordinators, its marker sender, its logs."""

from __future__ import annotations

from typing import Any, Protocol

from fencepost_protocol.generated.describe_transactions import TransactionState
from fencepost_protocol.generated.list_transactions import ListTransactionsRequest

from fencepost_broker.coordinator.records import RecordFamily
from fencepost_broker.coordinator.runtime.coordinator_runtime import Coordination
from fencepost_broker.coordinator.runtime.shard import Shard
from fencepost_broker.coordinator.transaction.commands import (
    DescribeTransaction,
    ExplainTransaction,
    ListTransactions,
)
from fencepost_broker.coordinator.transaction.explanations import (
    Explanation,
    LsoHolder,
    PartitionExplanation,
    WaitingRequest,
    is_kept_open,
    lso_holder,
)
from fencepost_broker.metadata.image import Image
from fencepost_broker.replication.partition import PartitionTable


class Host(Protocol):
    """What is needed of the node."""

    image: Image
    table: PartitionTable

    @property
    def coordination(self) -> Coordination:
        """Its coordinators."""


class Explaining:
    """Looks once; made for each question."""

    def __init__(self, host: Host) -> None:
        self._host = host

    def transaction(self, transactional_id: str) -> Explanation | None:
        """All of a transactional id; ``None`` if nobody here coordinates it."""
        found = self.waits_of(transactional_id)
        if found is None:
            return None
        # What its producer has open although no coordinator knows of it belongs here most of all.
        open_there = self._open_of(found.producer_id)
        for each in dict.fromkeys([*self._partitions_of(transactional_id), *open_there]):
            told = self.partition(*each)
            if told is not None:
                told.start_offset = open_there.get(each)
                found.partitions.append(told)
        return found

    def waits_of(self, transactional_id: str) -> Explanation | None:
        """What an id waits for, without a look at partitions."""
        coordination = self._host.coordination
        shard = coordination.shard(RecordFamily.TRANSACTIONS, transactional_id)
        if shard is None:
            return None
        found: Explanation | None = shard.submit(ExplainTransaction(transactional_id))
        if found is None:
            return None
        sender = coordination.sender
        for marker in found.markers:
            marker.is_held = sender.is_held(transactional_id, marker.topic, marker.partition)
        found.repeats = sender.repeats_of(transactional_id)
        found.requests = [_waiting(token) for token in found.tokens]
        return found

    def partition(self, topic: str, number: int) -> PartitionExplanation | None:
        """Who holds the last stable offset of a partition; ``None`` if there is none such."""
        partition = self._host.table.find(topic, number)
        registered = self._host.image.partition(topic, number)
        if partition is None or registered is None:
            return None
        log = partition.log
        began_first = lso_holder(
            [
                LsoHolder(
                    each.producer_id, each.producer_epoch, each.current_transaction_first_offset
                )
                for each in log.describe_producers()
                if each.current_transaction_first_offset >= 0
            ]
        )
        if began_first is not None:
            self._find_owner(began_first, (topic, number))
        leader = registered.leader if registered.leader >= 0 else None
        return PartitionExplanation(
            topic, number, leader, log.last_stable_offset, log.high_watermark, began_first
        )

    def _open_of(self, producer_id: int) -> dict[tuple[str, int], int]:
        """Where a producer has transactions open, and from which offset on."""
        return {
            (topic.name, partition.number): start
            for topic in self._host.table.by_name.values()
            for partition in topic.partitions
            if (start := partition.log.open_transaction_of(producer_id)) is not None
        }

    def _find_owner(self, holder: LsoHolder, partition: tuple[str, int]) -> None:
        """Which transactional id the producer belongs to, and what its coordinator makes of it."""
        asked = ListTransactions(ListTransactionsRequest(producer_id_filters=[holder.producer_id]))
        for shard in self._host.coordination.shards_of(RecordFamily.TRANSACTIONS):
            for row in shard.submit(asked):
                name = holder.transactional_id = row.transactional_id
                described = _described(shard, name)
                holder.state = described.transaction_state
                holder.is_kept_open = is_kept_open(
                    holder.state, described.producer_epoch, _listed(described), partition,
                    holder.producer_epoch,
                )  # fmt: skip
                if holder.is_kept_open:
                    holder.times_out_ms = shard.submit(ExplainTransaction(name)).times_out_ms

    def _partitions_of(self, transactional_id: str) -> list[tuple[str, int]]:
        shard = self._host.coordination.shard(RecordFamily.TRANSACTIONS, transactional_id)
        return [] if shard is None else _listed(_described(shard, transactional_id))


def _described(shard: Shard, transactional_id: str) -> TransactionState:
    described: TransactionState = shard.submit(DescribeTransaction(transactional_id))
    return described


def _listed(described: TransactionState) -> list[tuple[str, int]]:
    return [(topic.topic, number) for topic in described.topics for number in topic.partitions]


def _waiting(token: Any) -> WaitingRequest:
    request = getattr(token, "request", None)
    if request is None:
        return WaitingRequest(-1, None)
    return WaitingRequest(request.api_key, request.client_id)
