# Generated from schemas/messages/ControllerRegistrationRequest.json (sha256 04eb34a755ee2a55)
# Generated from schemas/messages/ControllerRegistrationResponse.json (sha256 3de9b8591b901e6c)
# by python -m fencepost_protocol.codegen. Do not edit.
"""ControllerRegistration (API key 70)."""

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
    long_nullable_string_length,
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
_unpack_ihB = struct.Struct(">ihB").unpack_from
_pack_Hh = struct.Struct(">Hh").pack
_pack_hh = struct.Struct(">hh").pack
_pack_iUt = struct.Struct(">i16s?").pack
_pack_ih = struct.Struct(">ih").pack
new = object.__new__


class Listener(Fields):
    """Addresses under which this controller can be reached."""

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


class Feature(Fields):
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


class ControllerRegistrationRequest(Fields):
    """Each KRaft controller tells the active controller its addresses and supported features, so
    that these can be published in the metadata log (KIP-919).
    """

    NAME: ClassVar[str] = "ControllerRegistrationRequest"
    API_KEY: ClassVar[int] = 70
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    __slots__ = (
        "controller_id",
        "incarnation_id",
        "zk_migration_ready",
        "listeners",
        "features",
        "unknown_tagged_fields",
    )

    controller_id: int
    """Node id of the controller that registers."""
    incarnation_id: bytes
    """UUID made at process start; a restarted controller brings a different one."""
    zk_migration_ready: bool
    """True when set up for migration from ZooKeeper (KIP-866); meaningless since Kafka 4.0."""
    listeners: list[Listener]
    """Addresses under which this controller can be reached."""
    features: list[Feature]
    """Feature levels that the controller's software can handle."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        controller_id: int = 0,
        incarnation_id: bytes = ZERO_UUID,
        zk_migration_ready: bool = False,
        listeners: list[Listener] = MADE_ANEW,
        features: list[Feature] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.controller_id = controller_id
        self.incarnation_id = incarnation_id
        self.zk_migration_ready = zk_migration_ready
        self.listeners = [] if listeners is MADE_ANEW else listeners
        self.features = [] if features is MADE_ANEW else features
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 0:
                raise unknown_version("ControllerRegistrationRequest", version, 0, 0)
            out += _pack_iUt(
                self.controller_id,
                uuid_bytes(self.incarnation_id),
                self.zk_migration_ready,
            )
            n = len(self.listeners) + 1
            if n < 128:
                out.append(n)
            else:
                write_uvarint(out, n)
            for listener in self.listeners:
                raw = listener.name.encode()
                n = len(raw) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_string_length(out, n)
                out += raw
                raw = listener.host.encode()
                n = len(raw) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_string_length(out, n)
                out += raw
                out += _pack_Hh(listener.port, listener.security_protocol)
                if listener.unknown_tagged_fields:
                    write_tagged_fields(out, [], listener.unknown_tagged_fields)
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
            raise encode_failure("ControllerRegistrationRequest", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[ControllerRegistrationRequest, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 0:
                raise unknown_version("ControllerRegistrationRequest", version, 0, 0)
            size = len(buf)
            data = buf.tobytes()
            m = new(ControllerRegistrationRequest)
            budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
            m.controller_id, m.incarnation_id, m.zk_migration_ready, n = _unpack_iUtB(data, pos)
            pos += 22
            if not n or n > 127:
                n, pos = long_length(data, pos, n)
            budget -= n
            if budget < 0:
                raise too_many_elements(budget)
            m.listeners = listener_list = []
            listener_left = n - 1
            while listener_left:
                listener_left -= 1
                listener = new(Listener)
                listener_list.append(listener)
                n = data[pos]
                pos += 1
                if not n or n > 127:
                    n, pos = long_string_length(data, pos, n)
                end = pos + n - 1
                listener.name = data[pos:end].decode()
                pos = end
                n = data[pos]
                pos += 1
                if not n or n > 127:
                    n, pos = long_string_length(data, pos, n)
                end = pos + n - 1
                listener.host = data[pos:end].decode()
                pos = end
                listener.port, listener.security_protocol, n = _unpack_HhB(data, pos)
                pos += 5
                if n:
                    listener.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                else:
                    listener.unknown_tagged_fields = ()
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
                feature = new(Feature)
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
            raise decode_failure("ControllerRegistrationRequest", version, buf, start, cause) from cause


class ControllerRegistrationResponse(Fields):
    """Confirms or refuses the registration of a KRaft controller (KIP-919)."""

    NAME: ClassVar[str] = "ControllerRegistrationResponse"
    API_KEY: ClassVar[int] = 70
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    __slots__ = ("throttle_time_ms", "error_code", "error_message", "unknown_tagged_fields")

    throttle_time_ms: int
    """Quota delay in ms for the sender to sit out; between servers normally 0."""
    error_code: int
    """NONE, or why it was refused, e.g. NOT_CONTROLLER or CLUSTER_AUTHORIZATION_FAILED."""
    error_message: str | None
    """Readable detail for the error; null when there is none."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 0:
                raise unknown_version("ControllerRegistrationResponse", version, 0, 0)
            out += _pack_ih(self.throttle_time_ms, self.error_code)
            if self.error_message is None:
                out.append(0)
            else:
                raw = self.error_message.encode()
                n = len(raw) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_string_length(out, n)
                out += raw
            if self.unknown_tagged_fields:
                write_tagged_fields(out, [], self.unknown_tagged_fields)
            else:
                out.append(0)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("ControllerRegistrationResponse", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[ControllerRegistrationResponse, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 0:
                raise unknown_version("ControllerRegistrationResponse", version, 0, 0)
            size = len(buf)
            data = buf.tobytes()
            m = new(ControllerRegistrationResponse)
            m.throttle_time_ms, m.error_code, n = _unpack_ihB(data, pos)
            pos += 7
            if n > 127:
                n, pos = long_nullable_string_length(data, pos, n)
            if not n:
                m.error_message = None
            else:
                end = pos + n - 1
                m.error_message = data[pos:end].decode()
                pos = end
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
            raise decode_failure("ControllerRegistrationResponse", version, buf, start, cause) from cause


__all__ = [
    "Listener",
    "Feature",
    "ControllerRegistrationRequest",
    "ControllerRegistrationResponse",
]
