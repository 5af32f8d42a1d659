# Generated from schemas/messages/AddOffsetsToTxnRequest.json (sha256 1c55ebde3ddd461c)
# Generated from schemas/messages/AddOffsetsToTxnResponse.json (sha256 45ef08787d201faf)
# by python -m fencepost_protocol.codegen. Do not edit.
"""AddOffsetsToTxn (API key 25)."""

from __future__ import annotations

import struct
from typing import ClassVar

from fencepost_protocol.failures import (
    ENCODE_ERRORS,
    decode_failure,
    encode_failure,
    unknown_version,
)
from fencepost_protocol.fields import Fields
from fencepost_protocol.primitives import (
    CUT_SHORT,
    DECODE_ERRORS,
    TaggedFields,
    long_string_length,
    negative_length,
    read_unknown_tags,
    write_string_length,
    write_tagged_fields,
)

_unpack_h = struct.Struct(">h").unpack_from
_unpack_ih = struct.Struct(">ih").unpack_from
_unpack_ihB = struct.Struct(">ihB").unpack_from
_unpack_qhB = struct.Struct(">qhB").unpack_from
_unpack_qhh = struct.Struct(">qhh").unpack_from
_pack_h = struct.Struct(">h").pack
_pack_ih = struct.Struct(">ih").pack
_pack_qh = struct.Struct(">qh").pack
_pack_qhh = struct.Struct(">qhh").pack
new = object.__new__


class AddOffsetsToTxnRequest(Fields):
    """A producer tells its transaction coordinator that offsets of a group join the transaction;
    TxnOffsetCommit to the group coordinator follows. Not needed under transaction version 2
    (KIP-890).
    """

    NAME: ClassVar[str] = "AddOffsetsToTxnRequest"
    API_KEY: ClassVar[int] = 25
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 4
    FLEXIBLE_FROM: ClassVar[int | None] = 3

    __slots__ = (
        "transactional_id",
        "producer_id",
        "producer_epoch",
        "group_id",
        "unknown_tagged_fields",
    )

    transactional_id: str
    """Transactional id of the producer; decides which broker coordinates."""
    producer_id: int
    """Id from InitProducerId; one that does not belong to the transactional id gives
    INVALID_PRODUCER_ID_MAPPING.
    """
    producer_epoch: int
    """Epoch in use; older or newer gives PRODUCER_FENCED (versions 0-1: INVALID_PRODUCER_EPOCH)."""
    group_id: str
    """Group whose offsets are committed; its partition of __consumer_offsets enters the
    transaction.
    """
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        transactional_id: str = "",
        producer_id: int = 0,
        producer_epoch: int = 0,
        group_id: str = "",
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.transactional_id = transactional_id
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.group_id = group_id
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 4:
                raise unknown_version("AddOffsetsToTxnRequest", version, 0, 4)
            if version >= 3:
                raw = self.transactional_id.encode()
                n = len(raw) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_string_length(out, n)
                out += raw
                raw = self.group_id.encode()
                out += _pack_qh(self.producer_id, self.producer_epoch)
                n = len(raw) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_string_length(out, n)
                out += raw
                if self.unknown_tagged_fields:
                    write_tagged_fields(out, [], self.unknown_tagged_fields)
                else:
                    out.append(0)
            else:
                raw = self.transactional_id.encode()
                out += _pack_h(len(raw))
                out += raw
                raw = self.group_id.encode()
                out += _pack_qhh(self.producer_id, self.producer_epoch, len(raw))
                out += raw
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("AddOffsetsToTxnRequest", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[AddOffsetsToTxnRequest, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 4:
                raise unknown_version("AddOffsetsToTxnRequest", version, 0, 4)
            size = len(buf)
            data = buf.tobytes()
            m = new(AddOffsetsToTxnRequest)
            if version >= 3:
                n = data[pos]
                pos += 1
                if not n or n > 127:
                    n, pos = long_string_length(data, pos, n)
                end = pos + n - 1
                m.transactional_id = data[pos:end].decode()
                pos = end
                m.producer_id, m.producer_epoch, n = _unpack_qhB(data, pos)
                pos += 11
                if not n or n > 127:
                    n, pos = long_string_length(data, pos, n)
                end = pos + n - 1
                m.group_id = data[pos:end].decode()
                pos = end
                n = data[pos]
                pos += 1
                if n:
                    m.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                else:
                    m.unknown_tagged_fields = ()
            else:
                n = _unpack_h(data, pos)[0]
                pos += 2
                if n < 0:
                    raise negative_length(n)
                end = pos + n
                m.transactional_id = data[pos:end].decode()
                pos = end
                m.producer_id, m.producer_epoch, n = _unpack_qhh(data, pos)
                pos += 12
                if n < 0:
                    raise negative_length(n)
                end = pos + n
                m.group_id = data[pos:end].decode()
                pos = end
                m.unknown_tagged_fields = ()
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("AddOffsetsToTxnRequest", version, buf, start, cause) from cause


class AddOffsetsToTxnResponse(Fields):
    """Confirms that the group's offsets partition is part of the transaction."""

    NAME: ClassVar[str] = "AddOffsetsToTxnResponse"
    API_KEY: ClassVar[int] = 25
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 4
    FLEXIBLE_FROM: ClassVar[int | None] = 3

    __slots__ = ("throttle_time_ms", "error_code", "unknown_tagged_fields")

    throttle_time_ms: int
    """Quota delay in ms that the client has to sit out itself (KIP-219); 0 when within quota."""
    error_code: int
    """NONE, or e.g. CONCURRENT_TRANSACTIONS (try again), PRODUCER_FENCED,
    INVALID_PRODUCER_ID_MAPPING, NOT_COORDINATOR.
    """
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 4:
                raise unknown_version("AddOffsetsToTxnResponse", version, 0, 4)
            if version >= 3:
                out += _pack_ih(self.throttle_time_ms, self.error_code)
                if self.unknown_tagged_fields:
                    write_tagged_fields(out, [], self.unknown_tagged_fields)
                else:
                    out.append(0)
            else:
                out += _pack_ih(self.throttle_time_ms, self.error_code)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("AddOffsetsToTxnResponse", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[AddOffsetsToTxnResponse, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 4:
                raise unknown_version("AddOffsetsToTxnResponse", version, 0, 4)
            size = len(buf)
            m = new(AddOffsetsToTxnResponse)
            if version >= 3:
                m.throttle_time_ms, m.error_code, n = _unpack_ihB(buf, pos)
                pos += 7
                if n:
                    m.unknown_tagged_fields, pos = read_unknown_tags(buf, pos, n)
                else:
                    m.unknown_tagged_fields = ()
            else:
                m.unknown_tagged_fields = ()
                m.throttle_time_ms, m.error_code = _unpack_ih(buf, pos)
                pos += 6
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("AddOffsetsToTxnResponse", version, buf, start, cause) from cause


__all__ = [
    "AddOffsetsToTxnRequest",
    "AddOffsetsToTxnResponse",
]
