"""Batches of a Produce request are appended to the logs of their partitions, and answered."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter_ns
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

from fencepost_broker.apis.produce.flush_waits import AnswerBehindFlush
from fencepost_broker.apis.produce.responses import answer_all, answer_success
from fencepost_broker.apis.request import NO_ANSWER, Pieces, Request
from fencepost_broker.replication.partition import Partition, Topic
from fencepost_broker.storage.log import (
    AppendResult,
    Origin,
    PartitionLog,
    StorageError,
    VerificationGuard,
)

if TYPE_CHECKING:
    from fencepost_broker.apis.ports import Broker

ACKS_ALL: Final = -1
ACKS: Final = (ACKS_ALL, 0, 1)
_TURN_NS: Final = 10_000_000
"""For so long batches of one request are appended before others have their turn."""
_BY_ID_FROM: Final = 13
_WITHOUT_START: Final = (
    ErrorCode.CORRUPT_MESSAGE,
    ErrorCode.MESSAGE_TOO_LARGE,
    ErrorCode.RECORD_LIST_TOO_LARGE,
    ErrorCode.KAFKA_STORAGE_ERROR,
)
"""With any other refusal goes the offset that the log begins with, if there was one whole batch."""
_LENGTH: Final = slice(8, 12)
_MAGIC_AT: Final = 16
Outcome = tuple[TopicProduceData, list[tuple[int, AppendResult]]]
"""What became of one topic's batches, by partition."""
Unflushed = tuple[PartitionLog, AppendResult]
Unreplicated = tuple[Partition, AppendResult]
Permit = Callable[[Partition, PartitionProduceData, int], VerificationGuard | AppendResult | None]
"""Asked before a batch is appended: what lets it into its transaction, or why it may not."""


def refuse_unnamed(request: Request, message: ProduceRequest) -> Pieces:
    """Refuse a request that has a batch of a transaction and does not say of which."""
    text = "A batch is transactional, the request names no transactional id."
    code = ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
    return refuse_all(request, message, code, text)


def refuse_all(request: Request, message: ProduceRequest, code: ErrorCode, text: str) -> Pieces:
    """Append nothing of a request, whatever else is right or wrong with it."""
    if message.acks == 0:
        request.peer.drop(f"a Produce with acks 0 failed: {text}")
        return NO_ANSWER
    result = AppendResult(code, message=text)
    outcomes = [
        (data, [(entry.index, result) for entry in data.partition_data])
        for data in message.topic_data
    ]
    return answer_all(request, outcomes)


def carry_out(
    broker: Broker, request: Request, message: ProduceRequest, permit: Permit | None
) -> Pieces | None:
    """Append each batch and answer; ``None`` when that has to wait for the disk.

    Batches that have to be unpacked may take long. Others have their turn then, and the rest is
    appended after it, unless the batches are a transaction's: all of those go by what the
    coordinator has said just now.
    """
    version = request.version
    until_ns = perf_counter_ns() + _TURN_NS
    refusal = ErrorCode.NONE if message.acks in ACKS else ErrorCode.INVALID_REQUIRED_ACKS
    now_ms = broker.now_ms()
    failed = False
    count = 0
    outcomes: list[Outcome] = []
    unflushed: list[Unflushed] = []
    unreplicated: list[Unreplicated] = []
    for data in message.topic_data:
        topic, missing = find_topic(broker, data, version)
        of_topic: list[tuple[int, AppendResult]] = []
        for entry in data.partition_data:
            if (
                (outcomes or of_topic)
                and permit is None
                and perf_counter_ns() > until_ns
                and request.peer.may_park
            ):
                outcomes.append((data, of_topic))
                from fencepost_broker.apis.produce.long_requests import LongRequest

                LongRequest(broker, request, outcomes, unflushed, unreplicated).begin()
                return None
            result = (
                AppendResult(refusal or missing)
                if topic is None or refusal
                else append(topic, entry, now_ms, permit, message.acks)
            )
            if result.error:
                failed = True
            elif topic is not None:
                partition = topic.partitions[entry.index]
                log = partition.log
                if log.log_end_offset >= log.flush_at_offset:
                    unflushed.append((log, result))
                if not partition.is_plain and message.acks == ACKS_ALL:
                    unreplicated.append((partition, result))
            of_topic.append((entry.index, result))
        count += len(of_topic)
        outcomes.append((data, of_topic))
    if count == 1 and not (failed or unflushed or unreplicated) and message.acks:
        return answer_success(request, data, of_topic[0])
    return conclude(broker, request, message, outcomes, unflushed, unreplicated)


def conclude(
    broker: Broker,
    request: Request,
    message: ProduceRequest,
    outcomes: list[Outcome],
    unflushed: list[Unflushed],
    unreplicated: list[Unreplicated],
) -> Pieces | None:
    """Answer when all is appended; ``None`` when that has to wait for followers or the disk."""
    failed = any(result.error for _, of in outcomes for _, result in of)
    if unreplicated:
        from fencepost_broker.apis.produce.delayed_produce import is_decided

        unreplicated = [
            (each, result)
            for each, result in unreplicated
            if not is_decided(each, result, each.leader_epoch)
        ]
        failed = any(result.error for _, of in outcomes for _, result in of)
    if unflushed or unreplicated:
        if message.acks:
            for data, _ in outcomes:
                data.partition_data = []  # its records lie in the frame, which is not ours to keep
            _answer_later(broker, request, message.timeout_ms, outcomes, unflushed, unreplicated)
            return None
        broker.flushes.ask(log for log, _ in unflushed)
    if message.acks == 0:
        if failed:
            request.peer.drop("a Produce with acks 0 failed")
        return NO_ANSWER
    return answer_all(request, outcomes, broker)


def _answer_later(
    broker: Broker,
    request: Request,
    timeout_ms: int,
    outcomes: list[Outcome],
    unflushed: list[Unflushed],
    unreplicated: list[Unreplicated],
) -> None:
    """Answer when followers have what they should, and then the disk."""

    def flush_and_answer() -> None:
        left = [(log, result) for log, result in unflushed if not result.error]
        if left:
            AnswerBehindFlush(
                request, left, _not_on_disk, lambda: answer_all(request, outcomes, broker)
            ).wait(broker.flushes)
        else:
            request.release(answer_all(request, outcomes, broker))

    if unreplicated:
        from fencepost_broker.apis.produce.delayed_produce import ReplicaWait

        ReplicaWait(request, unreplicated, flush_and_answer).begin(broker, timeout_ms)
    else:
        flush_and_answer()


def _not_on_disk(result: AppendResult, error: StorageError) -> None:
    result.error = ErrorCode.KAFKA_STORAGE_ERROR
    result.message = str(error)


def find_topic(
    broker: Broker, data: TopicProduceData, version: int
) -> tuple[Topic | None, ErrorCode]:
    """A topic that clients may write to, or why there is none."""
    if version >= _BY_ID_FROM:
        topic = broker.table.by_id.get(data.topic_id)
        missing = ErrorCode.UNKNOWN_TOPIC_ID
    else:
        topic = broker.table.by_name.get(data.name)
        missing = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    if topic is not None and topic.is_internal:
        return None, ErrorCode.INVALID_TOPIC_EXCEPTION
    return topic, missing


def append(
    topic: Topic, entry: PartitionProduceData, now_ms: int, permit: Permit | None, acks: int
) -> AppendResult:
    """Append one batch, or say why not."""
    if not 0 <= entry.index < len(topic.partitions):
        return AppendResult(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    partition = topic.partitions[entry.index]
    records = entry.records
    if records is None:
        # Apache Kafka does not answer this at all; a test tool had better say what is wrong.
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
    result = partition.log.append_as_leader(
        memoryview(records), partition.leader_epoch, now_ms, Origin.CLIENT, guard
    )
    if not (result.error or result.duplicate):
        partition.bytes_in += len(records)
        if not partition.is_plain:
            partition.appended(now_ms)
        elif partition.waiters:
            partition.moved()
    elif result.error:
        _tell_log_start(partition.log, records, result)
    return result


def _too_few(
    partition: Partition, entry: PartitionProduceData, now_ms: int, permit: Permit | None
) -> AppendResult:
    """Too few replicas are in sync; what a transaction's coordinator has against it comes first."""
    permitted = None if permit is None else permit(partition, entry, now_ms)
    if isinstance(permitted, AppendResult):
        return permitted
    start = partition.log.log_start_offset
    return AppendResult(ErrorCode.NOT_ENOUGH_REPLICAS, log_start_offset=start)


def _tell_log_start(log: PartitionLog, records: Buffer, result: AppendResult) -> None:
    """Add to a log's refusal the offset that the log begins with, where Kafka does."""
    length = int.from_bytes(records[_LENGTH], "big", signed=True)
    is_one_batch = length + LOG_OVERHEAD == len(records) >= HEADER_SIZE
    if is_one_batch and records[_MAGIC_AT] == MAGIC and result.error not in _WITHOUT_START:
        result.log_start_offset = log.log_start_offset
