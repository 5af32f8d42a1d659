# Generated from schemas/messages/BrokerHeartbeatRequest.json (sha256 839be0a4846615ca)
# Generated from schemas/messages/BrokerHeartbeatResponse.json (sha256 ff96517aef77ad56)
# by python -m fencepost_protocol.codegen. Do not edit.
"""BrokerHeartbeat (API key 63)."""

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
    TaggedFields,
    long_length,
    read_tag,
    read_unknown_tags,
    read_uuid_array,
    tagged_field,
    too_many_elements,
    with_unknown_tag,
    write_tagged_fields,
    write_uuid_array,
)
from fencepost_protocol.varint import read_uvarint_tail, write_uvarint

_unpack_ihtttB = struct.Struct(">ih???B").unpack_from
_unpack_iqqttB = struct.Struct(">iqq??B").unpack_from
_pack_ihttt = struct.Struct(">ih???").pack
_pack_iqqtt = struct.Struct(">iqq??").pack
new = object.__new__


class BrokerHeartbeatRequest(Fields):
    """A broker tells the active controller at short intervals that it lives, how far it has read
    the metadata log and what it wants (KIP-631).
    """

    NAME: ClassVar[str] = "BrokerHeartbeatRequest"
    API_KEY: ClassVar[int] = 63
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    __slots__ = (
        "broker_id",
        "broker_epoch",
        "current_metadata_offset",
        "want_fence",
        "want_shut_down",
        "offline_log_dirs",
        "cordoned_log_dirs",
        "unknown_tagged_fields",
    )

    broker_id: int
    """Node id of the broker."""
    broker_epoch: int
    """Epoch from its registration; any other gives STALE_BROKER_EPOCH."""
    current_metadata_offset: int
    """Highest metadata offset the broker has applied; it is unfenced only after reaching its own
    registration.
    """
    want_fence: bool
    """True while the broker wants to stay, or become, fenced."""
    want_shut_down: bool
    """True when the broker wants to stop; leadership then moves away until ShouldShutDown comes
    back.
    """
    offline_log_dirs: list[bytes]
    """Versions 1-2. UUIDs of log directories that failed; replicas there lose leadership (KIP-858).
    """
    cordoned_log_dirs: list[bytes] | None
    """Versions 2. UUIDs of log directories that take no new replicas (KIP-1066); null says nothing
    about them.
    """
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        broker_id: int = 0,
        broker_epoch: int = -1,
        current_metadata_offset: int = 0,
        want_fence: bool = False,
        want_shut_down: bool = False,
        offline_log_dirs: list[bytes] = MADE_ANEW,
        cordoned_log_dirs: list[bytes] | None = None,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.broker_id = broker_id
        self.broker_epoch = broker_epoch
        self.current_metadata_offset = current_metadata_offset
        self.want_fence = want_fence
        self.want_shut_down = want_shut_down
        self.offline_log_dirs = [] if offline_log_dirs is MADE_ANEW else offline_log_dirs
        self.cordoned_log_dirs = cordoned_log_dirs
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 2:
                raise unknown_version("BrokerHeartbeatRequest", version, 0, 2)
            out += _pack_iqqtt(
                self.broker_id,
                self.broker_epoch,
                self.current_metadata_offset,
                self.want_fence,
                self.want_shut_down,
            )
            tagged_1: list[bytes] = []
            if self.offline_log_dirs:
                if not (version >= 1):
                    raise not_in_version("offline_log_dirs", "1-2")
                content_1 = bytearray()
                n = len(self.offline_log_dirs) + 1
                if n < 128:
                    content_1.append(n)
                else:
                    write_uvarint(content_1, n)
                write_uuid_array(content_1, self.offline_log_dirs)
                tagged_1.append(tagged_field(0, content_1))
            if self.cordoned_log_dirs is not None:
                if not (version >= 2):
                    raise not_in_version("cordoned_log_dirs", "2")
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
            raise encode_failure("BrokerHeartbeatRequest", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[BrokerHeartbeatRequest, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 2:
                raise unknown_version("BrokerHeartbeatRequest", version, 0, 2)
            size = len(buf)
            m = new(BrokerHeartbeatRequest)
            budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
            m.offline_log_dirs = []
            m.cordoned_log_dirs = None
            m.unknown_tagged_fields = ()
            (
                m.broker_id,
                m.broker_epoch,
                m.current_metadata_offset,
                m.want_fence,
                m.want_shut_down,
                n,
            ) = _unpack_iqqttB(buf, pos)
            pos += 23
            if n:
                if n > 127:
                    n, pos = read_uvarint_tail(buf, pos, n)
                for _ in range(n):
                    tag_1, tag_end_1, pos = read_tag(buf, pos)
                    if tag_1 == 0:
                        if not (version >= 1):
                            raise ValueError(TAG_NOT_IN_VERSION)
                        n = buf[pos]
                        pos += 1
                        if not n or n > 127:
                            n, pos = long_length(buf, pos, n)
                        budget -= n
                        if budget < 0:
                            raise too_many_elements(budget)
                        m.offline_log_dirs, pos = read_uuid_array(buf, pos, n - 1)
                    elif tag_1 == 1:
                        if not (version >= 2):
                            raise ValueError(TAG_NOT_IN_VERSION)
                        n = buf[pos]
                        pos += 1
                        if n > 127:
                            n, pos = read_uvarint_tail(buf, pos, n)
                        if not n:
                            m.cordoned_log_dirs = None
                        else:
                            budget -= n
                            if budget < 0:
                                raise too_many_elements(budget)
                            m.cordoned_log_dirs, pos = read_uuid_array(buf, pos, n - 1)
                    else:
                        m.unknown_tagged_fields = with_unknown_tag(m.unknown_tagged_fields, tag_1, buf[pos:tag_end_1])
                        pos = tag_end_1
                    if pos != tag_end_1:
                        raise ValueError(TAG_SIZE_WRONG)
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("BrokerHeartbeatRequest", version, buf, start, cause) from cause


class BrokerHeartbeatResponse(Fields):
    """The active controller's answer to a broker's periodic heartbeat; it tells the broker whether
    it may serve clients and whether it may stop (KIP-631).
    """

    NAME: ClassVar[str] = "BrokerHeartbeatResponse"
    API_KEY: ClassVar[int] = 63
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "is_caught_up",
        "is_fenced",
        "should_shut_down",
        "unknown_tagged_fields",
    )

    throttle_time_ms: int
    """Quota delay in ms for the sender to sit out; between servers normally 0."""
    error_code: int
    """NONE, or e.g. STALE_BROKER_EPOCH when the broker is unknown or has registered anew,
    NOT_CONTROLLER when sent to the wrong controller.
    """
    is_caught_up: bool
    """True once the broker has replayed metadata at least up to its own registration; needed before
    it can be unfenced.
    """
    is_fenced: bool
    """True while the broker is kept out of leadership and hidden from clients; new brokers begin
    fenced.
    """
    should_shut_down: bool
    """True when a broker that asked to stop holds no leadership any more and may exit."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        is_caught_up: bool = False,
        is_fenced: bool = True,
        should_shut_down: bool = False,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.is_caught_up = is_caught_up
        self.is_fenced = is_fenced
        self.should_shut_down = should_shut_down
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 2:
                raise unknown_version("BrokerHeartbeatResponse", version, 0, 2)
            out += _pack_ihttt(
                self.throttle_time_ms,
                self.error_code,
                self.is_caught_up,
                self.is_fenced,
                self.should_shut_down,
            )
            if self.unknown_tagged_fields:
                write_tagged_fields(out, [], self.unknown_tagged_fields)
            else:
                out.append(0)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("BrokerHeartbeatResponse", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[BrokerHeartbeatResponse, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 2:
                raise unknown_version("BrokerHeartbeatResponse", version, 0, 2)
            size = len(buf)
            m = new(BrokerHeartbeatResponse)
            (
                m.throttle_time_ms,
                m.error_code,
                m.is_caught_up,
                m.is_fenced,
                m.should_shut_down,
                n,
            ) = _unpack_ihtttB(buf, pos)
            pos += 10
            if n:
                m.unknown_tagged_fields, pos = read_unknown_tags(buf, pos, n)
            else:
                m.unknown_tagged_fields = ()
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("BrokerHeartbeatResponse", version, buf, start, cause) from cause


__all__ = [
    "BrokerHeartbeatRequest",
    "BrokerHeartbeatResponse",
]
