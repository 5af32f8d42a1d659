"""What `fencepost transactions` asks: procedures of the client SDK, and what people need beside.

Names that do not exist are found out first and at once, with what may have been meant.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from typing import Any, Final

from fencepost_client.admin.hanging import TransactionMarker, owners
from fencepost_client.admin.partitions import list_offsets
from fencepost_client.admin.routing import metadata_of
from fencepost_client.admin.transactions import (
    ProducerDescription,
    TransactionDescription,
    TransactionFilters,
    TransactionListing,
    describe_producers,
    describe_transactions,
    list_transactions,
)
from fencepost_client.errors import TransactionalIdNotFoundError, error_of
from fencepost_client.procedures import ANY_NODE, Ask
from fencepost_client.types import TopicPartition
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.index import ApiKey

from fencepost_broker.adapters.peer import PeerError
from fencepost_broker.adapters.peers import MovedError, Peers

_LATEST: Final = -1
_NO_LEADER: Final = -1


class NotThereError(PeerError):
    """What was asked about does not exist."""


# -- transactions ---------------------------------------------------------------------------------


def all_transactions(peers: Peers, filters: TransactionFilters) -> list[TransactionListing]:
    """The ids that pass all filters, of every coordinator."""
    return peers.run(list_transactions(filters, peers.backoff()))


def described(peers: Peers, ids: Sequence[str]) -> list[TransactionDescription]:
    """These ids in this order; raises ``NotThereError`` for one that nobody knows."""
    try:
        found = peers.run(describe_transactions(ids, peers.wall_ms(), peers.backoff()))
    except TransactionalIdNotFoundError as error:
        missing = next(each for each in ids if isinstance(error.outcomes[each], type(error)))
        known = [each.transactional_id for each in all_transactions(peers, TransactionFilters())]
        raise NotThereError(
            f"there is no transactional id {missing!r}{did_you_mean(missing, known)}"
        ) from error
    return list(found.values())


def owner_of(peers: Peers, producer_id: int) -> TransactionDescription | None:
    """The transaction of a producer; ``None``: no coordinator knows it."""
    return peers.run(owners([producer_id], peers.wall_ms(), peers.backoff())).get(producer_id)


def did_you_mean(given: str, known: Iterable[str]) -> str:
    """What somebody may have wanted to type."""
    near = difflib.get_close_matches(given, list(known), 1)
    return f"; did you mean {near[0]!r}?" if near else ""


# -- partitions -----------------------------------------------------------------------------------


def partitions_of(peers: Peers, topic: str) -> dict[int, list[int]]:
    """The partitions of a topic with their replicas, the leader first (-1: there is none)."""
    [told] = _metadata(peers, [topic])
    if told.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
        known = [each.name for each in _metadata(peers, None) if each.name]
        raise NotThereError(f"there is no topic {topic!r}{did_you_mean(topic, known)}")
    if told.error_code:
        raise error_of(told.error_code, state=f"looking for topic {topic!r}")
    return {
        each.partition_index: [
            each.leader_id, *(other for other in each.replica_nodes if other != each.leader_id)
        ]
        for each in sorted(told.partitions, key=lambda each: each.partition_index)
    }  # fmt: skip


def _metadata(peers: Peers, topics: Iterable[str] | None) -> list[Any]:
    answer = peers.ask(Ask(ANY_NODE, ApiKey.METADATA, metadata_of(topics)))
    found: list[Any] = answer.topics
    return found


def leader_of(peers: Peers, partition: TopicPartition) -> int:
    """The broker that leads a partition."""
    topic, number = partition
    partitions = partitions_of(peers, topic)
    if number not in partitions:
        raise NotThereError(
            f"there is no partition {number} of topic {topic!r}, which has 0 to {max(partitions)}"
        )
    leader_id = partitions[number][0]
    if leader_id == _NO_LEADER:
        raise MovedError(f"{topic}-{number} has no leader at present")
    return leader_id


def producers_of(
    peers: Peers, partition: TopicPartition, broker_id: int | None = None
) -> tuple[ProducerDescription, ...]:
    """The producers that a partition knows, by its leader or by the broker that is named."""
    peers.patiently(lambda: leader_of(peers, partition))
    if broker_id is not None:
        peers.name_of(broker_id)  # says which ones there are
    return peers.run(describe_producers([partition], broker_id, peers.backoff()))[partition]


def stable_and_high(peers: Peers, partition: TopicPartition) -> tuple[int, int]:
    """Last stable offset and high watermark of a partition."""
    # In this order: a commit in between lets the lag be too large, never negative.
    stable, high = (
        peers.run(
            list_offsets({partition: _LATEST}, peers.backoff(), 0, read_committed=read_committed)
        )[partition].offset
        for read_committed in (True, False)
    )
    return stable, high


def marker_for_offset(
    peers: Peers, partition: TopicPartition, start_offset: int
) -> TransactionMarker:
    """The marker that aborts the transaction which begins at an offset."""
    begun = [each for each in producers_of(peers, partition) if each.start_offset is not None]
    for producer in begun:
        if producer.start_offset == start_offset:
            return TransactionMarker(
                partition,
                producer.producer_id,
                producer.producer_epoch,
                producer.coordinator_epoch or 0,
            )
    topic, number = partition
    there = ", ".join(f"offset {each.start_offset} (producer {each.producer_id})" for each in begun)
    raise NotThereError(
        f"no transaction is open in {topic}-{number} that begins at offset {start_offset};"
        f" open are: {there or 'none'}"
    )
