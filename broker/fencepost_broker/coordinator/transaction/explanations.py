"""What a transaction waits for, as its coordinator knows it, and who will end what is open."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from fencepost_protocol.errors import ErrorCode

_ENDING: Final = frozenset({"PrepareCommit", "PrepareAbort", "PrepareEpochFence"})


@dataclass(slots=True)
class WaitingMarker:
    """A marker that has not been acknowledged."""

    topic: str
    partition: int
    leader: int | None
    """The broker that it goes to now; ``None`` when the partition has no leader."""
    last_error: ErrorCode
    is_held: bool = False
    """A test holds it back."""


@dataclass(slots=True)
class TransactionWaits:
    """Why a transaction is where it is."""

    state: str
    producer_id: int
    producer_epoch: int
    updated_ms: int
    times_out_ms: int | None = None
    """Ongoing: when the coordinator will abort it; ``None`` when it never will."""
    expires_ms: int | None = None
    """When the id will be forgotten if nobody uses it."""
    markers: list[WaitingMarker] = field(default_factory=list)
    repeats: int = 0
    """How often markers were sent again because some had failed."""
    tokens: tuple[Any, ...] = field(default=(), repr=False)
    """Of requests that are answered when the markers are there, in order."""


def is_kept_open(
    state: str, producer_epoch: int, partitions: Iterable[tuple[str, int]],
    partition: tuple[str, int], open_epoch: int,
) -> bool:  # fmt: skip
    """Whether a coordinator will end what a producer of ``open_epoch`` has open in a partition.

    ``state``, ``producer_epoch`` and ``partitions`` are what DescribeTransactions tells of the
    producer's transactional id. An open transaction has the epoch of its records; one that is
    ending may have the next (KIP-890, or a fence), and its marker ends what came before.
    """
    if partition not in partitions:
        return False
    if state == "Ongoing":
        return producer_epoch == open_epoch
    return state in _ENDING and producer_epoch >= open_epoch
