# Generated from schemas/records/PartitionRecord.json (sha256 3813cffaaa27b331)
# by python -m fencepost_protocol.codegen. Do not edit.
"""PartitionRecord (metadata record 3)."""

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
    ZERO_UUID,
    TaggedFields,
    long_length,
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

_unpack_iUB = struct.Struct(">i16sB").unpack_from
_unpack_iii = struct.Struct(">iii").unpack_from
_pack_bbb = struct.Struct(">bbb").pack
_pack_iU = struct.Struct(">i16s").pack
_pack_iii = struct.Struct(">iii").pack
new = object.__new__


class PartitionRecord(Fields):
    """Complete state of one partition, written at its creation and in snapshots."""

    NAME: ClassVar[str] = "PartitionRecord"
    RECORD_TYPE: ClassVar[int] = 3
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    __slots__ = (
        "partition_id",
        "topic_id",
        "replicas",
        "isr",
        "removing_replicas",
        "adding_replicas",
        "leader",
        "leader_recovery_state",
        "leader_epoch",
        "partition_epoch",
        "directories",
        "eligible_leader_replicas",
        "last_known_elr",
        "unknown_tagged_fields",
    )

    partition_id: int
    """Partition number within the topic, counted from 0."""
    topic_id: bytes
    """UUID of the topic; its TopicRecord comes first."""
    replicas: list[int]
    """Broker ids that hold a copy, the preferred leader first."""
    isr: list[int]
    """Broker ids of the copies that are in sync."""
    removing_replicas: list[int]
    """Replicas that a reassignment is taking away; empty when none."""
    adding_replicas: list[int]
    """Replicas that a reassignment is bringing in; empty when none."""
    leader: int
    """Broker that leads; -1 when there is none."""
    leader_recovery_state: int
    """0 recovered, 1 leader was elected uncleanly and still recovers (KIP-704)."""
    leader_epoch: int
    """Number of the leadership, grows with each change; starts at 0."""
    partition_epoch: int
    """Number of the partition's state, grows with any change; AlterPartition must know it."""
    directories: list[bytes]
    """Versions 1-2. Log directory of each replica, in the order of Replicas (KIP-858); reserved
    UUIDs stand for unassigned or lost ones.
    """
    eligible_leader_replicas: list[int] | None
    """Versions 2. Replicas outside the ISR that may lead without data loss (KIP-966); null when
    there are none.
    """
    last_known_elr: list[int] | None
    """Versions 2. Replicas dropped from the eligible ones by an unclean shutdown (KIP-966); null
    when there are none.
    """
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        partition_id: int = -1,
        topic_id: bytes = ZERO_UUID,
        replicas: list[int] = MADE_ANEW,
        isr: list[int] = MADE_ANEW,
        removing_replicas: list[int] = MADE_ANEW,
        adding_replicas: list[int] = MADE_ANEW,
        leader: int = -1,
        leader_recovery_state: int = 0,
        leader_epoch: int = -1,
        partition_epoch: int = -1,
        directories: list[bytes] = MADE_ANEW,
        eligible_leader_replicas: list[int] | None = None,
        last_known_elr: list[int] | None = None,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.partition_id = partition_id
        self.topic_id = topic_id
        self.replicas = [] if replicas is MADE_ANEW else replicas
        self.isr = [] if isr is MADE_ANEW else isr
        self.removing_replicas = [] if removing_replicas is MADE_ANEW else removing_replicas
        self.adding_replicas = [] if adding_replicas is MADE_ANEW else adding_replicas
        self.leader = leader
        self.leader_recovery_state = leader_recovery_state
        self.leader_epoch = leader_epoch
        self.partition_epoch = partition_epoch
        self.directories = [] if directories is MADE_ANEW else directories
        self.eligible_leader_replicas = eligible_leader_replicas
        self.last_known_elr = last_known_elr
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 2:
                raise unknown_version("PartitionRecord", version, 0, 2)
            out += _pack_iU(self.partition_id, uuid_bytes(self.topic_id))
            n = len(self.replicas) + 1
            if n < 128:
                out.append(n)
            else:
                write_uvarint(out, n)
            write_int32_array(out, self.replicas)
            n = len(self.isr) + 1
            if n < 128:
                out.append(n)
            else:
                write_uvarint(out, n)
            write_int32_array(out, self.isr)
            n = len(self.removing_replicas) + 1
            if n < 128:
                out.append(n)
            else:
                write_uvarint(out, n)
            write_int32_array(out, self.removing_replicas)
            n = len(self.adding_replicas) + 1
            if n < 128:
                out.append(n)
            else:
                write_uvarint(out, n)
            write_int32_array(out, self.adding_replicas)
            out += _pack_iii(self.leader, self.leader_epoch, self.partition_epoch)
            if version >= 1:
                n = len(self.directories) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_uvarint(out, n)
                write_uuid_array(out, self.directories)
            elif self.directories:
                raise not_in_version("directories", "1-2")
            tagged_1: list[bytes] = []
            if self.leader_recovery_state != 0:
                tagged_1.append(_pack_bbb(0, 1, self.leader_recovery_state))
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
                tagged_1.append(tagged_field(1, content_1))
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
                tagged_1.append(tagged_field(2, content_1))
            if self.unknown_tagged_fields:
                write_tagged_fields(out, tagged_1, self.unknown_tagged_fields)
            elif tagged_1:
                out.append(len(tagged_1))
                out += b"".join(tagged_1)
            else:
                out.append(0)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("PartitionRecord", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[PartitionRecord, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 2:
                raise unknown_version("PartitionRecord", version, 0, 2)
            size = len(buf)
            m = new(PartitionRecord)
            budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
            m.partition_id, m.topic_id, n = _unpack_iUB(buf, pos)
            pos += 21
            if not n or n > 127:
                n, pos = long_length(buf, pos, n)
            budget -= n
            if budget < 0:
                raise too_many_elements(budget)
            m.replicas, pos = read_int32_array(buf, pos, n - 1)
            n = buf[pos]
            pos += 1
            if not n or n > 127:
                n, pos = long_length(buf, pos, n)
            budget -= n
            if budget < 0:
                raise too_many_elements(budget)
            m.isr, pos = read_int32_array(buf, pos, n - 1)
            n = buf[pos]
            pos += 1
            if not n or n > 127:
                n, pos = long_length(buf, pos, n)
            budget -= n
            if budget < 0:
                raise too_many_elements(budget)
            m.removing_replicas, pos = read_int32_array(buf, pos, n - 1)
            n = buf[pos]
            pos += 1
            if not n or n > 127:
                n, pos = long_length(buf, pos, n)
            budget -= n
            if budget < 0:
                raise too_many_elements(budget)
            m.adding_replicas, pos = read_int32_array(buf, pos, n - 1)
            m.leader, m.leader_epoch, m.partition_epoch = _unpack_iii(buf, pos)
            pos += 12
            if version >= 1:
                n = buf[pos]
                pos += 1
                if not n or n > 127:
                    n, pos = long_length(buf, pos, n)
                budget -= n
                if budget < 0:
                    raise too_many_elements(budget)
                m.directories, pos = read_uuid_array(buf, pos, n - 1)
            else:
                m.directories = []
            m.leader_recovery_state = 0
            m.eligible_leader_replicas = None
            m.last_known_elr = None
            m.unknown_tagged_fields = ()
            n = buf[pos]
            pos += 1
            if n:
                if n > 127:
                    n, pos = read_uvarint_tail(buf, pos, n)
                for _ in range(n):
                    tag_1, tag_end_1, pos = read_tag(buf, pos)
                    if tag_1 == 0:
                        m.leader_recovery_state = (buf[pos] ^ 128) - 128
                        pos += 1
                    elif tag_1 == 1:
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
                    elif tag_1 == 2:
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
                    else:
                        m.unknown_tagged_fields = with_unknown_tag(m.unknown_tagged_fields, tag_1, buf[pos:tag_end_1])
                        pos = tag_end_1
                    if pos != tag_end_1:
                        raise ValueError(TAG_SIZE_WRONG)
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("PartitionRecord", version, buf, start, cause) from cause


__all__ = [
    "PartitionRecord",
]
