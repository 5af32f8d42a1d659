# Generated from schemas/messages/AllocateProducerIdsRequest.json (sha256 3cdb7b43657660a8)
# Generated from schemas/messages/AllocateProducerIdsResponse.json (sha256 2d8e9fe89f198e9a)
# by python -m fencepost_protocol.codegen. Do not edit.
"""AllocateProducerIds (API key 67)."""

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
    TaggedFields,
    read_unknown_tags,
    write_tagged_fields,
)

_unpack_ihqiB = struct.Struct(">ihqiB").unpack_from
_unpack_iqB = struct.Struct(">iqB").unpack_from
_pack_ihqi = struct.Struct(">ihqi").pack
_pack_iq = struct.Struct(">iq").pack
new = object.__new__


class AllocateProducerIdsRequest(Fields):
    """A broker asks the active controller for a block of producer ids, which it hands out later in
    InitProducerId (KIP-730).
    """

    NAME: ClassVar[str] = "AllocateProducerIdsRequest"
    API_KEY: ClassVar[int] = 67
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    __slots__ = ("broker_id", "broker_epoch", "unknown_tagged_fields")

    broker_id: int
    """Broker that wants the block; it must be registered."""
    broker_epoch: int
    """Epoch of the broker's registration; any other value, -1 included, gives STALE_BROKER_EPOCH.
    """
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        broker_id: int = 0,
        broker_epoch: int = -1,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.broker_id = broker_id
        self.broker_epoch = broker_epoch
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 0:
                raise unknown_version("AllocateProducerIdsRequest", version, 0, 0)
            out += _pack_iq(self.broker_id, self.broker_epoch)
            if self.unknown_tagged_fields:
                write_tagged_fields(out, [], self.unknown_tagged_fields)
            else:
                out.append(0)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("AllocateProducerIdsRequest", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[AllocateProducerIdsRequest, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 0:
                raise unknown_version("AllocateProducerIdsRequest", version, 0, 0)
            size = len(buf)
            m = new(AllocateProducerIdsRequest)
            m.broker_id, m.broker_epoch, n = _unpack_iqB(buf, pos)
            pos += 13
            if n:
                m.unknown_tagged_fields, pos = read_unknown_tags(buf, pos, n)
            else:
                m.unknown_tagged_fields = ()
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("AllocateProducerIdsRequest", version, buf, start, cause) from cause


class AllocateProducerIdsResponse(Fields):
    """The controller grants a block of producer ids that no other broker will receive (KIP-730)."""

    NAME: ClassVar[str] = "AllocateProducerIdsResponse"
    API_KEY: ClassVar[int] = 67
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "producer_id_start",
        "producer_id_len",
        "unknown_tagged_fields",
    )

    throttle_time_ms: int
    """Quota delay in ms for the sender to sit out; between servers normally 0."""
    error_code: int
    """NONE, or e.g. STALE_BROKER_EPOCH (also for an unregistered broker), NOT_CONTROLLER."""
    producer_id_start: int
    """First producer id of the block; 0 on error."""
    producer_id_len: int
    """How many ids the block holds, 1000 in Apache Kafka; 0 on error."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        producer_id_start: int = 0,
        producer_id_len: int = 0,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.producer_id_start = producer_id_start
        self.producer_id_len = producer_id_len
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 0:
                raise unknown_version("AllocateProducerIdsResponse", version, 0, 0)
            out += _pack_ihqi(
                self.throttle_time_ms,
                self.error_code,
                self.producer_id_start,
                self.producer_id_len,
            )
            if self.unknown_tagged_fields:
                write_tagged_fields(out, [], self.unknown_tagged_fields)
            else:
                out.append(0)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("AllocateProducerIdsResponse", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[AllocateProducerIdsResponse, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 0:
                raise unknown_version("AllocateProducerIdsResponse", version, 0, 0)
            size = len(buf)
            m = new(AllocateProducerIdsResponse)
            (
                m.throttle_time_ms,
                m.error_code,
                m.producer_id_start,
                m.producer_id_len,
                n,
            ) = _unpack_ihqiB(buf, pos)
            pos += 19
            if n:
                m.unknown_tagged_fields, pos = read_unknown_tags(buf, pos, n)
            else:
                m.unknown_tagged_fields = ()
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("AllocateProducerIdsResponse", version, buf, start, cause) from cause


__all__ = [
    "AllocateProducerIdsRequest",
    "AllocateProducerIdsResponse",
]
