"""Explanations: what a transaction is waiting for, and whether its coordinator will end it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from fencepost_protocol.errors import ErrorCode

_ENDING: Final = frozenset({"PrepareCommit", "PrepareAbort", "PrepareEpochFence"})


@dataclass(slots=True)
class WaitingMarker:
    """A marker without an acknowledgement."""

    topic: str
    partition: int
    leader: int | None
    """The broker that must write it; ``None`` when the partition has no leader."""
    last_error: ErrorCode
    is_held: bool = False
    """Whether a test holds it back."""


@dataclass(slots=True)
class TransactionWaits:
    """The state of a transaction, and what it is waiting for."""

    state: str
    producer_id: int
    producer_epoch: int
    updated_ms: int
    times_out_ms: int | None = None
    """In Ongoing: the time at which the coordinator aborts it; ``None`` if it never does."""
    expires_ms: int | None = None
    """The time at which an unused id expires."""
    markers: list[WaitingMarker] = field(default_factory=list)
    repeats: int = 0
    """The number of attempts after the first that sent failed markers again."""
    kept_by: tuple[int, int] | None = None
    """In Ongoing: id and epoch of the producer that has kept it and may end it (KIP-939)."""
    tokens: tuple[Any, ...] = field(default=(), repr=False)
    """The tokens of the parked requests, in order."""


def is_kept_open(
    state: str, producer_epoch: int, partitions: Iterable[tuple[str, int]],
    partition: tuple[str, int], open_epoch: int,
) -> bool:  # fmt: skip
    """Whether a coordinator will end the open transaction of a producer in a partition.

    ``state``, ``producer_epoch`` and ``partitions`` come from DescribeTransactions;
    ``open_epoch`` is the epoch in the partition's log. An open transaction has the epoch of its
    records. During its end it may have the next epoch (KIP-890, or a fence), and the marker then
    ends the records of the epoch before.
    """
    if partition not in partitions:
        return False
    if state == "Ongoing":
        return producer_epoch == open_epoch
    return state in _ENDING and producer_epoch >= open_epoch
