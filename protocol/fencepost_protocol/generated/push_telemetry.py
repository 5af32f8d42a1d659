# Generated from schemas/messages/PushTelemetryRequest.json (sha256 3942a2259aecadb4)
# Generated from schemas/messages/PushTelemetryResponse.json (sha256 e6528a9607850039)
# by python -m fencepost_protocol.codegen. Do not edit.
"""PushTelemetry (API key 72)."""

from __future__ import annotations

import struct
from typing import ClassVar

from fencepost_protocol.failures import (
    ENCODE_ERRORS,
    decode_failure,
    encode_failure,
    unknown_version,
)
from fencepost_protocol.fields import Fields
from fencepost_protocol.primitives import (
    CUT_SHORT,
    DECODE_ERRORS,
    ZERO_UUID,
    TaggedFields,
    long_length,
    read_unknown_tags,
    uuid_bytes,
    write_tagged_fields,
)
from fencepost_protocol.varint import write_uvarint

_unpack_UitbB = struct.Struct(">16si?bB").unpack_from
_unpack_ihB = struct.Struct(">ihB").unpack_from
_pack_Uitb = struct.Struct(">16si?b").pack
_pack_ih = struct.Struct(">ih").pack
new = object.__new__


class PushTelemetryRequest(Fields):
    """A client delivers its metrics to a broker, as the subscription told it to (KIP-714)."""

    NAME: ClassVar[str] = "PushTelemetryRequest"
    API_KEY: ClassVar[int] = 72
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    __slots__ = (
        "client_instance_id",
        "subscription_id",
        "terminating",
        "compression_type",
        "metrics",
        "unknown_tagged_fields",
    )

    client_instance_id: bytes
    """UUID agreed on in GetTelemetrySubscriptions."""
    subscription_id: int
    """Subscription the metrics were gathered for; an outdated one gives UNKNOWN_SUBSCRIPTION_ID,
    ask for it again.
    """
    terminating: bool
    """True on the last push of a client that closes; it may come before the interval is over."""
    compression_type: int
    """Codec of Metrics: 0 none, 1 gzip, 2 snappy, 3 lz4, 4 zstd; others give
    UNSUPPORTED_COMPRESSION_TYPE.
    """
    metrics: bytes
    """Metrics in OpenTelemetry protobuf form (MetricsData), compressed as CompressionType says."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        client_instance_id: bytes = ZERO_UUID,
        subscription_id: int = 0,
        terminating: bool = False,
        compression_type: int = 0,
        metrics: bytes = b"",
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.client_instance_id = client_instance_id
        self.subscription_id = subscription_id
        self.terminating = terminating
        self.compression_type = compression_type
        self.metrics = metrics
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 0:
                raise unknown_version("PushTelemetryRequest", version, 0, 0)
            out += _pack_Uitb(
                uuid_bytes(self.client_instance_id),
                self.subscription_id,
                self.terminating,
                self.compression_type,
            )
            n = len(self.metrics) + 1
            if n < 128:
                out.append(n)
            else:
                write_uvarint(out, n)
            out += self.metrics
            if self.unknown_tagged_fields:
                write_tagged_fields(out, [], self.unknown_tagged_fields)
            else:
                out.append(0)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("PushTelemetryRequest", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[PushTelemetryRequest, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 0:
                raise unknown_version("PushTelemetryRequest", version, 0, 0)
            size = len(buf)
            data = buf.tobytes()
            m = new(PushTelemetryRequest)
            (
                m.client_instance_id,
                m.subscription_id,
                m.terminating,
                m.compression_type,
                n,
            ) = _unpack_UitbB(data, pos)
            pos += 23
            if not n or n > 127:
                n, pos = long_length(data, pos, n)
            end = pos + n - 1
            m.metrics = data[pos:end]
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
            raise decode_failure("PushTelemetryRequest", version, buf, start, cause) from cause


class PushTelemetryResponse(Fields):
    """Tells the client whether its metrics were taken (KIP-714)."""

    NAME: ClassVar[str] = "PushTelemetryResponse"
    API_KEY: ClassVar[int] = 72
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    __slots__ = ("throttle_time_ms", "error_code", "unknown_tagged_fields")

    throttle_time_ms: int
    """Quota delay in ms that the client has to sit out itself (KIP-219); 0 when within quota."""
    error_code: int
    """NONE, or e.g. UNKNOWN_SUBSCRIPTION_ID, TELEMETRY_TOO_LARGE, UNSUPPORTED_COMPRESSION_TYPE,
    THROTTLING_QUOTA_EXCEEDED, INVALID_RECORD, INVALID_REQUEST.
    """
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 0:
                raise unknown_version("PushTelemetryResponse", version, 0, 0)
            out += _pack_ih(self.throttle_time_ms, self.error_code)
            if self.unknown_tagged_fields:
                write_tagged_fields(out, [], self.unknown_tagged_fields)
            else:
                out.append(0)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("PushTelemetryResponse", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[PushTelemetryResponse, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 0:
                raise unknown_version("PushTelemetryResponse", version, 0, 0)
            size = len(buf)
            m = new(PushTelemetryResponse)
            m.throttle_time_ms, m.error_code, n = _unpack_ihB(buf, pos)
            pos += 7
            if n:
                m.unknown_tagged_fields, pos = read_unknown_tags(buf, pos, n)
            else:
                m.unknown_tagged_fields = ()
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("PushTelemetryResponse", version, buf, start, cause) from cause


__all__ = [
    "PushTelemetryRequest",
    "PushTelemetryResponse",
]
