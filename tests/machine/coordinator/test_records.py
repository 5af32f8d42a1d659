"""Records of the coordinators' topics: bytes, and what is refused."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from fencepost_broker.coordinator.records import (
    BatchTooLargeError,
    LogRecord,
    RecordFamily,
    UnknownRecordTypeError,
    decode_record,
    encode_batch,
    encode_key,
    encode_value,
)
from fencepost_protocol.apis import message_class
from fencepost_protocol.exceptions import LocalProtocolError, RemoteProtocolError
from fencepost_protocol.generated.end_txn import EndTxnRequest
from fencepost_protocol.generated.group_metadata import GroupMetadataKey, GroupMetadataValue
from fencepost_protocol.generated.index import (
    GROUP_COORDINATOR_RECORDS,
    SHARE_COORDINATOR_RECORDS,
    TRANSACTION_COORDINATOR_RECORDS,
)
from fencepost_protocol.generated.offset_commit import OffsetCommitKey, OffsetCommitValue
from fencepost_protocol.generated.transaction_log import (
    PartitionsSchema,
    TransactionLogKey,
    TransactionLogValue,
)
from fencepost_protocol.records.reader import iter_records
from fencepost_protocol.records.writer import build_batch

TXN = RecordFamily.TRANSACTIONS
GROUPS = RecordFamily.GROUPS


def transaction(version: int = 1) -> LogRecord:
    value = TransactionLogValue(7, producer_epoch=3, transaction_timeout_ms=60_000)
    value.transaction_partitions = [PartitionsSchema("t", [0, 1])]
    if version:
        value.client_transaction_version = 2
    return LogRecord(TransactionLogKey("txn"), value, version)


def test_a_key_begins_with_its_type_and_a_value_with_its_version() -> None:
    assert encode_key(transaction()) == b"\0\0\0\3txn"
    value = encode_value(transaction())
    assert value is not None
    assert value[:10] == b"\0\1" + (7).to_bytes(8, "big")
    offset = LogRecord(OffsetCommitKey("g", "t", 5), OffsetCommitValue(9), 3)
    assert encode_key(offset) == b"\0\1\0\1g\0\1t\0\0\0\5"


@pytest.mark.parametrize("version", [0, 1])
def test_what_was_written_is_read(version: int) -> None:
    record = transaction(version)
    value = encode_value(record)
    assert decode_record(TXN, bytes(encode_key(record)), value) == record


def test_a_tombstone() -> None:
    record = LogRecord(GroupMetadataKey("g"), None)
    assert encode_value(record) is None
    assert decode_record(GROUPS, encode_key(record), None) == record


def test_every_type_is_read_back() -> None:
    for family, types in (
        (GROUPS, GROUP_COORDINATOR_RECORDS),
        (TXN, TRANSACTION_COORDINATOR_RECORDS),
        (RecordFamily.SHARES, SHARE_COORDINATOR_RECORDS),
    ):
        for name in types.values():
            key = message_class(f"{name}Key")()
            value_class = message_class(f"{name}Value")
            for version in range(value_class.MIN_VERSION, value_class.MAX_VERSION + 1):
                record = LogRecord(key, value_class(), version)
                read = decode_record(family, encode_key(record), encode_value(record))
                assert type(read.key) is type(key)
                assert type(read.value) is value_class
                assert read.value_version == version


def test_one_decision_is_one_batch() -> None:
    first, second = transaction(), LogRecord(TransactionLogKey("gone"), None)
    batch = encode_batch([first, second], 1234)
    read = [decode_record(TXN, each.key, each.value) for each in iter_records(batch)]
    assert read == [first, second]
    assert [each.timestamp for each in iter_records(batch)] == [1234, 1234]


def test_no_more_is_encoded_than_fits() -> None:
    class Key(TransactionLogKey):
        encoded = 0

        def encode(self, version: int, out: bytearray) -> None:
            Key.encoded += 1
            super().encode(version, out)

    plain = LogRecord(TransactionLogKey("gone"), None)
    ten = encode_batch([plain] * 10, 1234)
    assert encode_batch([plain] * 10, 1234, len(ten)) == ten
    with pytest.raises(BatchTooLargeError, match="1000 records, of"):
        encode_batch([LogRecord(Key("gone"), None)] * 1000, 1234, len(ten))
    assert Key.encoded == 11


def test_a_batch_of_one_record_is_built_as_any_other() -> None:
    for record in (transaction(), LogRecord(TransactionLogKey("gone"), None)):
        transactional: Any = {"producer_id": 7, "producer_epoch": 1, "transactional": True}
        plain: Any = {}
        for each in (plain, transactional):
            built = build_batch([encode_key(record)], [encode_value(record)], 1234, **each)
            assert encode_batch([record], 1234, **each) == built


def test_records_of_one_transactional_id_differ_in_what_their_values_say() -> None:
    many = [PartitionsSchema(f"topic-{number}", [number, 0]) for number in range(200)]
    places: list[list[PartitionsSchema] | None] = [
        None,
        [],
        [PartitionsSchema("orders", [0])],
        [PartitionsSchema("orders", [0, 1])],
        [PartitionsSchema("orders", [0]), PartitionsSchema("paid", [1])],
        [PartitionsSchema("x" * 249, list(range(1000)))],
        many[:20],
        many[:21],
        many[:150],
        many[1:],
    ]
    for number, (listed, other, version) in enumerate(
        itertools.product(places, (-1, 4000), (1, 1, 2, 0))
    ):
        value = TransactionLogValue(
            producer_id=number << 40,
            producer_epoch=number,
            transaction_timeout_ms=number << 20,
            transaction_status=number & 3,
            transaction_partitions=listed,
            transaction_last_update_timestamp_ms=number,
            transaction_start_timestamp_ms=-1 if listed is None else number * 1000,
        )
        if version:
            value.previous_producer_id = value.next_producer_id = other
            value.next_producer_epoch = 0 if version == 2 else -1
            value.client_transaction_version = version
        record = LogRecord(TransactionLogKey("txn"), value, min(version, 1))
        built = build_batch([encode_key(record)], [encode_value(record)], number)
        assert encode_batch([record], number) == built


@pytest.mark.parametrize(
    ("key", "value", "reason"),
    [
        (None, b"\0\1", "without a key"),
        (b"\0", None, "a key of 1 bytes"),
        (b"\0\0\0\5tx", None, "cut short"),
        (b"\0\0\0\3txn!", None, "1 bytes are left"),
        (b"\0\0\0\3txn", b"", "a value of 0 bytes"),
        (b"\0\0\0\3txn", b"\0\2", "versions 0 to 1"),
        (b"\0\0\0\3txn", b"\xff\xff", "versions 0 to 1"),
        (b"\0\0\0\3txn", b"\0\1\0", "TransactionLogValue"),
    ],
)
def test_what_cannot_be_read_says_why(key: bytes | None, value: bytes | None, reason: str) -> None:
    with pytest.raises(RemoteProtocolError, match=reason):
        decode_record(TXN, key, value)


def test_a_type_that_nobody_knows_can_be_told_apart() -> None:
    with pytest.raises(UnknownRecordTypeError, match="record type 77"):
        decode_record(GROUPS, b"\0\x4d", None)


def test_other_messages_are_no_keys() -> None:
    with pytest.raises(LocalProtocolError, match="EndTxnRequest"):
        encode_key(LogRecord(EndTxnRequest(), GroupMetadataValue()))
