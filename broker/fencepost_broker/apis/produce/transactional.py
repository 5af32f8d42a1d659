"""Produce with a transactional id: ask the transaction's coordinator, then append the batches.

Behaviour: the coordinator is asked about all partitions of a request at once. It verifies them
(versions up to 11) or adds them to the transaction (from 12 on). A wait for the previous
transaction's markers parks the whole request. The coordinator is not asked about partitions in
which the producer's transaction is open already, or in which a newer epoch of the producer was
seen.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.produce import PartitionProduceData, ProduceRequest
from fencepost_protocol.records.batch import (
    HEADER,
    HEADER_SIZE,
    TRANSACTIONAL_FLAG,
    RawHeader,
)

from fencepost_broker.apis.produce.appending import find_topic, refuse_all
from fencepost_broker.apis.produce.carrying_out import carry_out
from fencepost_broker.apis.produce.examination import Examination
from fencepost_broker.apis.produce.kept_frame import keep_frame, read_again
from fencepost_broker.apis.produce.partition_verification import (
    Polling,
    StillHolds,
    enter,
    enter_now,
    verify,
)
from fencepost_broker.apis.request import Answer, Request
from fencepost_broker.coordinator.transaction.adding import produce_error
from fencepost_broker.coordinator.transaction.commands import Outcome
from fencepost_broker.replication.partition import Partition
from fencepost_broker.storage.log import AppendResult, VerificationGuard

if TYPE_CHECKING:
    from fencepost_broker.apis.context import BrokerContext

_ENTERS_FROM: Final = 12
_YES: Final = Outcome(ErrorCode.NONE)
Producer = tuple[int, int]
Wanted = dict[str, list[int]]
"""Partitions by topic."""
Guards = dict[tuple[str, int], "VerificationGuard | None"]
"""By topic and partition; present only if another broker was asked about them."""
Fenced = set[tuple[str, int]]
"""Partitions that have seen a newer epoch of the producer."""
_VERIFICATION: Final = "transaction.partition.verification.enable"


def produce_in_transaction(
    context: BrokerContext,
    request: Request,
    message: ProduceRequest,
    examination: Examination | None = None,
) -> Answer | None:
    """Answer a Produce that names a transactional id.

    Pass ``examination`` if the batches were examined in several turns, in a copy of the frame.
    """
    try:
        producer, wanted, fenced = _to_be_asked_for(context, message, request.version)
    except _SeveralProducersError:
        text = "The request has transactional batches of several producers."
        return refuse_all(request, message, ErrorCode.INVALID_PRODUCER_ID_MAPPING, text)
    if producer is None or not wanted:
        return _write(context, request, message, {}, _YES, {}, fenced, examination)
    name = message.transactional_id or ""
    partitions = list(wanted.items())
    has_waited = False
    sequences: dict[tuple[str, int], int] = {}
    guards: Guards = {}

    def still_holds() -> bool:
        return all(
            partition.log.is_verified(*producer, guard)
            for where, guard in guards.items()
            if (partition := context.replicas.table.find(*where)) is not None
        )

    def begin() -> StillHolds:
        # This runs before each question to another broker: the markers that it waits for may be
        # markers of this partition.
        if not has_waited:
            sequences.update(_sequences(context, message, request.version, wanted))
        for where, sequence in sequences.items():
            partition = context.replicas.table.find(*where)
            if partition is not None:
                guards[where] = _guard(context, partition, producer, sequence, request.version)
        return still_holds

    def go_on(outcome: Outcome) -> Answer | None:
        kept = message
        if has_waited and examination is None:
            kept = read_again(request, message)
        return _write(context, request, kept, wanted, outcome, guards, fenced, examination)

    answer: Answer | None
    settings = context.config.settings
    if request.version < _ENTERS_FROM:
        answer = verify(context, request, name, producer, partitions, go_on, begin)
    elif settings.transaction_park_enable:
        answer = enter(context, request, name, producer, partitions, go_on, begin)
    else:
        ask = partial(enter_now, context, name, producer, partitions, begin)
        wait_ms = settings.add_partitions_to_txn_retry_backoff_max_ms
        answer = Polling(context, request, go_on, ask, wait_ms).ask()
    if answer is None:
        has_waited = True
        if examination is None:
            keep_frame(request)
    return answer


def _sequences(
    context: BrokerContext, message: ProduceRequest, version: int, wanted: Wanted
) -> dict[tuple[str, int], int]:
    """Return the first sequence of the request's batch for each of these partitions."""
    sequences: dict[tuple[str, int], int] = {}
    for data in message.topic_data:
        topic = find_topic(context, data, version)
        asked = () if topic is None else wanted.get(topic.name, ())
        for entry in data.partition_data:
            if topic is not None and entry.index in asked and entry.records is not None:
                sequence = HEADER.unpack_from(entry.records)[11]
                sequences.setdefault((topic.name, entry.index), sequence)
    return sequences


def _guard(
    context: BrokerContext, partition: Partition, producer: Producer, sequence: int, version: int
) -> VerificationGuard | None:
    return partition.log.producers.start_verification(
        *producer,
        sequence,
        supports_epoch_bump=version >= _ENTERS_FROM,
        now_ms=context.clock.now_ms(),
    )


class _SeveralProducersError(Exception):
    """Raised if a request has batches of two producers; all of it is refused, as in Kafka."""


def _to_be_asked_for(
    context: BrokerContext, message: ProduceRequest, version: int
) -> tuple[Producer | None, Wanted, Fenced]:
    """Return the producer, the partitions to ask about, and those with a newer epoch."""
    known: Producer | None = None
    wanted: Wanted = {}
    fenced: Fenced = set()
    is_asked = version >= _ENTERS_FROM or context.config.settings[_VERIFICATION]
    for data in message.topic_data:
        topic = find_topic(context, data, version)
        if topic is None:
            continue
        for entry in data.partition_data:
            header = _transactional(entry)
            if header is None or not 0 <= entry.index < len(topic.partitions):
                continue
            producer = producer_id, epoch = header[9], header[10]
            if producer != known:
                if known is not None:
                    raise _SeveralProducersError
                known = producer
            partition = topic.partitions[entry.index]
            producers = partition.log.producers
            if is_asked and not producers.has_ongoing_transaction(producer_id, epoch):
                if not partition.leads:
                    continue  # nothing is written here, whatever the coordinator answers
                if producers.is_fenced(producer_id, epoch):
                    fenced.add((topic.name, entry.index))
                    continue
                wanted.setdefault(topic.name, []).append(entry.index)
    return known, wanted, fenced


def _transactional(entry: PartitionProduceData) -> RawHeader | None:
    """Return the header of a transactional batch; ``None`` for any other batch."""
    records = entry.records
    if records is None or len(records) < HEADER_SIZE:
        return None
    header: RawHeader = HEADER.unpack_from(records)
    return header if header[5] & TRANSACTIONAL_FLAG and header[9] >= 0 else None


def _write(
    context: BrokerContext,
    request: Request,
    message: ProduceRequest,
    asked: Wanted,
    outcome: Outcome,
    guards: Guards,
    fenced: Fenced,
    examination: Examination | None,
) -> Answer | None:
    """Append the batches that the coordinator accepts, or was not asked about."""
    version = request.version

    def permit(
        partition: Partition, entry: PartitionProduceData, now_ms: int
    ) -> VerificationGuard | AppendResult | None:
        header = _transactional(entry)
        if header is None:
            return None
        producer_id, epoch = header[9], header[10]
        if fenced and (partition.topic, partition.number) in fenced:
            text = f"producer {producer_id} has a newer epoch than {epoch} in this partition"
            return AppendResult(ErrorCode.INVALID_PRODUCER_EPOCH, message=text)
        if (outcome.error or guards) and partition.number in asked.get(partition.topic, ()):
            told = outcome.of(partition.topic, partition.number)
            if told:
                return _refused(produce_error(told, version), told)
            if guards:
                return guards.get((partition.topic, partition.number))
        return partition.log.producers.start_verification(
            producer_id,
            epoch,
            header[11],
            supports_epoch_bump=version >= _ENTERS_FROM,
            now_ms=now_ms,
        )

    if examination is None:
        if len(message.topic_data) == 1 == len(message.topic_data[0].partition_data):
            return carry_out(context, request, message, permit)
        examination = Examination(context, request)
        if not examination.is_done_now(message) and request.peer.may_park:
            examination.go_on_later(
                message, lambda kept: produce_in_transaction(context, request, kept, examination)
            )
            return None
    return carry_out(context, request, message, permit, examination.append)


def _refused(error: ErrorCode, told: ErrorCode) -> AppendResult:
    return AppendResult(error, message=f"the transaction's coordinator answered {told.name}")
