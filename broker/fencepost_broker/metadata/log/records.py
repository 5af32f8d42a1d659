"""Metadata records as they stand in the log: type and version, then the message.

A record's value (its key is null)::

    frame_version   uvarint   1
    record_type     uvarint   RECORD_TYPE of the message
    record_version  uvarint
    the message, and no byte after it
"""

from __future__ import annotations

from typing import Final

from fencepost_protocol.apis import message_class
from fencepost_protocol.exceptions import LocalProtocolError, RemoteProtocolError
from fencepost_protocol.generated.index import METADATA_RECORDS
from fencepost_protocol.varint import Buffer, read_uvarint, write_uvarint

from fencepost_broker.metadata.decision import MetadataRecord

FRAME_VERSION: Final = 1
PARTITION_VERSION: Final = 2
REGISTER_BROKER_VERSION: Final = 4
"""The versions in which partitions and brokers are written."""


def encode_record(record: MetadataRecord) -> bytearray:
    """Return the value of a record in the metadata log."""
    message = record.message
    record_type = getattr(message, "RECORD_TYPE", None)
    if record_type is None:
        raise LocalProtocolError(f"{message.NAME} is not a record of the metadata log")
    out = bytearray()
    write_uvarint(out, FRAME_VERSION)
    write_uvarint(out, record_type)
    write_uvarint(out, record.version)
    message.encode(record.version, out)
    return out


def decode_record(value: Buffer) -> MetadataRecord:
    """Return the record of a value; raises only ``RemoteProtocolError``."""
    view = memoryview(value)
    try:
        frame_version, pos = read_uvarint(view, 0)
        record_type, pos = read_uvarint(view, pos)
        version, pos = read_uvarint(view, pos)
    except (IndexError, ValueError) as error:
        reason = "it ends within its frame" if isinstance(error, IndexError) else str(error)
        raise _invalid(reason, 0) from None
    if frame_version != FRAME_VERSION:
        raise _invalid(f"frame version {frame_version}, not {FRAME_VERSION}", 0)
    name = METADATA_RECORDS.get(record_type)
    if name is None:
        raise _invalid(f"record type {record_type} does not exist", 1)
    schema = message_class(name)
    if not schema.MIN_VERSION <= version <= schema.MAX_VERSION:
        raise RemoteProtocolError(
            f"we know versions {schema.MIN_VERSION} to {schema.MAX_VERSION}",
            api=name,
            version=version,
        )
    body = view[pos:]
    message, end = schema.decode(body, version, 0)
    if end != len(body):
        raise RemoteProtocolError(
            f"{len(body) - end} bytes are left after it", api=name, version=version, offset=end
        )
    return MetadataRecord(message, version)


def _invalid(reason: str, offset: int) -> RemoteProtocolError:
    return RemoteProtocolError(reason, api="metadata record", offset=offset)
