# Generated from schemas/messages/InitProducerIdRequest.json (sha256 0ae7f923528d59c3)
# Generated from schemas/messages/InitProducerIdResponse.json (sha256 a1f4c3e67c52d8fa)
# by python -m fencepost_protocol.codegen. Do not edit.
"""InitProducerId (API key 22)."""

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
from fencepost_protocol.fields import Fields
from fencepost_protocol.primitives import (
    CUT_SHORT,
    DECODE_ERRORS,
    TaggedFields,
    long_nullable_string_length,
    read_unknown_tags,
    write_string_length,
    write_tagged_fields,
)

_unpack_tt = struct.Struct(">??").unpack_from
_unpack_h = struct.Struct(">h").unpack_from
_unpack_i = struct.Struct(">i").unpack_from
_unpack_ihqh = struct.Struct(">ihqh").unpack_from
_unpack_qh = struct.Struct(">qh").unpack_from
_pack_tt = struct.Struct(">??").pack
_pack_h = struct.Struct(">h").pack
_pack_i = struct.Struct(">i").pack
_pack_ihqh = struct.Struct(">ihqh").pack
_pack_qh = struct.Struct(">qh").pack
new = object.__new__


class InitProducerIdRequest(Fields):
    """A producer asks for its producer id and epoch: an idempotent one any broker, a transactional
    one its transaction coordinator, which fences older instances and aborts what they left open
    (KIP-98).
    """

    NAME: ClassVar[str] = "InitProducerIdRequest"
    API_KEY: ClassVar[int] = 22
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 6
    FLEXIBLE_FROM: ClassVar[int | None] = 2

    __slots__ = (
        "transactional_id",
        "transaction_timeout_ms",
        "producer_id",
        "producer_epoch",
        "enable2_pc",
        "keep_prepared_txn",
        "unknown_tagged_fields",
    )

    transactional_id: str | None
    """Name that survives restarts; null for a merely idempotent producer, empty gives
    INVALID_REQUEST.
    """
    transaction_timeout_ms: int
    """Open longer than this, in ms, a transaction is aborted; 0, less, or above
    transaction.max.timeout.ms gives INVALID_TRANSACTION_TIMEOUT.
    """
    producer_id: int
    """Versions 3-6. Id the producer already has, to get its next epoch (KIP-360); -1 for none, and
    never without ProducerEpoch.
    """
    producer_epoch: int
    """Versions 3-6. Epoch it already has; one behind counts as a retry, otherwise stale gives
    PRODUCER_FENCED (3: INVALID_PRODUCER_EPOCH); -1 for none.
    """
    enable2_pc: bool
    """Versions 6. True takes part in two-phase commit, the transaction never times out (KIP-939);
    if not enabled, TRANSACTIONAL_ID_AUTHORIZATION_FAILED.
    """
    keep_prepared_txn: bool
    """Versions 6. True asks to keep the open transaction instead of aborting it (KIP-939);
    UNSUPPORTED_VERSION where not implemented.
    """
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        transactional_id: str | None = "",
        transaction_timeout_ms: int = 0,
        producer_id: int = -1,
        producer_epoch: int = -1,
        enable2_pc: bool = False,
        keep_prepared_txn: bool = False,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.transactional_id = transactional_id
        self.transaction_timeout_ms = transaction_timeout_ms
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.enable2_pc = enable2_pc
        self.keep_prepared_txn = keep_prepared_txn
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 6:
                raise unknown_version("InitProducerIdRequest", version, 0, 6)
            if version >= 2:
                if self.transactional_id is None:
                    out.append(0)
                else:
                    raw = self.transactional_id.encode()
                    n = len(raw) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_string_length(out, n)
                    out += raw
                out += _pack_i(self.transaction_timeout_ms)
                if version >= 3:
                    out += _pack_qh(self.producer_id, self.producer_epoch)
                else:
                    if self.producer_id != -1:
                        raise not_in_version("producer_id", "3-6")
                    if self.producer_epoch != -1:
                        raise not_in_version("producer_epoch", "3-6")
                if version >= 6:
                    out += _pack_tt(self.enable2_pc, self.keep_prepared_txn)
                else:
                    if self.enable2_pc:
                        raise not_in_version("enable2_pc", "6")
                    if self.keep_prepared_txn:
                        raise not_in_version("keep_prepared_txn", "6")
                if self.unknown_tagged_fields:
                    write_tagged_fields(out, [], self.unknown_tagged_fields)
                else:
                    out.append(0)
            else:
                if self.producer_id != -1:
                    raise not_in_version("producer_id", "3-6")
                if self.producer_epoch != -1:
                    raise not_in_version("producer_epoch", "3-6")
                if self.enable2_pc:
                    raise not_in_version("enable2_pc", "6")
                if self.keep_prepared_txn:
                    raise not_in_version("keep_prepared_txn", "6")
                if self.transactional_id is None:
                    out += _pack_h(-1)
                else:
                    raw = self.transactional_id.encode()
                    out += _pack_h(len(raw))
                    out += raw
                out += _pack_i(self.transaction_timeout_ms)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("InitProducerIdRequest", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[InitProducerIdRequest, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 6:
                raise unknown_version("InitProducerIdRequest", version, 0, 6)
            size = len(buf)
            data = buf.tobytes()
            m = new(InitProducerIdRequest)
            if version >= 2:
                n = data[pos]
                pos += 1
                if n > 127:
                    n, pos = long_nullable_string_length(data, pos, n)
                if not n:
                    m.transactional_id = None
                else:
                    end = pos + n - 1
                    m.transactional_id = data[pos:end].decode()
                    pos = end
                m.transaction_timeout_ms = _unpack_i(data, pos)[0]
                pos += 4
                if version >= 3:
                    m.producer_id, m.producer_epoch = _unpack_qh(data, pos)
                    pos += 10
                else:
                    m.producer_id = -1
                    m.producer_epoch = -1
                if version >= 6:
                    m.enable2_pc, m.keep_prepared_txn = _unpack_tt(data, pos)
                    pos += 2
                else:
                    m.enable2_pc = False
                    m.keep_prepared_txn = False
                n = data[pos]
                pos += 1
                if n:
                    m.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                else:
                    m.unknown_tagged_fields = ()
            else:
                m.producer_id = -1
                m.producer_epoch = -1
                m.enable2_pc = False
                m.keep_prepared_txn = False
                n = _unpack_h(data, pos)[0]
                pos += 2
                if n < 0:
                    m.transactional_id = None
                else:
                    end = pos + n
                    m.transactional_id = data[pos:end].decode()
                    pos = end
                m.unknown_tagged_fields = ()
                m.transaction_timeout_ms = _unpack_i(data, pos)[0]
                pos += 4
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("InitProducerIdRequest", version, buf, start, cause) from cause


class InitProducerIdResponse(Fields):
    """The producer id and epoch to use from now on. CONCURRENT_TRANSACTIONS asks to try again while
    an older transaction is being ended.
    """

    NAME: ClassVar[str] = "InitProducerIdResponse"
    API_KEY: ClassVar[int] = 22
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 6
    FLEXIBLE_FROM: ClassVar[int | None] = 2

    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "producer_id",
        "producer_epoch",
        "ongoing_txn_producer_id",
        "ongoing_txn_producer_epoch",
        "unknown_tagged_fields",
    )

    throttle_time_ms: int
    """Quota delay in ms that the client has to sit out itself (KIP-219); 0 when within quota."""
    error_code: int
    """NONE, or e.g. CONCURRENT_TRANSACTIONS, COORDINATOR_LOAD_IN_PROGRESS, NOT_COORDINATOR,
    PRODUCER_FENCED, INVALID_TRANSACTION_TIMEOUT.
    """
    producer_id: int
    """Id for the producer's batches, new once its epochs are used up; -1 on an error."""
    producer_epoch: int
    """Epoch for the producer's batches, older ones are fenced; 0 with a new id."""
    ongoing_txn_producer_id: int
    """Versions 6. Id of the transaction kept open (KIP-939); -1 when there is none."""
    ongoing_txn_producer_epoch: int
    """Versions 6. Epoch of the transaction kept open (KIP-939); -1 when there is none."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        producer_id: int = -1,
        producer_epoch: int = 0,
        ongoing_txn_producer_id: int = -1,
        ongoing_txn_producer_epoch: int = -1,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.ongoing_txn_producer_id = ongoing_txn_producer_id
        self.ongoing_txn_producer_epoch = ongoing_txn_producer_epoch
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 6:
                raise unknown_version("InitProducerIdResponse", version, 0, 6)
            if version >= 2:
                out += _pack_ihqh(
                    self.throttle_time_ms,
                    self.error_code,
                    self.producer_id,
                    self.producer_epoch,
                )
                if version >= 6:
                    out += _pack_qh(self.ongoing_txn_producer_id, self.ongoing_txn_producer_epoch)
                else:
                    if self.ongoing_txn_producer_id != -1:
                        raise not_in_version("ongoing_txn_producer_id", "6")
                    if self.ongoing_txn_producer_epoch != -1:
                        raise not_in_version("ongoing_txn_producer_epoch", "6")
                if self.unknown_tagged_fields:
                    write_tagged_fields(out, [], self.unknown_tagged_fields)
                else:
                    out.append(0)
            else:
                if self.ongoing_txn_producer_id != -1:
                    raise not_in_version("ongoing_txn_producer_id", "6")
                if self.ongoing_txn_producer_epoch != -1:
                    raise not_in_version("ongoing_txn_producer_epoch", "6")
                out += _pack_ihqh(
                    self.throttle_time_ms,
                    self.error_code,
                    self.producer_id,
                    self.producer_epoch,
                )
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("InitProducerIdResponse", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[InitProducerIdResponse, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 6:
                raise unknown_version("InitProducerIdResponse", version, 0, 6)
            size = len(buf)
            m = new(InitProducerIdResponse)
            if version >= 2:
                (
                    m.throttle_time_ms,
                    m.error_code,
                    m.producer_id,
                    m.producer_epoch,
                ) = _unpack_ihqh(buf, pos)
                pos += 16
                if version >= 6:
                    m.ongoing_txn_producer_id, m.ongoing_txn_producer_epoch = _unpack_qh(buf, pos)
                    pos += 10
                else:
                    m.ongoing_txn_producer_id = -1
                    m.ongoing_txn_producer_epoch = -1
                n = buf[pos]
                pos += 1
                if n:
                    m.unknown_tagged_fields, pos = read_unknown_tags(buf, pos, n)
                else:
                    m.unknown_tagged_fields = ()
            else:
                m.ongoing_txn_producer_id = -1
                m.ongoing_txn_producer_epoch = -1
                m.unknown_tagged_fields = ()
                (
                    m.throttle_time_ms,
                    m.error_code,
                    m.producer_id,
                    m.producer_epoch,
                ) = _unpack_ihqh(buf, pos)
                pos += 16
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("InitProducerIdResponse", version, buf, start, cause) from cause


__all__ = [
    "InitProducerIdRequest",
    "InitProducerIdResponse",
]
