# Generated from schemas/records/BrokerRegistrationChangeRecord.json (sha256 6e4d18f37bef41ff)
# by python -m fencepost_protocol.codegen. Do not edit.
"""BrokerRegistrationChangeRecord (metadata record 17)."""

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
    read_tag,
    read_uuid_array,
    tagged_field,
    too_many_elements,
    with_unknown_tag,
    write_tagged_fields,
    write_uuid_array,
)
from fencepost_protocol.varint import read_uvarint_tail, write_uvarint

_unpack_iqB = struct.Struct(">iqB").unpack_from
_pack_bbb = struct.Struct(">bbb").pack
_pack_iq = struct.Struct(">iq").pack
new = object.__new__


class BrokerRegistrationChangeRecord(Fields):
    """Changes part of a broker's registration, mostly when it is fenced, unfenced or shutting down;
    fields left out stay as they were.
    """

    NAME: ClassVar[str] = "BrokerRegistrationChangeRecord"
    RECORD_TYPE: ClassVar[int] = 17
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 3
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    __slots__ = (
        "broker_id",
        "broker_epoch",
        "fenced",
        "in_controlled_shutdown",
        "log_dirs",
        "cordoned_log_dirs",
        "unknown_tagged_fields",
    )

    broker_id: int
    """Broker whose registration changes."""
    broker_epoch: int
    """Epoch of the registration that changes; must be the current one."""
    fenced: int
    """1 fences the broker, -1 unfences it, 0 changes nothing."""
    in_controlled_shutdown: int
    """Versions 1-3. 1 when the broker begins a controlled shutdown (KIP-841), 0 changes nothing;
    only a new registration undoes it.
    """
    log_dirs: list[bytes]
    """Versions 2-3. Ids of the broker's log directories that are available (KIP-858); empty changes
    nothing.
    """
    cordoned_log_dirs: list[bytes] | None
    """Versions 3. Log directories closed to new replicas (KIP-1066); null changes nothing."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        broker_id: int = 0,
        broker_epoch: int = 0,
        fenced: int = 0,
        in_controlled_shutdown: int = 0,
        log_dirs: list[bytes] = MADE_ANEW,
        cordoned_log_dirs: list[bytes] | None = None,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.broker_id = broker_id
        self.broker_epoch = broker_epoch
        self.fenced = fenced
        self.in_controlled_shutdown = in_controlled_shutdown
        self.log_dirs = [] if log_dirs is MADE_ANEW else log_dirs
        self.cordoned_log_dirs = cordoned_log_dirs
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 3:
                raise unknown_version("BrokerRegistrationChangeRecord", version, 0, 3)
            out += _pack_iq(self.broker_id, self.broker_epoch)
            tagged_1: list[bytes] = []
            if self.fenced != 0:
                tagged_1.append(_pack_bbb(0, 1, self.fenced))
            if self.in_controlled_shutdown != 0:
                if not (version >= 1):
                    raise not_in_version("in_controlled_shutdown", "1-3")
                tagged_1.append(_pack_bbb(1, 1, self.in_controlled_shutdown))
            if self.log_dirs:
                if not (version >= 2):
                    raise not_in_version("log_dirs", "2-3")
                content_1 = bytearray()
                n = len(self.log_dirs) + 1
                if n < 128:
                    content_1.append(n)
                else:
                    write_uvarint(content_1, n)
                write_uuid_array(content_1, self.log_dirs)
                tagged_1.append(tagged_field(2, content_1))
            if self.cordoned_log_dirs is not None:
                if not (version >= 3):
                    raise not_in_version("cordoned_log_dirs", "3")
                content_1 = bytearray()
                n = len(self.cordoned_log_dirs) + 1
                if n < 128:
                    content_1.append(n)
                else:
                    write_uvarint(content_1, n)
                write_uuid_array(content_1, self.cordoned_log_dirs)
                tagged_1.append(tagged_field(3, content_1))
            if self.unknown_tagged_fields:
                write_tagged_fields(out, tagged_1, self.unknown_tagged_fields)
            elif tagged_1:
                out.append(len(tagged_1))
                out += b"".join(tagged_1)
            else:
                out.append(0)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("BrokerRegistrationChangeRecord", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[BrokerRegistrationChangeRecord, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 3:
                raise unknown_version("BrokerRegistrationChangeRecord", version, 0, 3)
            size = len(buf)
            m = new(BrokerRegistrationChangeRecord)
            budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
            m.fenced = 0
            m.in_controlled_shutdown = 0
            m.log_dirs = []
            m.cordoned_log_dirs = None
            m.unknown_tagged_fields = ()
            m.broker_id, m.broker_epoch, n = _unpack_iqB(buf, pos)
            pos += 13
            if n:
                if n > 127:
                    n, pos = read_uvarint_tail(buf, pos, n)
                for _ in range(n):
                    tag_1, tag_end_1, pos = read_tag(buf, pos)
                    if tag_1 == 0:
                        m.fenced = (buf[pos] ^ 128) - 128
                        pos += 1
                    elif tag_1 == 1:
                        if not (version >= 1):
                            raise ValueError(TAG_NOT_IN_VERSION)
                        m.in_controlled_shutdown = (buf[pos] ^ 128) - 128
                        pos += 1
                    elif tag_1 == 2:
                        if not (version >= 2):
                            raise ValueError(TAG_NOT_IN_VERSION)
                        n = buf[pos]
                        pos += 1
                        if not n or n > 127:
                            n, pos = long_length(buf, pos, n)
                        budget -= n
                        if budget < 0:
                            raise too_many_elements(budget)
                        m.log_dirs, pos = read_uuid_array(buf, pos, n - 1)
                    elif tag_1 == 3:
                        if not (version >= 3):
                            raise ValueError(TAG_NOT_IN_VERSION)
                        n = buf[pos]
                        pos += 1
                        if n > 127:
                            n, pos = read_uvarint_tail(buf, pos, n)
                        if not n:
                            m.cordoned_log_dirs = None
                        else:
                            budget -= n
                            if budget < 0:
                                raise too_many_elements(budget)
                            m.cordoned_log_dirs, pos = read_uuid_array(buf, pos, n - 1)
                    else:
                        m.unknown_tagged_fields = with_unknown_tag(m.unknown_tagged_fields, tag_1, buf[pos:tag_end_1])
                        pos = tag_end_1
                    if pos != tag_end_1:
                        raise ValueError(TAG_SIZE_WRONG)
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("BrokerRegistrationChangeRecord", version, buf, start, cause) from cause


__all__ = [
    "BrokerRegistrationChangeRecord",
]
