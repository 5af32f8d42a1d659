# Generated from schemas/records/ControlRecordTypeSchema.json (sha256 8f3ab46f631c56df)
# by python -m fencepost_protocol.codegen. Do not edit.
"""ControlRecordTypeSchema."""

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
from fencepost_protocol.primitives import CUT_SHORT, DECODE_ERRORS, TaggedFields

_unpack_h = struct.Struct(">h").unpack_from
_pack_h = struct.Struct(">h").pack
new = object.__new__


class ControlRecordTypeSchema(Fields):
    """Key of every control record: after an int16 version it names the kind of control record."""

    NAME: ClassVar[str] = "ControlRecordTypeSchema"
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = None

    __slots__ = ("type", "unknown_tagged_fields")

    type: int
    """0 abort, 1 commit, 2 leader change, 3 snapshot header, 4 snapshot footer, 5 KRaft version, 6
    KRaft voters.
    """
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        type: int = 0,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.type = type
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 0:
                raise unknown_version("ControlRecordTypeSchema", version, 0, 0)
            out += _pack_h(self.type)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("ControlRecordTypeSchema", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[ControlRecordTypeSchema, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 0:
                raise unknown_version("ControlRecordTypeSchema", version, 0, 0)
            size = len(buf)
            m = new(ControlRecordTypeSchema)
            m.unknown_tagged_fields = ()
            m.type = _unpack_h(buf, pos)[0]
            pos += 2
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("ControlRecordTypeSchema", version, buf, start, cause) from cause


__all__ = [
    "ControlRecordTypeSchema",
]
