# Generated from schemas/messages/InitProducerIdRequest.json (sha256 0ae7f923528d59c3)
# Generated from schemas/messages/InitProducerIdResponse.json (sha256 a1f4c3e67c52d8fa)
# by python -m fencepost_protocol.codegen. Do not edit.
"""InitProducerId (API key 22)."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import ClassVar

from fencepost_protocol.failures import (
    ENCODE_ERRORS,
    decode_failure,
    encode_failure,
    not_in_version,
    unknown_version,
)
from fencepost_protocol.primitives import (
    CUT_SHORT,
    DECODE_ERRORS,
    TaggedFields,
    long_nullable_string_length,
    read_unknown_tags,
    write_string_length,
    write_tagged_fields,
)

_unpack_h = struct.Struct(">h").unpack_from
_unpack_i = struct.Struct(">i").unpack_from
_unpack_ihqh = struct.Struct(">ihqh").unpack_from
_unpack_q = struct.Struct(">q").unpack_from
_pack_t = struct.Struct(">?").pack
_pack_h = struct.Struct(">h").pack
_pack_i = struct.Struct(">i").pack
_pack_ihqh = struct.Struct(">ihqh").pack
_pack_q = struct.Struct(">q").pack
new = object.__new__


@dataclass(slots=True)
class InitProducerIdRequest:
    """A producer asks for its producer id and epoch: an idempotent one any broker, a transactional
    one its transaction coordinator, which fences older instances and aborts what they left open
    (KIP-98).
    """

    NAME: ClassVar[str] = "InitProducerIdRequest"
    API_KEY: ClassVar[int] = 22
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 6
    FLEXIBLE_FROM: ClassVar[int | None] = 2

    transactional_id: str | None = ""
    """Name that survives restarts; null for a merely idempotent producer, empty gives
    INVALID_REQUEST.
    """
    transaction_timeout_ms: int = 0
    """Open longer than this, in ms, a transaction is aborted; 0, less, or above
    transaction.max.timeout.ms gives INVALID_TRANSACTION_TIMEOUT.
    """
    producer_id: int = -1
    """Versions 3-6. Id the producer already has, to get its next epoch (KIP-360); -1 for none, and
    never without ProducerEpoch.
    """
    producer_epoch: int = -1
    """Versions 3-6. Epoch it already has; one behind counts as a retry, otherwise stale gives
    PRODUCER_FENCED (3: INVALID_PRODUCER_EPOCH); -1 for none.
    """
    enable2_pc: bool = False
    """Versions 6. True takes part in two-phase commit, the transaction never times out (KIP-939);
    if not enabled, TRANSACTIONAL_ID_AUTHORIZATION_FAILED.
    """
    keep_prepared_txn: bool = False
    """Versions 6. True asks to keep the open transaction instead of aborting it (KIP-939);
    UNSUPPORTED_VERSION where not implemented.
    """
    unknown_tagged_fields: TaggedFields = ()

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
                    out += _pack_q(self.producer_id)
                elif self.producer_id != -1:
                    raise not_in_version("ProducerId", "3-6")
                if version >= 3:
                    out += _pack_h(self.producer_epoch)
                elif self.producer_epoch != -1:
                    raise not_in_version("ProducerEpoch", "3-6")
                if version >= 6:
                    out += _pack_t(self.enable2_pc)
                elif self.enable2_pc:
                    raise not_in_version("Enable2Pc", "6")
                if version >= 6:
                    out += _pack_t(self.keep_prepared_txn)
                elif self.keep_prepared_txn:
                    raise not_in_version("KeepPreparedTxn", "6")
                if self.unknown_tagged_fields:
                    write_tagged_fields(out, [], self.unknown_tagged_fields)
                else:
                    out.append(0)
            else:
                if self.transactional_id is None:
                    out += _pack_h(-1)
                else:
                    raw = self.transactional_id.encode()
                    out += _pack_h(len(raw))
                    out += raw
                if self.producer_id != -1:
                    raise not_in_version("ProducerId", "3-6")
                if self.producer_epoch != -1:
                    raise not_in_version("ProducerEpoch", "3-6")
                if self.enable2_pc:
                    raise not_in_version("Enable2Pc", "6")
                if self.keep_prepared_txn:
                    raise not_in_version("KeepPreparedTxn", "6")
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
            m = new(InitProducerIdRequest)
            if version >= 2:
                n = buf[pos]
                pos += 1
                if n > 127:
                    n, pos = long_nullable_string_length(buf, pos, n)
                if n == 0:
                    m.transactional_id = None
                else:
                    end = pos + n - 1
                    m.transactional_id = buf[pos:end].tobytes().decode()
                    pos = end
                m.transaction_timeout_ms = _unpack_i(buf, pos)[0]
                pos += 4
                if version >= 3:
                    m.producer_id = _unpack_q(buf, pos)[0]
                    pos += 8
                else:
                    m.producer_id = -1
                if version >= 3:
                    m.producer_epoch = _unpack_h(buf, pos)[0]
                    pos += 2
                else:
                    m.producer_epoch = -1
                if version >= 6:
                    m.enable2_pc = buf[pos] != 0
                    pos += 1
                else:
                    m.enable2_pc = False
                if version >= 6:
                    m.keep_prepared_txn = buf[pos] != 0
                    pos += 1
                else:
                    m.keep_prepared_txn = False
                n = buf[pos]
                pos += 1
                if n:
                    m.unknown_tagged_fields, pos = read_unknown_tags(buf, pos, n)
                else:
                    m.unknown_tagged_fields = ()
            else:
                n = _unpack_h(buf, pos)[0]
                pos += 2
                if n < 0:
                    m.transactional_id = None
                else:
                    end = pos + n
                    m.transactional_id = buf[pos:end].tobytes().decode()
                    pos = end
                m.producer_id = -1
                m.producer_epoch = -1
                m.enable2_pc = False
                m.keep_prepared_txn = False
                m.unknown_tagged_fields = ()
                m.transaction_timeout_ms = _unpack_i(buf, pos)[0]
                pos += 4
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("InitProducerIdRequest", version, buf, start, cause) from cause


@dataclass(slots=True)
class InitProducerIdResponse:
    """The producer id and epoch to use from now on. CONCURRENT_TRANSACTIONS asks to try again while
    an older transaction is being ended.
    """

    NAME: ClassVar[str] = "InitProducerIdResponse"
    API_KEY: ClassVar[int] = 22
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 6
    FLEXIBLE_FROM: ClassVar[int | None] = 2

    throttle_time_ms: int = 0
    """Quota delay in ms that the client has to sit out itself (KIP-219); 0 when within quota."""
    error_code: int = 0
    """NONE, or e.g. CONCURRENT_TRANSACTIONS, COORDINATOR_LOAD_IN_PROGRESS, NOT_COORDINATOR,
    PRODUCER_FENCED, INVALID_TRANSACTION_TIMEOUT.
    """
    producer_id: int = -1
    """Id for the producer's batches, new once its epochs are used up; -1 on an error."""
    producer_epoch: int = 0
    """Epoch for the producer's batches, older ones are fenced; 0 with a new id."""
    ongoing_txn_producer_id: int = -1
    """Versions 6. Id of the transaction kept open (KIP-939); -1 when there is none."""
    ongoing_txn_producer_epoch: int = -1
    """Versions 6. Epoch of the transaction kept open (KIP-939); -1 when there is none."""
    unknown_tagged_fields: TaggedFields = ()

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
                    out += _pack_q(self.ongoing_txn_producer_id)
                elif self.ongoing_txn_producer_id != -1:
                    raise not_in_version("OngoingTxnProducerId", "6")
                if version >= 6:
                    out += _pack_h(self.ongoing_txn_producer_epoch)
                elif self.ongoing_txn_producer_epoch != -1:
                    raise not_in_version("OngoingTxnProducerEpoch", "6")
                if self.unknown_tagged_fields:
                    write_tagged_fields(out, [], self.unknown_tagged_fields)
                else:
                    out.append(0)
            else:
                if self.ongoing_txn_producer_id != -1:
                    raise not_in_version("OngoingTxnProducerId", "6")
                if self.ongoing_txn_producer_epoch != -1:
                    raise not_in_version("OngoingTxnProducerEpoch", "6")
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
                    m.ongoing_txn_producer_id = _unpack_q(buf, pos)[0]
                    pos += 8
                else:
                    m.ongoing_txn_producer_id = -1
                if version >= 6:
                    m.ongoing_txn_producer_epoch = _unpack_h(buf, pos)[0]
                    pos += 2
                else:
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
