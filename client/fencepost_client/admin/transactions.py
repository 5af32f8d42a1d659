"""Transactions and producers (KIP-664): listing, describing and fencing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from fencepost_protocol.errors import ErrorCode, explain_error
from fencepost_protocol.generated.describe_producers import (
    DescribeProducersRequest,
    TopicRequest,
)
from fencepost_protocol.generated.describe_transactions import DescribeTransactionsRequest
from fencepost_protocol.generated.index import APIS, ApiKey
from fencepost_protocol.generated.init_producer_id import InitProducerIdRequest
from fencepost_protocol.generated.list_transactions import ListTransactionsRequest

from fencepost_client.admin.fan_out import ItemRequest, ItemResult, by_topic, gather, require
from fencepost_client.admin.routing import Coordinators, Leaders, at_brokers, list_brokers
from fencepost_client.requests.backoff import Backoff
from fencepost_client.requests.procedures import TRANSACTION, Procedure
from fencepost_client.types import TopicPartition, distinct

ONGOING: Final = "Ongoing"
NEVER_MS: Final = (1 << 31) - 1
"""The timeout of a transaction that has none (two-phase commit, KIP-939)."""
_DURATION_FROM: Final = 1
_PATTERN_FROM: Final = 2
_INIT_UP_TO: Final = 5
"""Later versions are for producers of a two-phase commit (KIP-939)."""
_NOT_HERE: Final = frozenset(
    {ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.NOT_LEADER_OR_FOLLOWER}
)


@dataclass(frozen=True, slots=True)
class TransactionFilters:
    """Filters of a list of transactions; a filter that is not set matches all."""

    states: Sequence[str] = ()
    producer_ids: Sequence[int] = ()
    longer_than_ms: int | None = None
    """Kafka 3.8 and later."""
    pattern: str | None = None
    """An expression of RE2 for the whole id; Kafka 4.1 and later."""


@dataclass(frozen=True, slots=True)
class TransactionListing:
    """A transactional id in a list."""

    transactional_id: str
    coordinator_id: int
    producer_id: int
    state: str


class ProducerIdentity(NamedTuple):
    """A producer id and its epoch."""

    producer_id: int
    producer_epoch: int


class MissingMarker(NamedTuple):
    """A marker that is not acknowledged."""

    partition: TopicPartition
    broker_id: int | None
    last_error: str | None
    is_held: bool
    """Whether a test holds it back."""


class ExplainedClient(NamedTuple):
    """A client, and whether it is connected."""

    client_id: str | None
    address: str
    is_connected: bool


class ParkedRequest(NamedTuple):
    """A request that is answered when the markers are written."""

    api: str
    client: ExplainedClient | None


@dataclass(frozen=True, slots=True)
class TransactionExplanation:
    """Details from a Fencepost broker: the time of the state, and what waits for what."""

    updated_ms: int
    times_out_ms: int | None
    expires_ms: int | None
    repeats: int
    markers: tuple[MissingMarker, ...]
    requests: tuple[ParkedRequest, ...]
    client: ExplainedClient | None = None
    """The client of the last request for this id."""
    kept_by: ProducerIdentity | None = None
    """The producer that has kept the open transaction and may end it (KIP-939)."""


@dataclass(frozen=True, slots=True)
class TransactionDescription:
    """A transactional id and its transaction."""

    coordinator_id: int
    transactional_id: str
    producer_id: int
    producer_epoch: int
    state: str
    timeout_ms: int
    now_ms: int
    """By the coordinator's clock if it reports it, otherwise by this machine's."""
    started_ms: int | None
    """``None`` without an open transaction."""
    partitions: tuple[TopicPartition, ...]
    """The partitions of the open transaction; while it ends, those without a marker."""
    explanation: TransactionExplanation | None = None

    @property
    def duration_ms(self) -> int | None:
        """The time since it began."""
        return None if self.started_ms is None else self.now_ms - self.started_ms


@dataclass(frozen=True, slots=True)
class ProducerDescription:
    """The state of a producer in a partition."""

    producer_id: int
    producer_epoch: int
    coordinator_epoch: int | None
    """The epoch of the coordinator that ended its last transaction; ``None`` before the first."""
    last_sequence: int | None
    last_timestamp_ms: int | None
    start_offset: int | None
    """The first offset of its open transaction; ``None`` without one."""


def list_transactions(
    filters: TransactionFilters, backoff: Backoff
) -> Procedure[list[TransactionListing]]:
    """List the transactional ids of all coordinators that match all filters."""

    def build(version: int, _: object) -> ListTransactionsRequest:
        request = ListTransactionsRequest(distinct(filters.states), list(filters.producer_ids))
        if filters.longer_than_ms is not None:
            require(version, _DURATION_FROM, "filtering transactions by duration")
            request.duration_filter = filters.longer_than_ms
        if filters.pattern is not None:
            require(version, _PATTERN_FROM, "filtering transactional ids by a pattern")
            request.transactional_id_pattern = filters.pattern
        return request

    def read(
        answer: Any, asked: Sequence[int]
    ) -> Iterable[ItemResult[int, list[TransactionListing]]]:
        code, message = answer.error_code, None
        if code == ErrorCode.NONE and answer.unknown_state_filters:
            # Without this, a word that is misspelt would find nothing and look like an answer.
            code = ErrorCode.INVALID_REQUEST
            message = (
                f"The broker does not know the state {', '.join(answer.unknown_state_filters)}."
            )
        found = [
            TransactionListing(
                each.transactional_id, asked[0], each.producer_id, each.transaction_state
            )
            for each in answer.transaction_states
        ]
        yield ItemResult(asked[0], code, message, found)

    brokers = yield from list_brokers(backoff)
    question = ItemRequest(
        "listing the transactions of broker", ApiKey.LIST_TRANSACTIONS, build, read
    )
    told = yield from gather(question, brokers, at_brokers(int), backoff)
    # An id whose coordinator moves meanwhile may be told twice.
    found = {each.transactional_id: each for listed in told.values() for each in listed}
    return [found[transactional_id] for transactional_id in sorted(found)]


def describe_transactions(
    transactional_ids: Iterable[str], now_ms: int, backoff: Backoff
) -> Procedure[dict[str, TransactionDescription]]:
    """Describe transactional ids."""
    where = Coordinators(TRANSACTION)

    def build(_: int, some: Sequence[str]) -> DescribeTransactionsRequest:
        return DescribeTransactionsRequest(list(some), explain=True)

    def read(answer: Any, _: object) -> Iterable[ItemResult[str, TransactionDescription]]:
        told_ms = now_ms if answer.state_time_ms < 0 else answer.state_time_ms
        for state in answer.transaction_states:
            coordinator_id = where.node_ids.get(state.transactional_id, -1)
            description = _description(state, coordinator_id, told_ms)
            yield ItemResult(state.transactional_id, state.error_code, None, description)

    question = ItemRequest("describing transaction", ApiKey.DESCRIBE_TRANSACTIONS, build, read)
    return gather(question, transactional_ids, where, backoff)


def _description(state: Any, coordinator_id: int, now_ms: int) -> TransactionDescription:
    partitions = (
        TopicPartition(topic.topic, number) for topic in state.topics for number in topic.partitions
    )
    return TransactionDescription(
        coordinator_id,
        state.transactional_id,
        state.producer_id,
        state.producer_epoch,
        state.transaction_state,
        state.transaction_timeout_ms,
        now_ms,
        _known(state.transaction_start_time_ms),
        tuple(sorted(partitions)),
        None if state.explanation is None else _explanation(state.explanation),
    )


def _explanation(told: Any) -> TransactionExplanation:
    return TransactionExplanation(
        told.updated_ms,
        _known(told.times_out_ms),
        _known(told.expires_ms),
        told.repeats,
        tuple(
            MissingMarker(
                TopicPartition(each.topic, each.partition_index),
                _known(each.leader_id),
                explain_error(each.last_error).name if each.last_error else None,
                each.is_held,
            )
            for each in told.markers
        ),
        tuple(
            ParkedRequest(
                APIS[each.request_api_key][0] if each.request_api_key in APIS else "a request",
                _client(each.client),
            )
            for each in told.requests
        ),
        _client(told.last_client),
        ProducerIdentity(told.kept_by_id, told.kept_by_epoch) if told.kept_by_id >= 0 else None,
    )


def _client(told: Any) -> ExplainedClient | None:
    if told is None:
        return None
    return ExplainedClient(told.client_id, told.address, told.is_connected)


Producers = tuple[ProducerDescription, ...]


def ask_producers(broker_id: int | None) -> ItemRequest[TopicPartition, Producers]:
    """The question which producers partitions know; a broker that is named is asked as it is."""

    def build(_: int, some: Sequence[TopicPartition]) -> DescribeProducersRequest:
        topics = [TopicRequest(topic, numbers) for topic, numbers in by_topic(some).items()]
        return DescribeProducersRequest(topics)

    def read(answer: Any, _: object) -> Iterable[ItemResult[TopicPartition, Producers]]:
        for topic in answer.topics:
            for part in topic.partitions:
                where = TopicPartition(topic.name, part.partition_index)
                producers = tuple(map(_producer, part.active_producers))
                yield ItemResult(where, part.error_code, part.error_message, producers)

    final = frozenset() if broker_id is None else _NOT_HERE
    doing = "describing the producers of"
    return ItemRequest(doing, ApiKey.DESCRIBE_PRODUCERS, build, read, final)


def describe_producers(
    partitions: Iterable[TopicPartition], broker_id: int | None, backoff: Backoff
) -> Procedure[dict[TopicPartition, Producers]]:
    """Describe the producers of partitions, by the leaders or by the given broker."""
    route = Leaders() if broker_id is None else at_brokers(lambda _: broker_id)
    return gather(ask_producers(broker_id), partitions, route, backoff)


def _producer(told: Any) -> ProducerDescription:
    return ProducerDescription(
        told.producer_id,
        told.producer_epoch,
        _known(told.coordinator_epoch),
        _known(told.last_sequence),
        _known(told.last_timestamp),
        _known(told.current_txn_start_offset),
    )


def fence_producers(
    transactional_ids: Iterable[str], timeout_ms: int, backoff: Backoff
) -> Procedure[dict[str, ProducerIdentity]]:
    """Fence the producers of ids, and abort their transactions; returns the new identities."""

    def build(_: int, some: Sequence[str]) -> InitProducerIdRequest:
        return InitProducerIdRequest(some[0], timeout_ms)

    def read(answer: Any, asked: Sequence[str]) -> Iterable[ItemResult[str, ProducerIdentity]]:
        identity = ProducerIdentity(answer.producer_id, answer.producer_epoch)
        yield ItemResult(asked[0], answer.error_code, None, identity)

    question = ItemRequest(
        "fencing the producer of",
        ApiKey.INIT_PRODUCER_ID,
        build,
        read,
        version_max=_INIT_UP_TO,
        at_once=1,
    )
    return gather(question, transactional_ids, Coordinators(TRANSACTION), backoff)


def _known(number: int) -> int | None:
    return None if number < 0 else number
