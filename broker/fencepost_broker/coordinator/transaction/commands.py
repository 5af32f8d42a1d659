"""What can be asked of the transaction coordinator, and what it answers or brings about.

``token`` is the caller's: a request that has to wait is answered under it, by ``effects.Reply`` or
when its ``Resume`` is carried out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.end_txn import EndTxnRequest
from fencepost_protocol.generated.init_producer_id import InitProducerIdRequest
from fencepost_protocol.generated.list_transactions import ListTransactionsRequest

CLIENT_VERSION_OLD: Final = 0
CLIENT_VERSION_EPOCH_BUMP: Final = 2
"""KIP-890: the epoch is bumped at each end, partitions are added by what is written to them."""


@dataclass(slots=True)
class InitProducerId:
    """InitProducerId with a transactional id; answered by its response."""

    request: InitProducerIdRequest
    version: int
    token: Any = None


@dataclass(slots=True)
class AddPartitions:
    """Partitions enter a transaction; answered by an ``Outcome``.

    Versions are those of AddPartitionsToTxn and AddOffsetsToTxn, which agree in their errors. Up
    to 3 a client of the old kind asks; from 4 on a leader asks in a producer's name (KIP-890).
    """

    transactional_id: str
    producer_id: int
    producer_epoch: int
    topics: Sequence[tuple[str, Sequence[int]]]
    version: int
    token: Any = None
    group_id: str | None = None
    """The group whose offsets partition enters too (AddOffsetsToTxn, KIP-609)."""
    is_known: bool = False
    """The partitions are there: the one who asks leads them."""


@dataclass(slots=True)
class VerifyPartitions:
    """Whether partitions are in a transaction (KIP-890 part 1); answered by an ``Outcome``."""

    transactional_id: str
    producer_id: int
    producer_epoch: int
    topics: Sequence[tuple[str, Sequence[int]]]


@dataclass(slots=True)
class Outcome:
    """One code for all partitions, or each one's own."""

    error: ErrorCode
    each: dict[tuple[str, int], ErrorCode] | None = None

    def of(self, topic: str, partition: int) -> ErrorCode:
        """The code of one partition."""
        return self.error if self.each is None else self.each[topic, partition]


@dataclass(slots=True)
class EndTxn:
    """EndTxn; answered by its response once PrepareX is in the log, not after the markers."""

    request: EndTxnRequest
    version: int


@dataclass(slots=True, eq=False)
class SendMarkers:
    """Effect: these partitions are to get a marker. One object for one end of a transaction.

    The sender finds the leaders (they move while it tries again), sends WriteTxnMarkers until
    each partition has answered with something that does not pass, and says so by
    ``MarkersWritten``; that this object comes back with it tells this end from the next one,
    which may have the same producer id and epoch. It stops when the machine is unloaded.
    """

    transactional_id: str
    producer_id: int
    producer_epoch: int
    is_commit: bool
    coordinator_epoch: int
    transaction_version: int
    """For WriteTxnMarkers v2 (KIP-1228): at 2 the marker's epoch must be above the writer's."""
    pending: dict[tuple[str, int], ErrorCode]
    """Soft state of the machine, which alone changes it: what has not been acknowledged, with the
    code of the last attempt."""

    def topics(self) -> dict[str, list[int]]:
        """What is still to be written, by topic."""
        topics: dict[str, list[int]] = {}
        for topic, partition in self.pending:
            topics.setdefault(topic, []).append(partition)
        return topics


@dataclass(slots=True)
class MarkersWritten:
    """What became of markers, partition by partition; not answered.

    Codes that pass (see ``markers.may_pass``) are only noted: repeating is the sender's.
    """

    send: SendMarkers
    outcomes: Iterable[tuple[str, int, ErrorCode]]


@dataclass(slots=True)
class GiveUp:
    """A request has waited long enough; it is answered with CONCURRENT_TRANSACTIONS now."""

    transactional_id: str
    token: Any


@dataclass(slots=True)
class Resume:
    """Effect: a request that waited is to be handled now, and answered under its token.

    Several are to be handled one after the other, as they come, before any new command.
    """

    command: InitProducerId | AddPartitions


@dataclass(slots=True)
class DescribeTransaction:
    """Answered by the ``TransactionState`` of DescribeTransactions."""

    transactional_id: str


@dataclass(slots=True)
class ListTransactions:
    """Answered by the rows of this partition's transactional ids."""

    request: ListTransactionsRequest
    matches: Callable[[str], bool] | None = None
    """The request's pattern (v2), made by somebody who knows regular expressions."""


@dataclass(slots=True)
class ExplainTransaction:
    """What a transactional id waits for; answered by an ``Explanation``, ``None`` if unknown."""

    transactional_id: str
