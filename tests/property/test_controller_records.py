"""Hostile bytes where a metadata record should be: refused, and with one kind of error only."""

from __future__ import annotations

import random

from fencepost_broker.metadata.decision import MetadataRecord
from fencepost_broker.metadata.log.records import decode_record, encode_record
from fencepost_protocol.apis import message_class
from fencepost_protocol.exceptions import RemoteProtocolError
from fencepost_protocol.generated.index import METADATA_RECORDS
from fencepost_protocol.schema import files
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.random_messages import MessageMaker

types = st.sampled_from(sorted(METADATA_RECORDS))


def some_record(record_type: int, seed: int) -> bytes:
    chance = random.Random(seed)
    name = METADATA_RECORDS[record_type]
    schema = message_class(name)
    version = chance.randint(schema.MIN_VERSION, schema.MAX_VERSION)
    message = MessageMaker(files.load(name), chance).make(version)
    return bytes(encode_record(MetadataRecord(message, version)))


def decodes_or_refuses(raw: bytes) -> None:
    try:
        record = decode_record(raw)
    except RemoteProtocolError:
        return
    assert decode_record(encode_record(record)) == record


@given(record_type=types, seed=st.integers(0, 1 << 30))
def test_any_record_comes_back(record_type: int, seed: int) -> None:
    raw = some_record(record_type, seed)
    record = decode_record(raw)
    assert encode_record(record) == raw


@given(raw=st.binary(max_size=60))
@settings(max_examples=500)
def test_any_bytes(raw: bytes) -> None:
    decodes_or_refuses(raw)


@given(record_type=types, version=st.integers(0, 6), raw=st.binary(max_size=60))
@settings(max_examples=500)
def test_any_bytes_behind_a_good_frame(record_type: int, version: int, raw: bytes) -> None:
    decodes_or_refuses(bytes([1, record_type, version]) + raw)


@given(record_type=types, seed=st.integers(0, 1 << 30), data=st.data())
@settings(max_examples=500)
def test_one_byte_changed_or_the_end_cut_off(
    record_type: int, seed: int, data: st.DataObject
) -> None:
    raw = bytearray(some_record(record_type, seed))
    at = data.draw(st.integers(0, len(raw) - 1))
    if data.draw(st.booleans()):
        raw[at] = data.draw(st.integers(0, 255))
    else:
        del raw[at:]
    decodes_or_refuses(bytes(raw))
