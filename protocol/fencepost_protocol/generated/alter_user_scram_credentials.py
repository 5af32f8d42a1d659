# Generated from schemas/messages/AlterUserScramCredentialsRequest.json (sha256 95a3f131ea0a6f54)
# Generated from schemas/messages/AlterUserScramCredentialsResponse.json (sha256 31dd0fac2905f24e)
# by python -m fencepost_protocol.codegen. Do not edit.
"""AlterUserScramCredentials (API key 51)."""

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
from fencepost_protocol.varint import write_uvarint

_unpack_bB = struct.Struct(">bB").unpack_from
_unpack_biB = struct.Struct(">biB").unpack_from
_unpack_hB = struct.Struct(">hB").unpack_from
_unpack_iB = struct.Struct(">iB").unpack_from
_pack_b = struct.Struct(">b").pack
_pack_bi = struct.Struct(">bi").pack
_pack_h = struct.Struct(">h").pack
_pack_i = struct.Struct(">i").pack
new = object.__new__


class ScramCredentialDeletion(Fields):
    """Credentials to remove."""

    __slots__ = ("name", "mechanism", "unknown_tagged_fields")

    name: str
    """User to remove a credential of; RESOURCE_NOT_FOUND when there is none."""
    mechanism: int
    """SCRAM variant: 1 SCRAM-SHA-256, 2 SCRAM-SHA-512."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        name: str = "",
        mechanism: int = 0,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.name = name
        self.mechanism = mechanism
        self.unknown_tagged_fields = unknown_tagged_fields


class ScramCredentialUpsertion(Fields):
    """Credentials to create or replace; a user and variant may occur only once, else
    DUPLICATE_RESOURCE.
    """

    __slots__ = (
        "name",
        "mechanism",
        "iterations",
        "salt",
        "salted_password",
        "unknown_tagged_fields",
    )

    name: str
    """User to store a credential for; empty gives UNACCEPTABLE_CREDENTIAL."""
    mechanism: int
    """SCRAM variant: 1 SCRAM-SHA-256, 2 SCRAM-SHA-512; others give UNSUPPORTED_SASL_MECHANISM."""
    iterations: int
    """Hash iterations, 4096 to 16384; outside of it UNACCEPTABLE_CREDENTIAL."""
    salt: bytes
    """Random bytes mixed into the hash, chosen by the client."""
    salted_password: bytes
    """Password after salting and hashing, RFC 5802's SaltedPassword; enough to log in with, so
    treat it as a secret.
    """
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        name: str = "",
        mechanism: int = 0,
        iterations: int = 0,
        salt: bytes = b"",
        salted_password: bytes = b"",
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.name = name
        self.mechanism = mechanism
        self.iterations = iterations
        self.salt = salt
        self.salted_password = salted_password
        self.unknown_tagged_fields = unknown_tagged_fields


class AlterUserScramCredentialsRequest(Fields):
    """An admin client sets or deletes SCRAM credentials; the password is salted and hashed by the
    client and never sent in clear (KIP-554).
    """

    NAME: ClassVar[str] = "AlterUserScramCredentialsRequest"
    API_KEY: ClassVar[int] = 51
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    __slots__ = ("deletions", "upsertions", "unknown_tagged_fields")

    deletions: list[ScramCredentialDeletion]
    """Credentials to remove."""
    upsertions: list[ScramCredentialUpsertion]
    """Credentials to create or replace; a user and variant may occur only once, else
    DUPLICATE_RESOURCE.
    """
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        deletions: list[ScramCredentialDeletion] = MADE_ANEW,
        upsertions: list[ScramCredentialUpsertion] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.deletions = [] if deletions is MADE_ANEW else deletions
        self.upsertions = [] if upsertions is MADE_ANEW else upsertions
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 0:
                raise unknown_version("AlterUserScramCredentialsRequest", version, 0, 0)
            n = len(self.deletions) + 1
            if n < 128:
                out.append(n)
            else:
                write_uvarint(out, n)
            for deletion in self.deletions:
                raw = deletion.name.encode()
                n = len(raw) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_string_length(out, n)
                out += raw
                out += _pack_b(deletion.mechanism)
                if deletion.unknown_tagged_fields:
                    write_tagged_fields(out, [], deletion.unknown_tagged_fields)
                else:
                    out.append(0)
            n = len(self.upsertions) + 1
            if n < 128:
                out.append(n)
            else:
                write_uvarint(out, n)
            for upsertion in self.upsertions:
                raw = upsertion.name.encode()
                n = len(raw) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_string_length(out, n)
                out += raw
                out += _pack_bi(upsertion.mechanism, upsertion.iterations)
                n = len(upsertion.salt) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_uvarint(out, n)
                out += upsertion.salt
                n = len(upsertion.salted_password) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_uvarint(out, n)
                out += upsertion.salted_password
                if upsertion.unknown_tagged_fields:
                    write_tagged_fields(out, [], upsertion.unknown_tagged_fields)
                else:
                    out.append(0)
            if self.unknown_tagged_fields:
                write_tagged_fields(out, [], self.unknown_tagged_fields)
            else:
                out.append(0)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("AlterUserScramCredentialsRequest", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[AlterUserScramCredentialsRequest, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 0:
                raise unknown_version("AlterUserScramCredentialsRequest", version, 0, 0)
            size = len(buf)
            data = buf.tobytes()
            m = new(AlterUserScramCredentialsRequest)
            budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
            n = data[pos]
            pos += 1
            if not n or n > 127:
                n, pos = long_length(data, pos, n)
            budget -= n
            if budget < 0:
                raise too_many_elements(budget)
            m.deletions = deletion_list = []
            deletion_left = n - 1
            while deletion_left:
                deletion_left -= 1
                deletion = new(ScramCredentialDeletion)
                deletion_list.append(deletion)
                n = data[pos]
                pos += 1
                if not n or n > 127:
                    n, pos = long_string_length(data, pos, n)
                end = pos + n - 1
                deletion.name = data[pos:end].decode()
                pos = end
                deletion.mechanism, n = _unpack_bB(data, pos)
                pos += 2
                if n:
                    deletion.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                else:
                    deletion.unknown_tagged_fields = ()
            n = data[pos]
            pos += 1
            if not n or n > 127:
                n, pos = long_length(data, pos, n)
            budget -= n
            if budget < 0:
                raise too_many_elements(budget)
            m.upsertions = upsertion_list = []
            upsertion_left = n - 1
            while upsertion_left:
                upsertion_left -= 1
                upsertion = new(ScramCredentialUpsertion)
                upsertion_list.append(upsertion)
                n = data[pos]
                pos += 1
                if not n or n > 127:
                    n, pos = long_string_length(data, pos, n)
                end = pos + n - 1
                upsertion.name = data[pos:end].decode()
                pos = end
                upsertion.mechanism, upsertion.iterations, n = _unpack_biB(data, pos)
                pos += 6
                if not n or n > 127:
                    n, pos = long_length(data, pos, n)
                end = pos + n - 1
                upsertion.salt = data[pos:end]
                pos = end
                n = data[pos]
                pos += 1
                if not n or n > 127:
                    n, pos = long_length(data, pos, n)
                end = pos + n - 1
                upsertion.salted_password = data[pos:end]
                pos = end
                n = data[pos]
                pos += 1
                if n:
                    upsertion.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                else:
                    upsertion.unknown_tagged_fields = ()
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
            raise decode_failure("AlterUserScramCredentialsRequest", version, buf, start, cause) from cause


class AlterUserScramCredentialsResult(Fields):
    """One verdict for each user named in the request."""

    __slots__ = ("user", "error_code", "error_message", "unknown_tagged_fields")

    user: str
    """User the verdict is for, deletions and upsertions together."""
    error_code: int
    """NONE, or UNACCEPTABLE_CREDENTIAL, UNSUPPORTED_SASL_MECHANISM, RESOURCE_NOT_FOUND,
    DUPLICATE_RESOURCE, CLUSTER_AUTHORIZATION_FAILED.
    """
    error_message: str | None
    """Readable detail for the error; may be null."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        user: str = "",
        error_code: int = 0,
        error_message: str | None = "",
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.user = user
        self.error_code = error_code
        self.error_message = error_message
        self.unknown_tagged_fields = unknown_tagged_fields


class AlterUserScramCredentialsResponse(Fields):
    """Outcome of an AlterUserScramCredentials request, one verdict for each user (KIP-554)."""

    NAME: ClassVar[str] = "AlterUserScramCredentialsResponse"
    API_KEY: ClassVar[int] = 51
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    __slots__ = ("throttle_time_ms", "results", "unknown_tagged_fields")

    throttle_time_ms: int
    """Quota delay in ms that the client has to sit out itself (KIP-219); 0 when within quota."""
    results: list[AlterUserScramCredentialsResult]
    """One verdict for each user named in the request."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        throttle_time_ms: int = 0,
        results: list[AlterUserScramCredentialsResult] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.results = [] if results is MADE_ANEW else results
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 0:
                raise unknown_version("AlterUserScramCredentialsResponse", version, 0, 0)
            out += _pack_i(self.throttle_time_ms)
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
            raise encode_failure("AlterUserScramCredentialsResponse", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[AlterUserScramCredentialsResponse, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 0:
                raise unknown_version("AlterUserScramCredentialsResponse", version, 0, 0)
            size = len(buf)
            data = buf.tobytes()
            m = new(AlterUserScramCredentialsResponse)
            budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
            m.throttle_time_ms, n = _unpack_iB(data, pos)
            pos += 5
            if not n or n > 127:
                n, pos = long_length(data, pos, n)
            budget -= n
            if budget < 0:
                raise too_many_elements(budget)
            m.results = result_list = []
            result_left = n - 1
            while result_left:
                result_left -= 1
                result = new(AlterUserScramCredentialsResult)
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
            raise decode_failure("AlterUserScramCredentialsResponse", version, buf, start, cause) from cause


__all__ = [
    "ScramCredentialDeletion",
    "ScramCredentialUpsertion",
    "AlterUserScramCredentialsRequest",
    "AlterUserScramCredentialsResult",
    "AlterUserScramCredentialsResponse",
]
