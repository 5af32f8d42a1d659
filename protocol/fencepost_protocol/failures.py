"""How generated code fails: cheap to import, since every message does.

Generated code is fast because it does not keep track of where it is. When it fails, ``explain``
goes over the message once more by a slow way that does.
"""

from __future__ import annotations

import struct
from typing import Any, Final

from fencepost_protocol.exceptions import LocalProtocolError, RemoteProtocolError, UnencodableError

ENCODE_ERRORS: Final = (struct.error, AttributeError, TypeError, ValueError, LocalProtocolError)
"""What a generated encoder can run into on values of the wrong kind or size."""


def not_in_version(path: str, versions: str) -> UnencodableError:
    """A field that holds something but does not exist in the version asked for."""
    return UnencodableError(path, f"holds a value, but exists in versions {versions} only")


def not_nullable(path: str) -> UnencodableError:
    """``None`` where the version asked for has no null."""
    return UnencodableError(path, "None, but the field cannot be null in this version")


def unknown_version(name: str, version: int, low: int, high: int) -> ValueError:
    """A version outside of the schema's range."""
    return ValueError(f"{name} has versions {low} to {high}, not {version}")


def decode_failure(
    name: str, version: int, buf: memoryview, start: int, cause: Exception
) -> RemoteProtocolError:
    """Say where the bytes of a message went wrong."""
    from fencepost_protocol import explain

    return explain.undecodable(name, version, buf[start:], cause)


def encode_failure(name: str, version: int, message: Any, cause: Exception) -> LocalProtocolError:
    """Say which value of a message cannot be written."""
    from fencepost_protocol import explain

    return explain.unencodable(name, version, message, cause)
