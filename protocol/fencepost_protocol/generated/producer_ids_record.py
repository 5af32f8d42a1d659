# Generated from schemas/records/ProducerIdsRecord.json (sha256 b84b689f4e6d6d74)
# by python -m fencepost_protocol.codegen. Do not edit.
"""ProducerIdsRecord (metadata record 15)."""

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
    read_unknown_tags,
    write_tagged_fields,
)

_unpack_iqqB = struct.Struct(">iqqB").unpack_from
_pack_iqq = struct.Struct(">iqq").pack
new = object.__new__


class ProducerIdsRecord(Fields):
    """Notes that a block of producer ids was given to a broker, so that no id is handed out twice
    (KIP-730).
    """

    NAME: ClassVar[str] = "ProducerIdsRecord"
    RECORD_TYPE: ClassVar[int] = 15
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    __slots__ = ("broker_id", "broker_epoch", "next_producer_id", "unknown_tagged_fields")

    broker_id: int
    """Broker that received the block."""
    broker_epoch: int
    """Epoch of that broker's registration; -1 when not given."""
    next_producer_id: int
    """First id after the block, where the next block will begin."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        broker_id: int = 0,
        broker_epoch: int = -1,
        next_producer_id: int = 0,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.broker_id = broker_id
        self.broker_epoch = broker_epoch
        self.next_producer_id = next_producer_id
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 0:
                raise unknown_version("ProducerIdsRecord", version, 0, 0)
            out += _pack_iqq(self.broker_id, self.broker_epoch, self.next_producer_id)
            if self.unknown_tagged_fields:
                write_tagged_fields(out, [], self.unknown_tagged_fields)
            else:
                out.append(0)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("ProducerIdsRecord", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[ProducerIdsRecord, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 0:
                raise unknown_version("ProducerIdsRecord", version, 0, 0)
            size = len(buf)
            m = new(ProducerIdsRecord)
            m.broker_id, m.broker_epoch, m.next_producer_id, n = _unpack_iqqB(buf, pos)
            pos += 21
            if n:
                m.unknown_tagged_fields, pos = read_unknown_tags(buf, pos, n)
            else:
                m.unknown_tagged_fields = ()
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("ProducerIdsRecord", version, buf, start, cause) from cause


__all__ = [
    "ProducerIdsRecord",
]
