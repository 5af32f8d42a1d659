# Generated from schemas/records/LeaderChangeMessage.json (sha256 0669f42c00c5e075)
# by python -m fencepost_protocol.codegen. Do not edit.
"""LeaderChangeMessage."""

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
    ZERO_UUID,
    TaggedFields,
    long_length,
    read_unknown_tags,
    too_many_elements,
    uuid_bytes,
    write_tagged_fields,
)
from fencepost_protocol.varint import write_uvarint

_unpack_U = struct.Struct(">16s").unpack_from
_unpack_hiB = struct.Struct(">hiB").unpack_from
_unpack_i = struct.Struct(">i").unpack_from
_pack_U = struct.Struct(">16s").pack
_pack_hi = struct.Struct(">hi").pack
_pack_i = struct.Struct(">i").pack
new = object.__new__


class Voter(Fields):
    """Part of LeaderChangeMessage."""

    __slots__ = ("voter_id", "voter_directory_id", "unknown_tagged_fields")

    voter_id: int
    """Node id of the voter."""
    voter_directory_id: bytes
    """Versions 1. UUID of the voter's metadata log directory (KIP-853); all zero when not known."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        voter_id: int = 0,
        voter_directory_id: bytes = ZERO_UUID,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.voter_id = voter_id
        self.voter_directory_id = voter_directory_id
        self.unknown_tagged_fields = unknown_tagged_fields


class LeaderChangeMessage(Fields):
    """Control record that a newly elected KRaft leader writes first in its epoch (KIP-595)."""

    NAME: ClassVar[str] = "LeaderChangeMessage"
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    __slots__ = ("version", "leader_id", "voters", "granting_voters", "unknown_tagged_fields")

    version: int
    """Schema version of this record, the one it is written with."""
    leader_id: int
    """Node id of the new leader."""
    voters: list[Voter]
    """All voters of the quorum in this epoch."""
    granting_voters: list[Voter]
    """Voters whose votes elected the leader."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        version: int = 0,
        leader_id: int = 0,
        voters: list[Voter] = MADE_ANEW,
        granting_voters: list[Voter] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.version = version
        self.leader_id = leader_id
        self.voters = [] if voters is MADE_ANEW else voters
        self.granting_voters = [] if granting_voters is MADE_ANEW else granting_voters
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 1:
                raise unknown_version("LeaderChangeMessage", version, 0, 1)
            out += _pack_hi(self.version, self.leader_id)
            n = len(self.voters) + 1
            if n < 128:
                out.append(n)
            else:
                write_uvarint(out, n)
            for voter in self.voters:
                out += _pack_i(voter.voter_id)
                if version >= 1:
                    out += _pack_U(uuid_bytes(voter.voter_directory_id))
                elif voter.voter_directory_id != ZERO_UUID:
                    raise not_in_version("voters.voter_directory_id", "1")
                if voter.unknown_tagged_fields:
                    write_tagged_fields(out, [], voter.unknown_tagged_fields)
                else:
                    out.append(0)
            n = len(self.granting_voters) + 1
            if n < 128:
                out.append(n)
            else:
                write_uvarint(out, n)
            for voter in self.granting_voters:
                out += _pack_i(voter.voter_id)
                if version >= 1:
                    out += _pack_U(uuid_bytes(voter.voter_directory_id))
                elif voter.voter_directory_id != ZERO_UUID:
                    raise not_in_version("granting_voters.voter_directory_id", "1")
                if voter.unknown_tagged_fields:
                    write_tagged_fields(out, [], voter.unknown_tagged_fields)
                else:
                    out.append(0)
            if self.unknown_tagged_fields:
                write_tagged_fields(out, [], self.unknown_tagged_fields)
            else:
                out.append(0)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("LeaderChangeMessage", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[LeaderChangeMessage, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 1:
                raise unknown_version("LeaderChangeMessage", version, 0, 1)
            size = len(buf)
            m = new(LeaderChangeMessage)
            budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
            m.version, m.leader_id, n = _unpack_hiB(buf, pos)
            pos += 7
            if not n or n > 127:
                n, pos = long_length(buf, pos, n)
            budget -= n
            if budget < 0:
                raise too_many_elements(budget)
            m.voters = voter_list = []
            voter_left = n - 1
            while voter_left:
                voter_left -= 1
                voter = new(Voter)
                voter_list.append(voter)
                voter.voter_id = _unpack_i(buf, pos)[0]
                pos += 4
                if version >= 1:
                    voter.voter_directory_id = _unpack_U(buf, pos)[0]
                    pos += 16
                else:
                    voter.voter_directory_id = ZERO_UUID
                n = buf[pos]
                pos += 1
                if n:
                    voter.unknown_tagged_fields, pos = read_unknown_tags(buf, pos, n)
                else:
                    voter.unknown_tagged_fields = ()
            n = buf[pos]
            pos += 1
            if not n or n > 127:
                n, pos = long_length(buf, pos, n)
            budget -= n
            if budget < 0:
                raise too_many_elements(budget)
            m.granting_voters = voter_list = []
            voter_left = n - 1
            while voter_left:
                voter_left -= 1
                voter = new(Voter)
                voter_list.append(voter)
                voter.voter_id = _unpack_i(buf, pos)[0]
                pos += 4
                if version >= 1:
                    voter.voter_directory_id = _unpack_U(buf, pos)[0]
                    pos += 16
                else:
                    voter.voter_directory_id = ZERO_UUID
                n = buf[pos]
                pos += 1
                if n:
                    voter.unknown_tagged_fields, pos = read_unknown_tags(buf, pos, n)
                else:
                    voter.unknown_tagged_fields = ()
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
            raise decode_failure("LeaderChangeMessage", version, buf, start, cause) from cause


__all__ = [
    "Voter",
    "LeaderChangeMessage",
]
