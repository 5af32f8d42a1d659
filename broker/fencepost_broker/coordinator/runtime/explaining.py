"""Explanations of stuck transactions, from this broker's coordinators, markers and logs."""

from __future__ import annotations

from typing import Any

from fencepost_client.admin.transactions import ProducerIdentity
from fencepost_protocol.generated.describe_transactions import TransactionState
from fencepost_protocol.generated.index import APIS
from fencepost_protocol.generated.list_transactions import ListTransactionsRequest

from fencepost_broker.coordinator.records import RecordFamily
from fencepost_broker.coordinator.runtime.coordinator_runtime import CoordinatorRuntime
from fencepost_broker.coordinator.runtime.shard import Shard
from fencepost_broker.coordinator.transaction.commands import (
    DescribeTransaction,
    ExplainTransaction,
    ListTransactions,
)
from fencepost_broker.coordinator.transaction.explanations import TransactionWaits, is_kept_open
from fencepost_broker.observability.explained import (
    ExplainedClient,
    ExplainedPartition,
    ExplainedTransaction,
    LsoHolder,
    MissingMarker,
    WaitingRequest,
)
from fencepost_broker.storage.log.results import ProducerDescription


class Explaining:
    """Answers one question about transactions or partitions."""

    def __init__(self, runtime: CoordinatorRuntime) -> None:
        self._runtime = runtime

    def transaction(self, transactional_id: str, address: str) -> ExplainedTransaction | None:
        """Explain a transactional id; ``None`` if this broker does not coordinate it.

        ``address`` is this broker's own, for the explanation.
        """
        waits = self.waits_of(transactional_id)
        if waits is None:
            return None
        runtime = self._runtime
        now_ms = runtime.now_ms()
        shard = runtime.shard(RecordFamily.TRANSACTIONS, transactional_id)
        assert shard is not None, transactional_id
        state = _described(shard, transactional_id)
        # Include open transactions of this producer that its coordinator does not know: they hang.
        open_there = self._open_of(waits.producer_id)
        touched = dict.fromkeys([*_listed(state), *open_there])
        client = runtime.last_clients.of(transactional_id)
        return ExplainedTransaction(
            transactional_id,
            runtime.node_id,
            address,
            waits.state,
            waits.producer_id,
            waits.producer_epoch,
            state.transaction_timeout_ms,
            now_ms,
            None if state.transaction_start_time_ms < 0 else state.transaction_start_time_ms,
            waits.updated_ms,
            None if waits.times_out_ms is None else waits.times_out_ms - now_ms,
            None if waits.expires_ms is None else waits.expires_ms - now_ms,
            [
                MissingMarker(
                    each.topic,
                    each.partition,
                    each.leader,
                    each.last_error.name if each.last_error else None,
                    each.is_held,
                )
                for each in waits.markers
            ],
            waits.repeats,
            [WaitingRequest(api_name(key), client) for key, client in requests_behind(waits)],
            not_told=False,
            client=client,
            kept_by=None if waits.kept_by is None else ProducerIdentity(*waits.kept_by),
            partitions=[
                told
                for each in touched
                if (told := self.partition(*each, open_there.get(each))) is not None
            ],
        )

    def waits_of(self, transactional_id: str) -> TransactionWaits | None:
        """Return what an id is waiting for, without the state of partitions."""
        runtime = self._runtime
        shard = runtime.shard(RecordFamily.TRANSACTIONS, transactional_id)
        if shard is None:
            return None
        found: TransactionWaits | None = shard.submit(ExplainTransaction(transactional_id))
        if found is None:
            return None
        sender = runtime.sender
        for marker in found.markers:
            marker.is_held = sender.is_held(transactional_id, marker.topic, marker.partition)
        found.repeats = sender.repeats_of(transactional_id)
        return found

    def partition(
        self, topic: str, number: int, start_offset: int | None = None
    ) -> ExplainedPartition | None:
        """Explain a partition's last stable offset; ``None`` if the partition does not exist.

        ``start_offset`` is the first offset of the explained transaction in this partition.
        """
        partition = self._runtime.table.find(topic, number)
        registered = self._runtime.image.topics.partition(topic, number)
        if partition is None or registered is None:
            return None
        log = partition.log
        stable, high = log.last_stable_offset, log.high_watermark
        began = [
            each for each in log.describe_producers() if each.current_transaction_first_offset >= 0
        ]
        first = min(began, key=lambda each: each.current_transaction_first_offset, default=None)
        return ExplainedPartition(
            topic,
            number,
            registered.leader,
            stable,
            high,
            high - stable,
            start_offset,
            None if first is None else self._holder(first, (topic, number)),
        )

    def _open_of(self, producer_id: int) -> dict[tuple[str, int], int]:
        """Return the partitions with an open transaction of a producer, and its first offset."""
        return {
            (topic.name, partition.number): start
            for topic in self._runtime.table.by_name.values()
            for partition in topic.partitions
            if (start := partition.log.open_transaction_of(producer_id)) is not None
        }

    def _holder(self, first: ProducerDescription, partition: tuple[str, int]) -> LsoHolder:
        """Describe the producer of an open transaction, and whether its coordinator will end it."""
        runtime = self._runtime
        name = state = ends_in_ms = coordinator = None
        hangs = True
        asked = ListTransactions(ListTransactionsRequest(producer_id_filters=[first.producer_id]))
        for shard in runtime.shards_of(RecordFamily.TRANSACTIONS):
            for row in shard.submit(asked):
                name, coordinator = row.transactional_id, runtime.node_id
                described = _described(shard, name)
                state = described.transaction_state
                hangs = not is_kept_open(
                    state, described.producer_epoch, _listed(described), partition,
                    first.producer_epoch,
                )  # fmt: skip
                times_out_ms = shard.submit(ExplainTransaction(name)).times_out_ms
                if not hangs and times_out_ms is not None:
                    ends_in_ms = times_out_ms - runtime.now_ms()
        return LsoHolder(
            first.producer_id,
            first.producer_epoch,
            first.current_transaction_first_offset,
            name,
            coordinator,
            state,
            hangs,
            ends_in_ms,
        )


def _described(shard: Shard, transactional_id: str) -> TransactionState:
    described: TransactionState = shard.submit(DescribeTransaction(transactional_id))
    return described


def _listed(described: TransactionState) -> list[tuple[str, int]]:
    return [(topic.topic, number) for topic in described.topics for number in topic.partitions]


def requests_behind(waits: TransactionWaits) -> list[tuple[int, ExplainedClient | None]]:
    """Return the API key and the client of each parked request, in order.

    A request that no client has sent is -1 and ``None``.
    """
    requests = [getattr(token, "request", None) for token in waits.tokens]
    return [(-1, None) if each is None else (each.api_key, _client_of(each)) for each in requests]


def _client_of(request: Any) -> ExplainedClient:
    client = request.peer.client
    return ExplainedClient(request.client_id, client.address, client.is_connected)


def api_name(key: int) -> str:
    """Return an API's name for an explanation."""
    return APIS[key][0] if key in APIS else "a request"
