# Generated from schemas/records/FenceBrokerRecord.json (sha256 d6425628c3f1efd1)
# by python -m fencepost_protocol.codegen. Do not edit.
"""FenceBrokerRecord (metadata record 7)."""

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

_unpack_iqB = struct.Struct(">iqB").unpack_from
_pack_iq = struct.Struct(">iq").pack
new = object.__new__


class FenceBrokerRecord(Fields):
    """Takes a broker out of service without removing it; newer metadata versions write
    BrokerRegistrationChangeRecord instead.
    """

    NAME: ClassVar[str] = "FenceBrokerRecord"
    RECORD_TYPE: ClassVar[int] = 7
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    __slots__ = ("id", "epoch", "unknown_tagged_fields")

    id: int
    """Broker to fence."""
    epoch: int
    """Epoch of its current registration."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        id: int = 0,
        epoch: int = 0,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.id = id
        self.epoch = epoch
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 0:
                raise unknown_version("FenceBrokerRecord", version, 0, 0)
            out += _pack_iq(self.id, self.epoch)
            if self.unknown_tagged_fields:
                write_tagged_fields(out, [], self.unknown_tagged_fields)
            else:
                out.append(0)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("FenceBrokerRecord", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[FenceBrokerRecord, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 0:
                raise unknown_version("FenceBrokerRecord", version, 0, 0)
            size = len(buf)
            m = new(FenceBrokerRecord)
            m.id, m.epoch, n = _unpack_iqB(buf, pos)
            pos += 13
            if n:
                m.unknown_tagged_fields, pos = read_unknown_tags(buf, pos, n)
            else:
                m.unknown_tagged_fields = ()
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("FenceBrokerRecord", version, buf, start, cause) from cause


__all__ = [
    "FenceBrokerRecord",
]
