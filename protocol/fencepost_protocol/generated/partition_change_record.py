# Generated from schemas/records/PartitionChangeRecord.json (sha256 ad5c4273cdd71490)
# by python -m fencepost_protocol.codegen. Do not edit.
"""PartitionChangeRecord (metadata record 5)."""

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
from fencepost_protocol.fields import Fields
from fencepost_protocol.primitives import (
    CUT_SHORT,
    DECODE_ERRORS,
    TAG_NOT_IN_VERSION,
    TAG_SIZE_WRONG,
    ZERO_UUID,
    TaggedFields,
    read_int32_array,
    read_tag,
    read_uuid_array,
    tagged_field,
    too_many_elements,
    uuid_bytes,
    with_unknown_tag,
    write_int32_array,
    write_tagged_fields,
    write_uuid_array,
)
from fencepost_protocol.varint import read_uvarint_tail, write_uvarint

_unpack_i = struct.Struct(">i").unpack_from
_unpack_iUB = struct.Struct(">i16sB").unpack_from
_pack_bbb = struct.Struct(">bbb").pack
_pack_bbi = struct.Struct(">bbi").pack
_pack_iU = struct.Struct(">i16s").pack
new = object.__new__


class PartitionChangeRecord(Fields):
    """Changes some properties of a partition; fields left out stay as they were. Every such record
    raises the partition epoch.
    """

    NAME: ClassVar[str] = "PartitionChangeRecord"
    RECORD_TYPE: ClassVar[int] = 5
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    __slots__ = (
        "partition_id",
        "topic_id",
        "isr",
        "leader",
        "replicas",
        "removing_replicas",
        "adding_replicas",
        "leader_recovery_state",
        "directories",
        "eligible_leader_replicas",
        "last_known_elr",
        "unknown_tagged_fields",
    )

    partition_id: int
    """Partition number within the topic, counted from 0."""
    topic_id: bytes
    """UUID of the topic."""
    isr: list[int] | None
    """New in-sync replicas; null when unchanged."""
    leader: int
    """New leader: -2 unchanged, -1 no leader. Any other value than -2 raises the leader epoch, even
    for the same leader.
    """
    replicas: list[int] | None
    """New replica list, the preferred leader first; null when unchanged."""
    removing_replicas: list[int] | None
    """Replicas that a reassignment is taking away; null when unchanged, empty when none."""
    adding_replicas: list[int] | None
    """Replicas that a reassignment is bringing in; null when unchanged, empty when none."""
    leader_recovery_state: int
    """-1 unchanged, 0 recovered, 1 leader was elected uncleanly and still recovers (KIP-704)."""
    directories: list[bytes] | None
    """Versions 1-2. Log directory of each replica, in the order of the replica list (KIP-858); null
    when unchanged.
    """
    eligible_leader_replicas: list[int] | None
    """Versions 2. Replicas outside the ISR that may lead without data loss (KIP-966); null when
    unchanged.
    """
    last_known_elr: list[int] | None
    """Versions 2. Replicas dropped from the eligible ones by an unclean shutdown (KIP-966); null
    when unchanged.
    """
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        partition_id: int = -1,
        topic_id: bytes = ZERO_UUID,
        isr: list[int] | None = None,
        leader: int = -2,
        replicas: list[int] | None = None,
        removing_replicas: list[int] | None = None,
        adding_replicas: list[int] | None = None,
        leader_recovery_state: int = -1,
        directories: list[bytes] | None = None,
        eligible_leader_replicas: list[int] | None = None,
        last_known_elr: list[int] | None = None,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.partition_id = partition_id
        self.topic_id = topic_id
        self.isr = isr
        self.leader = leader
        self.replicas = replicas
        self.removing_replicas = removing_replicas
        self.adding_replicas = adding_replicas
        self.leader_recovery_state = leader_recovery_state
        self.directories = directories
        self.eligible_leader_replicas = eligible_leader_replicas
        self.last_known_elr = last_known_elr
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 2:
                raise unknown_version("PartitionChangeRecord", version, 0, 2)
            out += _pack_iU(self.partition_id, uuid_bytes(self.topic_id))
            tagged_1: list[bytes] = []
            if self.isr is not None:
                content_1 = bytearray()
                n = len(self.isr) + 1
                if n < 128:
                    content_1.append(n)
                else:
                    write_uvarint(content_1, n)
                write_int32_array(content_1, self.isr)
                tagged_1.append(tagged_field(0, content_1))
            if self.leader != -2:
                tagged_1.append(_pack_bbi(1, 4, self.leader))
            if self.replicas is not None:
                content_1 = bytearray()
                n = len(self.replicas) + 1
                if n < 128:
                    content_1.append(n)
                else:
                    write_uvarint(content_1, n)
                write_int32_array(content_1, self.replicas)
                tagged_1.append(tagged_field(2, content_1))
            if self.removing_replicas is not None:
                content_1 = bytearray()
                n = len(self.removing_replicas) + 1
                if n < 128:
                    content_1.append(n)
                else:
                    write_uvarint(content_1, n)
                write_int32_array(content_1, self.removing_replicas)
                tagged_1.append(tagged_field(3, content_1))
            if self.adding_replicas is not None:
                content_1 = bytearray()
                n = len(self.adding_replicas) + 1
                if n < 128:
                    content_1.append(n)
                else:
                    write_uvarint(content_1, n)
                write_int32_array(content_1, self.adding_replicas)
                tagged_1.append(tagged_field(4, content_1))
            if self.leader_recovery_state != -1:
                tagged_1.append(_pack_bbb(5, 1, self.leader_recovery_state))
            if self.eligible_leader_replicas is not None:
                if not (version >= 2):
                    raise not_in_version("eligible_leader_replicas", "2")
                content_1 = bytearray()
                n = len(self.eligible_leader_replicas) + 1
                if n < 128:
                    content_1.append(n)
                else:
                    write_uvarint(content_1, n)
                write_int32_array(content_1, self.eligible_leader_replicas)
                tagged_1.append(tagged_field(6, content_1))
            if self.last_known_elr is not None:
                if not (version >= 2):
                    raise not_in_version("last_known_elr", "2")
                content_1 = bytearray()
                n = len(self.last_known_elr) + 1
                if n < 128:
                    content_1.append(n)
                else:
                    write_uvarint(content_1, n)
                write_int32_array(content_1, self.last_known_elr)
                tagged_1.append(tagged_field(7, content_1))
            if self.directories is not None:
                if not (version >= 1):
                    raise not_in_version("directories", "1-2")
                content_1 = bytearray()
                n = len(self.directories) + 1
                if n < 128:
                    content_1.append(n)
                else:
                    write_uvarint(content_1, n)
                write_uuid_array(content_1, self.directories)
                tagged_1.append(tagged_field(8, content_1))
            if self.unknown_tagged_fields:
                write_tagged_fields(out, tagged_1, self.unknown_tagged_fields)
            elif tagged_1:
                out.append(len(tagged_1))
                out += b"".join(tagged_1)
            else:
                out.append(0)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("PartitionChangeRecord", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[PartitionChangeRecord, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 2:
                raise unknown_version("PartitionChangeRecord", version, 0, 2)
            size = len(buf)
            m = new(PartitionChangeRecord)
            budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
            m.isr = None
            m.leader = -2
            m.replicas = None
            m.removing_replicas = None
            m.adding_replicas = None
            m.leader_recovery_state = -1
            m.directories = None
            m.eligible_leader_replicas = None
            m.last_known_elr = None
            m.unknown_tagged_fields = ()
            m.partition_id, m.topic_id, n = _unpack_iUB(buf, pos)
            pos += 21
            if n:
                if n > 127:
                    n, pos = read_uvarint_tail(buf, pos, n)
                for _ in range(n):
                    tag_1, tag_end_1, pos = read_tag(buf, pos)
                    if tag_1 == 0:
                        n = buf[pos]
                        pos += 1
                        if n > 127:
                            n, pos = read_uvarint_tail(buf, pos, n)
                        if not n:
                            m.isr = None
                        else:
                            budget -= n
                            if budget < 0:
                                raise too_many_elements(budget)
                            m.isr, pos = read_int32_array(buf, pos, n - 1)
                    elif tag_1 == 1:
                        m.leader = _unpack_i(buf, pos)[0]
                        pos += 4
                    elif tag_1 == 2:
                        n = buf[pos]
                        pos += 1
                        if n > 127:
                            n, pos = read_uvarint_tail(buf, pos, n)
                        if not n:
                            m.replicas = None
                        else:
                            budget -= n
                            if budget < 0:
                                raise too_many_elements(budget)
                            m.replicas, pos = read_int32_array(buf, pos, n - 1)
                    elif tag_1 == 3:
                        n = buf[pos]
                        pos += 1
                        if n > 127:
                            n, pos = read_uvarint_tail(buf, pos, n)
                        if not n:
                            m.removing_replicas = None
                        else:
                            budget -= n
                            if budget < 0:
                                raise too_many_elements(budget)
                            m.removing_replicas, pos = read_int32_array(buf, pos, n - 1)
                    elif tag_1 == 4:
                        n = buf[pos]
                        pos += 1
                        if n > 127:
                            n, pos = read_uvarint_tail(buf, pos, n)
                        if not n:
                            m.adding_replicas = None
                        else:
                            budget -= n
                            if budget < 0:
                                raise too_many_elements(budget)
                            m.adding_replicas, pos = read_int32_array(buf, pos, n - 1)
                    elif tag_1 == 5:
                        m.leader_recovery_state = (buf[pos] ^ 128) - 128
                        pos += 1
                    elif tag_1 == 6:
                        if not (version >= 2):
                            raise ValueError(TAG_NOT_IN_VERSION)
                        n = buf[pos]
                        pos += 1
                        if n > 127:
                            n, pos = read_uvarint_tail(buf, pos, n)
                        if not n:
                            m.eligible_leader_replicas = None
                        else:
                            budget -= n
                            if budget < 0:
                                raise too_many_elements(budget)
                            m.eligible_leader_replicas, pos = read_int32_array(buf, pos, n - 1)
                    elif tag_1 == 7:
                        if not (version >= 2):
                            raise ValueError(TAG_NOT_IN_VERSION)
                        n = buf[pos]
                        pos += 1
                        if n > 127:
                            n, pos = read_uvarint_tail(buf, pos, n)
                        if not n:
                            m.last_known_elr = None
                        else:
                            budget -= n
                            if budget < 0:
                                raise too_many_elements(budget)
                            m.last_known_elr, pos = read_int32_array(buf, pos, n - 1)
                    elif tag_1 == 8:
                        if not (version >= 1):
                            raise ValueError(TAG_NOT_IN_VERSION)
                        n = buf[pos]
                        pos += 1
                        if n > 127:
                            n, pos = read_uvarint_tail(buf, pos, n)
                        if not n:
                            m.directories = None
                        else:
                            budget -= n
                            if budget < 0:
                                raise too_many_elements(budget)
                            m.directories, pos = read_uuid_array(buf, pos, n - 1)
                    else:
                        m.unknown_tagged_fields = with_unknown_tag(m.unknown_tagged_fields, tag_1, buf[pos:tag_end_1])
                        pos = tag_end_1
                    if pos != tag_end_1:
                        raise ValueError(TAG_SIZE_WRONG)
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("PartitionChangeRecord", version, buf, start, cause) from cause


__all__ = [
    "PartitionChangeRecord",
]
