"""Hanging transactions: open in a partition, and no coordinator will end them (KIP-664).

They stop read-committed consumers for ever. They come from writes that a coordinator does not know,
or that came after it ended the transaction. An abort marker that is written by hand ends them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.describe_transactions import DescribeTransactionsRequest
from fencepost_protocol.generated.index import ApiKey
from fencepost_protocol.generated.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
)

from fencepost_client.admin.fan_out import (
    ItemRequest,
    ItemResult,
    gather,
    gather_all,
    named,
    settle,
)
from fencepost_client.admin.routing import Leaders, at_brokers, metadata_of
from fencepost_client.admin.transactions import (
    ONGOING,
    ProducerDescription,
    Producers,
    TransactionDescription,
    TransactionFilters,
    ask_producers,
    describe_producers,
    describe_transactions,
    list_transactions,
)
from fencepost_client.errors import TransactionalIdNotFoundError, TransactionKeptOpenError
from fencepost_client.requests.backoff import Backoff
from fencepost_client.requests.procedures import ANY_NODE, Ask, Procedure, retry
from fencepost_client.types import TopicPartition

_ENDING: Final = frozenset({"PrepareCommit", "PrepareAbort", "PrepareEpochFence"})
_GONE: Final = frozenset({ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.NOT_LEADER_OR_FOLLOWER})
_IDS_AT_ONCE: Final = 500


class TransactionMarker(NamedTuple):
    """An abort marker for a partition."""

    partition: TopicPartition
    producer_id: int
    producer_epoch: int
    coordinator_epoch: int = 0
    """The lowest is never refused where no coordinator has written yet."""


@dataclass(frozen=True, slots=True)
class HangingTransaction:
    """A hanging transaction in a partition."""

    partition: TopicPartition
    producer_id: int
    producer_epoch: int
    coordinator_epoch: int | None
    start_offset: int
    last_timestamp_ms: int | None
    duration_ms: int | None
    """The time since its last record."""
    transactional_id: str | None
    """The transactional id of the producer; ``None`` if no coordinator knows it."""

    @property
    def marker(self) -> TransactionMarker:
        """The marker that ends the transaction."""
        return TransactionMarker(
            self.partition, self.producer_id, self.producer_epoch, self.coordinator_epoch or 0
        )


def find_hanging(
    partitions: Iterable[TopicPartition] | None,
    broker_id: int | None,
    older_than_ms: int,
    now_ms: int,
    backoff: Backoff,
) -> Procedure[list[HangingTransaction]]:
    """Find hanging transactions in these partitions, or in all, by their age."""
    wanted = list(partitions) if partitions is not None else None
    if wanted is None:
        wanted = yield from all_partitions(broker_id, backoff)
    told_ms = yield from state_time_ms(now_ms, backoff)
    look = describe_producers if partitions is not None else producers_where_there
    known = yield from look(wanted, broker_id, backoff)
    begun = [
        (where, producer)
        for where, producers in known.items()
        for producer in producers
        if producer.start_offset is not None
        and told_ms - (producer.last_timestamp_ms or 0) > older_than_ms
    ]
    owner_of = yield from owners((producer.producer_id for _, producer in begun), now_ms, backoff)
    suspected = [
        (where, producer)
        for where, producer in begun
        if not keeps_open(owner_of.get(producer.producer_id), where, producer.producer_epoch)
    ]
    if not suspected:
        return []
    # Between the two questions a marker may have arrived and the coordinator be done.
    again = list(dict.fromkeys(where for where, _ in suspected))
    still = yield from producers_where_there(again, broker_id, backoff)
    return [
        _hanging(where, producer, owner_of.get(producer.producer_id), told_ms)
        for where, producer in suspected
        if any(_is_same(producer, each) for each in still.get(where, ()))
    ]


def all_partitions(broker_id: int | None, backoff: Backoff) -> Procedure[list[TopicPartition]]:
    """Those that have a leader, or a replica at the broker that is named."""
    ask = Ask(ANY_NODE, ApiKey.METADATA, metadata_of(None))
    answer = yield from retry(ask, lambda _: ErrorCode.NONE, backoff)
    return [
        TopicPartition(topic.name, part.partition_index)
        for topic in answer.topics
        if not topic.error_code
        for part in topic.partitions
        if (part.leader_id >= 0 if broker_id is None else broker_id in part.replica_nodes)
    ]


def all_producers(
    broker_id: int | None, backoff: Backoff
) -> Procedure[dict[TopicPartition, Producers]]:
    """The producers of all partitions, by their leaders or by the broker that is named."""
    partitions = yield from all_partitions(broker_id, backoff)
    return (yield from producers_where_there(partitions, broker_id, backoff))


def producers_where_there(
    partitions: Sequence[TopicPartition], broker_id: int | None, backoff: Backoff
) -> Procedure[dict[TopicPartition, Producers]]:
    """As ``describe_producers``, without what was deleted or has moved meanwhile."""
    route = Leaders() if broker_id is None else at_brokers(lambda _: broker_id)
    done, failed = yield from gather_all(ask_producers(broker_id), partitions, route, backoff)
    gone = {where for where, error in failed.items() if error.code in _GONE}
    return settle(done, {where: failed[where] for where in failed.keys() - gone})


def state_time_ms(now_ms: int, backoff: Backoff) -> Procedure[int]:
    """What time it is: by a Fencepost's clock, which tests move, or by this machine's."""
    request = DescribeTransactionsRequest([], explain=True)
    ask = Ask(ANY_NODE, ApiKey.DESCRIBE_TRANSACTIONS, lambda _: request)
    answer = yield from retry(ask, lambda _: ErrorCode.NONE, backoff)
    return now_ms if answer.state_time_ms < 0 else int(answer.state_time_ms)


def owners(
    producer_ids: Iterable[int], now_ms: int, backoff: Backoff
) -> Procedure[dict[int, TransactionDescription]]:
    """The transactions of producers, by producer id; missing: no coordinator knows it."""
    found: dict[int, TransactionDescription] = {}
    ids = sorted(set(producer_ids))
    for start in range(0, len(ids), _IDS_AT_ONCE):
        filters = TransactionFilters(producer_ids=ids[start : start + _IDS_AT_ONCE])
        listed = yield from list_transactions(filters, backoff)
        for each in listed:
            try:
                described = yield from describe_transactions(
                    [each.transactional_id], now_ms, backoff
                )
            except TransactionalIdNotFoundError:
                continue  # forgotten between the two questions
            owner = described[each.transactional_id]
            found[owner.producer_id] = owner
    return found


def keeps_open(
    owner: TransactionDescription | None, partition: TopicPartition, open_epoch: int
) -> bool:
    """Whether the coordinator of a producer will end what is open in a partition.

    An open transaction has the epoch of its records; one that is ending may have the next (KIP-890,
    or a fence), and its marker ends what came before.
    """
    if owner is None or partition not in owner.partitions:
        return False
    if owner.state == ONGOING:
        return owner.producer_epoch == open_epoch
    return owner.state in _ENDING and owner.producer_epoch >= open_epoch


def _is_same(before: ProducerDescription, after: ProducerDescription) -> bool:
    return (
        before.producer_id == after.producer_id
        and before.producer_epoch == after.producer_epoch
        and before.start_offset == after.start_offset
    )


def _hanging(
    where: TopicPartition,
    producer: ProducerDescription,
    owner: TransactionDescription | None,
    now_ms: int,
) -> HangingTransaction:
    assert producer.start_offset is not None
    last_ms = producer.last_timestamp_ms
    return HangingTransaction(
        where,
        producer.producer_id,
        producer.producer_epoch,
        producer.coordinator_epoch,
        producer.start_offset,
        last_ms,
        None if last_ms is None else now_ms - last_ms,
        None if owner is None else owner.transactional_id,
    )


def abort_transaction(
    marker: TransactionMarker, now_ms: int, backoff: Backoff, *, force: bool
) -> Procedure[None]:
    """Write the marker. Without ``force`` it raises an error if a coordinator will write one."""
    if not force:
        known = yield from owners([marker.producer_id], now_ms, backoff)
        owner = known.get(marker.producer_id)
        if owner is not None and keeps_open(owner, marker.partition, marker.producer_epoch):
            raise TransactionKeptOpenError(
                f"{owner.transactional_id!r} is {owner.state}, and its coordinator (broker "
                f"{owner.coordinator_id}) will end its transaction in "
                f"{named(marker.partition)}."
            )

    def build(_: int, __: object) -> WriteTxnMarkersRequest:
        topic = WritableTxnMarkerTopic(marker.partition.topic, [marker.partition.partition])
        # Transaction version 0, so that the epoch of the records themselves is accepted.
        return WriteTxnMarkersRequest(
            [
                WritableTxnMarker(
                    marker.producer_id,
                    marker.producer_epoch,
                    False,
                    [topic],
                    marker.coordinator_epoch,
                )
            ]
        )

    def read(answer: Any, _: object) -> Iterable[ItemResult[TopicPartition, None]]:
        for result in answer.markers:
            for topic in result.topics:
                for part in topic.partitions:
                    where = TopicPartition(topic.name, part.partition_index)
                    yield ItemResult(where, part.error_code, None, None)

    doing = f"aborting the transaction of producer {marker.producer_id} in"
    question = ItemRequest(doing, ApiKey.WRITE_TXN_MARKERS, build, read)
    yield from gather(question, [marker.partition], Leaders(), backoff)
