# Generated from schemas/records/RegisterControllerRecord.json (sha256 a26bca276ff9c507)
# by python -m fencepost_protocol.codegen. Do not edit.
"""RegisterControllerRecord (metadata record 27)."""

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

_unpack_HhB = struct.Struct(">HhB").unpack_from
_unpack_hhB = struct.Struct(">hhB").unpack_from
_unpack_iUtB = struct.Struct(">i16s?B").unpack_from
_pack_Hh = struct.Struct(">Hh").pack
_pack_hh = struct.Struct(">hh").pack
_pack_iUt = struct.Struct(">i16s?").pack
new = object.__new__


class ControllerEndpoint(Fields):
    """Listeners under which the controller can be reached."""

    __slots__ = ("name", "host", "port", "security_protocol", "unknown_tagged_fields")

    name: str
    """Listener name, such as CONTROLLER."""
    host: str
    """Host name or address of the listener."""
    port: int
    """TCP port of the listener."""
    security_protocol: int
    """How to talk to this listener: 0 PLAINTEXT, 1 SSL, 2 SASL_PLAINTEXT, 3 SASL_SSL."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        name: str = "",
        host: str = "",
        port: int = 0,
        security_protocol: int = 0,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.name = name
        self.host = host
        self.port = port
        self.security_protocol = security_protocol
        self.unknown_tagged_fields = unknown_tagged_fields


class ControllerFeature(Fields):
    """Feature levels that the controller's software can handle."""

    __slots__ = (
        "name",
        "min_supported_version",
        "max_supported_version",
        "unknown_tagged_fields",
    )

    name: str
    """Feature name, such as metadata.version."""
    min_supported_version: int
    """Lowest level of that feature it can run at."""
    max_supported_version: int
    """Highest level of that feature it can run at."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        name: str = "",
        min_supported_version: int = 0,
        max_supported_version: int = 0,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.name = name
        self.min_supported_version = min_supported_version
        self.max_supported_version = max_supported_version
        self.unknown_tagged_fields = unknown_tagged_fields


class RegisterControllerRecord(Fields):
    """Registers a KRaft controller with its addresses and features (KIP-919)."""

    NAME: ClassVar[str] = "RegisterControllerRecord"
    RECORD_TYPE: ClassVar[int] = 27
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    __slots__ = (
        "controller_id",
        "incarnation_id",
        "zk_migration_ready",
        "end_points",
        "features",
        "unknown_tagged_fields",
    )

    controller_id: int
    """Node id of the controller."""
    incarnation_id: bytes
    """UUID made at process start; a restarted controller brings a different one."""
    zk_migration_ready: bool
    """True when set up for migration from ZooKeeper (KIP-866); meaningless since Kafka 4.0."""
    end_points: list[ControllerEndpoint]
    """Listeners under which the controller can be reached."""
    features: list[ControllerFeature]
    """Feature levels that the controller's software can handle."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        controller_id: int = 0,
        incarnation_id: bytes = ZERO_UUID,
        zk_migration_ready: bool = False,
        end_points: list[ControllerEndpoint] = MADE_ANEW,
        features: list[ControllerFeature] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.controller_id = controller_id
        self.incarnation_id = incarnation_id
        self.zk_migration_ready = zk_migration_ready
        self.end_points = [] if end_points is MADE_ANEW else end_points
        self.features = [] if features is MADE_ANEW else features
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 0:
                raise unknown_version("RegisterControllerRecord", version, 0, 0)
            out += _pack_iUt(
                self.controller_id,
                uuid_bytes(self.incarnation_id),
                self.zk_migration_ready,
            )
            n = len(self.end_points) + 1
            if n < 128:
                out.append(n)
            else:
                write_uvarint(out, n)
            for end_point in self.end_points:
                raw = end_point.name.encode()
                n = len(raw) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_string_length(out, n)
                out += raw
                raw = end_point.host.encode()
                n = len(raw) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_string_length(out, n)
                out += raw
                out += _pack_Hh(end_point.port, end_point.security_protocol)
                if end_point.unknown_tagged_fields:
                    write_tagged_fields(out, [], end_point.unknown_tagged_fields)
                else:
                    out.append(0)
            n = len(self.features) + 1
            if n < 128:
                out.append(n)
            else:
                write_uvarint(out, n)
            for feature in self.features:
                raw = feature.name.encode()
                n = len(raw) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_string_length(out, n)
                out += raw
                out += _pack_hh(feature.min_supported_version, feature.max_supported_version)
                if feature.unknown_tagged_fields:
                    write_tagged_fields(out, [], feature.unknown_tagged_fields)
                else:
                    out.append(0)
            if self.unknown_tagged_fields:
                write_tagged_fields(out, [], self.unknown_tagged_fields)
            else:
                out.append(0)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("RegisterControllerRecord", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[RegisterControllerRecord, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 0:
                raise unknown_version("RegisterControllerRecord", version, 0, 0)
            size = len(buf)
            data = buf.tobytes()
            m = new(RegisterControllerRecord)
            budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
            m.controller_id, m.incarnation_id, m.zk_migration_ready, n = _unpack_iUtB(data, pos)
            pos += 22
            if not n or n > 127:
                n, pos = long_length(data, pos, n)
            budget -= n
            if budget < 0:
                raise too_many_elements(budget)
            m.end_points = end_point_list = []
            end_point_left = n - 1
            while end_point_left:
                end_point_left -= 1
                end_point = new(ControllerEndpoint)
                end_point_list.append(end_point)
                n = data[pos]
                pos += 1
                if not n or n > 127:
                    n, pos = long_string_length(data, pos, n)
                end = pos + n - 1
                end_point.name = data[pos:end].decode()
                pos = end
                n = data[pos]
                pos += 1
                if not n or n > 127:
                    n, pos = long_string_length(data, pos, n)
                end = pos + n - 1
                end_point.host = data[pos:end].decode()
                pos = end
                end_point.port, end_point.security_protocol, n = _unpack_HhB(data, pos)
                pos += 5
                if n:
                    end_point.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                else:
                    end_point.unknown_tagged_fields = ()
            n = data[pos]
            pos += 1
            if not n or n > 127:
                n, pos = long_length(data, pos, n)
            budget -= n
            if budget < 0:
                raise too_many_elements(budget)
            m.features = feature_list = []
            feature_left = n - 1
            while feature_left:
                feature_left -= 1
                feature = new(ControllerFeature)
                feature_list.append(feature)
                n = data[pos]
                pos += 1
                if not n or n > 127:
                    n, pos = long_string_length(data, pos, n)
                end = pos + n - 1
                feature.name = data[pos:end].decode()
                pos = end
                (
                    feature.min_supported_version,
                    feature.max_supported_version,
                    n,
                ) = _unpack_hhB(data, pos)
                pos += 5
                if n:
                    feature.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                else:
                    feature.unknown_tagged_fields = ()
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
            raise decode_failure("RegisterControllerRecord", version, buf, start, cause) from cause


__all__ = [
    "ControllerEndpoint",
    "ControllerFeature",
    "RegisterControllerRecord",
]
