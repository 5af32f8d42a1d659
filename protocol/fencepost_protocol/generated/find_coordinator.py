# Generated from schemas/messages/FindCoordinatorRequest.json (sha256 a0e5ea26b310cc84)
# Generated from schemas/messages/FindCoordinatorResponse.json (sha256 f72675d0784fe281)
# by python -m fencepost_protocol.codegen. Do not edit.
"""FindCoordinator (API key 10)."""

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
    TaggedFields,
    long_length,
    long_nullable_string_length,
    long_string_length,
    negative_length,
    read_compact_string_array,
    read_unknown_tags,
    too_many_elements,
    write_compact_string_array,
    write_string_length,
    write_tagged_fields,
)
from fencepost_protocol.varint import write_uvarint

_unpack_h = struct.Struct(">h").unpack_from
_unpack_hB = struct.Struct(">hB").unpack_from
_unpack_i = struct.Struct(">i").unpack_from
_unpack_iB = struct.Struct(">iB").unpack_from
_unpack_ih = struct.Struct(">ih").unpack_from
_unpack_ihB = struct.Struct(">ihB").unpack_from
_pack_b = struct.Struct(">b").pack
_pack_h = struct.Struct(">h").pack
_pack_i = struct.Struct(">i").pack
_pack_ih = struct.Struct(">ih").pack
new = object.__new__


class FindCoordinatorRequest(Fields):
    """A client asks any broker which one coordinates its group or its transactional id, before all
    group and transaction requests.
    """

    NAME: ClassVar[str] = "FindCoordinatorRequest"
    API_KEY: ClassVar[int] = 10
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 6
    FLEXIBLE_FROM: ClassVar[int | None] = 3

    __slots__ = ("key", "key_type", "coordinator_keys", "unknown_tagged_fields")

    key: str
    """Versions 0-3. Group id or transactional id, as KeyType says."""
    key_type: int
    """Versions 1-6. What the keys are: 0 group, 1 transactional id, 2 share-group partition (6+).
    """
    coordinator_keys: list[str]
    """Versions 4-6. Keys to look up together, all of the same KeyType (KIP-699)."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        key: str = "",
        key_type: int = 0,
        coordinator_keys: list[str] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.key = key
        self.key_type = key_type
        self.coordinator_keys = [] if coordinator_keys is MADE_ANEW else coordinator_keys
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 6:
                raise unknown_version("FindCoordinatorRequest", version, 0, 6)
            if version >= 3:
                if version <= 3:
                    raw = self.key.encode()
                    n = len(raw) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_string_length(out, n)
                    out += raw
                elif self.key:
                    raise not_in_version("key", "0-3")
                out += _pack_b(self.key_type)
                if version >= 4:
                    n = len(self.coordinator_keys) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_uvarint(out, n)
                    write_compact_string_array(out, self.coordinator_keys)
                elif self.coordinator_keys:
                    raise not_in_version("coordinator_keys", "4-6")
                if self.unknown_tagged_fields:
                    write_tagged_fields(out, [], self.unknown_tagged_fields)
                else:
                    out.append(0)
            else:
                if self.coordinator_keys:
                    raise not_in_version("coordinator_keys", "4-6")
                raw = self.key.encode()
                out += _pack_h(len(raw))
                out += raw
                if version >= 1:
                    out += _pack_b(self.key_type)
                elif self.key_type != 0:
                    raise not_in_version("key_type", "1-6")
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("FindCoordinatorRequest", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[FindCoordinatorRequest, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 6:
                raise unknown_version("FindCoordinatorRequest", version, 0, 6)
            size = len(buf)
            data = buf.tobytes()
            m = new(FindCoordinatorRequest)
            if version >= 3:
                budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
                if version <= 3:
                    n = data[pos]
                    pos += 1
                    if not n or n > 127:
                        n, pos = long_string_length(data, pos, n)
                    end = pos + n - 1
                    m.key = data[pos:end].decode()
                    pos = end
                else:
                    m.key = ""
                m.key_type = (data[pos] ^ 128) - 128
                pos += 1
                if version >= 4:
                    n = data[pos]
                    pos += 1
                    if not n or n > 127:
                        n, pos = long_length(data, pos, n)
                    budget -= n
                    if budget < 0:
                        raise too_many_elements(budget)
                    m.coordinator_keys, pos = read_compact_string_array(data, pos, n - 1)
                else:
                    m.coordinator_keys = []
                n = data[pos]
                pos += 1
                if n:
                    m.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                else:
                    m.unknown_tagged_fields = ()
            else:
                m.coordinator_keys = []
                n = _unpack_h(data, pos)[0]
                pos += 2
                if n < 0:
                    raise negative_length(n)
                end = pos + n
                m.key = data[pos:end].decode()
                pos = end
                if version >= 1:
                    m.key_type = (data[pos] ^ 128) - 128
                    pos += 1
                else:
                    m.key_type = 0
                m.unknown_tagged_fields = ()
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("FindCoordinatorRequest", version, buf, start, cause) from cause


class Coordinator(Fields):
    """One answer for each key asked for."""

    __slots__ = (
        "key",
        "node_id",
        "host",
        "port",
        "error_code",
        "error_message",
        "unknown_tagged_fields",
    )

    key: str
    """Versions 4-6. Key this answer is for, as sent."""
    node_id: int
    """Versions 4-6. Broker id of this key's coordinator; -1 on an error."""
    host: str
    """Versions 4-6. Address of this key's coordinator; empty on an error."""
    port: int
    """Versions 4-6. TCP port of this key's coordinator; -1 on an error."""
    error_code: int
    """Versions 4-6. NONE, or COORDINATOR_NOT_AVAILABLE (ask again), INVALID_REQUEST, or a failed
    authorisation for the group or transactional id.
    """
    error_message: str | None
    """Versions 4-6. Readable detail for this key's error; may be null."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        key: str = "",
        node_id: int = 0,
        host: str = "",
        port: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.key = key
        self.node_id = node_id
        self.host = host
        self.port = port
        self.error_code = error_code
        self.error_message = error_message
        self.unknown_tagged_fields = unknown_tagged_fields


class FindCoordinatorResponse(Fields):
    """Names the coordinating broker for each key, or says why there is none yet."""

    NAME: ClassVar[str] = "FindCoordinatorResponse"
    API_KEY: ClassVar[int] = 10
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 6
    FLEXIBLE_FROM: ClassVar[int | None] = 3

    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "error_message",
        "node_id",
        "host",
        "port",
        "coordinators",
        "unknown_tagged_fields",
    )

    throttle_time_ms: int
    """Versions 1-6. Quota delay in ms that the client has to sit out itself (KIP-219); 0 when
    within quota.
    """
    error_code: int
    """Versions 0-3. NONE, or COORDINATOR_NOT_AVAILABLE (ask again), INVALID_REQUEST, or a failed
    authorisation for the group or transactional id.
    """
    error_message: str | None
    """Versions 1-3. Readable detail for the error; null when there is none."""
    node_id: int
    """Versions 0-3. Broker id of the coordinator; -1 on an error."""
    host: str
    """Versions 0-3. Address of the coordinator; empty on an error."""
    port: int
    """Versions 0-3. TCP port of the coordinator; -1 on an error."""
    coordinators: list[Coordinator]
    """Versions 4-6. One answer for each key asked for."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
        node_id: int = 0,
        host: str = "",
        port: int = 0,
        coordinators: list[Coordinator] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.node_id = node_id
        self.host = host
        self.port = port
        self.coordinators = [] if coordinators is MADE_ANEW else coordinators
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 6:
                raise unknown_version("FindCoordinatorResponse", version, 0, 6)
            if version >= 3:
                out += _pack_i(self.throttle_time_ms)
                if version <= 3:
                    out += _pack_h(self.error_code)
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
                    raw = self.host.encode()
                    out += _pack_i(self.node_id)
                    n = len(raw) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_string_length(out, n)
                    out += raw
                    out += _pack_i(self.port)
                else:
                    if self.error_code != 0:
                        raise not_in_version("error_code", "0-3")
                    if self.node_id != 0:
                        raise not_in_version("node_id", "0-3")
                    if self.host:
                        raise not_in_version("host", "0-3")
                    if self.port != 0:
                        raise not_in_version("port", "0-3")
                if version >= 4:
                    n = len(self.coordinators) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_uvarint(out, n)
                    for coordinator in self.coordinators:
                        raw = coordinator.key.encode()
                        n = len(raw) + 1
                        if n < 128:
                            out.append(n)
                        else:
                            write_string_length(out, n)
                        out += raw
                        raw = coordinator.host.encode()
                        out += _pack_i(coordinator.node_id)
                        n = len(raw) + 1
                        if n < 128:
                            out.append(n)
                        else:
                            write_string_length(out, n)
                        out += raw
                        out += _pack_ih(coordinator.port, coordinator.error_code)
                        if coordinator.error_message is None:
                            out.append(0)
                        else:
                            raw = coordinator.error_message.encode()
                            n = len(raw) + 1
                            if n < 128:
                                out.append(n)
                            else:
                                write_string_length(out, n)
                            out += raw
                        if coordinator.unknown_tagged_fields:
                            write_tagged_fields(out, [], coordinator.unknown_tagged_fields)
                        else:
                            out.append(0)
                elif self.coordinators:
                    raise not_in_version("coordinators", "4-6")
                if self.unknown_tagged_fields:
                    write_tagged_fields(out, [], self.unknown_tagged_fields)
                else:
                    out.append(0)
            else:
                if self.coordinators:
                    raise not_in_version("coordinators", "4-6")
                if version >= 1:
                    out += _pack_i(self.throttle_time_ms)
                out += _pack_h(self.error_code)
                if version >= 1:
                    if self.error_message is None:
                        out += _pack_h(-1)
                    else:
                        raw = self.error_message.encode()
                        out += _pack_h(len(raw))
                        out += raw
                raw = self.host.encode()
                out += _pack_ih(self.node_id, len(raw))
                out += raw
                out += _pack_i(self.port)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("FindCoordinatorResponse", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[FindCoordinatorResponse, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 6:
                raise unknown_version("FindCoordinatorResponse", version, 0, 6)
            size = len(buf)
            data = buf.tobytes()
            m = new(FindCoordinatorResponse)
            if version >= 3:
                budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
                m.throttle_time_ms = _unpack_i(data, pos)[0]
                pos += 4
                if version <= 3:
                    m.error_code, n = _unpack_hB(data, pos)
                    pos += 3
                    if n > 127:
                        n, pos = long_nullable_string_length(data, pos, n)
                    if not n:
                        m.error_message = None
                    else:
                        end = pos + n - 1
                        m.error_message = data[pos:end].decode()
                        pos = end
                    m.node_id, n = _unpack_iB(data, pos)
                    pos += 5
                    if not n or n > 127:
                        n, pos = long_string_length(data, pos, n)
                    end = pos + n - 1
                    m.host = data[pos:end].decode()
                    pos = end
                    m.port = _unpack_i(data, pos)[0]
                    pos += 4
                else:
                    m.error_code = 0
                    m.error_message = ""
                    m.node_id = 0
                    m.host = ""
                    m.port = 0
                if version >= 4:
                    n = data[pos]
                    pos += 1
                    if not n or n > 127:
                        n, pos = long_length(data, pos, n)
                    budget -= n
                    if budget < 0:
                        raise too_many_elements(budget)
                    m.coordinators = coordinator_list = []
                    coordinator_left = n - 1
                    while coordinator_left:
                        coordinator_left -= 1
                        coordinator = new(Coordinator)
                        coordinator_list.append(coordinator)
                        n = data[pos]
                        pos += 1
                        if not n or n > 127:
                            n, pos = long_string_length(data, pos, n)
                        end = pos + n - 1
                        coordinator.key = data[pos:end].decode()
                        pos = end
                        coordinator.node_id, n = _unpack_iB(data, pos)
                        pos += 5
                        if not n or n > 127:
                            n, pos = long_string_length(data, pos, n)
                        end = pos + n - 1
                        coordinator.host = data[pos:end].decode()
                        pos = end
                        coordinator.port, coordinator.error_code, n = _unpack_ihB(data, pos)
                        pos += 7
                        if n > 127:
                            n, pos = long_nullable_string_length(data, pos, n)
                        if not n:
                            coordinator.error_message = None
                        else:
                            end = pos + n - 1
                            coordinator.error_message = data[pos:end].decode()
                            pos = end
                        n = data[pos]
                        pos += 1
                        if n:
                            coordinator.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                        else:
                            coordinator.unknown_tagged_fields = ()
                else:
                    m.coordinators = []
                n = data[pos]
                pos += 1
                if n:
                    m.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                else:
                    m.unknown_tagged_fields = ()
            else:
                m.coordinators = []
                if version >= 1:
                    m.throttle_time_ms = _unpack_i(data, pos)[0]
                    pos += 4
                else:
                    m.throttle_time_ms = 0
                m.error_code = _unpack_h(data, pos)[0]
                pos += 2
                if version >= 1:
                    n = _unpack_h(data, pos)[0]
                    pos += 2
                    if n < 0:
                        m.error_message = None
                    else:
                        end = pos + n
                        m.error_message = data[pos:end].decode()
                        pos = end
                else:
                    m.error_message = ""
                m.node_id, n = _unpack_ih(data, pos)
                pos += 6
                if n < 0:
                    raise negative_length(n)
                end = pos + n
                m.host = data[pos:end].decode()
                pos = end
                m.unknown_tagged_fields = ()
                m.port = _unpack_i(data, pos)[0]
                pos += 4
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("FindCoordinatorResponse", version, buf, start, cause) from cause


__all__ = [
    "FindCoordinatorRequest",
    "Coordinator",
    "FindCoordinatorResponse",
]
