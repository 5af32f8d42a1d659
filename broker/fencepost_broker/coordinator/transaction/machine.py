"""The transaction coordinator: one partition of ``__transaction_state`` with all its ids.

It follows the contract of ``fencepost_broker.metadata.decision``. The machine decides on a request
from the current state. The caller appends and replays the records; only then does it answer the
request and send markers. After the log is replayed, the caller runs ``activate`` before any
command. ``states`` explains the states.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from fencepost_protocol.errors import ErrorCode

from fencepost_broker.coordinator.records import LogRecord
from fencepost_broker.coordinator.transaction import (
    adding,
    describing,
    ending,
    enforcing,
    initializing,
    markers,
    parking,
)
from fencepost_broker.coordinator.transaction.commands import (
    AddPartitions,
    BumpEpoch,
    DescribeTransaction,
    EndTxn,
    Expire,
    ExplainTransaction,
    GiveUp,
    InitProducerId,
    ListTransactions,
    MarkersWritten,
    SendMarkers,
    TimeOut,
    VerifyPartitions,
)
from fencepost_broker.coordinator.transaction.context import Context
from fencepost_broker.coordinator.transaction.model import Transaction
from fencepost_broker.coordinator.transaction.ports import Cluster, ProducerIds, TransactionSettings
from fencepost_broker.coordinator.transaction.soft import (
    EpochAskedFor,
    MarkersAnswered,
    Park,
    Unpark,
)
from fencepost_broker.coordinator.transaction.states import State
from fencepost_broker.metadata.decision import Decision

Soft = SendMarkers | MarkersAnswered | EpochAskedFor | Park | Unpark


class TransactionCoordinator:
    """The state machine of one partition of ``__transaction_state``."""

    def __init__(
        self,
        cluster: Cluster,
        producer_ids: ProducerIds,
        settings: TransactionSettings,
        coordinator_epoch: int = 0,
    ) -> None:
        self._context = Context(cluster, producer_ids, settings, coordinator_epoch)
        self._transactions = self._context.transactions
        self._timers = self._context.timers

    # -- the contract of machines ---------------------------------------------------------------

    def handle(self, now_ms: int, command: Any) -> Decision[Any]:
        """Return the decision on a command; the state does not change."""
        return _DECIDERS[type(command)](self._context, now_ms, command)

    def replay(self, record: LogRecord, offset: int = -1, producer_id: int = -1) -> None:
        """Apply a record of the log; its offset does not matter."""
        del offset, producer_id
        key: Any = record.key
        value: Any = record.value
        name = key.transactional_id
        if value is None:
            self._transactions.pop(name, None)
            return
        known = self._transactions.get(name)
        transaction = known or Transaction(name)
        transaction.take(value)
        if known is None:
            self._transactions[name] = transaction
        self._timers.arm(transaction)

    def apply_soft(self, soft: Soft) -> None:
        """Apply a change that is not in the log, after the records of the same decision."""
        if isinstance(soft, SendMarkers):
            self._transactions[soft.transactional_id].sending = soft
            return
        if isinstance(soft, MarkersAnswered):
            for partition in soft.done:
                soft.send.pending.pop(partition, None)
            for topic, number, error in soft.failed:
                soft.send.pending[topic, number] = error
            return
        transaction = self._transactions[soft.transactional_id]
        if isinstance(soft, EpochAskedFor):
            transaction.last_epoch = soft.last_epoch
        elif isinstance(soft, Park):
            transaction.parked = (*transaction.parked, soft.command)
        else:
            transaction.parked = tuple(
                each for each in transaction.parked if each.token is not soft.token
            )

    def deadline(self) -> int | None:
        """Return the time at which the next transaction times out or the next id expires."""
        first = self._timers.first()
        return None if first is None else first[0]

    def not_due_before(self) -> int | None:
        """Return a lower bound of ``deadline``, cheap enough to ask after each decision."""
        return self._timers.earliest_ms

    def expire(self, now_ms: int) -> Decision[None]:
        """Abort the next transaction that has timed out, or delete the next id that has expired.

        One call handles one of them; ``deadline`` tells whether there is another.
        """
        first = self._timers.first()
        if first is None or first[0] > now_ms:
            return Decision()
        transaction = self._transactions[first[1]]
        if transaction.state is State.ONGOING:
            return enforcing.timed_out(self._context, now_ms, transaction)
        return enforcing.expired(transaction)

    def jumped(self, by_ms: int) -> None:
        """Change nothing: as in Kafka, a transaction's timeout compares the clock with its start.

        The time of that start is in the log.
        """

    def put_off(self) -> None:
        """Skip the entry that ``expire`` would handle next: its record could not be written."""
        self._timers.put_off()

    def take_up(self) -> None:
        """Consider the skipped entries again."""
        self._timers.take_up()

    def activate(self, now_ms: int) -> Decision[None]:
        """Continue the ends that are already decided; this is the first decision after loading."""
        return markers.outstanding(self._context, now_ms)

    def unload(self) -> Decision[None]:
        """Answer all waiting requests with NOT_COORDINATOR; this is the last decision."""
        return parking.all_replies(self._context, ErrorCode.NOT_COORDINATOR)

    def is_sending(self, send: SendMarkers) -> bool:
        """Whether these markers still have to be sent."""
        transaction = self._transactions.get(send.transactional_id)
        return transaction is not None and transaction.sending is send

    # -- the state ------------------------------------------------------------------------------

    @property
    def state(self) -> Context:
        """The machine's state, for reading only."""
        return self._context

    def durable(self) -> dict[str, tuple[object, ...]]:
        """Return the state that a replay of the log restores, for comparison."""
        return {each: found.durable() for each, found in self._transactions.items()}

    def __len__(self) -> int:
        """Return the number of transactional ids."""
        return len(self._transactions)


Decider = Callable[[Context, int, Any], Decision[Any]]

_DECIDERS: Final[dict[type, Decider]] = {
    AddPartitions: adding.add_partitions,
    BumpEpoch: enforcing.bump_epoch,
    DescribeTransaction: lambda context, _, command: describing.describe(context, command),
    EndTxn: ending.end_txn,
    Expire: lambda context, _, command: enforcing.expire(context, command),
    ExplainTransaction: lambda context, _, command: describing.explain(context, command),
    GiveUp: lambda context, _, command: parking.give_up(context, command),
    InitProducerId: initializing.init_producer_id,
    ListTransactions: describing.list_transactions,
    MarkersWritten: markers.markers_written,
    TimeOut: enforcing.time_out,
    VerifyPartitions: lambda context, _, command: adding.verify_partitions(context, command),
}
