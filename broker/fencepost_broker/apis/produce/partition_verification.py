"""What a leader asks a transaction's coordinator before it writes (KIP-890).

Old producers enter partitions by themselves, and the leader only verifies that they did; newer
ones leave it to the leader. An add that comes before the last transaction's markers are there waits
for them (KIP-609), and the request with it. A coordinator that is another broker is asked by
AddPartitionsToTxn; it has nobody wait, so this broker asks again until the markers are there.

    Produce           up to 11 verified, from 12 on entered
    TxnOffsetCommit   up to 4 verified, from 5 on entered
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.produce import ProduceRequest

from fencepost_broker.apis.coordinator_requests import (
    ParkedRequest,
    error_or,
    submit,
    submit_at_once,
    transaction_shard,
)
from fencepost_broker.apis.request import Answer, Request
from fencepost_broker.coordinator.hashing import partition_of
from fencepost_broker.coordinator.records import RecordFamily
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
"""Called before an answer is waited for: a marker that arrives before it has to be noticed
(``PartitionLog.start_verification``). What it gives says whether none has."""
_FIRST_PAUSE_MS: Final = 1
_BY_BROKER: Final = 4
"""The version of AddPartitionsToTxn in which leaders ask."""


def enter(
    context: BrokerContext,
    request: Request,
    transactional_id: str,
    producer: tuple[int, int],
    partitions: Partitions,
    answer: Callable[[Outcome], Answer | None],
    begin: Begin,
) -> Answer | None:
    """Have partitions enter the transaction, then write; ``None`` when that has to wait.

    What is still needed of the request's frame then must have been copied: see ``keep_frame``.
    """
    shard = transaction_shard(context, transactional_id)
    if shard is None:
        settings = context.config.settings
        wait_ms = settings.transaction_park_max_ms if settings.transaction_park_enable else 0
        ask = partial(enter_now, context, transactional_id, producer, partitions, begin)
        return Polling(context, request, answer, ask, wait_ms).ask()
    waiting = ParkedRequest(
        context, request, shard, transactional_id, lambda told: answer(_outcome(told))
    )
    command = AddPartitions(
        transactional_id, *producer, partitions, _BY_BROKER, waiting, is_known=True
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
    """Have partitions enter the transaction without a wait for the last one's markers.

    ``None`` when the outcome has to be on disk first, or comes from another broker, and goes to
    ``then``.
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
    """Whether partitions are in the transaction, then write; ``None`` when that has to wait.

    It waits for the disk, so that what is written here is not there before what it goes by, or for
    another broker.
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
        # Also here: the question may have been another broker's until this one took over, and the
        # marker for which it was asked again has taken the guard of that time.
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
    """Have it asked again where a marker has come meanwhile.

    It may be the last transaction's, for which the question waited at the coordinator or on its way
    there; then the next answer is yes. If it was this one's, the coordinator will say so.
    """
    if outcome.error is ErrorCode.NONE and not still_holds():
        outcome = Outcome(ErrorCode.CONCURRENT_TRANSACTIONS)
    then(outcome)


class Polling:
    """Waits for the last transaction's markers in Kafka's way: by asking again and again.

    Markers take some milliseconds, so it asks soon, and then after pauses that double up to
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
        """The request waits, and counts as one that does (``requests.parked.max``)."""
        self._waited_ms = 0
        self._pause_ms = _FIRST_PAUSE_MS
        self._wait_max_ms = wait_max_ms

    def ask(self) -> Answer | None:
        """Ask; ``None`` when the outcome is not there yet, or it has to be asked again."""
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


def keep_frame(request: Request) -> None:
    """Let the request have its frame for itself, since it is read again when it has waited."""
    if not request.has_own_frame:
        request.frame = memoryview(bytearray(request.frame))


def read_again(request: Request, message: ProduceRequest) -> ProduceRequest:
    """The same message, as it lies in the frame that was kept."""
    if request.has_own_frame:
        return message
    return ProduceRequest.decode(request.frame, request.version, request.body)[0]


def keep_message(request: Request, message: ProduceRequest) -> ProduceRequest:
    """The same message in a frame of its own."""
    keep_frame(request)
    return read_again(request, message)


def _outcome(told: Any) -> Outcome:
    error = error_or(told)
    if error:
        return Outcome(error)
    assert isinstance(told, Outcome)
    return told


def _elsewhere(context: BrokerContext, transactional_id: str) -> int | None:
    """The other broker that coordinates this id; ``None`` where none does."""
    topic = context.replicas.table.by_name.get(RecordFamily.TRANSACTIONS.value)
    if topic is None or not topic.partitions:
        return None
    number = partition_of(transactional_id, len(topic.partitions))
    return context.coordinators.peers.leader_of(topic.name, number)


def _nobody(context: BrokerContext, transactional_id: str) -> Outcome:
    """Nobody coordinates this id here; if nobody does anywhere, no producer can have it."""
    if RecordFamily.TRANSACTIONS.value not in context.replicas.table.by_name:
        return Outcome(ErrorCode.INVALID_PRODUCER_ID_MAPPING)
    return Outcome(
        context.coordinators.runtime.refusal(RecordFamily.TRANSACTIONS, transactional_id)
    )
