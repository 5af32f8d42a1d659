"""Commands of the transaction coordinator, with their answers and effects.

The caller chooses ``token``. A request that has to wait is answered with it, by ``effects.Reply``
or after its ``Resume``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from fencepost_protocol.errors import ErrorCode

if TYPE_CHECKING:
    from fencepost_protocol.generated.end_txn import EndTxnRequest
    from fencepost_protocol.generated.init_producer_id import InitProducerIdRequest
    from fencepost_protocol.generated.list_transactions import ListTransactionsRequest

CLIENT_VERSION_OLD: Final = 0
CLIENT_VERSION_EPOCH_BUMP: Final = 2
"""KIP-890: every end bumps the epoch, and a write to a partition adds it."""


@dataclass(slots=True)
class InitProducerId:
    """InitProducerId with a transactional id; the answer is its response."""

    request: InitProducerIdRequest
    version: int
    token: Any = None


@dataclass(slots=True)
class AddPartitions:
    """Add partitions to a transaction; the answer is an ``Outcome``.

    The version is that of AddPartitionsToTxn or AddOffsetsToTxn, whose errors are the same. Up to
    3 the request comes from an old client; from 4 on, from a leader for a producer (KIP-890).
    """

    transactional_id: str
    producer_id: int
    producer_epoch: int
    topics: Sequence[tuple[str, Sequence[int]]]
    version: int
    token: Any = None
    group_id: str | None = None
    """The group whose offsets partition is added too (AddOffsetsToTxn, KIP-609)."""
    is_known: bool = False
    """The partitions certainly exist, because the caller leads them."""


@dataclass(slots=True)
class VerifyPartitions:
    """Check that a transaction has these partitions (KIP-890 part 1); answer: an ``Outcome``."""

    transactional_id: str
    producer_id: int
    producer_epoch: int
    topics: Sequence[tuple[str, Sequence[int]]]


@dataclass(slots=True)
class Outcome:
    """One error for all partitions, or one for each."""

    error: ErrorCode
    each: dict[tuple[str, int], ErrorCode] | None = None

    def of(self, topic: str, partition: int) -> ErrorCode:
        """Return the error of one partition."""
        return self.error if self.each is None else self.each[topic, partition]


@dataclass(slots=True)
class EndTxn:
    """EndTxn; its response follows PrepareX and does not wait for the markers."""

    request: EndTxnRequest
    version: int


@dataclass(slots=True, eq=False)
class SendMarkers:
    """Effect: send markers to these partitions. Each end of a transaction has its own object.

    The sender finds the leaders (which may change between attempts) and sends WriteTxnMarkers
    until each partition has succeeded or failed for good. It reports outcomes with
    ``MarkersWritten``, which contains this object: the next end may have the same producer id and
    epoch. The sender stops when the machine is unloaded.
    """

    transactional_id: str
    producer_id: int
    producer_epoch: int
    is_commit: bool
    coordinator_epoch: int
    transaction_version: int
    """For WriteTxnMarkers v2 (KIP-1228): at 2 the marker's epoch must be above the writer's."""
    pending: dict[tuple[str, int], ErrorCode]
    """The partitions without an acknowledgement, with the error of the last attempt. This is soft
    state that only the machine changes."""

    def topics(self) -> dict[str, list[int]]:
        """Return the partitions that still need a marker, by topic."""
        topics: dict[str, list[int]] = {}
        for topic, partition in self.pending:
            topics.setdefault(topic, []).append(partition)
        return topics


@dataclass(slots=True)
class MarkersWritten:
    """The outcome of sent markers, by partition; the answer is ``True`` if they complete the end.

    Temporary errors (see ``markers.may_pass``) are only recorded: the sender retries.
    """

    send: SendMarkers
    outcomes: Iterable[tuple[str, int, ErrorCode]]


@dataclass(slots=True)
class GiveUp:
    """A parked request has waited long enough; its answer is CONCURRENT_TRANSACTIONS."""

    transactional_id: str
    token: Any


@dataclass(slots=True)
class Resume:
    """Effect: handle a parked request now and answer it with its token.

    The caller handles several of them in order, before any new command.
    """

    command: InitProducerId | AddPartitions


@dataclass(slots=True)
class DescribeTransaction:
    """Describe an id; the answer is the ``TransactionState`` of DescribeTransactions."""

    transactional_id: str


@dataclass(slots=True)
class ListTransactions:
    """List this partition's transactional ids; the answer is the rows of the response."""

    request: ListTransactionsRequest
    matches: Callable[[str], bool] | None = None
    """The request's pattern (v2); the caller compiles it."""


@dataclass(slots=True)
class ExplainTransaction:
    """Ask what an id is waiting for; the answer is ``TransactionWaits``, ``None`` if unknown."""

    transactional_id: str


# -- what time or a producer would do, done at once -----------------------------------------------


@dataclass(slots=True)
class TimeOut:
    """Abort an open transaction as its timeout does; the answer is whether one was open."""

    transactional_id: str


@dataclass(slots=True)
class Expire:
    """Delete an unused id as its expiration does; the answer is whether it was unused."""

    transactional_id: str


@dataclass(slots=True)
class BumpEpoch:
    """Bump a producer's epoch between two transactions; the answer is whether that was possible.

    The producer may ask for the new epoch with its old one (KIP-360).
    """

    transactional_id: str
    epoch: int | None = None
    """The new epoch; ``None`` for the next one."""
