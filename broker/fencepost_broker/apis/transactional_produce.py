"""Produce with a transactional id: first the coordinator is asked, then batches are appended.

Behaviour: where the producer's transaction is open already, nobody is asked. Otherwise its
partitions are verified (versions up to 11) or entered into the transaction (from 12 on), all of a
request at once; a wait for the last transaction's markers parks the whole request.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Final

from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.produce import PartitionProduceData, ProduceRequest
from fencepost_protocol.records.batch import HEADER, HEADER_SIZE, TRANSACTIONAL_FLAG

from fencepost_broker.apis.produce import carry_out, find_topic, refuse_all
from fencepost_broker.apis.request import Pieces, Request
from fencepost_broker.apis.transactional_writes import (
    Partitions,
    enter,
    enter_now,
    keep_frame,
    verify,
)
from fencepost_broker.coordinators.transactions.adding import produce_error
from fencepost_broker.coordinators.transactions.commands import Outcome
from fencepost_broker.log import AppendResult, VerificationGuard
from fencepost_broker.partitions import Partition

if TYPE_CHECKING:
    from fencepost_broker.apis.registry import Broker

_ENTERS_FROM: Final = 12
_YES: Final = Outcome(ErrorCode.NONE)
Producer = tuple[int, int]
Wanted = dict[str, list[int]]
"""Partitions by topic."""
_VERIFICATION: Final = "transaction.partition.verification.enable"


def produce_in_transaction(
    broker: Broker, request: Request, message: ProduceRequest
) -> Pieces | None:
    """Answer a Produce that names a transactional id."""
    try:
        producer, wanted = _to_be_asked_for(broker, message, request.version)
    except _SeveralProducersError:
        text = "The request has transactional batches of several producers."
        return refuse_all(request, message, ErrorCode.INVALID_PRODUCER_ID_MAPPING, text)
    if producer is None or not wanted:
        return _write(broker, request, message, {}, _YES)
    name = message.transactional_id or ""
    partitions = list(wanted.items())
    has_waited = False

    def go_on(outcome: Outcome) -> Pieces | None:
        kept = message
        if has_waited:
            kept, _ = ProduceRequest.decode(request.frame, request.version, request.body)
        return _write(broker, request, kept, wanted, outcome)

    pieces: Pieces | None
    if request.version < _ENTERS_FROM:
        pieces = verify(broker, request, name, producer, partitions, go_on)
    elif broker.settings.transaction_park_enable:
        pieces = enter(broker, request, name, producer, partitions, go_on)
    else:
        pieces = _Polling(broker, request, go_on, name, producer, partitions).ask()
    if pieces is None:
        has_waited = True
        keep_frame(request)
    return pieces


class _Polling:
    """Kafka's way of waiting for the last transaction's markers: to ask again and again."""

    __slots__ = ("_ask", "_broker", "_go_on", "_is_out", "_request", "_waited_ms")

    def __init__(
        self,
        broker: Broker,
        request: Request,
        go_on: Callable[[Outcome], Pieces | None],
        name: str,
        producer: Producer,
        partitions: Partitions,
    ) -> None:
        self._broker = broker
        self._request = request
        self._go_on = go_on
        self._ask = partial(enter_now, broker, name, producer, partitions, self._durable)
        self._is_out = False
        """The request waits, and counts as one that does (``requests.parked.max``)."""
        self._waited_ms = 0

    def ask(self) -> Pieces | None:
        """Ask; ``None`` when it has to be asked again, or is not on disk yet."""
        outcome = self._ask()
        pieces = None if outcome is None else self._told(outcome)
        self._is_out = pieces is None
        return pieces

    def _told(self, outcome: Outcome) -> Pieces | None:
        settings = self._broker.settings
        is_over = self._waited_ms >= settings.add_partitions_to_txn_retry_backoff_max_ms or not (
            self._is_out or self._request.peer.may_park
        )
        if outcome.error is not ErrorCode.CONCURRENT_TRANSACTIONS or is_over:
            return self._go_on(outcome)
        wait_ms = settings.add_partitions_to_txn_retry_backoff_ms
        self._waited_ms += wait_ms
        self._broker.call_later(wait_ms, self._again)
        return None

    def _again(self) -> None:
        self._leave(self.ask())

    def _durable(self, outcome: Outcome) -> None:
        self._leave(self._told(outcome))

    def _leave(self, pieces: Pieces | None) -> None:
        if pieces is not None:
            self._request.release(pieces)


class _SeveralProducersError(Exception):
    """One request has one producer; with a second one all of it is refused, as in Kafka."""


def _to_be_asked_for(
    broker: Broker, message: ProduceRequest, version: int
) -> tuple[Producer | None, Wanted]:
    """The producer, and the partitions in which its transaction is not open yet."""
    known: Producer | None = None
    wanted: Wanted = {}
    is_asked = version >= _ENTERS_FROM or broker.settings[_VERIFICATION]
    for data in message.topic_data:
        topic, _ = find_topic(broker, data, version)
        if topic is None:
            continue
        for entry in data.partition_data:
            producer = _producer(entry)
            if producer is None or not 0 <= entry.index < len(topic.partitions):
                continue
            if producer != known:
                if known is not None:
                    raise _SeveralProducersError
                known = producer
            if is_asked and not topic.partitions[entry.index].log.has_ongoing_transaction(
                *producer
            ):
                wanted.setdefault(topic.name, []).append(entry.index)
    return known, wanted


def _producer(entry: PartitionProduceData) -> Producer | None:
    """The producer of a transactional batch; ``None`` if it is none, or nobody's."""
    records = entry.records
    if records is None or len(records) < HEADER_SIZE:
        return None
    header = HEADER.unpack_from(records)
    if header[9] < 0 or not header[5] & TRANSACTIONAL_FLAG:
        return None
    return header[9], header[10]


def _write(
    broker: Broker, request: Request, message: ProduceRequest, asked: Wanted, outcome: Outcome
) -> Pieces | None:
    """Append what the coordinator has nothing against, or what it was not asked about."""
    version = request.version

    def permit(
        partition: Partition, entry: PartitionProduceData, now_ms: int
    ) -> VerificationGuard | AppendResult | None:
        producer = _producer(entry)
        if producer is None or entry.records is None:
            return None
        if partition.number in asked.get(partition.topic, ()):
            told = outcome.of(partition.topic, partition.number)
            if told:
                return _refused(produce_error(told, version), told)
        return partition.log.start_verification(
            *producer,
            HEADER.unpack_from(entry.records)[11],
            supports_epoch_bump=version >= _ENTERS_FROM,
            now_ms=now_ms,
        )

    return carry_out(broker, request, message, permit)


def _refused(error: ErrorCode, told: ErrorCode) -> AppendResult:
    return AppendResult(error, message=f"the transaction's coordinator says {told.name}")
