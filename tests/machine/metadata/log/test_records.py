"""A metadata record as bytes: the frame, every type and version, and bytes that lie."""

from __future__ import annotations

import pytest
from fencepost_broker.metadata.decision import MetadataRecord
from fencepost_broker.metadata.log.records import decode_record, encode_record
from fencepost_protocol.apis import message_class
from fencepost_protocol.exceptions import LocalProtocolError, RemoteProtocolError
from fencepost_protocol.generated.end_txn import EndTxnRequest
from fencepost_protocol.generated.feature_level_record import FeatureLevelRecord
from fencepost_protocol.generated.index import METADATA_RECORDS
from fencepost_protocol.generated.no_op_record import NoOpRecord

NO_OP = bytes([1, 20, 0, 0])
FEATURE = bytes([1, 12, 0, 2]) + b"f" + bytes([0, 3, 0])


def test_bytes() -> None:
    assert encode_record(MetadataRecord(NoOpRecord(), 0)) == NO_OP
    feature = MetadataRecord(FeatureLevelRecord("f", 3), 0)
    assert encode_record(feature) == FEATURE
    assert decode_record(FEATURE) == feature
    assert decode_record(memoryview(b"xx" + FEATURE + b"yy")[2:-2]) == feature


@pytest.mark.parametrize(
    ("record_type", "version"),
    [
        (number, version)
        for number, name in METADATA_RECORDS.items()
        for version in range(message_class(name).MIN_VERSION, message_class(name).MAX_VERSION + 1)
    ],
)
def test_every_type_and_version(record_type: int, version: int) -> None:
    message = message_class(METADATA_RECORDS[record_type])()
    record = MetadataRecord(message, version)
    raw = encode_record(record)
    assert raw[:3] == bytes([1, record_type, version])
    assert decode_record(raw) == record


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        (b"", "ends within its frame"),
        (b"\1\x14", "ends within its frame"),
        (b"\xff" * 9, "more than 32 bits"),
        (b"\0\x14\0\0", "frame version 0, not 1"),
        (b"\2\x14\0\0", "frame version 2, not 1"),
        (b"\1\x63\0\0", "record type 99 does not exist"),
        (b"\1\x06\0\0", "record type 6 does not exist"),
        (b"\1\x14\1\0", "versions 0 to 0"),
        (NO_OP + b"\0", "1 bytes are left after it"),
        (NO_OP[:-1], "NoOpRecord"),
        (FEATURE[:-2], "FeatureLevelRecord"),
    ],
)
def test_bytes_that_lie(raw: bytes, says: str) -> None:
    with pytest.raises(RemoteProtocolError, match=says):
        decode_record(raw)


def test_what_is_no_metadata_record() -> None:
    with pytest.raises(LocalProtocolError, match="EndTxnRequest is not a record"):
        encode_record(MetadataRecord(EndTxnRequest(), 0))
