# Generated from schemas/messages/AddPartitionsToTxnRequest.json (sha256 0e8fbd6ace84031a)
# Generated from schemas/messages/AddPartitionsToTxnResponse.json (sha256 d426fcfe3daeca46)
# by python -m fencepost_protocol.codegen. Do not edit.
"""AddPartitionsToTxn (API key 24)."""

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
    TAG_NOT_IN_VERSION,
    TAG_SIZE_WRONG,
    TaggedFields,
    long_length,
    long_nullable_string_length,
    long_string_length,
    negative_length,
    read_int32_array,
    read_tag,
    read_unknown_tags,
    tagged_field,
    too_many_elements,
    with_unknown_tag,
    write_int32_array,
    write_string_length,
    write_tagged_fields,
)
from fencepost_protocol.varint import read_uvarint_tail, write_uvarint

_unpack_h = struct.Struct(">h").unpack_from
_unpack_hB = struct.Struct(">hB").unpack_from
_unpack_i = struct.Struct(">i").unpack_from
_unpack_ih = struct.Struct(">ih").unpack_from
_unpack_ihB = struct.Struct(">ihB").unpack_from
_unpack_ii = struct.Struct(">ii").unpack_from
_unpack_qhtB = struct.Struct(">qh?B").unpack_from
_unpack_qhB = struct.Struct(">qhB").unpack_from
_unpack_qhi = struct.Struct(">qhi").unpack_from
_pack_h = struct.Struct(">h").pack
_pack_i = struct.Struct(">i").pack
_pack_ih = struct.Struct(">ih").pack
_pack_ii = struct.Struct(">ii").pack
_pack_qh = struct.Struct(">qh").pack
_pack_qht = struct.Struct(">qh?").pack
_pack_qhi = struct.Struct(">qhi").pack
new = object.__new__


class AddPartitionsToTxnTopic(Fields):
    """Part of AddPartitionsToTxnRequest."""

    __slots__ = ("name", "partitions", "unknown_tagged_fields")

    name: str
    """Topic to be written; an unknown one makes all others OPERATION_NOT_ATTEMPTED."""
    partitions: list[int]
    """Partition numbers to be written."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        name: str = "",
        partitions: list[int] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.name = name
        self.partitions = [] if partitions is MADE_ANEW else partitions
        self.unknown_tagged_fields = unknown_tagged_fields


class AddPartitionsToTxnTransaction(Fields):
    """Transactions to handle together, each on its own; needs the cluster action right (KIP-890).
    """

    __slots__ = (
        "transactional_id",
        "producer_id",
        "producer_epoch",
        "verify_only",
        "topics",
        "unknown_tagged_fields",
    )

    transactional_id: str
    """Versions 4-5. Transactional id of the producer; decides which broker coordinates."""
    producer_id: int
    """Versions 4-5. Id from InitProducerId; one that does not belong to the transactional id gives
    INVALID_PRODUCER_ID_MAPPING.
    """
    producer_epoch: int
    """Versions 4-5. Epoch of the producer's batch; older or newer gives PRODUCER_FENCED."""
    verify_only: bool
    """Versions 4-5. True adds nothing: partitions already in the transaction get NONE, missing ones
    TRANSACTION_ABORTABLE.
    """
    topics: list[AddPartitionsToTxnTopic]
    """Versions 4-5. Partitions to add or verify, by topic."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        transactional_id: str = "",
        producer_id: int = 0,
        producer_epoch: int = 0,
        verify_only: bool = False,
        topics: list[AddPartitionsToTxnTopic] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.transactional_id = transactional_id
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.verify_only = verify_only
        self.topics = [] if topics is MADE_ANEW else topics
        self.unknown_tagged_fields = unknown_tagged_fields


class AddPartitionsToTxnRequest(Fields):
    """Before its first write to a partition, a producer enters it into its transaction at the
    coordinator (versions 0-3). From 4 on brokers send it, to verify or to add for the producer
    (KIP-890).
    """

    NAME: ClassVar[str] = "AddPartitionsToTxnRequest"
    API_KEY: ClassVar[int] = 24
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 5
    FLEXIBLE_FROM: ClassVar[int | None] = 3

    __slots__ = (
        "transactions",
        "v3_and_below_transactional_id",
        "v3_and_below_producer_id",
        "v3_and_below_producer_epoch",
        "v3_and_below_topics",
        "group_id",
        "unknown_tagged_fields",
    )

    transactions: list[AddPartitionsToTxnTransaction]
    """Versions 4-5. Transactions to handle together, each on its own; needs the cluster action
    right (KIP-890).
    """
    v3_and_below_transactional_id: str
    """Versions 0-3. Transactional id of the producer; decides which broker coordinates."""
    v3_and_below_producer_id: int
    """Versions 0-3. Id from InitProducerId; one that does not belong to the transactional id gives
    INVALID_PRODUCER_ID_MAPPING.
    """
    v3_and_below_producer_epoch: int
    """Versions 0-3. Epoch in use; older or newer gives PRODUCER_FENCED (versions 0-1:
    INVALID_PRODUCER_EPOCH).
    """
    v3_and_below_topics: list[AddPartitionsToTxnTopic]
    """Versions 0-3. Partitions to add, by topic; those already in are fine, none at all is too."""
    group_id: str | None
    """Versions 3. Fencepost's tag 60900 (KIP-609): group whose offsets this transaction will
    commit, null for none; Apache Kafka ignores it.
    """
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        transactions: list[AddPartitionsToTxnTransaction] = MADE_ANEW,
        v3_and_below_transactional_id: str = "",
        v3_and_below_producer_id: int = 0,
        v3_and_below_producer_epoch: int = 0,
        v3_and_below_topics: list[AddPartitionsToTxnTopic] = MADE_ANEW,
        group_id: str | None = None,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.transactions = [] if transactions is MADE_ANEW else transactions
        self.v3_and_below_transactional_id = v3_and_below_transactional_id
        self.v3_and_below_producer_id = v3_and_below_producer_id
        self.v3_and_below_producer_epoch = v3_and_below_producer_epoch
        self.v3_and_below_topics = [] if v3_and_below_topics is MADE_ANEW else v3_and_below_topics
        self.group_id = group_id
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 5:
                raise unknown_version("AddPartitionsToTxnRequest", version, 0, 5)
            if version >= 3:
                if version >= 4:
                    n = len(self.transactions) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_uvarint(out, n)
                    for transaction in self.transactions:
                        raw = transaction.transactional_id.encode()
                        n = len(raw) + 1
                        if n < 128:
                            out.append(n)
                        else:
                            write_string_length(out, n)
                        out += raw
                        out += _pack_qht(
                            transaction.producer_id,
                            transaction.producer_epoch,
                            transaction.verify_only,
                        )
                        n = len(transaction.topics) + 1
                        if n < 128:
                            out.append(n)
                        else:
                            write_uvarint(out, n)
                        for v3_and_below_topic in transaction.topics:
                            raw = v3_and_below_topic.name.encode()
                            n = len(raw) + 1
                            if n < 128:
                                out.append(n)
                            else:
                                write_string_length(out, n)
                            out += raw
                            n = len(v3_and_below_topic.partitions) + 1
                            if n < 128:
                                out.append(n)
                            else:
                                write_uvarint(out, n)
                            write_int32_array(out, v3_and_below_topic.partitions)
                            if v3_and_below_topic.unknown_tagged_fields:
                                write_tagged_fields(out, [], v3_and_below_topic.unknown_tagged_fields)
                            else:
                                out.append(0)
                        if transaction.unknown_tagged_fields:
                            write_tagged_fields(out, [], transaction.unknown_tagged_fields)
                        else:
                            out.append(0)
                elif self.transactions:
                    raise not_in_version("transactions", "4-5")
                if version <= 3:
                    raw = self.v3_and_below_transactional_id.encode()
                    n = len(raw) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_string_length(out, n)
                    out += raw
                    out += _pack_qh(self.v3_and_below_producer_id, self.v3_and_below_producer_epoch)
                    n = len(self.v3_and_below_topics) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_uvarint(out, n)
                    for v3_and_below_topic in self.v3_and_below_topics:
                        raw = v3_and_below_topic.name.encode()
                        n = len(raw) + 1
                        if n < 128:
                            out.append(n)
                        else:
                            write_string_length(out, n)
                        out += raw
                        n = len(v3_and_below_topic.partitions) + 1
                        if n < 128:
                            out.append(n)
                        else:
                            write_uvarint(out, n)
                        write_int32_array(out, v3_and_below_topic.partitions)
                        if v3_and_below_topic.unknown_tagged_fields:
                            write_tagged_fields(out, [], v3_and_below_topic.unknown_tagged_fields)
                        else:
                            out.append(0)
                else:
                    if self.v3_and_below_transactional_id:
                        raise not_in_version("v3_and_below_transactional_id", "0-3")
                    if self.v3_and_below_producer_id != 0:
                        raise not_in_version("v3_and_below_producer_id", "0-3")
                    if self.v3_and_below_producer_epoch != 0:
                        raise not_in_version("v3_and_below_producer_epoch", "0-3")
                    if self.v3_and_below_topics:
                        raise not_in_version("v3_and_below_topics", "0-3")
                tagged_1: list[bytes] = []
                if self.group_id is not None:
                    if not (version <= 3):
                        raise not_in_version("group_id", "3")
                    content_1 = bytearray()
                    raw = self.group_id.encode()
                    n = len(raw) + 1
                    if n < 128:
                        content_1.append(n)
                    else:
                        write_string_length(content_1, n)
                    content_1 += raw
                    tagged_1.append(tagged_field(60900, content_1))
                if self.unknown_tagged_fields:
                    write_tagged_fields(out, tagged_1, self.unknown_tagged_fields)
                elif tagged_1:
                    out.append(len(tagged_1))
                    out += b"".join(tagged_1)
                else:
                    out.append(0)
            else:
                if self.transactions:
                    raise not_in_version("transactions", "4-5")
                if self.group_id is not None:
                    raise not_in_version("group_id", "3")
                raw = self.v3_and_below_transactional_id.encode()
                out += _pack_h(len(raw))
                out += raw
                out += _pack_qhi(
                    self.v3_and_below_producer_id,
                    self.v3_and_below_producer_epoch,
                    len(self.v3_and_below_topics),
                )
                for v3_and_below_topic in self.v3_and_below_topics:
                    raw = v3_and_below_topic.name.encode()
                    out += _pack_h(len(raw))
                    out += raw
                    out += _pack_i(len(v3_and_below_topic.partitions))
                    write_int32_array(out, v3_and_below_topic.partitions)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("AddPartitionsToTxnRequest", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[AddPartitionsToTxnRequest, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 5:
                raise unknown_version("AddPartitionsToTxnRequest", version, 0, 5)
            size = len(buf)
            data = buf.tobytes()
            m = new(AddPartitionsToTxnRequest)
            if version >= 3:
                budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
                if version >= 4:
                    n = data[pos]
                    pos += 1
                    if not n or n > 127:
                        n, pos = long_length(data, pos, n)
                    budget -= n
                    if budget < 0:
                        raise too_many_elements(budget)
                    m.transactions = transaction_list = []
                    transaction_left = n - 1
                    while transaction_left:
                        transaction_left -= 1
                        transaction = new(AddPartitionsToTxnTransaction)
                        transaction_list.append(transaction)
                        n = data[pos]
                        pos += 1
                        if not n or n > 127:
                            n, pos = long_string_length(data, pos, n)
                        end = pos + n - 1
                        transaction.transactional_id = data[pos:end].decode()
                        pos = end
                        (
                            transaction.producer_id,
                            transaction.producer_epoch,
                            transaction.verify_only,
                            n,
                        ) = _unpack_qhtB(data, pos)
                        pos += 12
                        if not n or n > 127:
                            n, pos = long_length(data, pos, n)
                        budget -= n
                        if budget < 0:
                            raise too_many_elements(budget)
                        transaction.topics = v3_and_below_topic_list = []
                        v3_and_below_topic_left = n - 1
                        while v3_and_below_topic_left:
                            v3_and_below_topic_left -= 1
                            v3_and_below_topic = new(AddPartitionsToTxnTopic)
                            v3_and_below_topic_list.append(v3_and_below_topic)
                            n = data[pos]
                            pos += 1
                            if not n or n > 127:
                                n, pos = long_string_length(data, pos, n)
                            end = pos + n - 1
                            v3_and_below_topic.name = data[pos:end].decode()
                            pos = end
                            n = data[pos]
                            pos += 1
                            if not n or n > 127:
                                n, pos = long_length(data, pos, n)
                            budget -= n
                            if budget < 0:
                                raise too_many_elements(budget)
                            v3_and_below_topic.partitions, pos = read_int32_array(data, pos, n - 1)
                            n = data[pos]
                            pos += 1
                            if n:
                                v3_and_below_topic.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                            else:
                                v3_and_below_topic.unknown_tagged_fields = ()
                        n = data[pos]
                        pos += 1
                        if n:
                            transaction.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                        else:
                            transaction.unknown_tagged_fields = ()
                else:
                    m.transactions = []
                if version <= 3:
                    n = data[pos]
                    pos += 1
                    if not n or n > 127:
                        n, pos = long_string_length(data, pos, n)
                    end = pos + n - 1
                    m.v3_and_below_transactional_id = data[pos:end].decode()
                    pos = end
                    (
                        m.v3_and_below_producer_id,
                        m.v3_and_below_producer_epoch,
                        n,
                    ) = _unpack_qhB(data, pos)
                    pos += 11
                    if not n or n > 127:
                        n, pos = long_length(data, pos, n)
                    budget -= n
                    if budget < 0:
                        raise too_many_elements(budget)
                    m.v3_and_below_topics = v3_and_below_topic_list = []
                    v3_and_below_topic_left = n - 1
                    while v3_and_below_topic_left:
                        v3_and_below_topic_left -= 1
                        v3_and_below_topic = new(AddPartitionsToTxnTopic)
                        v3_and_below_topic_list.append(v3_and_below_topic)
                        n = data[pos]
                        pos += 1
                        if not n or n > 127:
                            n, pos = long_string_length(data, pos, n)
                        end = pos + n - 1
                        v3_and_below_topic.name = data[pos:end].decode()
                        pos = end
                        n = data[pos]
                        pos += 1
                        if not n or n > 127:
                            n, pos = long_length(data, pos, n)
                        budget -= n
                        if budget < 0:
                            raise too_many_elements(budget)
                        v3_and_below_topic.partitions, pos = read_int32_array(data, pos, n - 1)
                        n = data[pos]
                        pos += 1
                        if n:
                            v3_and_below_topic.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                        else:
                            v3_and_below_topic.unknown_tagged_fields = ()
                else:
                    m.v3_and_below_transactional_id = ""
                    m.v3_and_below_producer_id = 0
                    m.v3_and_below_producer_epoch = 0
                    m.v3_and_below_topics = []
                m.group_id = None
                m.unknown_tagged_fields = ()
                n = data[pos]
                pos += 1
                if n:
                    if n > 127:
                        n, pos = read_uvarint_tail(data, pos, n)
                    for _ in range(n):
                        tag_1, tag_end_1, pos = read_tag(data, pos)
                        if tag_1 == 60900:
                            if not (version <= 3):
                                raise ValueError(TAG_NOT_IN_VERSION)
                            n = data[pos]
                            pos += 1
                            if n > 127:
                                n, pos = long_nullable_string_length(data, pos, n)
                            if not n:
                                m.group_id = None
                            else:
                                end = pos + n - 1
                                m.group_id = data[pos:end].decode()
                                pos = end
                        else:
                            m.unknown_tagged_fields = with_unknown_tag(m.unknown_tagged_fields, tag_1, data[pos:tag_end_1])
                            pos = tag_end_1
                        if pos != tag_end_1:
                            raise ValueError(TAG_SIZE_WRONG)
            else:
                budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
                m.transactions = []
                m.group_id = None
                n = _unpack_h(data, pos)[0]
                pos += 2
                if n < 0:
                    raise negative_length(n)
                end = pos + n
                m.v3_and_below_transactional_id = data[pos:end].decode()
                pos = end
                (
                    m.v3_and_below_producer_id,
                    m.v3_and_below_producer_epoch,
                    n,
                ) = _unpack_qhi(data, pos)
                pos += 14
                if n < 0:
                    raise negative_length(n)
                budget -= n
                if budget < 0:
                    raise too_many_elements(budget)
                m.v3_and_below_topics = v3_and_below_topic_list = []
                v3_and_below_topic_left = n
                while v3_and_below_topic_left:
                    v3_and_below_topic_left -= 1
                    v3_and_below_topic = new(AddPartitionsToTxnTopic)
                    v3_and_below_topic_list.append(v3_and_below_topic)
                    n = _unpack_h(data, pos)[0]
                    pos += 2
                    if n < 0:
                        raise negative_length(n)
                    end = pos + n
                    v3_and_below_topic.name = data[pos:end].decode()
                    pos = end
                    n = _unpack_i(data, pos)[0]
                    pos += 4
                    if n < 0:
                        raise negative_length(n)
                    budget -= n
                    if budget < 0:
                        raise too_many_elements(budget)
                    v3_and_below_topic.partitions, pos = read_int32_array(data, pos, n)
                    v3_and_below_topic.unknown_tagged_fields = ()
                m.unknown_tagged_fields = ()
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("AddPartitionsToTxnRequest", version, buf, start, cause) from cause


class AddPartitionsToTxnPartitionResult(Fields):
    """Part of AddPartitionsToTxnResponse."""

    __slots__ = ("partition_index", "partition_error_code", "unknown_tagged_fields")

    partition_index: int
    """Partition number within the topic, counted from 0."""
    partition_error_code: int
    """NONE, or e.g. CONCURRENT_TRANSACTIONS, PRODUCER_FENCED, INVALID_PRODUCER_ID_MAPPING,
    UNKNOWN_TOPIC_OR_PARTITION, OPERATION_NOT_ATTEMPTED (others failed).
    """
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        partition_index: int = 0,
        partition_error_code: int = 0,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.partition_index = partition_index
        self.partition_error_code = partition_error_code
        self.unknown_tagged_fields = unknown_tagged_fields


class AddPartitionsToTxnTopicResult(Fields):
    """Part of AddPartitionsToTxnResponse."""

    __slots__ = ("name", "results_by_partition", "unknown_tagged_fields")

    name: str
    """Topic the outcome is for."""
    results_by_partition: list[AddPartitionsToTxnPartitionResult]
    """One outcome for each partition."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        name: str = "",
        results_by_partition: list[AddPartitionsToTxnPartitionResult] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.name = name
        self.results_by_partition = [] if results_by_partition is MADE_ANEW else results_by_partition
        self.unknown_tagged_fields = unknown_tagged_fields


class AddPartitionsToTxnResult(Fields):
    """One result for each transaction of the request."""

    __slots__ = ("transactional_id", "topic_results", "unknown_tagged_fields")

    transactional_id: str
    """Versions 4-5. Transactional id the result is for."""
    topic_results: list[AddPartitionsToTxnTopicResult]
    """Versions 4-5. Outcome of its partitions, by topic."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        transactional_id: str = "",
        topic_results: list[AddPartitionsToTxnTopicResult] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.transactional_id = transactional_id
        self.topic_results = [] if topic_results is MADE_ANEW else topic_results
        self.unknown_tagged_fields = unknown_tagged_fields


class AddPartitionsToTxnResponse(Fields):
    """Outcome for each partition. CONCURRENT_TRANSACTIONS asks to try again, since markers of the
    previous transaction are still outstanding.
    """

    NAME: ClassVar[str] = "AddPartitionsToTxnResponse"
    API_KEY: ClassVar[int] = 24
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 5
    FLEXIBLE_FROM: ClassVar[int | None] = 3

    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "results_by_transaction",
        "results_by_topic_v3_and_below",
        "unknown_tagged_fields",
    )

    throttle_time_ms: int
    """Quota delay in ms that the client has to sit out itself (KIP-219); 0 when within quota."""
    error_code: int
    """Versions 4-5. NONE, or a fault of the whole request such as CLUSTER_AUTHORIZATION_FAILED."""
    results_by_transaction: list[AddPartitionsToTxnResult]
    """Versions 4-5. One result for each transaction of the request."""
    results_by_topic_v3_and_below: list[AddPartitionsToTxnTopicResult]
    """Versions 0-3. Outcome of the partitions, by topic."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        results_by_transaction: list[AddPartitionsToTxnResult] = MADE_ANEW,
        results_by_topic_v3_and_below: list[AddPartitionsToTxnTopicResult] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.results_by_transaction = [] if results_by_transaction is MADE_ANEW else results_by_transaction
        self.results_by_topic_v3_and_below = [] if results_by_topic_v3_and_below is MADE_ANEW else results_by_topic_v3_and_below
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 5:
                raise unknown_version("AddPartitionsToTxnResponse", version, 0, 5)
            if version >= 3:
                out += _pack_i(self.throttle_time_ms)
                if version >= 4:
                    out += _pack_h(self.error_code)
                    n = len(self.results_by_transaction) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_uvarint(out, n)
                    for add_partitions_to_txn_result in self.results_by_transaction:
                        raw = add_partitions_to_txn_result.transactional_id.encode()
                        n = len(raw) + 1
                        if n < 128:
                            out.append(n)
                        else:
                            write_string_length(out, n)
                        out += raw
                        n = len(add_partitions_to_txn_result.topic_results) + 1
                        if n < 128:
                            out.append(n)
                        else:
                            write_uvarint(out, n)
                        for add_partitions_to_txn_topic_result in add_partitions_to_txn_result.topic_results:
                            raw = add_partitions_to_txn_topic_result.name.encode()
                            n = len(raw) + 1
                            if n < 128:
                                out.append(n)
                            else:
                                write_string_length(out, n)
                            out += raw
                            n = len(add_partitions_to_txn_topic_result.results_by_partition) + 1
                            if n < 128:
                                out.append(n)
                            else:
                                write_uvarint(out, n)
                            for add_partitions_to_txn_partition_result in add_partitions_to_txn_topic_result.results_by_partition:
                                out += _pack_ih(
                                    add_partitions_to_txn_partition_result.partition_index,
                                    add_partitions_to_txn_partition_result.partition_error_code,
                                )
                                if add_partitions_to_txn_partition_result.unknown_tagged_fields:
                                    write_tagged_fields(out, [], add_partitions_to_txn_partition_result.unknown_tagged_fields)
                                else:
                                    out.append(0)
                            if add_partitions_to_txn_topic_result.unknown_tagged_fields:
                                write_tagged_fields(out, [], add_partitions_to_txn_topic_result.unknown_tagged_fields)
                            else:
                                out.append(0)
                        if add_partitions_to_txn_result.unknown_tagged_fields:
                            write_tagged_fields(out, [], add_partitions_to_txn_result.unknown_tagged_fields)
                        else:
                            out.append(0)
                elif self.results_by_transaction:
                    raise not_in_version("results_by_transaction", "4-5")
                if version <= 3:
                    n = len(self.results_by_topic_v3_and_below) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_uvarint(out, n)
                    for add_partitions_to_txn_topic_result in self.results_by_topic_v3_and_below:
                        raw = add_partitions_to_txn_topic_result.name.encode()
                        n = len(raw) + 1
                        if n < 128:
                            out.append(n)
                        else:
                            write_string_length(out, n)
                        out += raw
                        n = len(add_partitions_to_txn_topic_result.results_by_partition) + 1
                        if n < 128:
                            out.append(n)
                        else:
                            write_uvarint(out, n)
                        for add_partitions_to_txn_partition_result in add_partitions_to_txn_topic_result.results_by_partition:
                            out += _pack_ih(
                                add_partitions_to_txn_partition_result.partition_index,
                                add_partitions_to_txn_partition_result.partition_error_code,
                            )
                            if add_partitions_to_txn_partition_result.unknown_tagged_fields:
                                write_tagged_fields(out, [], add_partitions_to_txn_partition_result.unknown_tagged_fields)
                            else:
                                out.append(0)
                        if add_partitions_to_txn_topic_result.unknown_tagged_fields:
                            write_tagged_fields(out, [], add_partitions_to_txn_topic_result.unknown_tagged_fields)
                        else:
                            out.append(0)
                elif self.results_by_topic_v3_and_below:
                    raise not_in_version("results_by_topic_v3_and_below", "0-3")
                if self.unknown_tagged_fields:
                    write_tagged_fields(out, [], self.unknown_tagged_fields)
                else:
                    out.append(0)
            else:
                if self.results_by_transaction:
                    raise not_in_version("results_by_transaction", "4-5")
                out += _pack_ii(self.throttle_time_ms, len(self.results_by_topic_v3_and_below))
                for add_partitions_to_txn_topic_result in self.results_by_topic_v3_and_below:
                    raw = add_partitions_to_txn_topic_result.name.encode()
                    out += _pack_h(len(raw))
                    out += raw
                    out += _pack_i(len(add_partitions_to_txn_topic_result.results_by_partition))
                    for add_partitions_to_txn_partition_result in add_partitions_to_txn_topic_result.results_by_partition:
                        out += _pack_ih(
                            add_partitions_to_txn_partition_result.partition_index,
                            add_partitions_to_txn_partition_result.partition_error_code,
                        )
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("AddPartitionsToTxnResponse", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[AddPartitionsToTxnResponse, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 5:
                raise unknown_version("AddPartitionsToTxnResponse", version, 0, 5)
            size = len(buf)
            data = buf.tobytes()
            m = new(AddPartitionsToTxnResponse)
            if version >= 3:
                budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
                m.throttle_time_ms = _unpack_i(data, pos)[0]
                pos += 4
                if version >= 4:
                    m.error_code, n = _unpack_hB(data, pos)
                    pos += 3
                    if not n or n > 127:
                        n, pos = long_length(data, pos, n)
                    budget -= n
                    if budget < 0:
                        raise too_many_elements(budget)
                    m.results_by_transaction = add_partitions_to_txn_result_list = []
                    add_partitions_to_txn_result_left = n - 1
                    while add_partitions_to_txn_result_left:
                        add_partitions_to_txn_result_left -= 1
                        add_partitions_to_txn_result = new(AddPartitionsToTxnResult)
                        add_partitions_to_txn_result_list.append(add_partitions_to_txn_result)
                        n = data[pos]
                        pos += 1
                        if not n or n > 127:
                            n, pos = long_string_length(data, pos, n)
                        end = pos + n - 1
                        add_partitions_to_txn_result.transactional_id = data[pos:end].decode()
                        pos = end
                        n = data[pos]
                        pos += 1
                        if not n or n > 127:
                            n, pos = long_length(data, pos, n)
                        budget -= n
                        if budget < 0:
                            raise too_many_elements(budget)
                        add_partitions_to_txn_result.topic_results = add_partitions_to_txn_topic_result_list = []
                        add_partitions_to_txn_topic_result_left = n - 1
                        while add_partitions_to_txn_topic_result_left:
                            add_partitions_to_txn_topic_result_left -= 1
                            add_partitions_to_txn_topic_result = new(AddPartitionsToTxnTopicResult)
                            add_partitions_to_txn_topic_result_list.append(add_partitions_to_txn_topic_result)
                            n = data[pos]
                            pos += 1
                            if not n or n > 127:
                                n, pos = long_string_length(data, pos, n)
                            end = pos + n - 1
                            add_partitions_to_txn_topic_result.name = data[pos:end].decode()
                            pos = end
                            n = data[pos]
                            pos += 1
                            if not n or n > 127:
                                n, pos = long_length(data, pos, n)
                            budget -= n
                            if budget < 0:
                                raise too_many_elements(budget)
                            add_partitions_to_txn_topic_result.results_by_partition = add_partitions_to_txn_partition_result_list = []
                            add_partitions_to_txn_partition_result_left = n - 1
                            while add_partitions_to_txn_partition_result_left:
                                add_partitions_to_txn_partition_result_left -= 1
                                add_partitions_to_txn_partition_result = new(AddPartitionsToTxnPartitionResult)
                                add_partitions_to_txn_partition_result_list.append(add_partitions_to_txn_partition_result)
                                (
                                    add_partitions_to_txn_partition_result.partition_index,
                                    add_partitions_to_txn_partition_result.partition_error_code,
                                    n,
                                ) = _unpack_ihB(data, pos)
                                pos += 7
                                if n:
                                    add_partitions_to_txn_partition_result.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                                else:
                                    add_partitions_to_txn_partition_result.unknown_tagged_fields = ()
                            n = data[pos]
                            pos += 1
                            if n:
                                add_partitions_to_txn_topic_result.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                            else:
                                add_partitions_to_txn_topic_result.unknown_tagged_fields = ()
                        n = data[pos]
                        pos += 1
                        if n:
                            add_partitions_to_txn_result.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                        else:
                            add_partitions_to_txn_result.unknown_tagged_fields = ()
                else:
                    m.error_code = 0
                    m.results_by_transaction = []
                if version <= 3:
                    n = data[pos]
                    pos += 1
                    if not n or n > 127:
                        n, pos = long_length(data, pos, n)
                    budget -= n
                    if budget < 0:
                        raise too_many_elements(budget)
                    m.results_by_topic_v3_and_below = add_partitions_to_txn_topic_result_list = []
                    add_partitions_to_txn_topic_result_left = n - 1
                    while add_partitions_to_txn_topic_result_left:
                        add_partitions_to_txn_topic_result_left -= 1
                        add_partitions_to_txn_topic_result = new(AddPartitionsToTxnTopicResult)
                        add_partitions_to_txn_topic_result_list.append(add_partitions_to_txn_topic_result)
                        n = data[pos]
                        pos += 1
                        if not n or n > 127:
                            n, pos = long_string_length(data, pos, n)
                        end = pos + n - 1
                        add_partitions_to_txn_topic_result.name = data[pos:end].decode()
                        pos = end
                        n = data[pos]
                        pos += 1
                        if not n or n > 127:
                            n, pos = long_length(data, pos, n)
                        budget -= n
                        if budget < 0:
                            raise too_many_elements(budget)
                        add_partitions_to_txn_topic_result.results_by_partition = add_partitions_to_txn_partition_result_list = []
                        add_partitions_to_txn_partition_result_left = n - 1
                        while add_partitions_to_txn_partition_result_left:
                            add_partitions_to_txn_partition_result_left -= 1
                            add_partitions_to_txn_partition_result = new(AddPartitionsToTxnPartitionResult)
                            add_partitions_to_txn_partition_result_list.append(add_partitions_to_txn_partition_result)
                            (
                                add_partitions_to_txn_partition_result.partition_index,
                                add_partitions_to_txn_partition_result.partition_error_code,
                                n,
                            ) = _unpack_ihB(data, pos)
                            pos += 7
                            if n:
                                add_partitions_to_txn_partition_result.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                            else:
                                add_partitions_to_txn_partition_result.unknown_tagged_fields = ()
                        n = data[pos]
                        pos += 1
                        if n:
                            add_partitions_to_txn_topic_result.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                        else:
                            add_partitions_to_txn_topic_result.unknown_tagged_fields = ()
                else:
                    m.results_by_topic_v3_and_below = []
                n = data[pos]
                pos += 1
                if n:
                    m.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                else:
                    m.unknown_tagged_fields = ()
            else:
                budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
                m.error_code = 0
                m.results_by_transaction = []
                m.throttle_time_ms, n = _unpack_ii(data, pos)
                pos += 8
                if n < 0:
                    raise negative_length(n)
                budget -= n
                if budget < 0:
                    raise too_many_elements(budget)
                m.results_by_topic_v3_and_below = add_partitions_to_txn_topic_result_list = []
                add_partitions_to_txn_topic_result_left = n
                while add_partitions_to_txn_topic_result_left:
                    add_partitions_to_txn_topic_result_left -= 1
                    add_partitions_to_txn_topic_result = new(AddPartitionsToTxnTopicResult)
                    add_partitions_to_txn_topic_result_list.append(add_partitions_to_txn_topic_result)
                    n = _unpack_h(data, pos)[0]
                    pos += 2
                    if n < 0:
                        raise negative_length(n)
                    end = pos + n
                    add_partitions_to_txn_topic_result.name = data[pos:end].decode()
                    pos = end
                    n = _unpack_i(data, pos)[0]
                    pos += 4
                    if n < 0:
                        raise negative_length(n)
                    budget -= n
                    if budget < 0:
                        raise too_many_elements(budget)
                    add_partitions_to_txn_topic_result.results_by_partition = add_partitions_to_txn_partition_result_list = []
                    add_partitions_to_txn_partition_result_left = n
                    while add_partitions_to_txn_partition_result_left:
                        add_partitions_to_txn_partition_result_left -= 1
                        add_partitions_to_txn_partition_result = new(AddPartitionsToTxnPartitionResult)
                        add_partitions_to_txn_partition_result_list.append(add_partitions_to_txn_partition_result)
                        add_partitions_to_txn_partition_result.unknown_tagged_fields = ()
                        (
                            add_partitions_to_txn_partition_result.partition_index,
                            add_partitions_to_txn_partition_result.partition_error_code,
                        ) = _unpack_ih(data, pos)
                        pos += 6
                    add_partitions_to_txn_topic_result.unknown_tagged_fields = ()
                m.unknown_tagged_fields = ()
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("AddPartitionsToTxnResponse", version, buf, start, cause) from cause


__all__ = [
    "AddPartitionsToTxnTopic",
    "AddPartitionsToTxnTransaction",
    "AddPartitionsToTxnRequest",
    "AddPartitionsToTxnPartitionResult",
    "AddPartitionsToTxnTopicResult",
    "AddPartitionsToTxnResult",
    "AddPartitionsToTxnResponse",
]
