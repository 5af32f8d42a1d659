# Generated from schemas/records/VotersRecord.json (sha256 46d06993804f562d)
# by python -m fencepost_protocol.codegen. Do not edit.
"""VotersRecord."""

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
    ZERO_UUID,
    TaggedFields,
    long_length,
    long_string_length,
    read_unknown_tags,
    too_many_elements,
    uuid_bytes,
    write_string_length,
    write_tagged_fields,
)
from fencepost_protocol.varint import write_uvarint

_unpack_HB = struct.Struct(">HB").unpack_from
_unpack_hB = struct.Struct(">hB").unpack_from
_unpack_hhB = struct.Struct(">hhB").unpack_from
_unpack_iUB = struct.Struct(">i16sB").unpack_from
_pack_H = struct.Struct(">H").pack
_pack_h = struct.Struct(">h").pack
_pack_hh = struct.Struct(">hh").pack
_pack_iU = struct.Struct(">i16s").pack
new = object.__new__


class Endpoint(Fields):
    """Addresses under which the other voters reach it."""

    __slots__ = ("name", "host", "port", "unknown_tagged_fields")

    name: str
    """Listener name, such as CONTROLLER."""
    host: str
    """Host name or address of the listener."""
    port: int
    """TCP port of the listener."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        name: str = "",
        host: str = "",
        port: int = 0,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.name = name
        self.host = host
        self.port = port
        self.unknown_tagged_fields = unknown_tagged_fields


class KRaftVersionFeature(Fields):
    """Levels of kraft.version that the voter can handle."""

    __slots__ = ("min_supported_version", "max_supported_version", "unknown_tagged_fields")

    min_supported_version: int
    """Lowest kraft.version level it can run at."""
    max_supported_version: int
    """Highest kraft.version level it can run at."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        min_supported_version: int = 0,
        max_supported_version: int = 0,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.min_supported_version = min_supported_version
        self.max_supported_version = max_supported_version
        self.unknown_tagged_fields = unknown_tagged_fields


class Voter(Fields):
    """All voters of the quorum, not just the changed ones."""

    __slots__ = (
        "voter_id",
        "voter_directory_id",
        "endpoints",
        "kraft_version_feature",
        "unknown_tagged_fields",
    )

    voter_id: int
    """Node id of the voter."""
    voter_directory_id: bytes
    """UUID of the voter's metadata log directory; tells a voter with a replaced disk from its old
    self.
    """
    endpoints: list[Endpoint]
    """Addresses under which the other voters reach it."""
    kraft_version_feature: KRaftVersionFeature
    """Levels of kraft.version that the voter can handle."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        voter_id: int = 0,
        voter_directory_id: bytes = ZERO_UUID,
        endpoints: list[Endpoint] = MADE_ANEW,
        kraft_version_feature: KRaftVersionFeature = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.voter_id = voter_id
        self.voter_directory_id = voter_directory_id
        self.endpoints = [] if endpoints is MADE_ANEW else endpoints
        self.kraft_version_feature = KRaftVersionFeature() if kraft_version_feature is MADE_ANEW else kraft_version_feature
        self.unknown_tagged_fields = unknown_tagged_fields


class VotersRecord(Fields):
    """Control record in the metadata log with the complete voter set; the latest one counts
    (KIP-853).
    """

    NAME: ClassVar[str] = "VotersRecord"
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    __slots__ = ("version", "voters", "unknown_tagged_fields")

    version: int
    """Schema version of this record, 0."""
    voters: list[Voter]
    """All voters of the quorum, not just the changed ones."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        version: int = 0,
        voters: list[Voter] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.version = version
        self.voters = [] if voters is MADE_ANEW else voters
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 0:
                raise unknown_version("VotersRecord", version, 0, 0)
            out += _pack_h(self.version)
            n = len(self.voters) + 1
            if n < 128:
                out.append(n)
            else:
                write_uvarint(out, n)
            for voter in self.voters:
                out += _pack_iU(voter.voter_id, uuid_bytes(voter.voter_directory_id))
                n = len(voter.endpoints) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_uvarint(out, n)
                for endpoint in voter.endpoints:
                    raw = endpoint.name.encode()
                    n = len(raw) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_string_length(out, n)
                    out += raw
                    raw = endpoint.host.encode()
                    n = len(raw) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_string_length(out, n)
                    out += raw
                    out += _pack_H(endpoint.port)
                    if endpoint.unknown_tagged_fields:
                        write_tagged_fields(out, [], endpoint.unknown_tagged_fields)
                    else:
                        out.append(0)
                out += _pack_hh(
                    voter.kraft_version_feature.min_supported_version,
                    voter.kraft_version_feature.max_supported_version,
                )
                if voter.kraft_version_feature.unknown_tagged_fields:
                    write_tagged_fields(out, [], voter.kraft_version_feature.unknown_tagged_fields)
                else:
                    out.append(0)
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
            raise encode_failure("VotersRecord", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[VotersRecord, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 0:
                raise unknown_version("VotersRecord", version, 0, 0)
            size = len(buf)
            data = buf.tobytes()
            m = new(VotersRecord)
            budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
            m.version, n = _unpack_hB(data, pos)
            pos += 3
            if not n or n > 127:
                n, pos = long_length(data, pos, n)
            budget -= n
            if budget < 0:
                raise too_many_elements(budget)
            m.voters = voter_list = []
            voter_left = n - 1
            while voter_left:
                voter_left -= 1
                voter = new(Voter)
                voter_list.append(voter)
                voter.voter_id, voter.voter_directory_id, n = _unpack_iUB(data, pos)
                pos += 21
                if not n or n > 127:
                    n, pos = long_length(data, pos, n)
                budget -= n
                if budget < 0:
                    raise too_many_elements(budget)
                voter.endpoints = endpoint_list = []
                endpoint_left = n - 1
                while endpoint_left:
                    endpoint_left -= 1
                    endpoint = new(Endpoint)
                    endpoint_list.append(endpoint)
                    n = data[pos]
                    pos += 1
                    if not n or n > 127:
                        n, pos = long_string_length(data, pos, n)
                    end = pos + n - 1
                    endpoint.name = data[pos:end].decode()
                    pos = end
                    n = data[pos]
                    pos += 1
                    if not n or n > 127:
                        n, pos = long_string_length(data, pos, n)
                    end = pos + n - 1
                    endpoint.host = data[pos:end].decode()
                    pos = end
                    endpoint.port, n = _unpack_HB(data, pos)
                    pos += 3
                    if n:
                        endpoint.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                    else:
                        endpoint.unknown_tagged_fields = ()
                voter.kraft_version_feature = kraft_version_feature = new(KRaftVersionFeature)
                (
                    kraft_version_feature.min_supported_version,
                    kraft_version_feature.max_supported_version,
                    n,
                ) = _unpack_hhB(data, pos)
                pos += 5
                if n:
                    kraft_version_feature.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                else:
                    kraft_version_feature.unknown_tagged_fields = ()
                n = data[pos]
                pos += 1
                if n:
                    voter.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                else:
                    voter.unknown_tagged_fields = ()
            n = data[pos]
            pos += 1
            if n:
                m.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
            else:
                m.unknown_tagged_fields = ()
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("VotersRecord", version, buf, start, cause) from cause


__all__ = [
    "Endpoint",
    "KRaftVersionFeature",
    "Voter",
    "VotersRecord",
]
