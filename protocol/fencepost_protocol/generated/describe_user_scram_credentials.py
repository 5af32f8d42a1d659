# Generated from schemas/messages/DescribeUserScramCredentialsRequest.json (sha256 2e28c9707df265df)
# Generated from schemas/messages/DescribeUserScramCredentialsResponse.json (sha256 17f240d111b747bf)
# by python -m fencepost_protocol.codegen. Do not edit.
"""DescribeUserScramCredentials (API key 50)."""

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
    TaggedFields,
    long_length,
    long_nullable_string_length,
    long_string_length,
    read_unknown_tags,
    too_many_elements,
    write_string_length,
    write_tagged_fields,
)
from fencepost_protocol.varint import read_uvarint_tail, write_uvarint

_unpack_biB = struct.Struct(">biB").unpack_from
_unpack_hB = struct.Struct(">hB").unpack_from
_unpack_ihB = struct.Struct(">ihB").unpack_from
_pack_bi = struct.Struct(">bi").pack
_pack_h = struct.Struct(">h").pack
_pack_ih = struct.Struct(">ih").pack
new = object.__new__


class UserName(Fields):
    """Users of interest; null or empty means all that have credentials."""

    __slots__ = ("name", "unknown_tagged_fields")

    name: str
    """User name; listed twice gives DUPLICATE_RESOURCE."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        name: str = "",
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.name = name
        self.unknown_tagged_fields = unknown_tagged_fields


class DescribeUserScramCredentialsRequest(Fields):
    """An admin client asks which users have SCRAM credentials (KIP-554)."""

    NAME: ClassVar[str] = "DescribeUserScramCredentialsRequest"
    API_KEY: ClassVar[int] = 50
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    __slots__ = ("users", "unknown_tagged_fields")

    users: list[UserName] | None
    """Users of interest; null or empty means all that have credentials."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        users: list[UserName] | None = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.users = [] if users is MADE_ANEW else users
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 0:
                raise unknown_version("DescribeUserScramCredentialsRequest", version, 0, 0)
            if self.users is None:
                out.append(0)
            else:
                n = len(self.users) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_uvarint(out, n)
                for user in self.users:
                    raw = user.name.encode()
                    n = len(raw) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_string_length(out, n)
                    out += raw
                    if user.unknown_tagged_fields:
                        write_tagged_fields(out, [], user.unknown_tagged_fields)
                    else:
                        out.append(0)
            if self.unknown_tagged_fields:
                write_tagged_fields(out, [], self.unknown_tagged_fields)
            else:
                out.append(0)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("DescribeUserScramCredentialsRequest", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[DescribeUserScramCredentialsRequest, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 0:
                raise unknown_version("DescribeUserScramCredentialsRequest", version, 0, 0)
            size = len(buf)
            data = buf.tobytes()
            m = new(DescribeUserScramCredentialsRequest)
            budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
            n = data[pos]
            pos += 1
            if n > 127:
                n, pos = read_uvarint_tail(data, pos, n)
            if not n:
                m.users = None
            else:
                budget -= n
                if budget < 0:
                    raise too_many_elements(budget)
                m.users = user_list = []
                user_left = n - 1
                while user_left:
                    user_left -= 1
                    user = new(UserName)
                    user_list.append(user)
                    n = data[pos]
                    pos += 1
                    if not n or n > 127:
                        n, pos = long_string_length(data, pos, n)
                    end = pos + n - 1
                    user.name = data[pos:end].decode()
                    pos = end
                    n = data[pos]
                    pos += 1
                    if n:
                        user.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                    else:
                        user.unknown_tagged_fields = ()
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
            raise decode_failure("DescribeUserScramCredentialsRequest", version, buf, start, cause) from cause


class CredentialInfo(Fields):
    """One entry for each variant the user can log in with; empty on an error."""

    __slots__ = ("mechanism", "iterations", "unknown_tagged_fields")

    mechanism: int
    """SCRAM variant: 1 SCRAM-SHA-256, 2 SCRAM-SHA-512."""
    iterations: int
    """Hash iterations the credential was made with."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        mechanism: int = 0,
        iterations: int = 0,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.mechanism = mechanism
        self.iterations = iterations
        self.unknown_tagged_fields = unknown_tagged_fields


class DescribeUserScramCredentialsResult(Fields):
    """One entry for each user asked for, or each that has credentials."""

    __slots__ = (
        "user",
        "error_code",
        "error_message",
        "credential_infos",
        "unknown_tagged_fields",
    )

    user: str
    """User the entry is about."""
    error_code: int
    """NONE, RESOURCE_NOT_FOUND (no credentials), or DUPLICATE_RESOURCE (named twice)."""
    error_message: str | None
    """Readable detail for the error; may be null."""
    credential_infos: list[CredentialInfo]
    """One entry for each variant the user can log in with; empty on an error."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        user: str = "",
        error_code: int = 0,
        error_message: str | None = "",
        credential_infos: list[CredentialInfo] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.user = user
        self.error_code = error_code
        self.error_message = error_message
        self.credential_infos = [] if credential_infos is MADE_ANEW else credential_infos
        self.unknown_tagged_fields = unknown_tagged_fields


class DescribeUserScramCredentialsResponse(Fields):
    """The SCRAM variants and iteration counts stored for each user; salts and passwords never
    travel (KIP-554).
    """

    NAME: ClassVar[str] = "DescribeUserScramCredentialsResponse"
    API_KEY: ClassVar[int] = 50
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "error_message",
        "results",
        "unknown_tagged_fields",
    )

    throttle_time_ms: int
    """Quota delay in ms that the client has to sit out itself (KIP-219); 0 when within quota."""
    error_code: int
    """NONE, or a fault of the whole request such as CLUSTER_AUTHORIZATION_FAILED."""
    error_message: str | None
    """Readable detail for the error; may be null."""
    results: list[DescribeUserScramCredentialsResult]
    """One entry for each user asked for, or each that has credentials."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
        results: list[DescribeUserScramCredentialsResult] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.results = [] if results is MADE_ANEW else results
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 0:
                raise unknown_version("DescribeUserScramCredentialsResponse", version, 0, 0)
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
            n = len(self.results) + 1
            if n < 128:
                out.append(n)
            else:
                write_uvarint(out, n)
            for result in self.results:
                raw = result.user.encode()
                n = len(raw) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_string_length(out, n)
                out += raw
                out += _pack_h(result.error_code)
                if result.error_message is None:
                    out.append(0)
                else:
                    raw = result.error_message.encode()
                    n = len(raw) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_string_length(out, n)
                    out += raw
                n = len(result.credential_infos) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_uvarint(out, n)
                for credential_info in result.credential_infos:
                    out += _pack_bi(credential_info.mechanism, credential_info.iterations)
                    if credential_info.unknown_tagged_fields:
                        write_tagged_fields(out, [], credential_info.unknown_tagged_fields)
                    else:
                        out.append(0)
                if result.unknown_tagged_fields:
                    write_tagged_fields(out, [], result.unknown_tagged_fields)
                else:
                    out.append(0)
            if self.unknown_tagged_fields:
                write_tagged_fields(out, [], self.unknown_tagged_fields)
            else:
                out.append(0)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("DescribeUserScramCredentialsResponse", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[DescribeUserScramCredentialsResponse, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 0:
                raise unknown_version("DescribeUserScramCredentialsResponse", version, 0, 0)
            size = len(buf)
            data = buf.tobytes()
            m = new(DescribeUserScramCredentialsResponse)
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
            n = data[pos]
            pos += 1
            if not n or n > 127:
                n, pos = long_length(data, pos, n)
            budget -= n
            if budget < 0:
                raise too_many_elements(budget)
            m.results = result_list = []
            result_left = n - 1
            while result_left:
                result_left -= 1
                result = new(DescribeUserScramCredentialsResult)
                result_list.append(result)
                n = data[pos]
                pos += 1
                if not n or n > 127:
                    n, pos = long_string_length(data, pos, n)
                end = pos + n - 1
                result.user = data[pos:end].decode()
                pos = end
                result.error_code, n = _unpack_hB(data, pos)
                pos += 3
                if n > 127:
                    n, pos = long_nullable_string_length(data, pos, n)
                if not n:
                    result.error_message = None
                else:
                    end = pos + n - 1
                    result.error_message = data[pos:end].decode()
                    pos = end
                n = data[pos]
                pos += 1
                if not n or n > 127:
                    n, pos = long_length(data, pos, n)
                budget -= n
                if budget < 0:
                    raise too_many_elements(budget)
                result.credential_infos = credential_info_list = []
                credential_info_left = n - 1
                while credential_info_left:
                    credential_info_left -= 1
                    credential_info = new(CredentialInfo)
                    credential_info_list.append(credential_info)
                    (
                        credential_info.mechanism,
                        credential_info.iterations,
                        n,
                    ) = _unpack_biB(data, pos)
                    pos += 6
                    if n:
                        credential_info.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                    else:
                        credential_info.unknown_tagged_fields = ()
                n = data[pos]
                pos += 1
                if n:
                    result.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                else:
                    result.unknown_tagged_fields = ()
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
            raise decode_failure("DescribeUserScramCredentialsResponse", version, buf, start, cause) from cause


__all__ = [
    "UserName",
    "DescribeUserScramCredentialsRequest",
    "CredentialInfo",
    "DescribeUserScramCredentialsResult",
    "DescribeUserScramCredentialsResponse",
]
