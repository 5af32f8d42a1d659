"""Why nothing goes on: what a transaction waits for, and whose transaction holds readers back.

A consumer that reads committed records gets none behind the *last stable offset* (LSO): where the
oldest open transaction of the partition begins. Whoever opened it holds the LSO, until a marker
ends it. If its coordinator does not keep it open (any more), no marker will come: it *hangs*, and
only an administrator ends it (KIP-664).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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
class WaitingRequest:
    """A request that is answered when the markers are there (KIP-609)."""

    api_key: int
    """-1 when no client sent it."""
    client_id: str | None


@dataclass(slots=True)
class LsoHolder:
    """The producer of the oldest transaction that is open in a partition."""

    producer_id: int
    producer_epoch: int
    """The one that the partition knows, which is the one before while markers are out (KIP-890)."""
    start_offset: int
    transactional_id: str | None = None
    """``None`` when no coordinator knows this producer id."""
    state: str | None = None
    is_kept_open: bool = False
    """Its coordinator means to end it; if not, it hangs."""
    times_out_ms: int | None = None
    """When it will be aborted at the latest; ``None``: it waits for its marker, or for ever."""


@dataclass(slots=True)
class PartitionExplanation:
    """How far readers of committed records get in a partition, and who stops them there."""

    topic: str
    partition: int
    leader: int | None
    last_stable_offset: int = -1
    high_watermark: int = -1
    holder: LsoHolder | None = None
    """``None`` when no transaction is open there."""
    start_offset: int | None = None
    """Where the explained transaction begins there; ``None`` when it has no record there yet."""

    @property
    def lag(self) -> int:
        """How many offsets are there and cannot be read as committed."""
        return self.high_watermark - self.last_stable_offset


@dataclass(slots=True)
class Explanation:
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
    waiting_requests: int = 0
    """Requests that are answered when the markers are there."""
    requests: list[WaitingRequest] = field(default_factory=list)
    """These requests, in order."""
    partitions: list[PartitionExplanation] = field(default_factory=list)
    """Those that lack their marker, and others where its producer has a transaction open."""
    tokens: tuple[Any, ...] = field(default=(), repr=False)
    """Of the requests; only who made them understands them."""


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


def lso_holder(open_transactions: Sequence[LsoHolder]) -> LsoHolder | None:
    """Whoever began first."""
    return min(open_transactions, key=lambda each: each.start_offset, default=None)
