# Generated from schemas/records/EndTransactionRecord.json (sha256 874aef4d9825e116)
# by python -m fencepost_protocol.codegen. Do not edit.
"""EndTransactionRecord (metadata record 24)."""

from __future__ import annotations

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

new = object.__new__


class EndTransactionRecord(Fields):
    """Ends a metadata transaction in the KRaft log and makes all its records take effect at once
    (KIP-868).
    """

    NAME: ClassVar[str] = "EndTransactionRecord"
    RECORD_TYPE: ClassVar[int] = 24
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    __slots__ = ("unknown_tagged_fields",)

    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 0:
                raise unknown_version("EndTransactionRecord", version, 0, 0)
            if self.unknown_tagged_fields:
                write_tagged_fields(out, [], self.unknown_tagged_fields)
            else:
                out.append(0)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("EndTransactionRecord", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[EndTransactionRecord, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 0:
                raise unknown_version("EndTransactionRecord", version, 0, 0)
            size = len(buf)
            m = new(EndTransactionRecord)
            n = buf[pos]
            pos += 1
            if n:
                m.unknown_tagged_fields, pos = read_unknown_tags(buf, pos, n)
            else:
                m.unknown_tagged_fields = ()
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("EndTransactionRecord", version, buf, start, cause) from cause


__all__ = [
    "EndTransactionRecord",
]
