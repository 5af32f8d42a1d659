"""What a plain batch does not need: the exact refusal, and rare changes.

The append path looks at a batch's header and lets through what is plain: one whole batch with a
good CRC, offsets that agree with its count, a codec and a timestamp type as the topic wants them.
Everything else comes here: to be refused with the error that Kafka gives, with the first reason in
Kafka's order, or to be changed as the topic's settings say.

Kafka walks the records of every batch; in Python that would cost more than the rest of a broker. So
how many records a batch may have to be walked is a setting (``record.validation``), and the
append path asks :func:`are_right`, which is quick and gives no reasons. Batches of more records are
walked only where a topic asks for it: keys on a compacted topic, timestamps with
``message.timestamp.before.max.ms`` set, or when the header's largest timestamp is beyond the bound.
Compressed batches of more records are unpacked and counted, by the records' lengths. Else a header
is believed: what it says of the largest timestamp, of the count if the batch is not compressed or
unpacks to more than a megabyte; and the bytes of records may be anything.
"""

from __future__ import annotations

from typing import Final

from fencepost_protocol import limits
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.exceptions import ProtocolError
from fencepost_protocol.records.batch import (
    CODEC_MASK,
    CONTROL_FLAG,
    HEADER_SIZE,
    LOG_APPEND_TIME_FLAG,
    LOG_OVERHEAD,
    MAGIC,
    MIN_LEGACY_LENGTH,
    NO_PRODUCER_ID,
    NO_TIMESTAMP,
    BatchHeader,
    InvalidBatchError,
    RawHeader,
    TimestampType,
    crc_is_valid,
    read_header,
    set_max_timestamp,
    unpack_header,
)
from fencepost_protocol.records.bounds import TooLargeError
from fencepost_protocol.records.checking import check_count, largest_timestamp_delta
from fencepost_protocol.records.compression import Compression
from fencepost_protocol.records.reader import (
    MIN_RECORD_SIZE,
    invalid,
    iter_records,
    open_records,
)
from fencepost_protocol.records.writer import assemble

from fencepost_broker.storage.log.config import MAX_INT64, LogConfig
from fencepost_broker.storage.log.results import AppendResult, Origin, RecordError

RECORD_ERRORS_MAX: Final = 1_000
"""Records of a refused batch that are named: a few bytes unpack to millions of them."""
RECORDS_WALKED_MAX: Final = 50_000
"""Records of one batch that are looked at, which keeps others waiting for a tenth of a second at
most; producers send ten thousand at most by default."""
UNPACKED_MAX: Final = 16 << 20
"""What is unpacked where a setting of the topic asks for it, for the same reason: 20 to 60 ms. A
producer's batch has a megabyte by default, before it is compressed."""
_COUNT_MAX: Final = limits.MAX_DECOMPRESSED_BYTES // MIN_RECORD_SIZE
"""What says that it has more records than this lies: the bytes of so many are never unpacked."""
_SHOWN_ERRORS: Final = 3
_MAGIC_OFFSET: Final = 16


def are_right(records: memoryview, header: RawHeader, config: LogConfig) -> bool:
    """Whether a batch's records are what its header says, in number, numbering and time.

    If they are not, :func:`examine` says why, or what has to be changed. Of a compressed batch of
    many records only the number is looked at. A batch that unpacks to more than it should is
    believed here.
    """
    try:
        if header[5] & CODEC_MASK:
            if header[12] > _COUNT_MAX:
                return False
            body, _ = open_records(records, header, config.walked_bytes_max)
            if header[12] > config.walked_records_max:
                check_count(body, header[12])
                return True
            largest = largest_timestamp_delta(body, 0, header[12])
        else:
            largest = largest_timestamp_delta(records, HEADER_SIZE, header[12])
    except TooLargeError:
        return config.walked_bytes_max < limits.MAX_DECOMPRESSED_BYTES
    except ProtocolError:
        return False
    return header[7] + largest == header[8] >= NO_TIMESTAMP


def examine(
    records: memoryview, config: LogConfig, origin: Origin, now_ms: int
) -> memoryview | AppendResult:
    """Refuse what a leader was given, or give the batch as the topic wants it.

    The batch that comes back is ``records``, changed in place, or another buffer.
    """
    try:
        raw = unpack_header(records)
    except InvalidBatchError as error:
        return _refuse(ErrorCode[error.error], str(error))
    header = BatchHeader._make(raw)
    refusal = _check_alone(records, header.size_in_bytes)
    if refusal is not None:
        return refusal
    batch = records[: header.size_in_bytes]
    refusal = _check_header(batch, header, config, origin)
    if refusal is not None:
        return refusal
    if header.is_control:
        return batch
    if origin is Origin.CLIENT:
        refusal = _check_records(batch, header, config, now_ms)
        if refusal is not None:
            return refusal
        header = read_header(batch)  # its largest timestamp may be another one now
    return _change(batch, header, config, now_ms)


def _refuse(
    error: ErrorCode, message: str, record_errors: tuple[RecordError, ...] = ()
) -> AppendResult:
    return AppendResult(error, message=message, record_errors=record_errors)


def _check_alone(records: memoryview, size: int) -> AppendResult | None:
    """Refuse a second batch; the beginning of one that was cut off is overlooked, as in Kafka."""
    rest = records[size:]
    if len(rest) <= _MAGIC_OFFSET:
        return None
    length = int.from_bytes(rest[8:12], "big", signed=True)
    if length < MIN_LEGACY_LENGTH or rest[_MAGIC_OFFSET] > MAGIC:
        return _refuse(
            ErrorCode.CORRUPT_MESSAGE, f"the {len(rest)} bytes after the batch are not another one"
        )
    if len(rest) < LOG_OVERHEAD + length:
        return None
    return _refuse(ErrorCode.INVALID_RECORD, "more than one batch for one partition")


def _check_header(
    batch: memoryview, header: BatchHeader, config: LogConfig, origin: Origin
) -> AppendResult | None:
    """Check what the header says, in the order in which Kafka does."""
    from_client = origin is Origin.CLIENT
    size = len(batch)
    if from_client and header.base_offset:
        return _refuse(
            ErrorCode.INVALID_RECORD, f"the batch begins with offset {header.base_offset}, not 0"
        )
    if size > config.max_message_bytes:
        return _too_large(size, config)
    if not crc_is_valid(batch):
        return _refuse(ErrorCode.CORRUPT_MESSAGE, "the batch's bytes do not have its CRC")
    if header.attributes & CODEC_MASK > Compression.ZSTD:
        return _refuse(
            ErrorCode.UNSUPPORTED_COMPRESSION_TYPE,
            f"compression type {header.attributes & CODEC_MASK} does not exist",
        )
    if from_client:
        count = header.record_count
        if header.last_offset_delta < 0 or count <= 0:
            return _refuse(
                ErrorCode.INVALID_RECORD,
                f"{count} records up to offset {header.last_offset_delta}",
            )
        if header.last_offset_delta + 1 != count:
            return _refuse(
                ErrorCode.INVALID_RECORD,
                f"{count} records cannot have the offsets 0 to {header.last_offset_delta}",
            )
        if not header.attributes & CODEC_MASK and count > (size - HEADER_SIZE) // MIN_RECORD_SIZE:
            return _refuse(
                ErrorCode.INVALID_RECORD, f"{count} records do not fit into {size} bytes"
            )
        if header.attributes & CONTROL_FLAG:
            return _refuse(ErrorCode.INVALID_RECORD, "clients cannot write control records")
        if header.producer_id > NO_PRODUCER_ID and header.base_sequence < 0:
            return _refuse(
                ErrorCode.INVALID_RECORD,
                f"sequence {header.base_sequence} of producer {header.producer_id}",
            )
    if size > config.segment_bytes:
        return _refuse(
            ErrorCode.RECORD_LIST_TOO_LARGE,
            f"a batch of {size} bytes does not fit into segment.bytes={config.segment_bytes}",
        )
    return None


def _too_large(size: int, config: LogConfig) -> AppendResult:
    return _refuse(
        ErrorCode.MESSAGE_TOO_LARGE,
        f"a batch of {size} bytes; max.message.bytes is {config.max_message_bytes}",
    )


def _check_records(
    batch: memoryview, header: BatchHeader, config: LogConfig, now_ms: int
) -> AppendResult | None:
    """Check keys and timestamps, of each record where that is asked for."""
    create_time = config.message_timestamp_type is TimestampType.CREATE_TIME
    stamped = bool(header.attributes & LOG_APPEND_TIME_FLAG)
    bounded = config.message_timestamp_before_max_ms < MAX_INT64
    if stamped and (not create_time or header.max_timestamp == NO_TIMESTAMP):
        # The count may be made up, if the batch is compressed.
        errors = tuple(
            RecordError(index, "a producer cannot use LogAppendTime")
            for index in range(min(header.record_count, RECORD_ERRORS_MAX))
        )
        return _refuse(ErrorCode.INVALID_TIMESTAMP, _summary(errors), errors)
    is_late = header.max_timestamp > now_ms + config.message_timestamp_after_max_ms
    is_asked_for = config.compact or (create_time and (bounded or is_late))
    if not is_asked_for and header.record_count > config.walked_records_max:
        return _check_count(batch, header, config)
    if header.record_count > RECORDS_WALKED_MAX:
        return _too_many(header)
    unpacked_max = UNPACKED_MAX if is_asked_for else config.walked_bytes_max
    try:
        return _walk(batch, header, config, now_ms, unpacked_max)
    except TooLargeError as error:
        if not is_asked_for and unpacked_max < limits.MAX_DECOMPRESSED_BYTES:
            return None
        return _refuse(ErrorCode.INVALID_RECORD, str(error))
    except InvalidBatchError as error:
        return _refuse(ErrorCode[error.error], str(error))
    except ProtocolError as error:
        return _refuse(ErrorCode.INVALID_RECORD, str(error))


def _check_count(batch: memoryview, header: BatchHeader, config: LogConfig) -> AppendResult | None:
    """Refuse a compressed batch that does not hold as many records as its header says.

    One that unpacks to more than ``walked_bytes_max`` is believed, unless nothing that is unpacked
    anywhere could hold so many.
    """
    if not config.counted_codecs & header.attributes:
        return None
    count = header.record_count
    if count > _COUNT_MAX:
        return _refuse(
            ErrorCode.INVALID_RECORD,
            f"{count} records do not fit into {limits.MAX_DECOMPRESSED_BYTES} bytes, more than "
            "which are not unpacked",
        )
    try:
        body, _ = open_records(batch, unpack_header(batch), config.walked_bytes_max)
        check_count(body, count)
    except TooLargeError:
        return None
    except ProtocolError as error:
        return _refuse(ErrorCode.INVALID_RECORD, str(error))
    return None


def _walk(
    batch: memoryview, header: BatchHeader, config: LogConfig, now_ms: int, unpacked_max: int
) -> AppendResult | None:
    """Look at each record; the batch gets the largest timestamp, if its header has another."""
    create_time = config.message_timestamp_type is TimestampType.CREATE_TIME
    latest = now_ms + config.message_timestamp_after_max_ms
    earliest = now_ms - config.message_timestamp_before_max_ms
    is_compressed = header.attributes & CODEC_MASK
    code = ErrorCode.INVALID_RECORD
    found: list[RecordError] = []
    largest = NO_TIMESTAMP
    for index, record in enumerate(iter_records(batch, unpacked_max)):
        if is_compressed and record.offset != index:
            raise invalid(f"record {index} has the offset delta {record.offset}", 0)
        timestamp = record.timestamp
        largest = max(largest, timestamp)
        if len(found) == RECORD_ERRORS_MAX:
            break
        if config.compact and record.key is None:
            found.append(RecordError(index, "a compacted topic takes no record without a key"))
        elif create_time and timestamp != NO_TIMESTAMP and not earliest <= timestamp <= latest:
            code = ErrorCode.INVALID_TIMESTAMP
            found.append(
                RecordError(index, f"timestamp {timestamp} is not within {earliest} to {latest}")
            )
    if found:
        return _refuse(code, _summary(tuple(found)), tuple(found))
    if create_time and largest != header.max_timestamp:
        set_max_timestamp(batch, TimestampType.CREATE_TIME, largest)
    return None


def _too_many(header: BatchHeader) -> AppendResult:
    return _refuse(
        ErrorCode.INVALID_RECORD,
        f"{header.record_count} records in one batch are more than the {RECORDS_WALKED_MAX} that "
        "are looked at where a setting of the topic asks for it",
    )


def _summary(errors: tuple[RecordError, ...]) -> str:
    shown = "; ".join(f"record {index}: {text}" for index, text in errors[:_SHOWN_ERRORS])
    more = f"; and {len(errors) - _SHOWN_ERRORS} more" if len(errors) > _SHOWN_ERRORS else ""
    return f"{len(errors)} records are refused: {shown}{more}"


def _change(
    batch: memoryview, header: BatchHeader, config: LogConfig, now_ms: int
) -> memoryview | AppendResult:
    """Compress anew where the topic has a codec of its own, and stamp the batch if it should be."""
    wanted = config.compression_type
    if wanted is not None and wanted is not header.codec:
        if header.record_count > RECORDS_WALKED_MAX:
            return _too_many(header)
        try:
            batch = _recompress(batch, header, wanted, config.compression_level)
        except ProtocolError as error:
            return _refuse(ErrorCode.INVALID_RECORD, str(error))
        if len(batch) > config.max_message_bytes:
            return _too_large(len(batch), config)
        if len(batch) > config.segment_bytes:
            return _refuse(
                ErrorCode.RECORD_LIST_TOO_LARGE,
                f"compressed anew the batch has {len(batch)} bytes, more than segment.bytes="
                f"{config.segment_bytes}",
            )
    if config.message_timestamp_type is TimestampType.LOG_APPEND_TIME:
        set_max_timestamp(batch, TimestampType.LOG_APPEND_TIME, now_ms)
    elif header.attributes & LOG_APPEND_TIME_FLAG:
        set_max_timestamp(batch, TimestampType.CREATE_TIME, header.max_timestamp)
    return batch


def _recompress(
    batch: memoryview, header: BatchHeader, codec: Compression, level: int | None
) -> memoryview:
    body, shift = open_records(batch, unpack_header(batch), UNPACKED_MAX)
    # What is compressed anew costs so much that to look at each record adds little.
    largest_timestamp_delta(body, 0, header.record_count, shift)
    return memoryview(
        assemble(
            body,
            header.record_count,
            header.last_offset_delta,
            header.base_timestamp,
            header.max_timestamp,
            codec=codec,
            level=level,
            producer_id=header.producer_id,
            producer_epoch=header.producer_epoch,
            base_sequence=header.base_sequence,
            transactional=header.is_transactional,
        )
    )
