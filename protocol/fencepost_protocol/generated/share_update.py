# Generated from schemas/records/ShareUpdateKey.json (sha256 a152984ca72a1f11)
# Generated from schemas/records/ShareUpdateValue.json (sha256 748d605a0e368839)
# by python -m fencepost_protocol.codegen. Do not edit.
"""ShareUpdate (coordinator record 1)."""

from __future__ import annotations

import struct
from typing import ClassVar

from fencepost_protocol.failures import (
    ENCODE_ERRORS,
    decode_failure,
    encode_failure,
    unknown_version,
)
from fencepost_protocol.fields import MADE_ANEW, Fields
from fencepost_protocol.primitives import (
    CUT_SHORT,
    DECODE_ERRORS,
    TAG_SIZE_WRONG,
    ZERO_UUID,
    TaggedFields,
    long_length,
    negative_length,
    read_tag,
    read_unknown_tags,
    too_many_elements,
    uuid_bytes,
    with_unknown_tag,
    write_tagged_fields,
)
from fencepost_protocol.varint import read_uvarint_tail, write_uvarint

_unpack_Ui = struct.Struct(">16si").unpack_from
_unpack_h = struct.Struct(">h").unpack_from
_unpack_i = struct.Struct(">i").unpack_from
_unpack_iiqB = struct.Struct(">iiqB").unpack_from
_unpack_qqbhB = struct.Struct(">qqbhB").unpack_from
_pack_Ui = struct.Struct(">16si").pack
_pack_bbi = struct.Struct(">bbi").pack
_pack_h = struct.Struct(">h").pack
_pack_iiq = struct.Struct(">iiq").pack
_pack_qqbh = struct.Struct(">qqbh").pack
new = object.__new__


class ShareUpdateKey(Fields):
    """Key in __share_group_state of a change to a share partition's state (KIP-932)."""

    NAME: ClassVar[str] = "ShareUpdateKey"
    RECORD_TYPE: ClassVar[int] = 1
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = None

    __slots__ = ("group_id", "topic_id", "partition", "unknown_tagged_fields")

    group_id: str
    """Share group of the state."""
    topic_id: bytes
    """UUID of the topic."""
    partition: int
    """Number of the partition."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        group_id: str = "",
        topic_id: bytes = ZERO_UUID,
        partition: int = 0,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.group_id = group_id
        self.topic_id = topic_id
        self.partition = partition
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 0:
                raise unknown_version("ShareUpdateKey", version, 0, 0)
            raw = self.group_id.encode()
            out += _pack_h(len(raw))
            out += raw
            out += _pack_Ui(uuid_bytes(self.topic_id), self.partition)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("ShareUpdateKey", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[ShareUpdateKey, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 0:
                raise unknown_version("ShareUpdateKey", version, 0, 0)
            size = len(buf)
            data = buf.tobytes()
            m = new(ShareUpdateKey)
            n = _unpack_h(data, pos)[0]
            pos += 2
            if n < 0:
                raise negative_length(n)
            end = pos + n
            m.group_id = data[pos:end].decode()
            pos = end
            m.unknown_tagged_fields = ()
            m.topic_id, m.partition = _unpack_Ui(data, pos)
            pos += 20
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("ShareUpdateKey", version, buf, start, cause) from cause


class StateBatch(Fields):
    """Runs of offsets whose state has changed."""

    __slots__ = (
        "first_offset",
        "last_offset",
        "delivery_state",
        "delivery_count",
        "unknown_tagged_fields",
    )

    first_offset: int
    """First offset of the run."""
    last_offset: int
    """Offset of the run's last record, itself included."""
    delivery_state: int
    """0 available, 2 acknowledged, 4 archived."""
    delivery_count: int
    """How often these records have been delivered."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        first_offset: int = 0,
        last_offset: int = 0,
        delivery_state: int = 0,
        delivery_count: int = 0,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.first_offset = first_offset
        self.last_offset = last_offset
        self.delivery_state = delivery_state
        self.delivery_count = delivery_count
        self.unknown_tagged_fields = unknown_tagged_fields


class ShareUpdateValue(Fields):
    """Change to a share partition's state since its snapshot (KIP-932)."""

    NAME: ClassVar[str] = "ShareUpdateValue"
    RECORD_TYPE: ClassVar[int] = 1
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    __slots__ = (
        "snapshot_epoch",
        "leader_epoch",
        "start_offset",
        "delivery_complete_count",
        "state_batches",
        "unknown_tagged_fields",
    )

    snapshot_epoch: int
    """Number of the snapshot that it changes."""
    leader_epoch: int
    """Leader epoch of the writer."""
    start_offset: int
    """Offset to start at; -1 when it has not changed."""
    delivery_complete_count: int
    """Records from the start offset on whose delivery is complete; -1 when not known (KIP-1226)."""
    state_batches: list[StateBatch]
    """Runs of offsets whose state has changed."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        snapshot_epoch: int = 0,
        leader_epoch: int = 0,
        start_offset: int = 0,
        delivery_complete_count: int = -1,
        state_batches: list[StateBatch] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.snapshot_epoch = snapshot_epoch
        self.leader_epoch = leader_epoch
        self.start_offset = start_offset
        self.delivery_complete_count = delivery_complete_count
        self.state_batches = [] if state_batches is MADE_ANEW else state_batches
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 0:
                raise unknown_version("ShareUpdateValue", version, 0, 0)
            out += _pack_iiq(self.snapshot_epoch, self.leader_epoch, self.start_offset)
            n = len(self.state_batches) + 1
            if n < 128:
                out.append(n)
            else:
                write_uvarint(out, n)
            for state_batche in self.state_batches:
                out += _pack_qqbh(
                    state_batche.first_offset,
                    state_batche.last_offset,
                    state_batche.delivery_state,
                    state_batche.delivery_count,
                )
                if state_batche.unknown_tagged_fields:
                    write_tagged_fields(out, [], state_batche.unknown_tagged_fields)
                else:
                    out.append(0)
            tagged_1: list[bytes] = []
            if self.delivery_complete_count != -1:
                tagged_1.append(_pack_bbi(0, 4, self.delivery_complete_count))
            if self.unknown_tagged_fields:
                write_tagged_fields(out, tagged_1, self.unknown_tagged_fields)
            elif tagged_1:
                out.append(len(tagged_1))
                out += b"".join(tagged_1)
            else:
                out.append(0)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("ShareUpdateValue", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[ShareUpdateValue, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 0:
                raise unknown_version("ShareUpdateValue", version, 0, 0)
            size = len(buf)
            m = new(ShareUpdateValue)
            budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
            m.snapshot_epoch, m.leader_epoch, m.start_offset, n = _unpack_iiqB(buf, pos)
            pos += 17
            if not n or n > 127:
                n, pos = long_length(buf, pos, n)
            budget -= n
            if budget < 0:
                raise too_many_elements(budget)
            m.state_batches = state_batche_list = []
            state_batche_left = n - 1
            while state_batche_left:
                state_batche_left -= 1
                state_batche = new(StateBatch)
                state_batche_list.append(state_batche)
                (
                    state_batche.first_offset,
                    state_batche.last_offset,
                    state_batche.delivery_state,
                    state_batche.delivery_count,
                    n,
                ) = _unpack_qqbhB(buf, pos)
                pos += 20
                if n:
                    state_batche.unknown_tagged_fields, pos = read_unknown_tags(buf, pos, n)
                else:
                    state_batche.unknown_tagged_fields = ()
            m.delivery_complete_count = -1
            m.unknown_tagged_fields = ()
            n = buf[pos]
            pos += 1
            if n:
                if n > 127:
                    n, pos = read_uvarint_tail(buf, pos, n)
                for _ in range(n):
                    tag_1, tag_end_1, pos = read_tag(buf, pos)
                    if tag_1 == 0:
                        m.delivery_complete_count = _unpack_i(buf, pos)[0]
                        pos += 4
                    else:
                        m.unknown_tagged_fields = with_unknown_tag(m.unknown_tagged_fields, tag_1, buf[pos:tag_end_1])
                        pos = tag_end_1
                    if pos != tag_end_1:
                        raise ValueError(TAG_SIZE_WRONG)
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("ShareUpdateValue", version, buf, start, cause) from cause


__all__ = [
    "ShareUpdateKey",
    "StateBatch",
    "ShareUpdateValue",
]
