# Generated from schemas/records/RegisterBrokerRecord.json (sha256 cc6a557597d7279a)
# by python -m fencepost_protocol.codegen. Do not edit.
"""RegisterBrokerRecord (metadata record 0)."""

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
    long_nullable_string_length,
    long_string_length,
    read_tag,
    read_unknown_tags,
    read_uuid_array,
    tagged_field,
    too_many_elements,
    uuid_bytes,
    with_unknown_tag,
    write_string_length,
    write_tagged_fields,
    write_uuid_array,
)
from fencepost_protocol.varint import read_uvarint_tail, write_uvarint

_unpack_UqB = struct.Struct(">16sqB").unpack_from
_unpack_HhB = struct.Struct(">HhB").unpack_from
_unpack_hhB = struct.Struct(">hhB").unpack_from
_unpack_i = struct.Struct(">i").unpack_from
_pack_Uq = struct.Struct(">16sq").pack
_pack_t = struct.Struct(">?").pack
_pack_Hh = struct.Struct(">Hh").pack
_pack_hh = struct.Struct(">hh").pack
_pack_i = struct.Struct(">i").pack
new = object.__new__


class BrokerEndpoint(Fields):
    """Listeners the broker advertises to clients."""

    __slots__ = ("name", "host", "port", "security_protocol", "unknown_tagged_fields")

    name: str
    """Listener name, such as PLAINTEXT or EXTERNAL."""
    host: str
    """Advertised host name or address."""
    port: int
    """Advertised TCP port."""
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


class BrokerFeature(Fields):
    """Feature levels that the broker's software can handle."""

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


class RegisterBrokerRecord(Fields):
    """Registers a broker with the cluster, or replaces the registration it had before (KIP-631)."""

    NAME: ClassVar[str] = "RegisterBrokerRecord"
    RECORD_TYPE: ClassVar[int] = 0
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 4
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    __slots__ = (
        "broker_id",
        "is_migrating_zk_broker",
        "incarnation_id",
        "broker_epoch",
        "end_points",
        "features",
        "rack",
        "fenced",
        "in_controlled_shutdown",
        "log_dirs",
        "cordoned_log_dirs",
        "unknown_tagged_fields",
    )

    broker_id: int
    """Node id of the broker."""
    is_migrating_zk_broker: bool
    """Versions 2-4. True for a ZooKeeper-based broker during migration (KIP-866); false since Kafka
    4.0.
    """
    incarnation_id: bytes
    """UUID made at process start; tells a restarted broker from a second one with the same id."""
    broker_epoch: int
    """Epoch of this registration, an offset of the metadata log; requests with another give
    STALE_BROKER_EPOCH.
    """
    end_points: list[BrokerEndpoint]
    """Listeners the broker advertises to clients."""
    features: list[BrokerFeature]
    """Feature levels that the broker's software can handle."""
    rack: str | None
    """Value of broker.rack; null when not configured."""
    fenced: bool
    """True while the broker may neither lead nor be shown to clients; so it begins."""
    in_controlled_shutdown: bool
    """Versions 1-4. True while the broker is shutting down in order and gets no new leadership
    (KIP-841).
    """
    log_dirs: list[bytes]
    """Versions 3-4. Ids of the broker's log directories that are available (KIP-858); empty when
    not reported.
    """
    cordoned_log_dirs: list[bytes] | None
    """Versions 4. Log directories closed to new replicas (KIP-1066); null when not reported."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        broker_id: int = 0,
        is_migrating_zk_broker: bool = False,
        incarnation_id: bytes = ZERO_UUID,
        broker_epoch: int = 0,
        end_points: list[BrokerEndpoint] = MADE_ANEW,
        features: list[BrokerFeature] = MADE_ANEW,
        rack: str | None = "",
        fenced: bool = True,
        in_controlled_shutdown: bool = False,
        log_dirs: list[bytes] = MADE_ANEW,
        cordoned_log_dirs: list[bytes] | None = None,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.broker_id = broker_id
        self.is_migrating_zk_broker = is_migrating_zk_broker
        self.incarnation_id = incarnation_id
        self.broker_epoch = broker_epoch
        self.end_points = [] if end_points is MADE_ANEW else end_points
        self.features = [] if features is MADE_ANEW else features
        self.rack = rack
        self.fenced = fenced
        self.in_controlled_shutdown = in_controlled_shutdown
        self.log_dirs = [] if log_dirs is MADE_ANEW else log_dirs
        self.cordoned_log_dirs = cordoned_log_dirs
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 4:
                raise unknown_version("RegisterBrokerRecord", version, 0, 4)
            out += _pack_i(self.broker_id)
            if version >= 2:
                out += _pack_t(self.is_migrating_zk_broker)
            elif self.is_migrating_zk_broker:
                raise not_in_version("is_migrating_zk_broker", "2-4")
            out += _pack_Uq(uuid_bytes(self.incarnation_id), self.broker_epoch)
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
            out += _pack_t(self.fenced)
            if version >= 1:
                out += _pack_t(self.in_controlled_shutdown)
            elif self.in_controlled_shutdown:
                raise not_in_version("in_controlled_shutdown", "1-4")
            tagged_1: list[bytes] = []
            if self.log_dirs:
                if not (version >= 3):
                    raise not_in_version("log_dirs", "3-4")
                content_1 = bytearray()
                n = len(self.log_dirs) + 1
                if n < 128:
                    content_1.append(n)
                else:
                    write_uvarint(content_1, n)
                write_uuid_array(content_1, self.log_dirs)
                tagged_1.append(tagged_field(0, content_1))
            if self.cordoned_log_dirs is not None:
                if not (version >= 4):
                    raise not_in_version("cordoned_log_dirs", "4")
                content_1 = bytearray()
                n = len(self.cordoned_log_dirs) + 1
                if n < 128:
                    content_1.append(n)
                else:
                    write_uvarint(content_1, n)
                write_uuid_array(content_1, self.cordoned_log_dirs)
                tagged_1.append(tagged_field(1, content_1))
            if self.unknown_tagged_fields:
                write_tagged_fields(out, tagged_1, self.unknown_tagged_fields)
            elif tagged_1:
                out.append(len(tagged_1))
                out += b"".join(tagged_1)
            else:
                out.append(0)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("RegisterBrokerRecord", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[RegisterBrokerRecord, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 4:
                raise unknown_version("RegisterBrokerRecord", version, 0, 4)
            size = len(buf)
            data = buf.tobytes()
            m = new(RegisterBrokerRecord)
            budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
            m.broker_id = _unpack_i(data, pos)[0]
            pos += 4
            if version >= 2:
                m.is_migrating_zk_broker = data[pos] != 0
                pos += 1
            else:
                m.is_migrating_zk_broker = False
            m.incarnation_id, m.broker_epoch, n = _unpack_UqB(data, pos)
            pos += 25
            if not n or n > 127:
                n, pos = long_length(data, pos, n)
            budget -= n
            if budget < 0:
                raise too_many_elements(budget)
            m.end_points = end_point_list = []
            end_point_left = n - 1
            while end_point_left:
                end_point_left -= 1
                end_point = new(BrokerEndpoint)
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
                feature = new(BrokerFeature)
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
            m.fenced = data[pos] != 0
            pos += 1
            if version >= 1:
                m.in_controlled_shutdown = data[pos] != 0
                pos += 1
            else:
                m.in_controlled_shutdown = False
            m.log_dirs = []
            m.cordoned_log_dirs = None
            m.unknown_tagged_fields = ()
            n = data[pos]
            pos += 1
            if n:
                if n > 127:
                    n, pos = read_uvarint_tail(data, pos, n)
                for _ in range(n):
                    tag_1, tag_end_1, pos = read_tag(data, pos)
                    if tag_1 == 0:
                        if not (version >= 3):
                            raise ValueError(TAG_NOT_IN_VERSION)
                        n = data[pos]
                        pos += 1
                        if not n or n > 127:
                            n, pos = long_length(data, pos, n)
                        budget -= n
                        if budget < 0:
                            raise too_many_elements(budget)
                        m.log_dirs, pos = read_uuid_array(data, pos, n - 1)
                    elif tag_1 == 1:
                        if not (version >= 4):
                            raise ValueError(TAG_NOT_IN_VERSION)
                        n = data[pos]
                        pos += 1
                        if n > 127:
                            n, pos = read_uvarint_tail(data, pos, n)
                        if not n:
                            m.cordoned_log_dirs = None
                        else:
                            budget -= n
                            if budget < 0:
                                raise too_many_elements(budget)
                            m.cordoned_log_dirs, pos = read_uuid_array(data, pos, n - 1)
                    else:
                        m.unknown_tagged_fields = with_unknown_tag(m.unknown_tagged_fields, tag_1, data[pos:tag_end_1])
                        pos = tag_end_1
                    if pos != tag_end_1:
                        raise ValueError(TAG_SIZE_WRONG)
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("RegisterBrokerRecord", version, buf, start, cause) from cause


__all__ = [
    "BrokerEndpoint",
    "BrokerFeature",
    "RegisterBrokerRecord",
]
