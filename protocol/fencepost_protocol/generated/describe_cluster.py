# Generated from schemas/messages/DescribeClusterRequest.json (sha256 bd0acde745d85c1e)
# Generated from schemas/messages/DescribeClusterResponse.json (sha256 d71f8d5a61ae9859)
# by python -m fencepost_protocol.codegen. Do not edit.
"""DescribeCluster (API key 60)."""

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
    TAG_SIZE_WRONG,
    TaggedFields,
    long_length,
    long_nullable_string_length,
    long_string_length,
    read_tag,
    read_unknown_tags,
    tagged_field,
    too_many_elements,
    with_unknown_tag,
    write_string_length,
    write_tagged_fields,
)
from fencepost_protocol.varint import read_uvarint_tail, write_uvarint

_unpack_iB = struct.Struct(">iB").unpack_from
_unpack_ihB = struct.Struct(">ihB").unpack_from
_unpack_q = struct.Struct(">q").unpack_from
_pack_t = struct.Struct(">?").pack
_pack_b = struct.Struct(">b").pack
_pack_i = struct.Struct(">i").pack
_pack_ih = struct.Struct(">ih").pack
_pack_q = struct.Struct(">q").pack
new = object.__new__


class DescribeClusterRequest(Fields):
    """An admin client asks for cluster id, controller and nodes without any topics (KIP-700)."""

    NAME: ClassVar[str] = "DescribeClusterRequest"
    API_KEY: ClassVar[int] = 60
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    __slots__ = (
        "include_cluster_authorized_operations",
        "endpoint_type",
        "include_fenced_brokers",
        "include_broker_epochs",
        "unknown_tagged_fields",
    )

    include_cluster_authorized_operations: bool
    """True asks for the caller's rights on the cluster."""
    endpoint_type: int
    """Versions 1-2. 1 lists brokers, 2 controllers; 2 belongs on a controller's port (KIP-919)."""
    include_fenced_brokers: bool
    """Versions 2. True lists fenced brokers as well, marked by IsFenced (KIP-1073)."""
    include_broker_epochs: bool
    """Fencepost's tag 60900: asks for the epochs of brokers (tag 60900 of the answer's brokers);
    Apache Kafka ignores it.
    """
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        include_cluster_authorized_operations: bool = False,
        endpoint_type: int = 1,
        include_fenced_brokers: bool = False,
        include_broker_epochs: bool = False,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.include_cluster_authorized_operations = include_cluster_authorized_operations
        self.endpoint_type = endpoint_type
        self.include_fenced_brokers = include_fenced_brokers
        self.include_broker_epochs = include_broker_epochs
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 2:
                raise unknown_version("DescribeClusterRequest", version, 0, 2)
            out += _pack_t(self.include_cluster_authorized_operations)
            if version >= 1:
                out += _pack_b(self.endpoint_type)
            elif self.endpoint_type != 1:
                raise not_in_version("endpoint_type", "1-2")
            if version >= 2:
                out += _pack_t(self.include_fenced_brokers)
            elif self.include_fenced_brokers:
                raise not_in_version("include_fenced_brokers", "2")
            tagged_1: list[bytes] = []
            if self.include_broker_epochs:
                tagged_1.append(tagged_field(60900, _pack_t(self.include_broker_epochs)))
            if self.unknown_tagged_fields:
                write_tagged_fields(out, tagged_1, self.unknown_tagged_fields)
            elif tagged_1:
                out.append(len(tagged_1))
                out += b"".join(tagged_1)
            else:
                out.append(0)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("DescribeClusterRequest", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[DescribeClusterRequest, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 2:
                raise unknown_version("DescribeClusterRequest", version, 0, 2)
            size = len(buf)
            m = new(DescribeClusterRequest)
            m.include_cluster_authorized_operations = buf[pos] != 0
            pos += 1
            if version >= 1:
                m.endpoint_type = (buf[pos] ^ 128) - 128
                pos += 1
            else:
                m.endpoint_type = 1
            if version >= 2:
                m.include_fenced_brokers = buf[pos] != 0
                pos += 1
            else:
                m.include_fenced_brokers = False
            m.include_broker_epochs = False
            m.unknown_tagged_fields = ()
            n = buf[pos]
            pos += 1
            if n:
                if n > 127:
                    n, pos = read_uvarint_tail(buf, pos, n)
                for _ in range(n):
                    tag_1, tag_end_1, pos = read_tag(buf, pos)
                    if tag_1 == 60900:
                        m.include_broker_epochs = buf[pos] != 0
                        pos += 1
                    else:
                        m.unknown_tagged_fields = with_unknown_tag(m.unknown_tagged_fields, tag_1, buf[pos:tag_end_1])
                        pos = tag_end_1
                    if pos != tag_end_1:
                        raise ValueError(TAG_SIZE_WRONG)
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("DescribeClusterRequest", version, buf, start, cause) from cause


class DescribeClusterBroker(Fields):
    """The nodes, see EndpointType."""

    __slots__ = (
        "broker_id",
        "host",
        "port",
        "rack",
        "is_fenced",
        "broker_epoch",
        "unknown_tagged_fields",
    )

    broker_id: int
    """Node id."""
    host: str
    """Advertised host name or address to connect to."""
    port: int
    """Advertised TCP port to connect to."""
    rack: str | None
    """Rack or zone from broker.rack; null when not set."""
    is_fenced: bool
    """Versions 2. True when the broker is registered but kept out of service (KIP-1073)."""
    broker_epoch: int
    """Fencepost's tag 60900: the epoch that the controller gave this incarnation of the broker, for
    who asks by the request's tag 60900.
    """
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        broker_id: int = 0,
        host: str = "",
        port: int = 0,
        rack: str | None = None,
        is_fenced: bool = False,
        broker_epoch: int = -1,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.broker_id = broker_id
        self.host = host
        self.port = port
        self.rack = rack
        self.is_fenced = is_fenced
        self.broker_epoch = broker_epoch
        self.unknown_tagged_fields = unknown_tagged_fields


class DescribeClusterResponse(Fields):
    """Cluster id, controller and nodes, with the addresses of the listener the question came in on
    (KIP-700).
    """

    NAME: ClassVar[str] = "DescribeClusterResponse"
    API_KEY: ClassVar[int] = 60
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "error_message",
        "endpoint_type",
        "cluster_id",
        "controller_id",
        "brokers",
        "cluster_authorized_operations",
        "unknown_tagged_fields",
    )

    throttle_time_ms: int
    """Quota delay in ms that the client has to sit out itself (KIP-219); 0 when within quota."""
    error_code: int
    """NONE, or e.g. MISMATCHED_ENDPOINT_TYPE (asked on the wrong kind of port),
    UNSUPPORTED_ENDPOINT_TYPE.
    """
    error_message: str | None
    """Readable detail for the error; may be null."""
    endpoint_type: int
    """Versions 1-2. What Brokers holds: 1 brokers, 2 controllers (KIP-919)."""
    cluster_id: str
    """Cluster id fixed when storage was formatted."""
    controller_id: int
    """Node to send controller requests to; on a broker's port any live broker, which forwards them;
    -1 when unknown.
    """
    brokers: list[DescribeClusterBroker]
    """The nodes, see EndpointType."""
    cluster_authorized_operations: int
    """Rights as bits, bit n for ACL operation n; -2147483648 when not asked for."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        endpoint_type: int = 1,
        cluster_id: str = "",
        controller_id: int = -1,
        brokers: list[DescribeClusterBroker] = MADE_ANEW,
        cluster_authorized_operations: int = -2147483648,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.endpoint_type = endpoint_type
        self.cluster_id = cluster_id
        self.controller_id = controller_id
        self.brokers = [] if brokers is MADE_ANEW else brokers
        self.cluster_authorized_operations = cluster_authorized_operations
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 2:
                raise unknown_version("DescribeClusterResponse", version, 0, 2)
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
            if version >= 1:
                out += _pack_b(self.endpoint_type)
            elif self.endpoint_type != 1:
                raise not_in_version("endpoint_type", "1-2")
            raw = self.cluster_id.encode()
            n = len(raw) + 1
            if n < 128:
                out.append(n)
            else:
                write_string_length(out, n)
            out += raw
            out += _pack_i(self.controller_id)
            n = len(self.brokers) + 1
            if n < 128:
                out.append(n)
            else:
                write_uvarint(out, n)
            for broker in self.brokers:
                raw = broker.host.encode()
                out += _pack_i(broker.broker_id)
                n = len(raw) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_string_length(out, n)
                out += raw
                out += _pack_i(broker.port)
                if broker.rack is None:
                    out.append(0)
                else:
                    raw = broker.rack.encode()
                    n = len(raw) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_string_length(out, n)
                    out += raw
                if version >= 2:
                    out += _pack_t(broker.is_fenced)
                elif broker.is_fenced:
                    raise not_in_version("brokers.is_fenced", "2")
                tagged_1: list[bytes] = []
                if broker.broker_epoch != -1:
                    tagged_1.append(tagged_field(60900, _pack_q(broker.broker_epoch)))
                if broker.unknown_tagged_fields:
                    write_tagged_fields(out, tagged_1, broker.unknown_tagged_fields)
                elif tagged_1:
                    out.append(len(tagged_1))
                    out += b"".join(tagged_1)
                else:
                    out.append(0)
            out += _pack_i(self.cluster_authorized_operations)
            if self.unknown_tagged_fields:
                write_tagged_fields(out, [], self.unknown_tagged_fields)
            else:
                out.append(0)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("DescribeClusterResponse", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[DescribeClusterResponse, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 2:
                raise unknown_version("DescribeClusterResponse", version, 0, 2)
            size = len(buf)
            data = buf.tobytes()
            m = new(DescribeClusterResponse)
            budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
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
            if version >= 1:
                m.endpoint_type = (data[pos] ^ 128) - 128
                pos += 1
            else:
                m.endpoint_type = 1
            n = data[pos]
            pos += 1
            if not n or n > 127:
                n, pos = long_string_length(data, pos, n)
            end = pos + n - 1
            m.cluster_id = data[pos:end].decode()
            pos = end
            m.controller_id, n = _unpack_iB(data, pos)
            pos += 5
            if not n or n > 127:
                n, pos = long_length(data, pos, n)
            budget -= n
            if budget < 0:
                raise too_many_elements(budget)
            m.brokers = broker_list = []
            broker_left = n - 1
            while broker_left:
                broker_left -= 1
                broker = new(DescribeClusterBroker)
                broker_list.append(broker)
                broker.broker_id, n = _unpack_iB(data, pos)
                pos += 5
                if not n or n > 127:
                    n, pos = long_string_length(data, pos, n)
                end = pos + n - 1
                broker.host = data[pos:end].decode()
                pos = end
                broker.port, n = _unpack_iB(data, pos)
                pos += 5
                if n > 127:
                    n, pos = long_nullable_string_length(data, pos, n)
                if not n:
                    broker.rack = None
                else:
                    end = pos + n - 1
                    broker.rack = data[pos:end].decode()
                    pos = end
                if version >= 2:
                    broker.is_fenced = data[pos] != 0
                    pos += 1
                else:
                    broker.is_fenced = False
                broker.broker_epoch = -1
                broker.unknown_tagged_fields = ()
                n = data[pos]
                pos += 1
                if n:
                    if n > 127:
                        n, pos = read_uvarint_tail(data, pos, n)
                    for _ in range(n):
                        tag_1, tag_end_1, pos = read_tag(data, pos)
                        if tag_1 == 60900:
                            broker.broker_epoch = _unpack_q(data, pos)[0]
                            pos += 8
                        else:
                            broker.unknown_tagged_fields = with_unknown_tag(broker.unknown_tagged_fields, tag_1, data[pos:tag_end_1])
                            pos = tag_end_1
                        if pos != tag_end_1:
                            raise ValueError(TAG_SIZE_WRONG)
            m.cluster_authorized_operations, n = _unpack_iB(data, pos)
            pos += 5
            if n:
                m.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
            else:
                m.unknown_tagged_fields = ()
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("DescribeClusterResponse", version, buf, start, cause) from cause


__all__ = [
    "DescribeClusterRequest",
    "DescribeClusterBroker",
    "DescribeClusterResponse",
]
