# Generated from schemas/messages/CreateDelegationTokenRequest.json (sha256 424d848bb0ae56e8)
# Generated from schemas/messages/CreateDelegationTokenResponse.json (sha256 87e4494b26e51984)
# by python -m fencepost_protocol.codegen. Do not edit.
"""CreateDelegationToken (API key 38)."""

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
    read_unknown_tags,
    too_many_elements,
    write_string_length,
    write_tagged_fields,
)
from fencepost_protocol.varint import write_uvarint

_unpack_h = struct.Struct(">h").unpack_from
_unpack_hB = struct.Struct(">hB").unpack_from
_unpack_hh = struct.Struct(">hh").unpack_from
_unpack_i = struct.Struct(">i").unpack_from
_unpack_iB = struct.Struct(">iB").unpack_from
_unpack_q = struct.Struct(">q").unpack_from
_unpack_qB = struct.Struct(">qB").unpack_from
_unpack_qqqB = struct.Struct(">qqqB").unpack_from
_unpack_qqqh = struct.Struct(">qqqh").unpack_from
_pack_h = struct.Struct(">h").pack
_pack_hh = struct.Struct(">hh").pack
_pack_i = struct.Struct(">i").pack
_pack_q = struct.Struct(">q").pack
_pack_qqq = struct.Struct(">qqq").pack
_pack_qqqh = struct.Struct(">qqqh").pack
new = object.__new__


class CreatableRenewers(Fields):
    """Principals that may renew the token besides its owner; may be empty."""

    __slots__ = ("principal_type", "principal_name", "unknown_tagged_fields")

    principal_type: str
    """Principal type of the renewer; anything but User gives INVALID_PRINCIPAL_TYPE."""
    principal_name: str
    """Name of the renewer."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        principal_type: str = "",
        principal_name: str = "",
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.principal_type = principal_type
        self.principal_name = principal_name
        self.unknown_tagged_fields = unknown_tagged_fields


class CreateDelegationTokenRequest(Fields):
    """A client that has authenticated by other means asks for a delegation token to hand to its
    workers (KIP-48).
    """

    NAME: ClassVar[str] = "CreateDelegationTokenRequest"
    API_KEY: ClassVar[int] = 38
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 3
    FLEXIBLE_FROM: ClassVar[int | None] = 2

    __slots__ = (
        "owner_principal_type",
        "owner_principal_name",
        "renewers",
        "max_lifetime_ms",
        "unknown_tagged_fields",
    )

    owner_principal_type: str | None
    """Versions 3. Principal type of the future owner, normally User; null with the name means the
    requester.
    """
    owner_principal_name: str | None
    """Versions 3. Name of the future owner (KIP-373); null means the requester, anyone else needs
    the right to create tokens for that user.
    """
    renewers: list[CreatableRenewers]
    """Principals that may renew the token besides its owner; may be empty."""
    max_lifetime_ms: int
    """Longest life in ms, renewals included, cut to delegation.token.max.lifetime.ms; -1 means just
    that limit.
    """
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        owner_principal_type: str | None = "",
        owner_principal_name: str | None = "",
        renewers: list[CreatableRenewers] = MADE_ANEW,
        max_lifetime_ms: int = 0,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.owner_principal_type = owner_principal_type
        self.owner_principal_name = owner_principal_name
        self.renewers = [] if renewers is MADE_ANEW else renewers
        self.max_lifetime_ms = max_lifetime_ms
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 1 <= version <= 3:
                raise unknown_version("CreateDelegationTokenRequest", version, 1, 3)
            if version >= 2:
                if version >= 3:
                    if self.owner_principal_type is None:
                        out.append(0)
                    else:
                        raw = self.owner_principal_type.encode()
                        n = len(raw) + 1
                        if n < 128:
                            out.append(n)
                        else:
                            write_string_length(out, n)
                        out += raw
                    if self.owner_principal_name is None:
                        out.append(0)
                    else:
                        raw = self.owner_principal_name.encode()
                        n = len(raw) + 1
                        if n < 128:
                            out.append(n)
                        else:
                            write_string_length(out, n)
                        out += raw
                else:
                    if self.owner_principal_type != "":
                        raise not_in_version("owner_principal_type", "3")
                    if self.owner_principal_name != "":
                        raise not_in_version("owner_principal_name", "3")
                n = len(self.renewers) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_uvarint(out, n)
                for renewer in self.renewers:
                    raw = renewer.principal_type.encode()
                    n = len(raw) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_string_length(out, n)
                    out += raw
                    raw = renewer.principal_name.encode()
                    n = len(raw) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_string_length(out, n)
                    out += raw
                    if renewer.unknown_tagged_fields:
                        write_tagged_fields(out, [], renewer.unknown_tagged_fields)
                    else:
                        out.append(0)
                out += _pack_q(self.max_lifetime_ms)
                if self.unknown_tagged_fields:
                    write_tagged_fields(out, [], self.unknown_tagged_fields)
                else:
                    out.append(0)
            else:
                if self.owner_principal_type != "":
                    raise not_in_version("owner_principal_type", "3")
                if self.owner_principal_name != "":
                    raise not_in_version("owner_principal_name", "3")
                out += _pack_i(len(self.renewers))
                for renewer in self.renewers:
                    raw = renewer.principal_type.encode()
                    out += _pack_h(len(raw))
                    out += raw
                    raw = renewer.principal_name.encode()
                    out += _pack_h(len(raw))
                    out += raw
                out += _pack_q(self.max_lifetime_ms)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("CreateDelegationTokenRequest", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[CreateDelegationTokenRequest, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 1 <= version <= 3:
                raise unknown_version("CreateDelegationTokenRequest", version, 1, 3)
            size = len(buf)
            data = buf.tobytes()
            m = new(CreateDelegationTokenRequest)
            if version >= 2:
                budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
                if version >= 3:
                    n = data[pos]
                    pos += 1
                    if n > 127:
                        n, pos = long_nullable_string_length(data, pos, n)
                    if not n:
                        m.owner_principal_type = None
                    else:
                        end = pos + n - 1
                        m.owner_principal_type = data[pos:end].decode()
                        pos = end
                    n = data[pos]
                    pos += 1
                    if n > 127:
                        n, pos = long_nullable_string_length(data, pos, n)
                    if not n:
                        m.owner_principal_name = None
                    else:
                        end = pos + n - 1
                        m.owner_principal_name = data[pos:end].decode()
                        pos = end
                else:
                    m.owner_principal_type = ""
                    m.owner_principal_name = ""
                n = data[pos]
                pos += 1
                if not n or n > 127:
                    n, pos = long_length(data, pos, n)
                budget -= n
                if budget < 0:
                    raise too_many_elements(budget)
                m.renewers = renewer_list = []
                renewer_left = n - 1
                while renewer_left:
                    renewer_left -= 1
                    renewer = new(CreatableRenewers)
                    renewer_list.append(renewer)
                    n = data[pos]
                    pos += 1
                    if not n or n > 127:
                        n, pos = long_string_length(data, pos, n)
                    end = pos + n - 1
                    renewer.principal_type = data[pos:end].decode()
                    pos = end
                    n = data[pos]
                    pos += 1
                    if not n or n > 127:
                        n, pos = long_string_length(data, pos, n)
                    end = pos + n - 1
                    renewer.principal_name = data[pos:end].decode()
                    pos = end
                    n = data[pos]
                    pos += 1
                    if n:
                        renewer.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                    else:
                        renewer.unknown_tagged_fields = ()
                m.max_lifetime_ms, n = _unpack_qB(data, pos)
                pos += 9
                if n:
                    m.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                else:
                    m.unknown_tagged_fields = ()
            else:
                budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
                m.owner_principal_type = ""
                m.owner_principal_name = ""
                n = _unpack_i(data, pos)[0]
                pos += 4
                if n < 0:
                    raise negative_length(n)
                budget -= n
                if budget < 0:
                    raise too_many_elements(budget)
                m.renewers = renewer_list = []
                renewer_left = n
                while renewer_left:
                    renewer_left -= 1
                    renewer = new(CreatableRenewers)
                    renewer_list.append(renewer)
                    n = _unpack_h(data, pos)[0]
                    pos += 2
                    if n < 0:
                        raise negative_length(n)
                    end = pos + n
                    renewer.principal_type = data[pos:end].decode()
                    pos = end
                    n = _unpack_h(data, pos)[0]
                    pos += 2
                    if n < 0:
                        raise negative_length(n)
                    end = pos + n
                    renewer.principal_name = data[pos:end].decode()
                    pos = end
                    renewer.unknown_tagged_fields = ()
                m.unknown_tagged_fields = ()
                m.max_lifetime_ms = _unpack_q(data, pos)[0]
                pos += 8
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("CreateDelegationTokenRequest", version, buf, start, cause) from cause


class CreateDelegationTokenResponse(Fields):
    """The new token with its secret and its limits in time (KIP-48). The secret makes this response
    worth hiding in captures.
    """

    NAME: ClassVar[str] = "CreateDelegationTokenResponse"
    API_KEY: ClassVar[int] = 38
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 3
    FLEXIBLE_FROM: ClassVar[int | None] = 2

    __slots__ = (
        "error_code",
        "principal_type",
        "principal_name",
        "token_requester_principal_type",
        "token_requester_principal_name",
        "issue_timestamp_ms",
        "expiry_timestamp_ms",
        "max_timestamp_ms",
        "token_id",
        "hmac",
        "throttle_time_ms",
        "unknown_tagged_fields",
    )

    error_code: int
    """NONE, or e.g. DELEGATION_TOKEN_AUTH_DISABLED, DELEGATION_TOKEN_REQUEST_NOT_ALLOWED (this
    channel may not ask), INVALID_PRINCIPAL_TYPE.
    """
    principal_type: str
    """Principal type of the owner, normally User."""
    principal_name: str
    """Name of the owner, whom users of the token act as."""
    token_requester_principal_type: str
    """Versions 3. Principal type of whoever asked for the token."""
    token_requester_principal_name: str
    """Versions 3. Name of whoever asked for the token (KIP-373)."""
    issue_timestamp_ms: int
    """Moment the token was made, in ms since 1970; -1 on an error."""
    expiry_timestamp_ms: int
    """Moment the token runs out unless renewed, in ms since 1970; -1 on an error."""
    max_timestamp_ms: int
    """Moment beyond which no renewal reaches, in ms since 1970; -1 on an error."""
    token_id: str
    """Public id of the token, the user name in SCRAM; empty on an error."""
    hmac: bytes
    """Secret of the token, which also proves whose token it is; clients use it, base64 encoded, as
    SCRAM password; empty on an error.
    """
    throttle_time_ms: int
    """Quota delay in ms that the client has to sit out itself (KIP-219); 0 when within quota."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        error_code: int = 0,
        principal_type: str = "",
        principal_name: str = "",
        token_requester_principal_type: str = "",
        token_requester_principal_name: str = "",
        issue_timestamp_ms: int = 0,
        expiry_timestamp_ms: int = 0,
        max_timestamp_ms: int = 0,
        token_id: str = "",
        hmac: bytes = b"",
        throttle_time_ms: int = 0,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.error_code = error_code
        self.principal_type = principal_type
        self.principal_name = principal_name
        self.token_requester_principal_type = token_requester_principal_type
        self.token_requester_principal_name = token_requester_principal_name
        self.issue_timestamp_ms = issue_timestamp_ms
        self.expiry_timestamp_ms = expiry_timestamp_ms
        self.max_timestamp_ms = max_timestamp_ms
        self.token_id = token_id
        self.hmac = hmac
        self.throttle_time_ms = throttle_time_ms
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 1 <= version <= 3:
                raise unknown_version("CreateDelegationTokenResponse", version, 1, 3)
            if version >= 2:
                raw = self.principal_type.encode()
                out += _pack_h(self.error_code)
                n = len(raw) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_string_length(out, n)
                out += raw
                raw = self.principal_name.encode()
                n = len(raw) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_string_length(out, n)
                out += raw
                if version >= 3:
                    raw = self.token_requester_principal_type.encode()
                    n = len(raw) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_string_length(out, n)
                    out += raw
                    raw = self.token_requester_principal_name.encode()
                    n = len(raw) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_string_length(out, n)
                    out += raw
                else:
                    if self.token_requester_principal_type:
                        raise not_in_version("token_requester_principal_type", "3")
                    if self.token_requester_principal_name:
                        raise not_in_version("token_requester_principal_name", "3")
                raw = self.token_id.encode()
                out += _pack_qqq(
                    self.issue_timestamp_ms,
                    self.expiry_timestamp_ms,
                    self.max_timestamp_ms,
                )
                n = len(raw) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_string_length(out, n)
                out += raw
                n = len(self.hmac) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_uvarint(out, n)
                out += self.hmac
                out += _pack_i(self.throttle_time_ms)
                if self.unknown_tagged_fields:
                    write_tagged_fields(out, [], self.unknown_tagged_fields)
                else:
                    out.append(0)
            else:
                if self.token_requester_principal_type:
                    raise not_in_version("token_requester_principal_type", "3")
                if self.token_requester_principal_name:
                    raise not_in_version("token_requester_principal_name", "3")
                raw = self.principal_type.encode()
                out += _pack_hh(self.error_code, len(raw))
                out += raw
                raw = self.principal_name.encode()
                out += _pack_h(len(raw))
                out += raw
                raw = self.token_id.encode()
                out += _pack_qqqh(
                    self.issue_timestamp_ms,
                    self.expiry_timestamp_ms,
                    self.max_timestamp_ms,
                    len(raw),
                )
                out += raw
                out += _pack_i(len(self.hmac))
                out += self.hmac
                out += _pack_i(self.throttle_time_ms)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("CreateDelegationTokenResponse", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[CreateDelegationTokenResponse, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 1 <= version <= 3:
                raise unknown_version("CreateDelegationTokenResponse", version, 1, 3)
            size = len(buf)
            data = buf.tobytes()
            m = new(CreateDelegationTokenResponse)
            if version >= 2:
                m.error_code, n = _unpack_hB(data, pos)
                pos += 3
                if not n or n > 127:
                    n, pos = long_string_length(data, pos, n)
                end = pos + n - 1
                m.principal_type = data[pos:end].decode()
                pos = end
                n = data[pos]
                pos += 1
                if not n or n > 127:
                    n, pos = long_string_length(data, pos, n)
                end = pos + n - 1
                m.principal_name = data[pos:end].decode()
                pos = end
                if version >= 3:
                    n = data[pos]
                    pos += 1
                    if not n or n > 127:
                        n, pos = long_string_length(data, pos, n)
                    end = pos + n - 1
                    m.token_requester_principal_type = data[pos:end].decode()
                    pos = end
                    n = data[pos]
                    pos += 1
                    if not n or n > 127:
                        n, pos = long_string_length(data, pos, n)
                    end = pos + n - 1
                    m.token_requester_principal_name = data[pos:end].decode()
                    pos = end
                else:
                    m.token_requester_principal_type = ""
                    m.token_requester_principal_name = ""
                (
                    m.issue_timestamp_ms,
                    m.expiry_timestamp_ms,
                    m.max_timestamp_ms,
                    n,
                ) = _unpack_qqqB(data, pos)
                pos += 25
                if not n or n > 127:
                    n, pos = long_string_length(data, pos, n)
                end = pos + n - 1
                m.token_id = data[pos:end].decode()
                pos = end
                n = data[pos]
                pos += 1
                if not n or n > 127:
                    n, pos = long_length(data, pos, n)
                end = pos + n - 1
                m.hmac = data[pos:end]
                pos = end
                m.throttle_time_ms, n = _unpack_iB(data, pos)
                pos += 5
                if n:
                    m.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                else:
                    m.unknown_tagged_fields = ()
            else:
                m.token_requester_principal_type = ""
                m.token_requester_principal_name = ""
                m.error_code, n = _unpack_hh(data, pos)
                pos += 4
                if n < 0:
                    raise negative_length(n)
                end = pos + n
                m.principal_type = data[pos:end].decode()
                pos = end
                n = _unpack_h(data, pos)[0]
                pos += 2
                if n < 0:
                    raise negative_length(n)
                end = pos + n
                m.principal_name = data[pos:end].decode()
                pos = end
                (
                    m.issue_timestamp_ms,
                    m.expiry_timestamp_ms,
                    m.max_timestamp_ms,
                    n,
                ) = _unpack_qqqh(data, pos)
                pos += 26
                if n < 0:
                    raise negative_length(n)
                end = pos + n
                m.token_id = data[pos:end].decode()
                pos = end
                n = _unpack_i(data, pos)[0]
                pos += 4
                if n < 0:
                    raise negative_length(n)
                end = pos + n
                m.hmac = data[pos:end]
                pos = end
                m.unknown_tagged_fields = ()
                m.throttle_time_ms = _unpack_i(data, pos)[0]
                pos += 4
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("CreateDelegationTokenResponse", version, buf, start, cause) from cause


__all__ = [
    "CreatableRenewers",
    "CreateDelegationTokenRequest",
    "CreateDelegationTokenResponse",
]
