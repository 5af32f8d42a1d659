"""Appending the batches of a Produce request, and answering it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from fencepost_protocol.primitives import Buffer
from fencepost_protocol.records.batch import (
    HEADER_SIZE,
    LOG_OVERHEAD,
    MAGIC,
)

from fencepost_broker.apis.produce.flush_waits import AnswerAfterFlush
from fencepost_broker.apis.produce.responses import answer_all
from fencepost_broker.apis.request import NO_ANSWER, Answer, Request
from fencepost_broker.replication.partition import Partition, Topic
from fencepost_broker.storage.log import (
    AppendResult,
    PartitionLog,
    StorageError,
    VerificationGuard,
)

if TYPE_CHECKING:
    from fencepost_broker.apis.context import BrokerContext
    from fencepost_broker.apis.produce.delayed_produce import Unreplicated

ACKS_ALL: Final = -1
ACKS: Final = (ACKS_ALL, 0, 1)
_BY_ID_FROM: Final = 13
_WITHOUT_START: Final = (
    ErrorCode.CORRUPT_MESSAGE,
    ErrorCode.MESSAGE_TOO_LARGE,
    ErrorCode.RECORD_LIST_TOO_LARGE,
    ErrorCode.KAFKA_STORAGE_ERROR,
)
"""Errors that come without the log start offset; others have it if there was one whole batch."""
_LENGTH: Final = slice(8, 12)
_MAGIC_AT: Final = 16
Outcome = tuple[TopicProduceData, list[tuple[int, AppendResult]]]
"""One topic of a request, and the result of each of its batches, by partition."""
Unflushed = tuple[PartitionLog, AppendResult]
Examined = Callable[[Partition, PartitionProduceData, int, VerificationGuard | None], AppendResult]
"""Appends a batch that was examined earlier."""
Permit = Callable[[Partition, PartitionProduceData, int], VerificationGuard | AppendResult | None]
"""Checks a batch before it is appended; returns the guard of its verification, or a refusal."""


def refuse_unnamed(request: Request, message: ProduceRequest) -> Answer:
    """Refuse a request that has a transactional batch but no transactional id."""
    text = "A batch is transactional, but the request has no transactional id."
    code = ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
    return refuse_all(request, message, code, text)


def refuse_all(request: Request, message: ProduceRequest, code: ErrorCode, text: str) -> Answer:
    """Refuse all batches of a request with the same error."""
    if message.acks == 0:
        request.peer.drop(f"a Produce with acks 0 failed: {text}")
        return NO_ANSWER
    result = AppendResult(code, message=text)
    outcomes = [
        (data, [(entry.index, result) for entry in data.partition_data])
        for data in message.topic_data
    ]
    return answer_all(request, outcomes)


def conclude(
    context: BrokerContext,
    request: Request,
    message: ProduceRequest,
    outcomes: list[Outcome],
    unflushed: list[Unflushed],
    unreplicated: list[Unreplicated],
) -> Answer | None:
    """Answer after all batches; ``None`` if the answer has to wait for followers or the disk."""
    failed = any(result.error for _, of in outcomes for _, result in of)
    if unreplicated:
        from fencepost_broker.apis.produce.delayed_produce import settle

        unreplicated = settle(unreplicated)
        failed = any(result.error for _, of in outcomes for _, result in of)
    if unflushed or unreplicated:
        if message.acks:
            for data, _ in outcomes:
                data.partition_data = []  # its records are views of the frame, which is reused
            _answer_later(context, request, message.timeout_ms, outcomes, unflushed, unreplicated)
            return None
        context.replicas.flushes.ask(log for log, _ in unflushed)
    if message.acks == 0:
        if failed:
            request.peer.drop("a Produce with acks 0 failed")
        return NO_ANSWER
    return answer_all(request, outcomes, context)


def _answer_later(
    context: BrokerContext,
    request: Request,
    timeout_ms: int,
    outcomes: list[Outcome],
    unflushed: list[Unflushed],
    unreplicated: list[Unreplicated],
) -> None:
    """Answer once the batches are replicated and then flushed, as far as they have to be."""

    def flush_and_answer() -> None:
        left = [(log, result) for log, result in unflushed if not result.error]
        if left:
            AnswerAfterFlush(
                request, left, not_on_disk, lambda: answer_all(request, outcomes, context)
            ).wait(context.replicas.flushes)
        else:
            request.release(answer_all(request, outcomes, context))

    if unreplicated:
        from fencepost_broker.apis.produce.delayed_produce import DelayedProduce

        DelayedProduce(request, unreplicated, flush_and_answer).begin(context, timeout_ms)
    else:
        flush_and_answer()


def not_on_disk(result: AppendResult, error: StorageError) -> None:
    """Refuse a batch that could not be flushed."""
    result.error = ErrorCode.KAFKA_STORAGE_ERROR
    result.message = str(error)


def find_topic(context: BrokerContext, data: TopicProduceData, version: int) -> Topic | None:
    """Return the topic to write to; ``None`` if it does not exist or clients must not write to it.

    ``topic_error`` tells which.
    """
    table = context.replicas.table
    if version >= _BY_ID_FROM:
        topic = table.by_id.get(data.topic_id)
    else:
        topic = table.by_name.get(data.name)
    return None if topic is None or topic.is_internal else topic


def topic_error(context: BrokerContext, data: TopicProduceData, version: int) -> ErrorCode:
    """Return the error for a topic that ``find_topic`` does not return."""
    table = context.replicas.table
    by_id = version >= _BY_ID_FROM
    if data.topic_id in table.by_id if by_id else data.name in table.by_name:
        return ErrorCode.INVALID_TOPIC_EXCEPTION
    return ErrorCode.UNKNOWN_TOPIC_ID if by_id else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def append(
    topic: Topic,
    entry: PartitionProduceData,
    now_ms: int,
    acks: int,
    unflushed: list[Unflushed],
    unreplicated: list[Unreplicated],
    permit: Permit | None = None,
    examined: Examined | None = None,
) -> AppendResult:
    """Append one batch, or return a result with the error.

    What its answer has to wait for is added to ``unflushed`` and ``unreplicated``.
    """
    if not 0 <= entry.index < len(topic.partitions):
        return AppendResult(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    partition = topic.partitions[entry.index]
    records = entry.records
    if records is None:
        # Apache Kafka does not answer such a request; an error is more useful to testers.
        return AppendResult(ErrorCode.INVALID_RECORD, message="The records are null.")
    if not partition.is_plain:
        if not partition.leads:
            return AppendResult(ErrorCode.NOT_LEADER_OR_FOLLOWER)
        replication = partition.replication
        if acks == ACKS_ALL and replication is not None and replication.has_too_few:
            return _too_few(partition, entry, now_ms, permit)
    guard = None
    if permit is not None:
        permitted = permit(partition, entry, now_ms)
        if isinstance(permitted, AppendResult):
            return permitted
        guard = permitted
    log = partition.log
    if examined is None:
        result = log.append_as_leader(
            memoryview(records), partition.leader_epoch, now_ms, guard=guard
        )
    else:
        result = examined(partition, entry, now_ms, guard)
    if result.error:
        partition.batches_refused += 1
        _tell_log_start(log, records, result)
        return result
    if not result.duplicate:
        partition.bytes_in += len(records)
        partition.batches_in += 1
        if not partition.is_plain or partition.waiters:
            partition.appended(now_ms)
    if log.log_end_offset >= log.flush_at_offset:
        unflushed.append((log, result))
    if not partition.is_plain and acks == ACKS_ALL:
        unreplicated.append((partition, result, partition.leader_epoch))
    return result


def _too_few(
    partition: Partition, entry: PartitionProduceData, now_ms: int, permit: Permit | None
) -> AppendResult:
    """Refuse a batch because too few replicas are in sync; a refusal by ``permit`` goes first."""
    permitted = None if permit is None else permit(partition, entry, now_ms)
    if isinstance(permitted, AppendResult):
        return permitted
    start = partition.log.log_start_offset
    return AppendResult(ErrorCode.NOT_ENOUGH_REPLICAS, log_start_offset=start)


def _tell_log_start(log: PartitionLog, records: Buffer, result: AppendResult) -> None:
    """Add the log start offset to a log's refusal in the cases in which Kafka does."""
    length = int.from_bytes(records[_LENGTH], "big", signed=True)
    is_one_batch = length + LOG_OVERHEAD == len(records) >= HEADER_SIZE
    if is_one_batch and records[_MAGIC_AT] == MAGIC and result.error not in _WITHOUT_START:
        result.log_start_offset = log.log_start_offset
