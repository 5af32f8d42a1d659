# Generated from schemas/records/EndTxnMarker.json (sha256 57998f1ddf2e2078)
# by python -m fencepost_protocol.codegen. Do not edit.
"""EndTxnMarker."""

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

_unpack_i = struct.Struct(">i").unpack_from
_pack_i = struct.Struct(">i").pack
new = object.__new__


class EndTxnMarker(Fields):
    """Value of the commit or abort marker that ends a transaction on a partition; whether it
    commits stands in the record key (KIP-98).
    """

    NAME: ClassVar[str] = "EndTxnMarker"
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = None

    __slots__ = ("coordinator_epoch", "unknown_tagged_fields")

    coordinator_epoch: int
    """Epoch of the coordinator that sent the marker; a lower one later gives
    TRANSACTION_COORDINATOR_FENCED.
    """
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        coordinator_epoch: int = 0,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.coordinator_epoch = coordinator_epoch
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 0:
                raise unknown_version("EndTxnMarker", version, 0, 0)
            out += _pack_i(self.coordinator_epoch)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("EndTxnMarker", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[EndTxnMarker, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 0:
                raise unknown_version("EndTxnMarker", version, 0, 0)
            size = len(buf)
            m = new(EndTxnMarker)
            m.unknown_tagged_fields = ()
            m.coordinator_epoch = _unpack_i(buf, pos)[0]
            pos += 4
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("EndTxnMarker", version, buf, start, cause) from cause


__all__ = [
    "EndTxnMarker",
]
