"""Verification of a transaction's partitions with its coordinator before a leader writes (KIP-890).

Old producers add partitions to the transaction themselves, and the leader only verifies that they
did; newer ones leave that to the leader. An add that arrives before the previous transaction's
markers waits for them (KIP-609), and the request waits with it. If the coordinator is another
broker, this one sends it AddPartitionsToTxn. That broker never waits for markers, so this one asks
again until they are written.

    Produce           up to 11 verified, from 12 on added
    TxnOffsetCommit   up to 4 verified, from 5 on added
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

from fencepost_protocol.errors import ErrorCode

from fencepost_broker.apis.coordinator_requests import (
    ParkedTransactionRequest,
    submit,
    submit_at_once,
    transaction_shard,
)
from fencepost_broker.apis.request import Answer, Request
from fencepost_broker.coordinator.hashing import partition_of
from fencepost_broker.coordinator.records import RecordFamily
from fencepost_broker.coordinator.runtime.shard import AppendRefusedError
from fencepost_broker.coordinator.transaction.commands import (
    AddPartitions,
    Outcome,
    VerifyPartitions,
)

if TYPE_CHECKING:
    from fencepost_broker.apis.context import BrokerContext

Partitions = Sequence[tuple[str, Sequence[int]]]
StillHolds = Callable[[], bool]
Begin = Callable[[], StillHolds]
"""Called before the coordinator is asked, because a marker that arrives before the answer has to be
noticed (``PartitionLog.start_verification``). Its result tells whether none has arrived."""
_FIRST_PAUSE_MS: Final = 1
_BY_BROKER: Final = 4
"""The version of AddPartitionsToTxn that leaders use."""


def enter(
    context: BrokerContext,
    request: Request,
    transactional_id: str,
    producer: tuple[int, int],
    partitions: Partitions,
    answer: Callable[[Outcome], Answer | None],
    begin: Begin,
) -> Answer | None:
    """Add partitions to the transaction, then write; ``None`` if that has to wait.

    If it has to wait, the caller keeps the request's frame with ``keep_frame``.
    """
    shard = transaction_shard(context, transactional_id)
    if shard is None:
        settings = context.config.settings
        wait_ms = settings.transaction_park_max_ms if settings.transaction_park_enable else 0
        ask = partial(enter_now, context, transactional_id, producer, partitions, begin)
        return Polling(context, request, answer, ask, wait_ms).ask()
    waiting = ParkedTransactionRequest(
        context, request, shard, transactional_id, lambda told: answer(_outcome(told))
    )
    producer_id, epoch = producer
    command = AddPartitions(
        transactional_id, producer_id, epoch, partitions, _BY_BROKER, waiting, is_known=True
    )
    return waiting.submit(command)


def enter_now(
    context: BrokerContext,
    transactional_id: str,
    producer: tuple[int, int],
    partitions: Partitions,
    begin: Begin,
    then: Callable[[Outcome], None],
) -> Outcome | None:
    """Add partitions to the transaction without waiting for the previous one's markers.

    The result is ``None`` if the outcome has to be flushed first or comes from another broker;
    then ``then`` is called with it.
    """
    command = AddPartitions(transactional_id, *producer, partitions, _BY_BROKER, is_known=True)
    return _ask_now(context, command, begin, then)


def verify(
    context: BrokerContext,
    request: Request,
    transactional_id: str,
    producer: tuple[int, int],
    partitions: Partitions,
    answer: Callable[[Outcome], Answer | None],
    begin: Begin,
) -> Answer | None:
    """Verify that partitions are in the transaction, then write; ``None`` if that has to wait.

    It waits for another broker, or for the disk: records must not be durable before the
    transaction's state that they depend on.
    """

    def later(outcome: Outcome) -> None:
        told = answer(outcome)
        if told is not None:
            request.release(told)

    command = VerifyPartitions(transactional_id, *producer, partitions)
    outcome = _ask_now(context, command, begin, later)
    return None if outcome is None else answer(outcome)


def _ask_now(
    context: BrokerContext,
    command: AddPartitions | VerifyPartitions,
    begin: Begin,
    then: Callable[[Outcome], None],
) -> Outcome | None:
    transactional_id = command.transactional_id
    shard = transaction_shard(context, transactional_id)
    if shard is None:
        coordinator = _elsewhere(context, transactional_id)
        if coordinator is None:
            return _nobody(context, transactional_id)
        still_holds = begin()
        if isinstance(command, AddPartitions):
            then = partial(_tell_entered, still_holds, then)
        context.coordinators.peers.coordinators.ask(coordinator, command, then)
        return None
    if isinstance(command, AddPartitions):
        # The check is needed here, too: another broker may have been the coordinator until now,
        # and the marker that was waited for has invalidated the guard of that time.
        then = partial(_tell_entered, begin(), then)
        told = submit_at_once(shard, command)
    else:
        told = submit(shard, command)
    durable = shard.settle(told, lambda told: then(_outcome(told)))
    if durable is not None:
        return _outcome(durable)
    if isinstance(command, VerifyPartitions):
        begin()
    return None


def _tell_entered(
    still_holds: StillHolds, then: Callable[[Outcome], None], outcome: Outcome
) -> None:
    """Make the caller ask again if a marker has arrived meanwhile.

    The marker may be the previous transaction's, for which the question waited; then the next
    answer is positive. If it is this transaction's, the coordinator's next answer says so.
    """
    if outcome.error is ErrorCode.NONE and not still_holds():
        outcome = Outcome(ErrorCode.CONCURRENT_TRANSACTIONS)
    then(outcome)


class Polling:
    """Waits for the previous transaction's markers as Kafka does: by asking repeatedly.

    Markers take some milliseconds, so the first pause is short; pauses double up to
    ``add.partitions.to.txn.retry.backoff.ms``.
    """

    __slots__ = (
        "_ask", "_context", "_go_on", "_is_out", "_pause_ms", "_request", "_wait_max_ms",
        "_waited_ms",
    )  # fmt: skip

    def __init__(
        self,
        context: BrokerContext,
        request: Request,
        go_on: Callable[[Outcome], Answer | None],
        ask: Callable[[Callable[[Outcome], None]], Outcome | None],
        wait_max_ms: int,
    ) -> None:
        self._context = context
        self._request = request
        self._go_on = go_on
        self._ask = ask
        self._is_out = False
        """Whether the request is parked, and counts against ``requests.parked.max``."""
        self._waited_ms = 0
        self._pause_ms = _FIRST_PAUSE_MS
        self._wait_max_ms = wait_max_ms

    def ask(self) -> Answer | None:
        """Ask the coordinator; ``None`` if the answer comes later or the question is repeated."""
        outcome = self._ask(self._late)
        answer = None if outcome is None else self._told(outcome)
        self._is_out = answer is None
        return answer

    def _told(self, outcome: Outcome) -> Answer | None:
        is_over = self._waited_ms >= self._wait_max_ms or not (
            self._is_out or self._request.peer.may_park
        )
        if outcome.error is not ErrorCode.CONCURRENT_TRANSACTIONS or is_over:
            return self._go_on(outcome)
        wait_ms = self._pause_ms
        self._waited_ms += wait_ms
        longest_ms = self._context.config.settings.add_partitions_to_txn_retry_backoff_ms
        self._pause_ms = min(2 * wait_ms, longest_ms)
        self._context.clock.call_later(wait_ms, self._again)
        return None

    def _again(self) -> None:
        self._leave(self.ask())

    def _late(self, outcome: Outcome) -> None:
        self._leave(self._told(outcome))

    def _leave(self, answer: Answer | None) -> None:
        if answer is not None:
            self._request.release(answer)


def _outcome(told: Outcome | AppendRefusedError) -> Outcome:
    return Outcome(told.error) if isinstance(told, AppendRefusedError) else told


def _elsewhere(context: BrokerContext, transactional_id: str) -> int | None:
    """Return the other broker that coordinates this id, or ``None``."""
    topic = context.replicas.table.by_name.get(RecordFamily.TRANSACTIONS.value)
    if topic is None or not topic.partitions:
        return None
    number = partition_of(transactional_id, len(topic.partitions))
    return context.coordinators.peers.leader_of(topic.name, number)


def _nobody(context: BrokerContext, transactional_id: str) -> Outcome:
    """Return the outcome for an id that this broker does not coordinate."""
    if RecordFamily.TRANSACTIONS.value not in context.replicas.table.by_name:
        return Outcome(ErrorCode.INVALID_PRODUCER_ID_MAPPING)
    return Outcome(
        context.coordinators.runtime.refusal(RecordFamily.TRANSACTIONS, transactional_id)
    )
