# Generated from schemas/messages/GetTelemetrySubscriptionsRequest.json (sha256 7cbc1e4e28269183)
# Generated from schemas/messages/GetTelemetrySubscriptionsResponse.json (sha256 3cf72622f6568adb)
# by python -m fencepost_protocol.codegen. Do not edit.
"""GetTelemetrySubscriptions (API key 71)."""

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
    read_compact_string_array,
    read_int_array,
    read_unknown_tags,
    too_many_elements,
    uuid_bytes,
    write_compact_string_array,
    write_int_array,
    write_tagged_fields,
)
from fencepost_protocol.varint import write_uvarint

_unpack_UB = struct.Struct(">16sB").unpack_from
_unpack_ihUiB = struct.Struct(">ih16siB").unpack_from
_unpack_iitB = struct.Struct(">ii?B").unpack_from
_pack_U = struct.Struct(">16s").pack
_pack_ihUi = struct.Struct(">ih16si").pack
_pack_iit = struct.Struct(">ii?").pack
new = object.__new__


class GetTelemetrySubscriptionsRequest(Fields):
    """A client asks a broker which of its metrics it should report and how often (KIP-714)."""

    NAME: ClassVar[str] = "GetTelemetrySubscriptionsRequest"
    API_KEY: ClassVar[int] = 71
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    __slots__ = ("client_instance_id", "unknown_tagged_fields")

    client_instance_id: bytes
    """UUID of this client instance; all zero on the first request, when the broker makes one up."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        client_instance_id: bytes = ZERO_UUID,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.client_instance_id = client_instance_id
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 0:
                raise unknown_version("GetTelemetrySubscriptionsRequest", version, 0, 0)
            out += _pack_U(uuid_bytes(self.client_instance_id))
            if self.unknown_tagged_fields:
                write_tagged_fields(out, [], self.unknown_tagged_fields)
            else:
                out.append(0)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("GetTelemetrySubscriptionsRequest", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[GetTelemetrySubscriptionsRequest, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 0:
                raise unknown_version("GetTelemetrySubscriptionsRequest", version, 0, 0)
            size = len(buf)
            m = new(GetTelemetrySubscriptionsRequest)
            m.client_instance_id, n = _unpack_UB(buf, pos)
            pos += 17
            if n:
                m.unknown_tagged_fields, pos = read_unknown_tags(buf, pos, n)
            else:
                m.unknown_tagged_fields = ()
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("GetTelemetrySubscriptionsRequest", version, buf, start, cause) from cause


class GetTelemetrySubscriptionsResponse(Fields):
    """Which metrics the client has to push, in which form and at which interval (KIP-714)."""

    NAME: ClassVar[str] = "GetTelemetrySubscriptionsResponse"
    API_KEY: ClassVar[int] = 71
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "client_instance_id",
        "subscription_id",
        "accepted_compression_types",
        "push_interval_ms",
        "telemetry_max_bytes",
        "delta_temporality",
        "requested_metrics",
        "unknown_tagged_fields",
    )

    throttle_time_ms: int
    """Quota delay in ms that the client has to sit out itself (KIP-219); 0 when within quota."""
    error_code: int
    """NONE, or e.g. INVALID_REQUEST, THROTTLING_QUOTA_EXCEEDED when asked again too early."""
    client_instance_id: bytes
    """UUID the client has to use from now on, its own or one the broker made."""
    subscription_id: int
    """Fingerprint of the subscription; PushTelemetry must repeat it."""
    accepted_compression_types: list[int]
    """Codecs the broker can read, best first: 0 none, 1 gzip, 2 snappy, 3 lz4, 4 zstd."""
    push_interval_ms: int
    """Pause in ms between two pushes; also the pause before asking again when nothing is
    subscribed.
    """
    telemetry_max_bytes: int
    """Largest size in bytes of one push; more gives TELEMETRY_TOO_LARGE."""
    delta_temporality: bool
    """True: counters as increase since the last push; false: as running totals."""
    requested_metrics: list[str]
    """Name prefixes of wanted metrics; an empty list means none, a single empty string all."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        client_instance_id: bytes = ZERO_UUID,
        subscription_id: int = 0,
        accepted_compression_types: list[int] = MADE_ANEW,
        push_interval_ms: int = 0,
        telemetry_max_bytes: int = 0,
        delta_temporality: bool = False,
        requested_metrics: list[str] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.client_instance_id = client_instance_id
        self.subscription_id = subscription_id
        self.accepted_compression_types = [] if accepted_compression_types is MADE_ANEW else accepted_compression_types
        self.push_interval_ms = push_interval_ms
        self.telemetry_max_bytes = telemetry_max_bytes
        self.delta_temporality = delta_temporality
        self.requested_metrics = [] if requested_metrics is MADE_ANEW else requested_metrics
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 0:
                raise unknown_version("GetTelemetrySubscriptionsResponse", version, 0, 0)
            out += _pack_ihUi(
                self.throttle_time_ms,
                self.error_code,
                uuid_bytes(self.client_instance_id),
                self.subscription_id,
            )
            n = len(self.accepted_compression_types) + 1
            if n < 128:
                out.append(n)
            else:
                write_uvarint(out, n)
            write_int_array(out, self.accepted_compression_types, "b")
            out += _pack_iit(
                self.push_interval_ms,
                self.telemetry_max_bytes,
                self.delta_temporality,
            )
            n = len(self.requested_metrics) + 1
            if n < 128:
                out.append(n)
            else:
                write_uvarint(out, n)
            write_compact_string_array(out, self.requested_metrics)
            if self.unknown_tagged_fields:
                write_tagged_fields(out, [], self.unknown_tagged_fields)
            else:
                out.append(0)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("GetTelemetrySubscriptionsResponse", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[GetTelemetrySubscriptionsResponse, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 0:
                raise unknown_version("GetTelemetrySubscriptionsResponse", version, 0, 0)
            size = len(buf)
            data = buf.tobytes()
            m = new(GetTelemetrySubscriptionsResponse)
            budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
            (
                m.throttle_time_ms,
                m.error_code,
                m.client_instance_id,
                m.subscription_id,
                n,
            ) = _unpack_ihUiB(data, pos)
            pos += 27
            if not n or n > 127:
                n, pos = long_length(data, pos, n)
            budget -= n
            if budget < 0:
                raise too_many_elements(budget)
            m.accepted_compression_types, pos = read_int_array(data, pos, n - 1, "b")
            (
                m.push_interval_ms,
                m.telemetry_max_bytes,
                m.delta_temporality,
                n,
            ) = _unpack_iitB(data, pos)
            pos += 10
            if not n or n > 127:
                n, pos = long_length(data, pos, n)
            budget -= n
            if budget < 0:
                raise too_many_elements(budget)
            m.requested_metrics, pos = read_compact_string_array(data, pos, n - 1)
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
            raise decode_failure("GetTelemetrySubscriptionsResponse", version, buf, start, cause) from cause


__all__ = [
    "GetTelemetrySubscriptionsRequest",
    "GetTelemetrySubscriptionsResponse",
]
