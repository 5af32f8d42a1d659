"""Records of the coordinators' topics, in Kafka's own formats.

    key      int16 record type, then the key's message at version 0
    value    int16 version, then the value's message at that version; null deletes the key

``kafka-dump-log`` reads them with ``--offsets-decoder`` and ``--transaction-log-decoder``.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache
from operator import is_
from typing import Any, Final, NamedTuple, Unpack

from fencepost_protocol.apis import Message, message_class
from fencepost_protocol.crc import crc32c
from fencepost_protocol.exceptions import LocalProtocolError, RemoteProtocolError
from fencepost_protocol.generated.index import (
    GROUP_COORDINATOR_RECORDS,
    SHARE_COORDINATOR_RECORDS,
    TRANSACTION_COORDINATOR_RECORDS,
)
from fencepost_protocol.generated.transaction_log import PartitionsSchema, TransactionLogValue
from fencepost_protocol.records.batch import (
    ATTRIBUTES_OFFSET,
    CRC,
    CRC_OFFSET,
    HEADER_SIZE,
    TIMESTAMPS_OFFSET,
)
from fencepost_protocol.records.reader import MIN_RECORD_SIZE
from fencepost_protocol.records.writer import LoneRecordOptions, build_batch, build_lone_record
from fencepost_protocol.varint import Buffer, write_uvarint

_INT16: Final = struct.Struct(">h")
_KEY_VERSION: Final = 0
_TEMPLATES_MAX: Final = 1 << 13
_TEMPLATE_BYTES_MAX: Final = 1 << 10
_TOPICS_MAX: Final = 16
_LONG_MAX: Final = 16
_INT32_MAX: Final = (1 << 31) - 1


class RecordFamily(StrEnum):
    """The coordinator that owns a record type, by its topic: each numbers its types from 0."""

    GROUPS = "__consumer_offsets"
    TRANSACTIONS = "__transaction_state"
    SHARES = "__share_group_state"


_TYPES: Final = {
    RecordFamily.GROUPS: GROUP_COORDINATOR_RECORDS,
    RecordFamily.TRANSACTIONS: TRANSACTION_COORDINATOR_RECORDS,
    RecordFamily.SHARES: SHARE_COORDINATOR_RECORDS,
}


@dataclass(slots=True)
class LogRecord:
    """One record of a coordinator's log; it must not change after its creation."""

    key: Message
    value: Message | None
    """``None`` deletes the key."""
    value_version: int = 0


class UnknownRecordTypeError(RemoteProtocolError):
    """An unknown record type, perhaps from a later Kafka; the loader skips such records."""


class BatchTooLargeError(LocalProtocolError):
    """A decision's records exceed the largest batch that the log accepts."""


def encode_key(record: LogRecord) -> bytearray:
    """Return the key's bytes."""
    key = record.key
    record_type = getattr(key, "RECORD_TYPE", None)
    if record_type is None:
        raise LocalProtocolError(f"{key.NAME} is not the key of a coordinator's record")
    out = bytearray(_INT16.pack(record_type))
    key.encode(_KEY_VERSION, out)
    return out


def encode_value(record: LogRecord) -> bytearray | None:
    """Return the value's bytes; ``None`` for a tombstone."""
    if record.value is None:
        return None
    out = bytearray(_INT16.pack(record.value_version))
    record.value.encode(record.value_version, out)
    return out


def encode_batch(
    records: Sequence[LogRecord],
    timestamp_ms: int,
    size_max: int = _INT32_MAX,
    **options: Unpack[LoneRecordOptions],
) -> bytearray:
    """Return one batch with all records of a decision, so that they are appended all or none.

    Encoding stops with an error when the records exceed ``size_max``, so a refused batch costs no
    more than the largest accepted one. The estimate is low: the log refuses slightly larger ones.
    """
    if len(records) == 1:  # the most common
        record = records[0]
        value = record.value
        if isinstance(value, TransactionLogValue) and not options:
            return _transaction_batch(record, value, timestamp_ms)
        return build_lone_record(encode_key(record), encode_value(record), timestamp_ms, **options)
    keys: list[Buffer | None] = []
    values: list[Buffer | None] = []
    room = size_max - HEADER_SIZE
    for record in records:
        encoded, content = encode_key(record), encode_value(record)
        room -= MIN_RECORD_SIZE + len(encoded) + (0 if content is None else len(content))
        if room < 0:
            raise BatchTooLargeError(
                f"{len(records)} records, of which only {len(keys)} fit into a batch of"
                f" {size_max} bytes; send fewer at a time, or raise the topic's max.message.bytes"
            )
        keys.append(encoded)
        values.append(content)
    return build_batch(keys, values, timestamp_ms, **options)


# -- records of transactions -----------------------------------------------------------------

_HEAD: Final = struct.Struct(">qhib")
"""The beginning of a transaction's value: producer id, epoch, timeout, status."""
_TIMES: Final = struct.Struct(">qq")
"""Two fields of a value, last update and start, and of a batch's header, base and largest time."""
_pack_head = _HEAD.pack_into
_pack_times = _TIMES.pack_into
_pack_crc = CRC.pack_into
_NO_TOPICS: Final[tuple[Sequence[PartitionsSchema], bytes]] = ((), b"")
_ABSENT: Final = -0x5EED_F00D
"""A number that no transaction has, by which the positions of its fields are found."""
_ABSENT_EPOCH: Final = -0x5EED
_ABSENT_STATUS: Final = -0x5E


class _Template(NamedTuple):
    """A batch of one transaction record, and the positions of the fields that are replaced."""

    batch: bytearray
    head_at: int
    times_at: int


_templates: dict[tuple[object, ...], _Template] = {}
"""By the fields that stay; all brokers of a process share them, as they hold no broker's state."""


def _transaction_batch(
    record: LogRecord, value: TransactionLogValue, timestamp_ms: int
) -> bytearray:
    """Return the batch of one record: a copy of an earlier one of the id, with other numbers."""
    key: Any = record.key
    topics = value.transaction_partitions
    if topics and len(topics) > _TOPICS_MAX and record.value_version:
        return _long_batch(record, value, topics, timestamp_ms)
    stays = (
        key.transactional_id,
        record.value_version,
        tuple([(each.topic, *each.partition_ids) for each in topics]) if topics else topics is None,
        value.previous_producer_id,
        value.next_producer_id,
        value.next_producer_epoch,
        value.client_transaction_version,
        value.unknown_tagged_fields,
    )
    batch, head_at, times_at = _templates.get(stays) or _remember(stays, record, value)
    batch = batch.copy()
    _pack_times(batch, TIMESTAMPS_OFFSET, timestamp_ms, timestamp_ms)
    _pack_head(
        batch,
        head_at,
        value.producer_id,
        value.producer_epoch,
        value.transaction_timeout_ms,
        value.transaction_status,
    )
    _pack_times(
        batch,
        times_at,
        value.transaction_last_update_timestamp_ms,
        value.transaction_start_timestamp_ms,
    )
    _pack_crc(batch, CRC_OFFSET, crc32c(memoryview(batch)[ATTRIBUTES_OFFSET:]))
    return batch


def _remember(
    stays: tuple[object, ...], record: LogRecord, value: TransactionLogValue
) -> _Template:
    changed = TransactionLogValue(
        _ABSENT,
        value.previous_producer_id,
        value.next_producer_id,
        _ABSENT_EPOCH,
        value.next_producer_epoch,
        _ABSENT,
        _ABSENT_STATUS,
        value.transaction_partitions,
        _ABSENT,
        _ABSENT,
        value.client_transaction_version,
        value.unknown_tagged_fields,
    )
    record = LogRecord(record.key, changed, record.value_version)
    batch = build_lone_record(encode_key(record), encode_value(record), 0)
    head_at = batch.rindex(_HEAD.pack(_ABSENT, _ABSENT_EPOCH, _ABSENT, _ABSENT_STATUS))
    template = _Template(batch, head_at, batch.rindex(_TIMES.pack(_ABSENT, _ABSENT)))
    if len(batch) <= _TEMPLATE_BYTES_MAX:
        if len(_templates) >= _TEMPLATES_MAX:
            _templates.clear()
        _templates[stays] = template
    return template


_long: dict[str, tuple[Sequence[PartitionsSchema], bytes]] = {}
"""By transactional id: the topics of a transaction that has many, and their encoding."""


def _long_batch(
    record: LogRecord,
    value: TransactionLogValue,
    topics: Sequence[PartitionsSchema],
    timestamp_ms: int,
) -> bytearray:
    """Return the batch of a record with many topics; only those are encoded that were added."""
    key: Any = record.key
    known, encoded = _long.get(key.transactional_id, _NO_TOPICS)
    if len(known) > len(topics) or not all(map(is_, known, topics)):
        known, encoded = _NO_TOPICS
    added = bytearray()
    TransactionLogValue(transaction_partitions=[*topics[len(known) :]]).encode(1, added)
    count = bytearray()
    write_uvarint(count, len(topics) - len(known) + 1)
    encoded += added[_HEAD.size + len(count) : -_TIMES.size - 1]
    if len(_long) >= _LONG_MAX:
        _long.clear()
    _long[key.transactional_id] = topics, encoded
    content = encode_value(LogRecord(key, replace(value, transaction_partitions=[]), 1))
    assert content is not None
    count = bytearray()
    write_uvarint(count, len(topics) + 1)
    list_at = _INT16.size + _HEAD.size
    content[list_at : list_at + 1] = count + encoded
    return build_lone_record(encode_key(record), content, timestamp_ms)


def decode_record(family: RecordFamily, key: Buffer | None, value: Buffer | None) -> LogRecord:
    """Decode a record, which must use all the bytes; raise RemoteProtocolError if it is invalid."""
    if key is None:
        raise RemoteProtocolError("a record without a key", api=family.value)
    key_type, key_body = _split(family, key, "key")
    name = _TYPES[family].get(key_type)
    if name is None:
        raise UnknownRecordTypeError(f"record type {key_type} does not exist", api=family.value)
    key_class, value_class = _classes(name)
    key_message = _decode(key_class, key_body, _KEY_VERSION)
    if value is None:
        return LogRecord(key_message, None)
    version, value_body = _split(family, value, "value")
    if not value_class.MIN_VERSION <= version <= value_class.MAX_VERSION:
        known = f"we know versions {value_class.MIN_VERSION} to {value_class.MAX_VERSION}"
        raise RemoteProtocolError(known, api=value_class.NAME, version=version)
    return LogRecord(key_message, _decode(value_class, value_body, version), version)


def _split(family: RecordFamily, data: Buffer, part: str) -> tuple[int, memoryview]:
    if len(data) < _INT16.size:
        raise RemoteProtocolError(f"a {part} of {len(data)} bytes", api=family.value)
    return _INT16.unpack_from(data)[0], memoryview(data)[_INT16.size :]


def _decode(message: type[Message], body: memoryview, version: int) -> Message:
    decoded: Message
    decoded, end = message.decode(body, version, 0)
    if end != len(body):
        raise RemoteProtocolError(
            f"{len(body) - end} bytes are left after it",
            api=message.NAME,
            version=version,
            offset=end,
        )
    return decoded


@cache
def _classes(name: str) -> tuple[type[Message], type[Message]]:
    return message_class(f"{name}Key"), message_class(f"{name}Value")
