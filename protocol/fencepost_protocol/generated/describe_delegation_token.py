# Generated from schemas/messages/DescribeDelegationTokenRequest.json (sha256 1d7d4c56a9f92c18)
# Generated from schemas/messages/DescribeDelegationTokenResponse.json (sha256 b6f1786a8f2e98b7)
# by python -m fencepost_protocol.codegen. Do not edit.
"""DescribeDelegationToken (API key 41)."""

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
    long_string_length,
    negative_length,
    read_unknown_tags,
    too_many_elements,
    write_string_length,
    write_tagged_fields,
)
from fencepost_protocol.varint import read_uvarint_tail, write_uvarint

_unpack_h = struct.Struct(">h").unpack_from
_unpack_hB = struct.Struct(">hB").unpack_from
_unpack_hi = struct.Struct(">hi").unpack_from
_unpack_i = struct.Struct(">i").unpack_from
_unpack_iB = struct.Struct(">iB").unpack_from
_unpack_qqqB = struct.Struct(">qqqB").unpack_from
_unpack_qqqh = struct.Struct(">qqqh").unpack_from
_pack_h = struct.Struct(">h").pack
_pack_hi = struct.Struct(">hi").pack
_pack_i = struct.Struct(">i").pack
_pack_qqq = struct.Struct(">qqq").pack
_pack_qqqh = struct.Struct(">qqqh").pack
new = object.__new__


class DescribeDelegationTokenOwner(Fields):
    """Owners whose tokens are wanted; null means every token the caller may see, empty none."""

    __slots__ = ("principal_type", "principal_name", "unknown_tagged_fields")

    principal_type: str
    """Principal type of the owner, normally User."""
    principal_name: str
    """Name of the owner."""
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


class DescribeDelegationTokenRequest(Fields):
    """A client lists delegation tokens, its own or those it may describe (KIP-48)."""

    NAME: ClassVar[str] = "DescribeDelegationTokenRequest"
    API_KEY: ClassVar[int] = 41
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 3
    FLEXIBLE_FROM: ClassVar[int | None] = 2

    __slots__ = ("owners", "unknown_tagged_fields")

    owners: list[DescribeDelegationTokenOwner] | None
    """Owners whose tokens are wanted; null means every token the caller may see, empty none."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        owners: list[DescribeDelegationTokenOwner] | None = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.owners = [] if owners is MADE_ANEW else owners
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 1 <= version <= 3:
                raise unknown_version("DescribeDelegationTokenRequest", version, 1, 3)
            if version >= 2:
                if self.owners is None:
                    out.append(0)
                else:
                    n = len(self.owners) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_uvarint(out, n)
                    for owner in self.owners:
                        raw = owner.principal_type.encode()
                        n = len(raw) + 1
                        if n < 128:
                            out.append(n)
                        else:
                            write_string_length(out, n)
                        out += raw
                        raw = owner.principal_name.encode()
                        n = len(raw) + 1
                        if n < 128:
                            out.append(n)
                        else:
                            write_string_length(out, n)
                        out += raw
                        if owner.unknown_tagged_fields:
                            write_tagged_fields(out, [], owner.unknown_tagged_fields)
                        else:
                            out.append(0)
                if self.unknown_tagged_fields:
                    write_tagged_fields(out, [], self.unknown_tagged_fields)
                else:
                    out.append(0)
            else:
                if self.owners is None:
                    out += _pack_i(-1)
                else:
                    out += _pack_i(len(self.owners))
                    for owner in self.owners:
                        raw = owner.principal_type.encode()
                        out += _pack_h(len(raw))
                        out += raw
                        raw = owner.principal_name.encode()
                        out += _pack_h(len(raw))
                        out += raw
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("DescribeDelegationTokenRequest", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[DescribeDelegationTokenRequest, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 1 <= version <= 3:
                raise unknown_version("DescribeDelegationTokenRequest", version, 1, 3)
            size = len(buf)
            data = buf.tobytes()
            m = new(DescribeDelegationTokenRequest)
            if version >= 2:
                budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
                n = data[pos]
                pos += 1
                if n > 127:
                    n, pos = read_uvarint_tail(data, pos, n)
                if not n:
                    m.owners = None
                else:
                    budget -= n
                    if budget < 0:
                        raise too_many_elements(budget)
                    m.owners = owner_list = []
                    owner_left = n - 1
                    while owner_left:
                        owner_left -= 1
                        owner = new(DescribeDelegationTokenOwner)
                        owner_list.append(owner)
                        n = data[pos]
                        pos += 1
                        if not n or n > 127:
                            n, pos = long_string_length(data, pos, n)
                        end = pos + n - 1
                        owner.principal_type = data[pos:end].decode()
                        pos = end
                        n = data[pos]
                        pos += 1
                        if not n or n > 127:
                            n, pos = long_string_length(data, pos, n)
                        end = pos + n - 1
                        owner.principal_name = data[pos:end].decode()
                        pos = end
                        n = data[pos]
                        pos += 1
                        if n:
                            owner.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                        else:
                            owner.unknown_tagged_fields = ()
                n = data[pos]
                pos += 1
                if n:
                    m.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                else:
                    m.unknown_tagged_fields = ()
            else:
                budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
                n = _unpack_i(data, pos)[0]
                pos += 4
                if n < 0:
                    m.owners = None
                else:
                    budget -= n
                    if budget < 0:
                        raise too_many_elements(budget)
                    m.owners = owner_list = []
                    owner_left = n
                    while owner_left:
                        owner_left -= 1
                        owner = new(DescribeDelegationTokenOwner)
                        owner_list.append(owner)
                        n = _unpack_h(data, pos)[0]
                        pos += 2
                        if n < 0:
                            raise negative_length(n)
                        end = pos + n
                        owner.principal_type = data[pos:end].decode()
                        pos = end
                        n = _unpack_h(data, pos)[0]
                        pos += 2
                        if n < 0:
                            raise negative_length(n)
                        end = pos + n
                        owner.principal_name = data[pos:end].decode()
                        pos = end
                        owner.unknown_tagged_fields = ()
                m.unknown_tagged_fields = ()
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("DescribeDelegationTokenRequest", version, buf, start, cause) from cause


class DescribedDelegationTokenRenewer(Fields):
    """Principals that may renew the token besides its owner."""

    __slots__ = ("principal_type", "principal_name", "unknown_tagged_fields")

    principal_type: str
    """Principal type of the renewer, normally User."""
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


class DescribedDelegationToken(Fields):
    """Tokens found; those the caller may not see are left out silently."""

    __slots__ = (
        "principal_type",
        "principal_name",
        "token_requester_principal_type",
        "token_requester_principal_name",
        "issue_timestamp",
        "expiry_timestamp",
        "max_timestamp",
        "token_id",
        "hmac",
        "renewers",
        "unknown_tagged_fields",
    )

    principal_type: str
    """Principal type of the owner, normally User."""
    principal_name: str
    """Name of the owner, whom users of the token act as."""
    token_requester_principal_type: str
    """Versions 3. Principal type of whoever asked for the token."""
    token_requester_principal_name: str
    """Versions 3. Name of whoever asked for the token (KIP-373)."""
    issue_timestamp: int
    """Moment the token was made, in ms since 1970."""
    expiry_timestamp: int
    """Moment the token runs out unless renewed, in ms since 1970."""
    max_timestamp: int
    """Moment beyond which no renewal reaches, in ms since 1970."""
    token_id: str
    """Public id of the token, the user name in SCRAM."""
    hmac: bytes
    """Secret of the token, which also proves whose token it is; clients use it, base64 encoded, as
    SCRAM password.
    """
    renewers: list[DescribedDelegationTokenRenewer]
    """Principals that may renew the token besides its owner."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        principal_type: str = "",
        principal_name: str = "",
        token_requester_principal_type: str = "",
        token_requester_principal_name: str = "",
        issue_timestamp: int = 0,
        expiry_timestamp: int = 0,
        max_timestamp: int = 0,
        token_id: str = "",
        hmac: bytes = b"",
        renewers: list[DescribedDelegationTokenRenewer] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.principal_type = principal_type
        self.principal_name = principal_name
        self.token_requester_principal_type = token_requester_principal_type
        self.token_requester_principal_name = token_requester_principal_name
        self.issue_timestamp = issue_timestamp
        self.expiry_timestamp = expiry_timestamp
        self.max_timestamp = max_timestamp
        self.token_id = token_id
        self.hmac = hmac
        self.renewers = [] if renewers is MADE_ANEW else renewers
        self.unknown_tagged_fields = unknown_tagged_fields


class DescribeDelegationTokenResponse(Fields):
    """The delegation tokens the caller may see, secrets included (KIP-48)."""

    NAME: ClassVar[str] = "DescribeDelegationTokenResponse"
    API_KEY: ClassVar[int] = 41
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 3
    FLEXIBLE_FROM: ClassVar[int | None] = 2

    __slots__ = ("error_code", "tokens", "throttle_time_ms", "unknown_tagged_fields")

    error_code: int
    """NONE, or DELEGATION_TOKEN_AUTH_DISABLED, DELEGATION_TOKEN_REQUEST_NOT_ALLOWED; then no token
    is listed.
    """
    tokens: list[DescribedDelegationToken]
    """Tokens found; those the caller may not see are left out silently."""
    throttle_time_ms: int
    """Quota delay in ms that the client has to sit out itself (KIP-219); 0 when within quota."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        error_code: int = 0,
        tokens: list[DescribedDelegationToken] = MADE_ANEW,
        throttle_time_ms: int = 0,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.error_code = error_code
        self.tokens = [] if tokens is MADE_ANEW else tokens
        self.throttle_time_ms = throttle_time_ms
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 1 <= version <= 3:
                raise unknown_version("DescribeDelegationTokenResponse", version, 1, 3)
            if version >= 2:
                out += _pack_h(self.error_code)
                n = len(self.tokens) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_uvarint(out, n)
                for token in self.tokens:
                    raw = token.principal_type.encode()
                    n = len(raw) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_string_length(out, n)
                    out += raw
                    raw = token.principal_name.encode()
                    n = len(raw) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_string_length(out, n)
                    out += raw
                    if version >= 3:
                        raw = token.token_requester_principal_type.encode()
                        n = len(raw) + 1
                        if n < 128:
                            out.append(n)
                        else:
                            write_string_length(out, n)
                        out += raw
                        raw = token.token_requester_principal_name.encode()
                        n = len(raw) + 1
                        if n < 128:
                            out.append(n)
                        else:
                            write_string_length(out, n)
                        out += raw
                    else:
                        if token.token_requester_principal_type:
                            raise not_in_version("tokens.token_requester_principal_type", "3")
                        if token.token_requester_principal_name:
                            raise not_in_version("tokens.token_requester_principal_name", "3")
                    raw = token.token_id.encode()
                    out += _pack_qqq(
                        token.issue_timestamp,
                        token.expiry_timestamp,
                        token.max_timestamp,
                    )
                    n = len(raw) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_string_length(out, n)
                    out += raw
                    n = len(token.hmac) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_uvarint(out, n)
                    out += token.hmac
                    n = len(token.renewers) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_uvarint(out, n)
                    for renewer in token.renewers:
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
                    if token.unknown_tagged_fields:
                        write_tagged_fields(out, [], token.unknown_tagged_fields)
                    else:
                        out.append(0)
                out += _pack_i(self.throttle_time_ms)
                if self.unknown_tagged_fields:
                    write_tagged_fields(out, [], self.unknown_tagged_fields)
                else:
                    out.append(0)
            else:
                out += _pack_hi(self.error_code, len(self.tokens))
                for token in self.tokens:
                    if token.token_requester_principal_type:
                        raise not_in_version("tokens.token_requester_principal_type", "3")
                    if token.token_requester_principal_name:
                        raise not_in_version("tokens.token_requester_principal_name", "3")
                    raw = token.principal_type.encode()
                    out += _pack_h(len(raw))
                    out += raw
                    raw = token.principal_name.encode()
                    out += _pack_h(len(raw))
                    out += raw
                    raw = token.token_id.encode()
                    out += _pack_qqqh(
                        token.issue_timestamp,
                        token.expiry_timestamp,
                        token.max_timestamp,
                        len(raw),
                    )
                    out += raw
                    out += _pack_i(len(token.hmac))
                    out += token.hmac
                    out += _pack_i(len(token.renewers))
                    for renewer in token.renewers:
                        raw = renewer.principal_type.encode()
                        out += _pack_h(len(raw))
                        out += raw
                        raw = renewer.principal_name.encode()
                        out += _pack_h(len(raw))
                        out += raw
                out += _pack_i(self.throttle_time_ms)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("DescribeDelegationTokenResponse", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[DescribeDelegationTokenResponse, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 1 <= version <= 3:
                raise unknown_version("DescribeDelegationTokenResponse", version, 1, 3)
            size = len(buf)
            data = buf.tobytes()
            m = new(DescribeDelegationTokenResponse)
            if version >= 2:
                budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
                m.error_code, n = _unpack_hB(data, pos)
                pos += 3
                if not n or n > 127:
                    n, pos = long_length(data, pos, n)
                budget -= n
                if budget < 0:
                    raise too_many_elements(budget)
                m.tokens = token_list = []
                token_left = n - 1
                while token_left:
                    token_left -= 1
                    token = new(DescribedDelegationToken)
                    token_list.append(token)
                    n = data[pos]
                    pos += 1
                    if not n or n > 127:
                        n, pos = long_string_length(data, pos, n)
                    end = pos + n - 1
                    token.principal_type = data[pos:end].decode()
                    pos = end
                    n = data[pos]
                    pos += 1
                    if not n or n > 127:
                        n, pos = long_string_length(data, pos, n)
                    end = pos + n - 1
                    token.principal_name = data[pos:end].decode()
                    pos = end
                    if version >= 3:
                        n = data[pos]
                        pos += 1
                        if not n or n > 127:
                            n, pos = long_string_length(data, pos, n)
                        end = pos + n - 1
                        token.token_requester_principal_type = data[pos:end].decode()
                        pos = end
                        n = data[pos]
                        pos += 1
                        if not n or n > 127:
                            n, pos = long_string_length(data, pos, n)
                        end = pos + n - 1
                        token.token_requester_principal_name = data[pos:end].decode()
                        pos = end
                    else:
                        token.token_requester_principal_type = ""
                        token.token_requester_principal_name = ""
                    (
                        token.issue_timestamp,
                        token.expiry_timestamp,
                        token.max_timestamp,
                        n,
                    ) = _unpack_qqqB(data, pos)
                    pos += 25
                    if not n or n > 127:
                        n, pos = long_string_length(data, pos, n)
                    end = pos + n - 1
                    token.token_id = data[pos:end].decode()
                    pos = end
                    n = data[pos]
                    pos += 1
                    if not n or n > 127:
                        n, pos = long_length(data, pos, n)
                    end = pos + n - 1
                    token.hmac = data[pos:end]
                    pos = end
                    n = data[pos]
                    pos += 1
                    if not n or n > 127:
                        n, pos = long_length(data, pos, n)
                    budget -= n
                    if budget < 0:
                        raise too_many_elements(budget)
                    token.renewers = renewer_list = []
                    renewer_left = n - 1
                    while renewer_left:
                        renewer_left -= 1
                        renewer = new(DescribedDelegationTokenRenewer)
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
                    n = data[pos]
                    pos += 1
                    if n:
                        token.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                    else:
                        token.unknown_tagged_fields = ()
                m.throttle_time_ms, n = _unpack_iB(data, pos)
                pos += 5
                if n:
                    m.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                else:
                    m.unknown_tagged_fields = ()
            else:
                budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
                m.error_code, n = _unpack_hi(data, pos)
                pos += 6
                if n < 0:
                    raise negative_length(n)
                budget -= n
                if budget < 0:
                    raise too_many_elements(budget)
                m.tokens = token_list = []
                token_left = n
                while token_left:
                    token_left -= 1
                    token = new(DescribedDelegationToken)
                    token_list.append(token)
                    token.token_requester_principal_type = ""
                    token.token_requester_principal_name = ""
                    n = _unpack_h(data, pos)[0]
                    pos += 2
                    if n < 0:
                        raise negative_length(n)
                    end = pos + n
                    token.principal_type = data[pos:end].decode()
                    pos = end
                    n = _unpack_h(data, pos)[0]
                    pos += 2
                    if n < 0:
                        raise negative_length(n)
                    end = pos + n
                    token.principal_name = data[pos:end].decode()
                    pos = end
                    (
                        token.issue_timestamp,
                        token.expiry_timestamp,
                        token.max_timestamp,
                        n,
                    ) = _unpack_qqqh(data, pos)
                    pos += 26
                    if n < 0:
                        raise negative_length(n)
                    end = pos + n
                    token.token_id = data[pos:end].decode()
                    pos = end
                    n = _unpack_i(data, pos)[0]
                    pos += 4
                    if n < 0:
                        raise negative_length(n)
                    end = pos + n
                    token.hmac = data[pos:end]
                    pos = end
                    n = _unpack_i(data, pos)[0]
                    pos += 4
                    if n < 0:
                        raise negative_length(n)
                    budget -= n
                    if budget < 0:
                        raise too_many_elements(budget)
                    token.renewers = renewer_list = []
                    renewer_left = n
                    while renewer_left:
                        renewer_left -= 1
                        renewer = new(DescribedDelegationTokenRenewer)
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
                    token.unknown_tagged_fields = ()
                m.unknown_tagged_fields = ()
                m.throttle_time_ms = _unpack_i(data, pos)[0]
                pos += 4
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("DescribeDelegationTokenResponse", version, buf, start, cause) from cause


__all__ = [
    "DescribeDelegationTokenOwner",
    "DescribeDelegationTokenRequest",
    "DescribedDelegationTokenRenewer",
    "DescribedDelegationToken",
    "DescribeDelegationTokenResponse",
]
