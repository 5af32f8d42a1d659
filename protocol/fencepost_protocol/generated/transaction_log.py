# Generated from schemas/records/TransactionLogKey.json (sha256 6eb327ca0f4206dd)
# Generated from schemas/records/TransactionLogValue.json (sha256 1b2eaed495b2bb89)
# by python -m fencepost_protocol.codegen. Do not edit.
"""TransactionLog (coordinator record 0)."""

from __future__ import annotations

import struct
from typing import ClassVar

from fencepost_protocol.failures import (
    ENCODE_ERRORS,
    decode_failure,
    encode_failure,
    not_in_version,
    unknown_version,
)
from fencepost_protocol.fields import MADE_ANEW, Fields
from fencepost_protocol.primitives import (
    CUT_SHORT,
    DECODE_ERRORS,
    TAG_SIZE_WRONG,
    TaggedFields,
    long_length,
    long_string_length,
    negative_length,
    read_int32_array,
    read_tag,
    read_unknown_tags,
    too_many_elements,
    with_unknown_tag,
    write_int32_array,
    write_string_length,
    write_tagged_fields,
)
from fencepost_protocol.varint import read_uvarint_tail, write_uvarint

_unpack_h = struct.Struct(">h").unpack_from
_unpack_i = struct.Struct(">i").unpack_from
_unpack_q = struct.Struct(">q").unpack_from
_unpack_qhibB = struct.Struct(">qhibB").unpack_from
_unpack_qhibi = struct.Struct(">qhibi").unpack_from
_unpack_qq = struct.Struct(">qq").unpack_from
_unpack_qqB = struct.Struct(">qqB").unpack_from
_pack_bbh = struct.Struct(">bbh").pack
_pack_bbq = struct.Struct(">bbq").pack
_pack_h = struct.Struct(">h").pack
_pack_i = struct.Struct(">i").pack
_pack_qhib = struct.Struct(">qhib").pack
_pack_qq = struct.Struct(">qq").pack
new = object.__new__


class TransactionLogKey(Fields):
    """Key in __transaction_state; a null value deletes a transactional id that has expired."""

    NAME: ClassVar[str] = "TransactionLogKey"
    RECORD_TYPE: ClassVar[int] = 0
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = None

    __slots__ = ("transactional_id", "unknown_tagged_fields")

    transactional_id: str
    """The producer's transactional.id; its hash decides on the partition and so on the coordinator.
    """
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        transactional_id: str = "",
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.transactional_id = transactional_id
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 0:
                raise unknown_version("TransactionLogKey", version, 0, 0)
            raw = self.transactional_id.encode()
            out += _pack_h(len(raw))
            out += raw
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("TransactionLogKey", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[TransactionLogKey, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 0:
                raise unknown_version("TransactionLogKey", version, 0, 0)
            size = len(buf)
            data = buf.tobytes()
            m = new(TransactionLogKey)
            n = _unpack_h(data, pos)[0]
            pos += 2
            if n < 0:
                raise negative_length(n)
            end = pos + n
            m.transactional_id = data[pos:end].decode()
            pos = end
            m.unknown_tagged_fields = ()
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("TransactionLogKey", version, buf, start, cause) from cause


class PartitionsSchema(Fields):
    """Partitions that need a marker; null in Empty, an empty list in CompleteX."""

    __slots__ = ("topic", "partition_ids", "unknown_tagged_fields")

    topic: str
    """Topic with partitions in the transaction; __consumer_offsets stands for committed offsets."""
    partition_ids: list[int]
    """Partition numbers within that topic."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        topic: str = "",
        partition_ids: list[int] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.topic = topic
        self.partition_ids = [] if partition_ids is MADE_ANEW else partition_ids
        self.unknown_tagged_fields = unknown_tagged_fields


class TransactionLogValue(Fields):
    """State of one transactional id, written by its coordinator at every step: Empty, Ongoing,
    PrepareX, CompleteX (KIP-98).
    """

    NAME: ClassVar[str] = "TransactionLogValue"
    RECORD_TYPE: ClassVar[int] = 0
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FLEXIBLE_FROM: ClassVar[int | None] = 1

    __slots__ = (
        "producer_id",
        "previous_producer_id",
        "next_producer_id",
        "producer_epoch",
        "next_producer_epoch",
        "transaction_timeout_ms",
        "transaction_status",
        "transaction_partitions",
        "transaction_last_update_timestamp_ms",
        "transaction_start_timestamp_ms",
        "client_transaction_version",
        "unknown_tagged_fields",
    )

    producer_id: int
    """Producer id now tied to the transactional id."""
    previous_producer_id: int
    """Versions 1. Producer id last committed or aborted with, for retries of EndTxn (KIP-890);
    equals ProducerId unless it rotated, -1 when not recorded.
    """
    next_producer_id: int
    """Versions 1. Producer id to continue with once this one is exhausted (KIP-890); -1 when none
    is planned.
    """
    producer_epoch: int
    """Current epoch; in PrepareX under transaction version 2, or after a fence, already the bumped
    one.
    """
    next_producer_epoch: int
    """Versions 1. Epoch that goes with NextProducerId (KIP-939); -1 when none is planned."""
    transaction_timeout_ms: int
    """Age in ms at which the coordinator aborts the transaction; 2147483647 for two-phase commit
    (KIP-939).
    """
    transaction_status: int
    """0 Empty, 1 Ongoing, 2 PrepareCommit, 3 PrepareAbort, 4 CompleteCommit, 5 CompleteAbort; a
    fence is written as 3.
    """
    transaction_partitions: list[PartitionsSchema] | None
    """Partitions that need a marker; null in Empty, an empty list in CompleteX."""
    transaction_last_update_timestamp_ms: int
    """When the state last changed, in ms since 1970; counts for transactional.id.expiration.ms."""
    transaction_start_timestamp_ms: int
    """When the transaction began, in ms since 1970; -1 in Empty, kept in CompleteX."""
    client_transaction_version: int
    """Versions 1. Transaction version the client works with: 2 after its first such request, 0 for
    old clients.
    """
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        producer_id: int = 0,
        previous_producer_id: int = -1,
        next_producer_id: int = -1,
        producer_epoch: int = 0,
        next_producer_epoch: int = -1,
        transaction_timeout_ms: int = 0,
        transaction_status: int = 0,
        transaction_partitions: list[PartitionsSchema] | None = MADE_ANEW,
        transaction_last_update_timestamp_ms: int = 0,
        transaction_start_timestamp_ms: int = 0,
        client_transaction_version: int = 0,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.producer_id = producer_id
        self.previous_producer_id = previous_producer_id
        self.next_producer_id = next_producer_id
        self.producer_epoch = producer_epoch
        self.next_producer_epoch = next_producer_epoch
        self.transaction_timeout_ms = transaction_timeout_ms
        self.transaction_status = transaction_status
        self.transaction_partitions = [] if transaction_partitions is MADE_ANEW else transaction_partitions
        self.transaction_last_update_timestamp_ms = transaction_last_update_timestamp_ms
        self.transaction_start_timestamp_ms = transaction_start_timestamp_ms
        self.client_transaction_version = client_transaction_version
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 1:
                raise unknown_version("TransactionLogValue", version, 0, 1)
            if version >= 1:
                out += _pack_qhib(
                    self.producer_id,
                    self.producer_epoch,
                    self.transaction_timeout_ms,
                    self.transaction_status,
                )
                if self.transaction_partitions is None:
                    out.append(0)
                else:
                    n = len(self.transaction_partitions) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_uvarint(out, n)
                    for transaction_partition in self.transaction_partitions:
                        raw = transaction_partition.topic.encode()
                        n = len(raw) + 1
                        if n < 128:
                            out.append(n)
                        else:
                            write_string_length(out, n)
                        out += raw
                        n = len(transaction_partition.partition_ids) + 1
                        if n < 128:
                            out.append(n)
                        else:
                            write_uvarint(out, n)
                        write_int32_array(out, transaction_partition.partition_ids)
                        if transaction_partition.unknown_tagged_fields:
                            write_tagged_fields(out, [], transaction_partition.unknown_tagged_fields)
                        else:
                            out.append(0)
                out += _pack_qq(
                    self.transaction_last_update_timestamp_ms,
                    self.transaction_start_timestamp_ms,
                )
                tagged_1: list[bytes] = []
                if self.previous_producer_id != -1:
                    tagged_1.append(_pack_bbq(0, 8, self.previous_producer_id))
                if self.next_producer_id != -1:
                    tagged_1.append(_pack_bbq(1, 8, self.next_producer_id))
                if self.client_transaction_version != 0:
                    tagged_1.append(_pack_bbh(2, 2, self.client_transaction_version))
                if self.next_producer_epoch != -1:
                    tagged_1.append(_pack_bbh(3, 2, self.next_producer_epoch))
                if self.unknown_tagged_fields:
                    write_tagged_fields(out, tagged_1, self.unknown_tagged_fields)
                elif tagged_1:
                    out.append(len(tagged_1))
                    out += b"".join(tagged_1)
                else:
                    out.append(0)
            else:
                if self.previous_producer_id != -1:
                    raise not_in_version("previous_producer_id", "1")
                if self.next_producer_id != -1:
                    raise not_in_version("next_producer_id", "1")
                if self.next_producer_epoch != -1:
                    raise not_in_version("next_producer_epoch", "1")
                if self.client_transaction_version != 0:
                    raise not_in_version("client_transaction_version", "1")
                out += _pack_qhib(
                    self.producer_id,
                    self.producer_epoch,
                    self.transaction_timeout_ms,
                    self.transaction_status,
                )
                if self.transaction_partitions is None:
                    out += _pack_i(-1)
                else:
                    out += _pack_i(len(self.transaction_partitions))
                    for transaction_partition in self.transaction_partitions:
                        raw = transaction_partition.topic.encode()
                        out += _pack_h(len(raw))
                        out += raw
                        out += _pack_i(len(transaction_partition.partition_ids))
                        write_int32_array(out, transaction_partition.partition_ids)
                out += _pack_qq(
                    self.transaction_last_update_timestamp_ms,
                    self.transaction_start_timestamp_ms,
                )
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("TransactionLogValue", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[TransactionLogValue, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 1:
                raise unknown_version("TransactionLogValue", version, 0, 1)
            size = len(buf)
            data = buf.tobytes()
            m = new(TransactionLogValue)
            if version >= 1:
                budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
                (
                    m.producer_id,
                    m.producer_epoch,
                    m.transaction_timeout_ms,
                    m.transaction_status,
                    n,
                ) = _unpack_qhibB(data, pos)
                pos += 16
                if n > 127:
                    n, pos = read_uvarint_tail(data, pos, n)
                if not n:
                    m.transaction_partitions = None
                else:
                    budget -= n
                    if budget < 0:
                        raise too_many_elements(budget)
                    m.transaction_partitions = transaction_partition_list = []
                    transaction_partition_left = n - 1
                    while transaction_partition_left:
                        transaction_partition_left -= 1
                        transaction_partition = new(PartitionsSchema)
                        transaction_partition_list.append(transaction_partition)
                        n = data[pos]
                        pos += 1
                        if not n or n > 127:
                            n, pos = long_string_length(data, pos, n)
                        end = pos + n - 1
                        transaction_partition.topic = data[pos:end].decode()
                        pos = end
                        n = data[pos]
                        pos += 1
                        if not n or n > 127:
                            n, pos = long_length(data, pos, n)
                        budget -= n
                        if budget < 0:
                            raise too_many_elements(budget)
                        transaction_partition.partition_ids, pos = read_int32_array(data, pos, n - 1)
                        n = data[pos]
                        pos += 1
                        if n:
                            transaction_partition.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                        else:
                            transaction_partition.unknown_tagged_fields = ()
                m.previous_producer_id = -1
                m.next_producer_id = -1
                m.next_producer_epoch = -1
                m.client_transaction_version = 0
                m.unknown_tagged_fields = ()
                (
                    m.transaction_last_update_timestamp_ms,
                    m.transaction_start_timestamp_ms,
                    n,
                ) = _unpack_qqB(data, pos)
                pos += 17
                if n:
                    if n > 127:
                        n, pos = read_uvarint_tail(data, pos, n)
                    for _ in range(n):
                        tag_1, tag_end_1, pos = read_tag(data, pos)
                        if tag_1 == 0:
                            m.previous_producer_id = _unpack_q(data, pos)[0]
                            pos += 8
                        elif tag_1 == 1:
                            m.next_producer_id = _unpack_q(data, pos)[0]
                            pos += 8
                        elif tag_1 == 2:
                            m.client_transaction_version = _unpack_h(data, pos)[0]
                            pos += 2
                        elif tag_1 == 3:
                            m.next_producer_epoch = _unpack_h(data, pos)[0]
                            pos += 2
                        else:
                            m.unknown_tagged_fields = with_unknown_tag(m.unknown_tagged_fields, tag_1, data[pos:tag_end_1])
                            pos = tag_end_1
                        if pos != tag_end_1:
                            raise ValueError(TAG_SIZE_WRONG)
            else:
                budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
                m.previous_producer_id = -1
                m.next_producer_id = -1
                m.next_producer_epoch = -1
                m.client_transaction_version = 0
                (
                    m.producer_id,
                    m.producer_epoch,
                    m.transaction_timeout_ms,
                    m.transaction_status,
                    n,
                ) = _unpack_qhibi(data, pos)
                pos += 19
                if n < 0:
                    m.transaction_partitions = None
                else:
                    budget -= n
                    if budget < 0:
                        raise too_many_elements(budget)
                    m.transaction_partitions = transaction_partition_list = []
                    transaction_partition_left = n
                    while transaction_partition_left:
                        transaction_partition_left -= 1
                        transaction_partition = new(PartitionsSchema)
                        transaction_partition_list.append(transaction_partition)
                        n = _unpack_h(data, pos)[0]
                        pos += 2
                        if n < 0:
                            raise negative_length(n)
                        end = pos + n
                        transaction_partition.topic = data[pos:end].decode()
                        pos = end
                        n = _unpack_i(data, pos)[0]
                        pos += 4
                        if n < 0:
                            raise negative_length(n)
                        budget -= n
                        if budget < 0:
                            raise too_many_elements(budget)
                        transaction_partition.partition_ids, pos = read_int32_array(data, pos, n)
                        transaction_partition.unknown_tagged_fields = ()
                m.unknown_tagged_fields = ()
                (
                    m.transaction_last_update_timestamp_ms,
                    m.transaction_start_timestamp_ms,
                ) = _unpack_qq(data, pos)
                pos += 16
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("TransactionLogValue", version, buf, start, cause) from cause


__all__ = [
    "TransactionLogKey",
    "PartitionsSchema",
    "TransactionLogValue",
]
