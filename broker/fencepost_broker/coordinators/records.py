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
from functools import cache
from typing import Final, Unpack

from fencepost_protocol.apis import Message, message_class
from fencepost_protocol.exceptions import LocalProtocolError, RemoteProtocolError
from fencepost_protocol.generated.index import (
    GROUP_COORDINATOR_RECORDS,
    TRANSACTION_COORDINATOR_RECORDS,
)
from fencepost_protocol.records.writer import BatchOptions, assemble, build_batch, encode_record
from fencepost_protocol.varint import Buffer

_INT16: Final = struct.Struct(">h")
_KEY_VERSION: Final = 0


class RecordFamily(Enum):
    """Whose records they are: each coordinator numbers its own from 0."""

    GROUPS = "__consumer_offsets"
    TRANSACTIONS = "__transaction_state"


_TYPES: Final = {
    RecordFamily.GROUPS: GROUP_COORDINATOR_RECORDS,
    RecordFamily.TRANSACTIONS: TRANSACTION_COORDINATOR_RECORDS,
}


@dataclass(slots=True)
class LogRecord:
    """One record: what it is about, and what is so from now on. Not to be changed once made."""

    key: Message
    value: Message | None
    """``None`` deletes the key."""
    value_version: int = 0


class UnknownRecordTypeError(RemoteProtocolError):
    """A type that we do not know, as a later Kafka may write it; whoever loads a log skips it."""


def encode_key(record: LogRecord) -> bytearray:
    """The key's bytes."""
    key = record.key
    record_type = getattr(key, "RECORD_TYPE", None)
    if record_type is None:
        raise LocalProtocolError(f"{key.NAME} is no key of a coordinator's record")
    out = bytearray(_INT16.pack(record_type))
    key.encode(_KEY_VERSION, out)
    return out


def encode_value(record: LogRecord) -> bytearray | None:
    """The value's bytes; ``None`` for a record that deletes."""
    if record.value is None:
        return None
    out = bytearray(_INT16.pack(record.value_version))
    record.value.encode(record.value_version, out)
    return out


def encode_batch(
    records: Sequence[LogRecord], timestamp_ms: int, **options: Unpack[BatchOptions]
) -> bytearray:
    """All records of one decision as one batch: it is in the log whole or not at all."""
    if len(records) == 1:  # the most common, at two thirds of the cost
        [record] = records
        body = encode_record(0, 0, encode_key(record), encode_value(record))
        return assemble(body, 1, 0, timestamp_ms, timestamp_ms, **options)
    keys = [encode_key(record) for record in records]
    values = [encode_value(record) for record in records]
    return build_batch(keys, values, timestamp_ms, **options)


def decode_record(family: RecordFamily, key: Buffer | None, value: Buffer | None) -> LogRecord:
    """The record with these bytes, all of them; raises nothing but RemoteProtocolError."""
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
            f"{len(body) - end} bytes are left behind it",
            api=message.NAME,
            version=version,
            offset=end,
        )
    return decoded


@cache
def _classes(name: str) -> tuple[type[Message], type[Message]]:
    return message_class(f"{name}Key"), message_class(f"{name}Value")
