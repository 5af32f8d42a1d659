"""Record batches of magic 2: the 61-byte header, the CRC, and fields that can be patched.

Produce requests, log files and Fetch responses contain the same bytes. A broker reads only the
header: nothing here reads records.

::

     0  base_offset             i64     set by the broker
     8  batch_length            i32     of everything after this field
    12  partition_leader_epoch  i32     set by the broker
    16  magic                   i8      2
    17  crc                     u32     CRC-32C of everything after this field
    21  attributes              i16     bits 0-2 codec, 3 timestamp type, 4 transactional,
                                        5 control, 6 delete horizon
    23  last_offset_delta       i32
    27  base_timestamp          i64
    35  max_timestamp           i64
    43  producer_id             i64
    51  producer_epoch          i16
    53  base_sequence           i32
    57  record_count            i32

The message sets of magic 0 and 1 have their magic byte at the same place, 16. They are recognised
by it and refused; nothing of theirs is ever read as a batch.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from enum import IntEnum
from typing import Final, NamedTuple, TypeAlias

from fencepost_protocol.crc import crc32c
from fencepost_protocol.exceptions import RemoteProtocolError
from fencepost_protocol.records.compression import Compression

Buffer: TypeAlias = bytes | bytearray | memoryview
WritableBuffer: TypeAlias = bytearray | memoryview

MAGIC: Final = 2
LOG_OVERHEAD: Final = 12
"""Base offset and length: what ``batch_length`` does not count."""
HEADER_SIZE: Final = 61
MIN_BATCH_LENGTH: Final = HEADER_SIZE - LOG_OVERHEAD
MIN_LEGACY_LENGTH: Final = 14
"""The smallest message of magic 0, which is what Kafka checks before it knows the magic."""

ATTRIBUTES_OFFSET: Final = 21
"""Where the bytes that the CRC covers begin."""

CODEC_MASK: Final = 0x07
LOG_APPEND_TIME_FLAG: Final = 0x08
TRANSACTIONAL_FLAG: Final = 0x10
CONTROL_FLAG: Final = 0x20
DELETE_HORIZON_FLAG: Final = 0x40

NO_TIMESTAMP: Final = -1
NO_PRODUCER_ID: Final = -1
NO_PRODUCER_EPOCH: Final = -1
NO_SEQUENCE: Final = -1
NO_PARTITION_LEADER_EPOCH: Final = -1

MAX_SEQUENCE: Final = 0x7FFF_FFFF

HEADER: Final = struct.Struct(">qiibIhiqqqhii")
_LENGTH: Final = struct.Struct(">i")
_I64: Final = struct.Struct(">q")
CRC: Final = struct.Struct(">I")
_CRC_AND_ATTRIBUTES: Final = struct.Struct(">Ih")
_PRODUCER: Final = struct.Struct(">qhi")

_LENGTH_OFFSET: Final = 8
_EPOCH_OFFSET: Final = 12
_MAGIC_OFFSET: Final = 16
CRC_OFFSET: Final = 17
TIMESTAMPS_OFFSET: Final = 27
_MAX_TIMESTAMP_OFFSET: Final = 35
_PRODUCER_OFFSET: Final = 43

RawHeader: TypeAlias = tuple[int, int, int, int, int, int, int, int, int, int, int, int, int]
"""The thirteen header fields in the order of the layout above."""

_unpack_header = HEADER.unpack_from
_unpack_length = _LENGTH.unpack_from

ERROR_CODES: Final = {
    "CORRUPT_MESSAGE": 2,
    "UNSUPPORTED_COMPRESSION_TYPE": 76,
    "INVALID_RECORD": 87,
}


class InvalidBatchError(RemoteProtocolError):
    """A batch that cannot be taken, and the error that a broker answers because of it.

    Unlike its base class it need not cost the peer its connection: in a Produce request it is an
    error code for one partition.
    """

    def __init__(self, reason: str, *, error: str, offset: int | None = None) -> None:
        super().__init__(reason, path="records", offset=offset)
        self.error = error
        self.error_code = ERROR_CODES[error]


class TimestampType(IntEnum):
    """What the timestamps of a batch say."""

    CREATE_TIME = 0
    LOG_APPEND_TIME = 1


class BatchHeader(NamedTuple):
    """A batch header by field name, for everybody who is not on the produce path."""

    base_offset: int
    batch_length: int
    partition_leader_epoch: int
    magic: int
    crc: int
    attributes: int
    last_offset_delta: int
    base_timestamp: int
    max_timestamp: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    record_count: int

    @property
    def size_in_bytes(self) -> int:
        """The whole batch, the length field and what precedes it included."""
        return LOG_OVERHEAD + self.batch_length

    @property
    def last_offset(self) -> int:
        """The offset of the last record that the batch was written with.

        Compaction may have removed that record; the offset stays.
        """
        return self.base_offset + self.last_offset_delta

    @property
    def next_offset(self) -> int:
        """Where the batch after this one begins at the earliest."""
        return self.base_offset + self.last_offset_delta + 1

    @property
    def last_sequence(self) -> int:
        """The sequence number of the last record, which wraps to 0 after 2^31 - 1."""
        if self.base_sequence == NO_SEQUENCE:
            return NO_SEQUENCE
        return add_to_sequence(self.base_sequence, self.last_offset_delta)

    @property
    def codec(self) -> Compression:
        """How the records are compressed; three of the eight numbers have no meaning."""
        return codec_of(self.attributes)

    @property
    def timestamp_type(self) -> TimestampType:
        """Whether the timestamps are the producer's or the broker's."""
        return TimestampType(self.attributes >> 3 & 1)

    @property
    def is_transactional(self) -> bool:
        """Whether a read-committed consumer has to know the transaction's outcome first."""
        return bool(self.attributes & TRANSACTIONAL_FLAG)

    @property
    def is_control(self) -> bool:
        """Whether the records are the broker's (markers and such), not an application's."""
        return bool(self.attributes & CONTROL_FLAG)

    @property
    def has_delete_horizon(self) -> bool:
        """Whether ``base_timestamp`` is the time from which tombstones may go (KIP-534)."""
        return bool(self.attributes & DELETE_HORIZON_FLAG)

    @property
    def delete_horizon_ms(self) -> int | None:
        """The time from which compaction may drop this batch's tombstones or marker.

        It takes the place of the base timestamp, and the records' timestamp deltas are relative to
        it: whoever sets a horizon encodes the records anew, whoever reads one sees no difference.
        """
        return self.base_timestamp if self.attributes & DELETE_HORIZON_FLAG else None

    @property
    def has_producer_id(self) -> bool:
        """Whether the batch came from an idempotent or transactional producer."""
        return self.producer_id > NO_PRODUCER_ID


# --- reading ----------------------------------------------------------------------------------


def unpack_header(buf: Buffer, pos: int = 0) -> RawHeader:
    """Check and unpack the header at ``pos`` into a plain tuple: the produce path's way.

    What is checked is what makes the other fields and the batch's extent meaningful: a magic of 2,
    and a length that has room for a header and stays within the buffer. The CRC is not looked at.
    """
    if len(buf) - pos >= HEADER_SIZE:
        fields: RawHeader = _unpack_header(buf, pos)
        if fields[3] == MAGIC and MIN_BATCH_LENGTH <= fields[1] <= len(buf) - pos - LOG_OVERHEAD:
            return fields
    raise _refusal(buf, pos)


def read_header(buf: Buffer, pos: int = 0) -> BatchHeader:
    """Check and unpack the header at ``pos``, as :func:`unpack_header` does."""
    return BatchHeader._make(unpack_header(buf, pos))


def split_batches(
    buf: Buffer, *, tolerate_partial: bool = False
) -> Iterator[tuple[BatchHeader, memoryview]]:
    """Walk the batches that stand one after the other, each with a view of all its bytes.

    A Fetch response, and a log file after a crash, may end in the middle of a batch: with
    ``tolerate_partial`` the walk ends before it. Anything else that is wrong raises, at the batch
    where it is; the ones before it have been given out by then.
    """
    for fields, batch in split_raw(buf, tolerate_partial=tolerate_partial):
        yield BatchHeader._make(fields), batch


def split_raw(
    buf: Buffer, *, tolerate_partial: bool = False
) -> Iterator[tuple[RawHeader, memoryview]]:
    """As :func:`split_batches`, with headers as plain tuples: a consumer's way."""
    view = memoryview(buf)
    pos = 0
    end = len(view)
    while pos < end:
        if end - pos >= HEADER_SIZE:
            fields: RawHeader = _unpack_header(view, pos)
            length = fields[1]
            behind = pos + LOG_OVERHEAD + length
            if fields[3] == MAGIC and length >= MIN_BATCH_LENGTH and behind <= end:
                yield fields, view[pos:behind]
                pos = behind
                continue
        if tolerate_partial and _is_partial(view, pos):
            return
        raise _refusal(view, pos)


def codec_of(attributes: int) -> Compression:
    """The codec that a batch's attributes name."""
    number = attributes & CODEC_MASK
    if number > Compression.ZSTD:
        raise InvalidBatchError(
            f"compression type {number} does not exist",
            error="UNSUPPORTED_COMPRESSION_TYPE",
            offset=ATTRIBUTES_OFFSET,
        )
    return Compression(number)


def add_to_sequence(sequence: int, increment: int) -> int:
    """Move a sequence number on; after 2^31 - 1 comes 0."""
    return (sequence + increment) & MAX_SEQUENCE


def _is_partial(view: memoryview, pos: int) -> bool:
    """Whether the buffer ends within the batch at ``pos``, which is fine as far as it goes.

    Only a length and a magic byte that could be right make a batch "partial": with a wrong one,
    waiting for the rest would be waiting for nothing.
    """
    left = len(view) - pos
    if left < LOG_OVERHEAD:
        return True
    (length,) = _unpack_length(view, pos + _LENGTH_OFFSET)
    if length < MIN_BATCH_LENGTH or left >= LOG_OVERHEAD + length:
        return False
    return left <= _MAGIC_OFFSET or view[pos + _MAGIC_OFFSET] == MAGIC


def _refusal(buf: Buffer, pos: int) -> InvalidBatchError:
    """Say what is wrong with the batch at ``pos``, with the error that Kafka gives for it.

    Kafka looks at the length, then at the magic, then at how much there is. What ends before its
    end counts as no batch at all there, and a Produce request without a batch is INVALID_RECORD.
    """
    left = len(buf) - pos
    if left < LOG_OVERHEAD:
        return InvalidBatchError(
            f"{left} bytes are no record batch", error="INVALID_RECORD", offset=pos
        )
    (length,) = _unpack_length(buf, pos + _LENGTH_OFFSET)
    if length < MIN_LEGACY_LENGTH:
        return InvalidBatchError(
            f"a batch cannot have the length {length}",
            error="CORRUPT_MESSAGE",
            offset=pos + _LENGTH_OFFSET,
        )
    if left <= _MAGIC_OFFSET:
        return InvalidBatchError(
            f"{left} bytes are no record batch", error="INVALID_RECORD", offset=pos
        )
    magic = buf[pos + _MAGIC_OFFSET]
    if magic > MAGIC:
        return InvalidBatchError(
            f"no message format has the magic {magic}",
            error="CORRUPT_MESSAGE",
            offset=pos + _MAGIC_OFFSET,
        )
    if magic < MAGIC:
        return InvalidBatchError(
            f"message sets of magic {magic} are not supported since Kafka 4.0 (KIP-724)",
            error="INVALID_RECORD",
            offset=pos + _MAGIC_OFFSET,
        )
    if left < LOG_OVERHEAD + length:
        return InvalidBatchError(
            f"a batch of {LOG_OVERHEAD + length} bytes ends after {left}",
            error="INVALID_RECORD",
            offset=pos,
        )
    return InvalidBatchError(
        f"a batch of {LOG_OVERHEAD + length} bytes is shorter than its header of {HEADER_SIZE}",
        error="CORRUPT_MESSAGE",
        offset=pos + _LENGTH_OFFSET,
    )


# --- the CRC ----------------------------------------------------------------------------------


def compute_crc(batch: Buffer) -> int:
    """CRC-32C of exactly one batch, from its attributes to its end."""
    with memoryview(batch) as view, view[ATTRIBUTES_OFFSET:] as covered:
        return crc32c(covered)


def crc_is_valid(batch: memoryview) -> bool:
    """Whether exactly one batch still has the bytes that its CRC was made of."""
    stored: int = CRC.unpack_from(batch, CRC_OFFSET)[0]
    return stored == crc32c(batch[ATTRIBUTES_OFFSET:])


def verify_crc(batch: Buffer) -> None:
    """Raise :class:`InvalidBatchError` (CORRUPT_MESSAGE) if exactly one batch fails its CRC."""
    stored = CRC.unpack_from(batch, CRC_OFFSET)[0]
    computed = compute_crc(batch)
    if stored != computed:
        raise InvalidBatchError(
            f"the batch's CRC is {stored:#010x}, its bytes have {computed:#010x}",
            error="CORRUPT_MESSAGE",
            offset=CRC_OFFSET,
        )


# --- patching ---------------------------------------------------------------------------------
# Each takes the position of a batch whose header was read before, so nothing is checked again.


def assign_offset(
    buf: WritableBuffer, base_offset: int, partition_leader_epoch: int, pos: int = 0
) -> None:
    """Give the batch its place in the log. The CRC covers neither field, so it stays."""
    _I64.pack_into(buf, pos, base_offset)
    _LENGTH.pack_into(buf, pos + _EPOCH_OFFSET, partition_leader_epoch)


def set_max_timestamp(
    buf: WritableBuffer, timestamp_type: TimestampType, max_timestamp: int, pos: int = 0
) -> None:
    """Set the timestamp type and the largest timestamp, and renew the CRC.

    With LOG_APPEND_TIME this is how a broker stamps a batch: the base timestamp and the records'
    deltas stay, and readers take the largest timestamp for every record instead.
    """
    crc_field = pos + CRC_OFFSET
    crc, attributes = _CRC_AND_ATTRIBUTES.unpack_from(buf, crc_field)
    attributes &= ~LOG_APPEND_TIME_FLAG
    if timestamp_type is TimestampType.LOG_APPEND_TIME:
        attributes |= LOG_APPEND_TIME_FLAG
    _CRC_AND_ATTRIBUTES.pack_into(buf, crc_field, crc, attributes)
    _I64.pack_into(buf, pos + _MAX_TIMESTAMP_OFFSET, max_timestamp)
    renew_crc(buf, pos)


def set_producer_state(
    buf: WritableBuffer,
    producer_id: int,
    producer_epoch: int,
    base_sequence: int,
    pos: int = 0,
) -> None:
    """Number a built batch again, as a producer does after its epoch was bumped (KIP-360)."""
    _PRODUCER.pack_into(buf, pos + _PRODUCER_OFFSET, producer_id, producer_epoch, base_sequence)
    renew_crc(buf, pos)


def renew_crc(buf: WritableBuffer, pos: int = 0) -> None:
    """Compute the CRC of the batch at ``pos`` and store it there."""
    end = pos + LOG_OVERHEAD + _unpack_length(buf, pos + _LENGTH_OFFSET)[0]
    covered = memoryview(buf)[pos + ATTRIBUTES_OFFSET : end]
    CRC.pack_into(buf, pos + CRC_OFFSET, crc32c(covered))
