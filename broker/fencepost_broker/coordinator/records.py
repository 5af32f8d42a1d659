"""Records of the coordinators' topics, in Kafka's own formats.

    key      int16 record type, then the key's message at version 0
    value    int16 version, then the value's message at that version; null deletes the key

``kafka-dump-log`` reads them with ``--offsets-decoder`` and ``--transaction-log-decoder``.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cache, lru_cache
from typing import Final, Unpack

from fencepost_protocol.apis import Message, message_class
from fencepost_protocol.exceptions import LocalProtocolError, RemoteProtocolError
from fencepost_protocol.generated.index import (
    GROUP_COORDINATOR_RECORDS,
    SHARE_COORDINATOR_RECORDS,
    TRANSACTION_COORDINATOR_RECORDS,
)
from fencepost_protocol.generated.transaction_log import TransactionLogKey
from fencepost_protocol.records.batch import HEADER_SIZE
from fencepost_protocol.records.reader import MIN_RECORD_SIZE
from fencepost_protocol.records.writer import LoneRecordOptions, build_batch, build_lone_record
from fencepost_protocol.varint import Buffer

_INT16: Final = struct.Struct(">h")
_KEY_VERSION: Final = 0
_KEYS_MAX: Final = 1 << 12
_INT32_MAX: Final = (1 << 31) - 1


class RecordFamily(Enum):
    """The coordinator that owns a record type: each numbers its types from 0."""

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


def encode_key(record: LogRecord) -> bytes | bytearray:
    """Return the key's bytes."""
    key = record.key
    if key.__class__ is TransactionLogKey:
        return _transaction_key(key.transactional_id)
    return _key_bytes(key)


def _key_bytes(key: Message) -> bytearray:
    record_type = getattr(key, "RECORD_TYPE", None)
    if record_type is None:
        raise LocalProtocolError(f"{key.NAME} is not the key of a coordinator's record")
    out = bytearray(_INT16.pack(record_type))
    key.encode(_KEY_VERSION, out)
    return out


@lru_cache(_KEYS_MAX)
def _transaction_key(transactional_id: str) -> bytes:
    """Return a transactional id's key; it is cached, since a transaction writes it repeatedly."""
    return bytes(_key_bytes(TransactionLogKey(transactional_id)))


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
        return build_lone_record(encode_key(record), encode_value(record), timestamp_ms, **options)
    keys: list[Buffer | None] = []
    values: list[Buffer | None] = []
    room = size_max - HEADER_SIZE
    for record in records:
        key, value = encode_key(record), encode_value(record)
        room -= MIN_RECORD_SIZE + len(key) + (0 if value is None else len(value))
        if room < 0:
            raise BatchTooLargeError(
                f"{len(records)} records, of which only {len(keys)} fit into a batch of"
                f" {size_max} bytes; send fewer at a time, or raise the topic's max.message.bytes"
            )
        keys.append(key)
        values.append(value)
    return build_batch(keys, values, timestamp_ms, **options)


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
