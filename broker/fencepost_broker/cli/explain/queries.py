"""What a transaction waits for, and which one holds a last stable offset, asked of brokers.

Every Kafka broker tells offsets, producers and states. Only Fencepost tells the time of the last
step, missing markers, waiting requests and the state clock (tag 60900 of DescribeTransactions):
with another broker these are ``None``, and ``not_told`` is true.
"""

from __future__ import annotations

from contextlib import suppress

from fencepost_client.admin.cluster import BrokerDescription
from fencepost_client.admin.hanging import keeps_open
from fencepost_client.admin.transactions import (
    NEVER_MS,
    ONGOING,
    ProducerDescription,
    Producers,
    TransactionDescription,
    TransactionExplanation,
)
from fencepost_client.clients.admin import Admin
from fencepost_client.commands.errors import NotYetError
from fencepost_client.commands.runner import retry_until_timeout
from fencepost_client.commands.transaction_actions import (
    described,
    leader_of,
    producers_of,
    stable_and_high,
)
from fencepost_client.errors import TransactionalIdNotFoundError
from fencepost_client.types import TopicPartition

from fencepost_broker.observability.explained import (
    ExplainedClient,
    ExplainedPartition,
    ExplainedTransaction,
    LsoHolder,
    MissingMarker,
    WaitingRequest,
)


class Explainer:
    """Asks a cluster, again for up to ``timeout_s`` if answers contradict each other."""

    def __init__(self, admin: Admin, timeout_s: float) -> None:
        self._admin = admin
        self._timeout_s = timeout_s

    async def transaction(self, transactional_id: str) -> ExplainedTransaction:
        """Explain a transactional id."""
        [told] = await described(self._admin, [transactional_id])
        explanation = told.explanation
        # Most important: transactions of its producer that no coordinator knows.
        touched = dict.fromkeys([*told.partitions, *await self._open_of(told.producer_id)])
        brokers = (await self._admin.describe_cluster()).brokers
        expires_ms = None if explanation is None else explanation.expires_ms
        return ExplainedTransaction(
            transactional_id,
            told.coordinator_id,
            next((_address(each) for each in brokers if each.broker_id == told.coordinator_id), ""),
            told.state,
            told.producer_id,
            told.producer_epoch,
            told.timeout_ms,
            told.now_ms,
            told.started_ms,
            None if explanation is None else explanation.updated_ms,
            ends_in_ms(told),
            None if expires_ms is None else expires_ms - told.now_ms,
            None if explanation is None else _markers(explanation),
            None if explanation is None else explanation.repeats,
            None if explanation is None else _requests(explanation),
            explanation is None,
            None if explanation is None else _client(explanation),
            [await self.partition(each, explained=told.producer_id) for each in touched],
            None if explanation is None else explanation.kept_by,
        )

    async def partition(
        self, partition: TopicPartition, *, explained: int | None = None
    ) -> ExplainedPartition:
        """Explain the last stable offset of a partition; ``explained`` is a producer id."""
        return await retry_until_timeout(
            lambda: self._partition(partition, explained), self._timeout_s
        )

    async def _partition(
        self, partition: TopicPartition, explained: int | None
    ) -> ExplainedPartition:
        leader_id = await leader_of(self._admin, partition, self._timeout_s)
        producers = await producers_of(self._admin, partition)
        stable, high = await stable_and_high(self._admin, partition)
        begun = [each for each in producers if each.start_offset is not None]
        first = min(begun, key=lambda each: each.start_offset or 0, default=None)
        holder = None
        if first is not None:
            holder = await self._holder(partition, first)
            if holder.hangs:
                # Or it has ended since the partition was described: then ask everything again.
                again = await producers_of(self._admin, partition)
                if _start_of(again, first.producer_id) != first.start_offset:
                    topic, number = partition
                    raise NotYetError(f"{topic}-{number} changes too fast to be explained")
        begins = _start_of(producers, explained)
        return ExplainedPartition(
            *partition, leader_id, stable, high, high - stable, begins, holder
        )

    async def _open_of(self, producer_id: int) -> list[TopicPartition]:
        """Return the partitions in which a producer has an open transaction."""
        known = await self._admin.describe_producers()
        return [
            partition
            for partition, producers in known.items()
            if _start_of(producers, producer_id) is not None
        ]

    async def _holder(self, partition: TopicPartition, first: ProducerDescription) -> LsoHolder:
        assert first.start_offset is not None
        owner = await self._owner_of(first.producer_id)
        hangs = not keeps_open(owner, partition, first.producer_epoch)
        return LsoHolder(
            first.producer_id,
            first.producer_epoch,
            first.start_offset,
            None if owner is None else owner.transactional_id,
            None if owner is None else owner.coordinator_id,
            None if owner is None else owner.state,
            hangs,
            None if owner is None or hangs else ends_in_ms(owner),
        )

    async def _owner_of(self, producer_id: int) -> TransactionDescription | None:
        """Return the transaction of a producer, or ``None`` if no coordinator knows it."""
        for listed in await self._admin.list_transactions(producer_ids=[producer_id]):
            with suppress(TransactionalIdNotFoundError):  # forgotten between the two questions
                found = await self._admin.describe_transactions([listed.transactional_id])
                return found[listed.transactional_id]
        return None


def _address(broker: BrokerDescription) -> str:
    host = f"[{broker.host}]" if ":" in broker.host else broker.host
    return f"{host}:{broker.port}"


def _start_of(producers: Producers, producer_id: int | None) -> int | None:
    return next((each.start_offset for each in producers if each.producer_id == producer_id), None)


def ends_in_ms(told: TransactionDescription) -> int | None:
    """Return how long a transaction may stay open, or ``None`` without a time limit."""
    if told.explanation is not None:
        times_out_ms = told.explanation.times_out_ms
        return None if times_out_ms is None else times_out_ms - told.now_ms
    if told.state != ONGOING or told.timeout_ms == NEVER_MS or told.duration_ms is None:
        return None
    return told.timeout_ms - told.duration_ms


def _markers(told: TransactionExplanation) -> list[MissingMarker]:
    return [
        MissingMarker(*each.partition, each.broker_id, each.last_error, each.is_held)
        for each in told.markers
    ]


def _requests(told: TransactionExplanation) -> list[WaitingRequest]:
    return [
        WaitingRequest(each.api, None if each.client is None else ExplainedClient(*each.client))
        for each in told.requests
    ]


def _client(told: TransactionExplanation) -> ExplainedClient | None:
    return None if told.client is None else ExplainedClient(*told.client)
