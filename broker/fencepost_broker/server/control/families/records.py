"""Records of a partition as they lie in the log, and records written by hand."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from http import HTTPStatus
from typing import Annotated, Any, Final

from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.exceptions import RemoteProtocolError
from fencepost_protocol.generated.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from fencepost_protocol.records.batch import BatchHeader, split_batches
from fencepost_protocol.records.control import ControlType, read_control_record
from fencepost_protocol.records.reader import iter_records
from fencepost_protocol.records.writer import build_batch
from msgspec import Meta, Struct
from msgspec.structs import replace

from fencepost_broker.replication.partition import Partition
from fencepost_broker.server.control.in_cluster import all_brokers, broker_that_has_it
from fencepost_broker.server.control.problems import ProblemError, not_found
from fencepost_broker.server.control.routes import ASK_SECONDS, ControlContext, Route
from fencepost_broker.storage.log.results import UpperBound

READ_BYTES: Final = 1 << 20
SEARCHED_BYTES: Final = 1 << 23
"""A search for a key ends after so many bytes of the log; the answer says where to go on."""
RECORDS_MAX: Final = 500
SHOWN_BYTES_MAX: Final = 4096
"""Longer keys and values are cut, if nothing else is asked for."""
_PRODUCE_VERSION: Final = 9
_PRODUCE_MS: Final = 5_000
_ALL_IN_SYNC: Final = -1


class PartitionOffsets(Struct, frozen=True):
    """A partition with its offsets, as its leader has them."""

    partition: int
    leader: Annotated[int, Meta(description="the id of its leader; -1: none")]
    log_start_offset: int
    last_stable_offset: int
    high_watermark: int
    log_end_offset: int
    size_bytes: int


class TopicOffsets(Struct, frozen=True):
    """A topic with the offsets of its partitions."""

    topic: str
    partitions: list[PartitionOffsets]


class NamedTopic(Struct, frozen=True, forbid_unknown_fields=True):
    """The name of a topic."""

    topic: str


class WantedRecords(Struct, frozen=True, forbid_unknown_fields=True):
    """Which records to read."""

    topic: str
    partition: Annotated[int, Meta(ge=0)]
    offset: Annotated[int, Meta(ge=0, description="where to begin")] = 0
    count: Annotated[int, Meta(ge=1, le=RECORDS_MAX, description="how many records at most")] = 100
    at_ms: Annotated[
        int | None,
        Meta(description="begin at the first record that is not older, if that is later"),
    ] = None
    bytes_max: Annotated[
        int, Meta(ge=SHOWN_BYTES_MAX, le=READ_BYTES, description="of a key and of a value")
    ] = SHOWN_BYTES_MAX
    key: Annotated[
        str | None,
        Meta(description=f"only records with this key; {SEARCHED_BYTES:,} bytes are searched"),
    ] = None


class ReadRecord(Struct, frozen=True):
    """A record; bytes are in base64."""

    offset: int
    timestamp_ms: int
    key: Annotated[bytes | None, Meta(description="its first bytes")]
    key_bytes: int
    value: Annotated[bytes | None, Meta(description="its first bytes")]
    value_bytes: int
    headers: Annotated[list[tuple[str, bytes | None]], Meta(description="name and value")]


class ReadBatch(Struct, frozen=True):
    """A batch of records, as it lies in the log."""

    base_offset: int
    last_offset: int
    size_bytes: int
    compression: str
    producer_id: int
    producer_epoch: int
    base_sequence: int
    outcome: Annotated[
        str, Meta(description="of its transaction: open, committed or aborted; empty: it has none")
    ]
    control: Annotated[
        str, Meta(description="of a control record: commit, abort, ...; empty: these are data")
    ]
    records: list[ReadRecord]
    problem: Annotated[str, Meta(description="why its records cannot be read")] = ""


class ReadRecords(Struct, frozen=True):
    """Batches of a partition, and its offsets."""

    offsets: PartitionOffsets
    batches: list[ReadBatch]
    next_offset: Annotated[int, Meta(description="where the next batch begins")]


class NewRecord(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A record to write."""

    topic: str
    partition: Annotated[int, Meta(ge=0)]
    key: str | None = None
    value: str | None = None
    headers: dict[str, str] = {}
    transactional_id: Annotated[
        str | None, Meta(description="write it in a transaction of this id, and end that")
    ] = None
    abort: Annotated[bool, Meta(description="abort the transaction; else it commits")] = False


class WrittenRecord(Struct, frozen=True):
    """A record that was written."""

    topic: str
    partition: int
    offset: int


def get_topic(context: ControlContext, named: NamedTopic) -> TopicOffsets:
    """Return the offsets of a topic's partitions."""
    topics = context.server.image.topics.by_name
    if named.topic not in topics:
        raise not_found("topic", named.topic, topics, where="path, $.topic")
    found = []
    for each in topics[named.topic].in_order():
        partition = context.server.table.find(named.topic, each.partition_id)
        if partition is not None and partition.is_here:
            found.append(_offsets(partition, each.partition_id, each.leader))
    return TopicOffsets(named.topic, found)


def _offsets(partition: Partition, number: int, leader: int) -> PartitionOffsets:
    log = partition.log
    return PartitionOffsets(
        number,
        leader,
        log.log_start_offset,
        log.last_stable_offset,
        log.high_watermark,
        log.log_end_offset,
        log.size_in_bytes,
    )


def _led(context: ControlContext, topic: str, number: int) -> Partition:
    """Return a partition that this broker leads; raises ``ProblemError``."""
    topics = context.server.image.topics.by_name
    if topic not in topics:
        raise not_found("topic", topic, topics, where="path, $.topic")
    known = topics[topic].partitions
    if number not in known:
        numbers = map(str, known)
        raise not_found("partition", str(number), numbers, where="path, $.partition")
    partition = context.server.table.find(topic, number)
    if partition is None or not partition.is_here or not partition.leads:
        raise ProblemError(HTTPStatus.NOT_FOUND, "this broker does not lead the partition")
    return partition


async def read_records(context: ControlContext, wanted: WantedRecords) -> ReadRecords:
    """Read batches from an offset on, with control records and what was aborted."""
    log = _led(context, wanted.topic, wanted.partition).log
    offset = wanted.offset
    if wanted.at_ms is not None:
        found = log.offset_for_timestamp(wanted.at_ms)
        offset = max(offset, log.log_end_offset if found is None else found.offset)
    read = _read(context, wanted, offset)
    if wanted.key is None:
        return read
    key = wanted.key.encode()
    batches = list(_with_key(read.batches, key, offset))
    searched = READ_BYTES
    while searched < SEARCHED_BYTES and len(batches) < wanted.count:
        if read.next_offset >= read.offsets.log_end_offset:
            break
        await asyncio.sleep(0)
        read = _read(context, wanted, read.next_offset)
        batches += _with_key(read.batches, key, offset)
        searched += READ_BYTES
    return ReadRecords(read.offsets, batches, read.next_offset)


def _with_key(batches: Iterable[ReadBatch], key: bytes, offset: int) -> Iterator[ReadBatch]:
    for batch in batches:
        records = [
            each
            for each in batch.records
            if each.offset >= offset
            and each.key_bytes == len(key)
            and each.key == key[: len(each.key or b"")]
        ]
        if records:
            yield replace(batch, records=records)


def _read(context: ControlContext, wanted: WantedRecords, offset: int) -> ReadRecords:
    partition = _led(context, wanted.topic, wanted.partition)
    log = partition.log
    offset = min(max(offset, log.log_start_offset), log.log_end_offset)
    read = log.read(offset, READ_BYTES, UpperBound.LOG_END, min_one_batch=True)
    stable = log.read(offset, READ_BYTES, UpperBound.LAST_STABLE, min_one_batch=True)
    if read.error:
        raise ProblemError(HTTPStatus.SERVICE_UNAVAILABLE, f"{read.error.name}: {read.message}")
    aborted = [(each.producer_id, each.first_offset) for each in stable.aborted or ()]
    offsets = _offsets(partition, wanted.partition, context.server.identity.node_id)
    content = b"".join(read.pieces or ())
    batches: list[ReadBatch] = []
    count, next_offset = 0, offset
    stable_offset = offsets.last_stable_offset
    for batch in _batches(content, offset, stable_offset, aborted, wanted.bytes_max):
        batches.append(batch)
        next_offset = batch.last_offset + 1
        count += len(batch.records) or 1
        if count >= wanted.count and wanted.key is None:
            break
    return ReadRecords(offsets, batches, next_offset)


def _batches(
    content: bytes, offset: int, stable: int, aborted: list[tuple[int, int]], shown: int
) -> Iterator[ReadBatch]:
    """Yield batches with the outcomes of their transactions, as a consumer knows them."""
    aborting: set[int] = set()
    waiting = sorted(aborted, key=lambda each: each[1])
    for header, batch in split_batches(content, tolerate_partial=True):
        if header.last_offset < offset:
            continue
        while waiting and waiting[0][1] <= header.last_offset:
            aborting.add(waiting.pop(0)[0])
        control = ""
        if header.is_control:
            control = _control(batch)
            if control == ControlType.ABORT.name.lower():
                aborting.discard(header.producer_id)
        outcome = ""
        if header.is_transactional and not header.is_control:
            outcome = "aborted" if header.producer_id in aborting else "committed"
            outcome = "open" if header.base_offset >= stable else outcome
        records, problem = ([], "") if control else _records(batch, shown)
        yield _batch(header, len(batch), outcome, control, records, problem)


def _batch(
    header: BatchHeader,
    size: int,
    outcome: str,
    control: str,
    records: list[ReadRecord],
    problem: str,
) -> ReadBatch:
    return ReadBatch(
        header.base_offset,
        header.last_offset,
        size,
        header.codec.name.lower(),
        header.producer_id,
        header.producer_epoch,
        header.base_sequence,
        outcome,
        control,
        records,
        problem,
    )


def _control(batch: memoryview) -> str:
    try:
        return read_control_record(batch).type.name.lower()
    except RemoteProtocolError:
        return ControlType.UNKNOWN.name.lower()


def _records(batch: memoryview, shown: int) -> tuple[list[ReadRecord], str]:
    try:
        return [
            ReadRecord(
                each.offset,
                each.timestamp,
                *_shown(each.key, shown),
                *_shown(each.value, shown),
                [(str(name), _shown(value, SHOWN_BYTES_MAX)[0]) for name, value in each.headers],
            )
            for each in iter_records(batch, READ_BYTES)
        ], ""
    except RemoteProtocolError as error:
        return [], str(error)


def _shown(content: memoryview | bytes | None, most: int) -> tuple[bytes | None, int]:
    return (None, 0) if content is None else (bytes(content[:most]), len(content))


async def write_record(context: ControlContext, new: NewRecord) -> WrittenRecord:
    """Write a record, as Produce does, or as a producer with transactions does."""
    if new.transactional_id is not None:
        return await _write_in_transaction(context, new, new.transactional_id)
    key = None if new.key is None else new.key.encode()
    value = None if new.value is None else new.value.encode()
    headers = {0: [(name, each.encode()) for name, each in new.headers.items()]}
    batch = bytes(build_batch([key], [value], context.now_ms(), headers))
    data = [
        TopicProduceData(new.topic, partition_data=[PartitionProduceData(new.partition, batch)])
    ]
    message = ProduceRequest(None, _ALL_IN_SYNC, _PRODUCE_MS, data)
    answer: Any = await context.ask(message, _PRODUCE_VERSION)
    [result] = answer.responses[0].partition_responses
    if result.error_code:
        name = ErrorCode(result.error_code).name
        detail = name if result.error_message is None else f"{name}: {result.error_message}"
        raise ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, detail, where="path")
    return WrittenRecord(new.topic, new.partition, result.base_offset)


async def _write_in_transaction(
    context: ControlContext, new: NewRecord, transactional_id: str
) -> WrittenRecord:
    from fencepost_client import KafkaError, Producer

    _led(context, new.topic, new.partition)
    key = None if new.key is None else new.key.encode()
    value = None if new.value is None else new.value.encode()
    headers = [(name, each.encode()) for name, each in new.headers.items()]
    try:
        async with (
            asyncio.timeout(ASK_SECONDS),
            Producer(
                context.addresses[0].bootstrap,
                client_id="control-port",
                transactional_id=transactional_id,
            ) as producer,
        ):
            producer.begin()
            sent = await producer.send(
                new.topic, value, key=key, partition=new.partition, headers=headers
            )
            written = await sent
            await (producer.abort() if new.abort else producer.commit())
    except KafkaError as error:
        raise ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, str(error), where="body") from None
    return WrittenRecord(new.topic, new.partition, written.offset)


def _leaders(answers: Sequence[TopicOffsets]) -> TopicOffsets:
    """Return what leaders say, which have the highest offsets."""
    found: dict[int, PartitionOffsets] = {}
    for answer in answers:
        for each in answer.partitions:
            known = found.get(each.partition)
            if known is None or each.high_watermark > known.high_watermark:
                found[each.partition] = each
    return TopicOffsets(answers[0].topic, [found[number] for number in sorted(found)])


ROUTES: Final = (
    Route(
        "GET",
        "/v1/topics/{topic}",
        get_topic,
        "the offsets of a topic's partitions",
        request=NamedTopic,
        response=TopicOffsets,
        in_cluster=all_brokers(_leaders),
        errors=(HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT),
    ),
    Route(
        "GET",
        "/v1/topics/{topic}/partitions/{partition}/records",
        read_records,
        "records as they lie in the log, with control records and what was aborted",
        request=WantedRecords,
        response=ReadRecords,
        in_cluster=broker_that_has_it,
        errors=(HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT, HTTPStatus.SERVICE_UNAVAILABLE),
    ),
    Route(
        "POST",
        "/v1/topics/{topic}/partitions/{partition}/records",
        write_record,
        "write a record by hand",
        request=NewRecord,
        response=WrittenRecord,
        status=HTTPStatus.CREATED,
        in_cluster=broker_that_has_it,
        errors=(HTTPStatus.CONFLICT, HTTPStatus.UNPROCESSABLE_ENTITY),
    ),
)
