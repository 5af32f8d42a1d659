# Generated from schemas/messages/BrokerRegistrationRequest.json (sha256 7282b1a4a2fc1e2c)
# Generated from schemas/messages/BrokerRegistrationResponse.json (sha256 7027fb6b26d45189)
# by python -m fencepost_protocol.codegen. Do not edit.
"""BrokerRegistration (API key 62)."""

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
    long_nullable_string_length,
    long_string_length,
    read_unknown_tags,
    read_uuid_array,
    too_many_elements,
    uuid_bytes,
    write_string_length,
    write_tagged_fields,
    write_uuid_array,
)
from fencepost_protocol.varint import write_uvarint

_unpack_UB = struct.Struct(">16sB").unpack_from
_unpack_HhB = struct.Struct(">HhB").unpack_from
_unpack_hhB = struct.Struct(">hhB").unpack_from
_unpack_iB = struct.Struct(">iB").unpack_from
_unpack_ihqB = struct.Struct(">ihqB").unpack_from
_unpack_q = struct.Struct(">q").unpack_from
_pack_U = struct.Struct(">16s").pack
_pack_t = struct.Struct(">?").pack
_pack_Hh = struct.Struct(">Hh").pack
_pack_hh = struct.Struct(">hh").pack
_pack_i = struct.Struct(">i").pack
_pack_ihq = struct.Struct(">ihq").pack
_pack_q = struct.Struct(">q").pack
new = object.__new__


class Listener(Fields):
    """Addresses the broker wants to be known by."""

    __slots__ = ("name", "host", "port", "security_protocol", "unknown_tagged_fields")

    name: str
    """Listener name, e.g. PLAINTEXT or INTERNAL."""
    host: str
    """Advertised host name or address."""
    port: int
    """Advertised TCP port, unsigned 16 bits."""
    security_protocol: int
    """0 PLAINTEXT, 1 SSL, 2 SASL_PLAINTEXT, 3 SASL_SSL."""
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
    """Features and levels the broker can run; UNSUPPORTED_VERSION if a finalised level is outside.
    """

    __slots__ = (
        "name",
        "min_supported_version",
        "max_supported_version",
        "unknown_tagged_fields",
    )

    name: str
    """Feature name, e.g. metadata.version."""
    min_supported_version: int
    """Lowest level it can run; features with 0 are left out before version 4."""
    max_supported_version: int
    """Highest level it can run."""
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


class BrokerRegistrationRequest(Fields):
    """A starting broker registers with the active controller and stays fenced until its heartbeats
    show that it has caught up (KIP-631).
    """

    NAME: ClassVar[str] = "BrokerRegistrationRequest"
    API_KEY: ClassVar[int] = 62
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 4
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    __slots__ = (
        "broker_id",
        "cluster_id",
        "incarnation_id",
        "listeners",
        "features",
        "rack",
        "is_migrating_zk_broker",
        "log_dirs",
        "previous_broker_epoch",
        "unknown_tagged_fields",
    )

    broker_id: int
    """Node id of the broker; DUPLICATE_BROKER_REGISTRATION while another process holds it."""
    cluster_id: str
    """Cluster the broker was formatted for; another one gives INCONSISTENT_CLUSTER_ID."""
    incarnation_id: bytes
    """UUID drawn anew at every start; the same one again is a retry, not a second broker."""
    listeners: list[Listener]
    """Addresses the broker wants to be known by."""
    features: list[Feature]
    """Features and levels the broker can run; UNSUPPORTED_VERSION if a finalised level is outside.
    """
    rack: str | None
    """Rack or zone from broker.rack; null when not set."""
    is_migrating_zk_broker: bool
    """Versions 1-4. True only during a migration from ZooKeeper (KIP-866); such brokers are gone
    since Kafka 4.0.
    """
    log_dirs: list[bytes]
    """Versions 2-4. UUIDs of the log directories that are online (KIP-858)."""
    previous_broker_epoch: int
    """Versions 3-4. Broker epoch before a clean shutdown, which proves that no records were lost
    (KIP-966); -1 when there is no such proof.
    """
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        broker_id: int = 0,
        cluster_id: str = "",
        incarnation_id: bytes = ZERO_UUID,
        listeners: list[Listener] = MADE_ANEW,
        features: list[Feature] = MADE_ANEW,
        rack: str | None = "",
        is_migrating_zk_broker: bool = False,
        log_dirs: list[bytes] = MADE_ANEW,
        previous_broker_epoch: int = -1,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.broker_id = broker_id
        self.cluster_id = cluster_id
        self.incarnation_id = incarnation_id
        self.listeners = [] if listeners is MADE_ANEW else listeners
        self.features = [] if features is MADE_ANEW else features
        self.rack = rack
        self.is_migrating_zk_broker = is_migrating_zk_broker
        self.log_dirs = [] if log_dirs is MADE_ANEW else log_dirs
        self.previous_broker_epoch = previous_broker_epoch
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 4:
                raise unknown_version("BrokerRegistrationRequest", version, 0, 4)
            raw = self.cluster_id.encode()
            out += _pack_i(self.broker_id)
            n = len(raw) + 1
            if n < 128:
                out.append(n)
            else:
                write_string_length(out, n)
            out += raw
            out += _pack_U(uuid_bytes(self.incarnation_id))
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
            if self.rack is None:
                out.append(0)
            else:
                raw = self.rack.encode()
                n = len(raw) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_string_length(out, n)
                out += raw
            if version >= 1:
                out += _pack_t(self.is_migrating_zk_broker)
            elif self.is_migrating_zk_broker:
                raise not_in_version("is_migrating_zk_broker", "1-4")
            if version >= 2:
                n = len(self.log_dirs) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_uvarint(out, n)
                write_uuid_array(out, self.log_dirs)
            if version >= 3:
                out += _pack_q(self.previous_broker_epoch)
            if self.unknown_tagged_fields:
                write_tagged_fields(out, [], self.unknown_tagged_fields)
            else:
                out.append(0)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("BrokerRegistrationRequest", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[BrokerRegistrationRequest, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 4:
                raise unknown_version("BrokerRegistrationRequest", version, 0, 4)
            size = len(buf)
            data = buf.tobytes()
            m = new(BrokerRegistrationRequest)
            budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
            m.broker_id, n = _unpack_iB(data, pos)
            pos += 5
            if not n or n > 127:
                n, pos = long_string_length(data, pos, n)
            end = pos + n - 1
            m.cluster_id = data[pos:end].decode()
            pos = end
            m.incarnation_id, n = _unpack_UB(data, pos)
            pos += 17
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
            if n > 127:
                n, pos = long_nullable_string_length(data, pos, n)
            if not n:
                m.rack = None
            else:
                end = pos + n - 1
                m.rack = data[pos:end].decode()
                pos = end
            if version >= 1:
                m.is_migrating_zk_broker = data[pos] != 0
                pos += 1
            else:
                m.is_migrating_zk_broker = False
            if version >= 2:
                n = data[pos]
                pos += 1
                if not n or n > 127:
                    n, pos = long_length(data, pos, n)
                budget -= n
                if budget < 0:
                    raise too_many_elements(budget)
                m.log_dirs, pos = read_uuid_array(data, pos, n - 1)
            else:
                m.log_dirs = []
            if version >= 3:
                m.previous_broker_epoch = _unpack_q(data, pos)[0]
                pos += 8
            else:
                m.previous_broker_epoch = -1
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
            raise decode_failure("BrokerRegistrationRequest", version, buf, start, cause) from cause


class BrokerRegistrationResponse(Fields):
    """The controller's answer to a broker's registration; the epoch in it accompanies every later
    request of that broker (KIP-631).
    """

    NAME: ClassVar[str] = "BrokerRegistrationResponse"
    API_KEY: ClassVar[int] = 62
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 4
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    __slots__ = ("throttle_time_ms", "error_code", "broker_epoch", "unknown_tagged_fields")

    throttle_time_ms: int
    """Quota delay in ms for the sender to sit out; between servers normally 0."""
    error_code: int
    """NONE, or e.g. DUPLICATE_BROKER_REGISTRATION, INCONSISTENT_CLUSTER_ID, UNSUPPORTED_VERSION,
    INVALID_REGISTRATION, NOT_CONTROLLER.
    """
    broker_epoch: int
    """Epoch given to the broker, the offset of its registration in the metadata log; -1 on an
    error.
    """
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        broker_epoch: int = -1,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.broker_epoch = broker_epoch
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 4:
                raise unknown_version("BrokerRegistrationResponse", version, 0, 4)
            out += _pack_ihq(self.throttle_time_ms, self.error_code, self.broker_epoch)
            if self.unknown_tagged_fields:
                write_tagged_fields(out, [], self.unknown_tagged_fields)
            else:
                out.append(0)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("BrokerRegistrationResponse", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[BrokerRegistrationResponse, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 4:
                raise unknown_version("BrokerRegistrationResponse", version, 0, 4)
            size = len(buf)
            m = new(BrokerRegistrationResponse)
            m.throttle_time_ms, m.error_code, m.broker_epoch, n = _unpack_ihqB(buf, pos)
            pos += 15
            if n:
                m.unknown_tagged_fields, pos = read_unknown_tags(buf, pos, n)
            else:
                m.unknown_tagged_fields = ()
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("BrokerRegistrationResponse", version, buf, start, cause) from cause


__all__ = [
    "Listener",
    "Feature",
    "BrokerRegistrationRequest",
    "BrokerRegistrationResponse",
]
