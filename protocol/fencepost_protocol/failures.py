"""Errors of generated code, in a module that is cheap to import.

Generated code is fast because it does not track its position. When it fails, ``explain`` decodes
the message again with code that is slow, and that tracks it.
"""

from __future__ import annotations

import struct
from typing import Any, Final

from fencepost_protocol.exceptions import LocalProtocolError, RemoteProtocolError, UnencodableError

ENCODE_ERRORS: Final = (struct.error, AttributeError, TypeError, ValueError, LocalProtocolError)
"""The exceptions of a generated encoder for values of a wrong type or size."""


def not_in_version(path: str, versions: str) -> UnencodableError:
    """Raise the error for a field that is set and does not exist in the version."""
    return UnencodableError(path, f"holds a value, but exists in versions {versions} only")


def not_nullable(path: str) -> UnencodableError:
    """Raise the error for ``None`` in a field that is not nullable in the version."""
    return UnencodableError(path, "None, but the field cannot be null in this version")


def unknown_version(name: str, version: int, low: int, high: int) -> ValueError:
    """Raise the error for a version outside of the schema's range."""
    return ValueError(f"{name} has versions {low} to {high}, not {version}")


def decode_failure(
    name: str, version: int, buf: memoryview, start: int, cause: Exception
) -> RemoteProtocolError:
    """The error for bytes that are not a message, with field and position."""
    from fencepost_protocol import explain

    return explain.undecodable(name, version, buf[start:], cause)


def encode_failure(name: str, version: int, message: Any, cause: Exception) -> LocalProtocolError:
    """The error for a message with a value that cannot be encoded."""
    from fencepost_protocol import explain

    return explain.unencodable(name, version, message, cause)
