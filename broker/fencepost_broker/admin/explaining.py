"""What a transaction waits for, and who holds a last stable offset, asked of running brokers.

Offsets, producers and states are Kafka's APIs and told by every broker. Since when a state lasts,
markers on their way, requests behind them and the state clock are told by a Fencepost only (tag
60900 of DescribeTransactions): of another broker they are ``None``, and ``not_told`` is true.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from fencepost_client.admin.hanging import all_partitions, keeps_open, producers_where_there
from fencepost_client.admin.transactions import (
    ONGOING,
    Producers,
    TransactionDescription,
    TransactionExplanation,
)
from fencepost_client.types import TopicPartition

from fencepost_broker.adapters.peers import MovedError, Peers
from fencepost_broker.admin.transactions import (
    described,
    leader_of,
    owner_of,
    producers_of,
    stable_and_high,
)
from fencepost_broker.coordinators.transactions.explanations import LsoHolder, lso_holder

NEVER_MS: Final = (1 << 31) - 1
"""The timeout of a transaction that waits for its owner alone (two-phase commit, KIP-939)."""


@dataclass(frozen=True, slots=True)
class Marker:
    """A marker that nobody has acknowledged yet."""

    topic: str
    partition: int
    broker_id: int | None
    last_error: str | None
    is_held: bool


@dataclass(frozen=True, slots=True)
class Waiting:
    """A request that is answered when the markers are there."""

    api: str
    client_id: str | None


@dataclass(frozen=True, slots=True)
class Holder:
    """Whose transaction readers of committed records wait for."""

    producer_id: int
    producer_epoch: int
    start_offset: int
    transactional_id: str | None
    coordinator_id: int | None
    state: str | None
    hangs: bool
    """No coordinator will end it."""
    ends_in_ms: int | None
    """When it is aborted at the latest; ``None``: it waits for its marker, or for ever."""


@dataclass(frozen=True, slots=True)
class ExplainedPartition:
    """How far readers of committed records get in a partition, and who stops them there."""

    topic: str
    partition: int
    leader_id: int
    last_stable_offset: int
    high_watermark: int
    lag: int
    start_offset: int | None
    """Where the explained transaction begins there; ``None`` when it has no record there."""
    holder: Holder | None


@dataclass(frozen=True, slots=True)
class ExplainedTransaction:
    """Why a transaction is where it is."""

    transactional_id: str
    coordinator_id: int
    coordinator: str
    state: str
    producer_id: int
    producer_epoch: int
    timeout_ms: int
    now_ms: int
    """By the coordinator's clock, or by this machine's."""
    started_ms: int | None
    since_ms: int | None
    ends_in_ms: int | None
    """When an open transaction is aborted at the latest."""
    expires_in_ms: int | None
    markers: list[Marker] | None
    repeats: int | None
    requests: list[Waiting] | None
    not_told: bool
    """The broker is no Fencepost, and only a Fencepost tells."""
    partitions: list[ExplainedPartition] = field(default_factory=list)


def explain_transaction(peers: Peers, transactional_id: str) -> ExplainedTransaction:
    """All of one transactional id."""
    [told] = described(peers, [transactional_id])
    explanation = told.explanation
    # What its producer has open although no coordinator knows of it belongs here most of all.
    touched = dict.fromkeys([*told.partitions, *_open_of(peers, told.producer_id)])
    expires_ms = None if explanation is None else explanation.expires_ms
    return ExplainedTransaction(
        transactional_id,
        told.coordinator_id,
        peers.name_of(told.coordinator_id),
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
        [explain_partition(peers, partition, explained=told.producer_id) for partition in touched],
    )


def _open_of(peers: Peers, producer_id: int) -> list[TopicPartition]:
    """The partitions in which a producer has a transaction open."""
    everything = peers.run(all_partitions(None, peers.backoff()))
    known = peers.run(producers_where_there(everything, None, peers.backoff()))
    return [
        partition
        for partition, producers in known.items()
        if _start_of(producers, producer_id) is not None
    ]


def ends_in_ms(told: TransactionDescription) -> int | None:
    """How long a transaction may stay open yet; ``None`` when no time ends it."""
    if told.explanation is not None:
        times_out_ms = told.explanation.times_out_ms
        return None if times_out_ms is None else times_out_ms - told.now_ms
    if told.state != ONGOING or told.timeout_ms == NEVER_MS or told.duration_ms is None:
        return None
    return told.timeout_ms - told.duration_ms


def _markers(told: TransactionExplanation) -> list[Marker]:
    return [
        Marker(*each.partition, each.broker_id, each.last_error, each.is_held)
        for each in told.markers
    ]


def _requests(told: TransactionExplanation) -> list[Waiting]:
    return [Waiting(each.api, each.client_id) for each in told.requests]


def explain_partition(
    peers: Peers, partition: TopicPartition, *, explained: int | None = None
) -> ExplainedPartition:
    """Who holds the last stable offset of a partition; ``explained`` is a producer's id."""
    return peers.patiently(lambda: _explain_partition(peers, partition, explained))


def _explain_partition(
    peers: Peers, partition: TopicPartition, explained: int | None
) -> ExplainedPartition:
    leader_id = leader_of(peers, partition)
    producers = producers_of(peers, partition)
    stable, high = stable_and_high(peers, partition)
    begun = [
        LsoHolder(each.producer_id, each.producer_epoch, each.start_offset)
        for each in producers
        if each.start_offset is not None
    ]
    first = lso_holder(begun)
    return ExplainedPartition(
        *partition,
        leader_id,
        stable,
        high,
        high - stable,
        _start_of(producers, explained),
        None if first is None else _holder(peers, partition, first),
    )


def _start_of(producers: Producers, producer_id: int | None) -> int | None:
    return next((each.start_offset for each in producers if each.producer_id == producer_id), None)


def _holder(peers: Peers, partition: TopicPartition, first: LsoHolder) -> Holder:
    owner = owner_of(peers, first.producer_id)
    hangs = not keeps_open(owner, partition, first.producer_epoch)
    # Or it has ended since the partition was asked: then all has to be looked at again.
    if hangs and _start_of(producers_of(peers, partition), first.producer_id) != first.start_offset:
        raise MovedError(f"{partition[0]}-{partition[1]} changes too fast to be explained")
    ends_ms = None
    if owner is not None and not hangs:
        ends_ms = ends_in_ms(owner)
    return Holder(
        first.producer_id,
        first.producer_epoch,
        first.start_offset,
        None if owner is None else owner.transactional_id,
        None if owner is None else owner.coordinator_id,
        None if owner is None else owner.state,
        hangs,
        ends_ms,
    )
