# Generated from schemas/records/AbortTransactionRecord.json (sha256 567b878cb4581022)
# by python -m fencepost_protocol.codegen. Do not edit.
"""AbortTransactionRecord (metadata record 25)."""

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
    TAG_SIZE_WRONG,
    TaggedFields,
    long_nullable_string_length,
    read_tag,
    tagged_field,
    with_unknown_tag,
    write_string_length,
    write_tagged_fields,
)
from fencepost_protocol.varint import read_uvarint_tail

new = object.__new__


class AbortTransactionRecord(Fields):
    """Ends an open metadata transaction in the KRaft log; everything since its
    BeginTransactionRecord is discarded (KIP-868).
    """

    NAME: ClassVar[str] = "AbortTransactionRecord"
    RECORD_TYPE: ClassVar[int] = 25
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    __slots__ = ("reason", "unknown_tagged_fields")

    reason: str | None
    """Why it was aborted, for people only; null when not told."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        reason: str | None = None,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.reason = reason
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 0:
                raise unknown_version("AbortTransactionRecord", version, 0, 0)
            tagged_1: list[bytes] = []
            if self.reason is not None:
                content_1 = bytearray()
                raw = self.reason.encode()
                n = len(raw) + 1
                if n < 128:
                    content_1.append(n)
                else:
                    write_string_length(content_1, n)
                content_1 += raw
                tagged_1.append(tagged_field(0, content_1))
            if self.unknown_tagged_fields:
                write_tagged_fields(out, tagged_1, self.unknown_tagged_fields)
            elif tagged_1:
                out.append(len(tagged_1))
                out += b"".join(tagged_1)
            else:
                out.append(0)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("AbortTransactionRecord", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[AbortTransactionRecord, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 0:
                raise unknown_version("AbortTransactionRecord", version, 0, 0)
            size = len(buf)
            data = buf.tobytes()
            m = new(AbortTransactionRecord)
            m.reason = None
            m.unknown_tagged_fields = ()
            n = data[pos]
            pos += 1
            if n:
                if n > 127:
                    n, pos = read_uvarint_tail(data, pos, n)
                for _ in range(n):
                    tag_1, tag_end_1, pos = read_tag(data, pos)
                    if tag_1 == 0:
                        n = data[pos]
                        pos += 1
                        if n > 127:
                            n, pos = long_nullable_string_length(data, pos, n)
                        if not n:
                            m.reason = None
                        else:
                            end = pos + n - 1
                            m.reason = data[pos:end].decode()
                            pos = end
                    else:
                        m.unknown_tagged_fields = with_unknown_tag(m.unknown_tagged_fields, tag_1, data[pos:tag_end_1])
                        pos = tag_end_1
                    if pos != tag_end_1:
                        raise ValueError(TAG_SIZE_WRONG)
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("AbortTransactionRecord", version, buf, start, cause) from cause


__all__ = [
    "AbortTransactionRecord",
]
