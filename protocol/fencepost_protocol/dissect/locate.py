"""Finds the field at which the bytes of a message become invalid.

The generated decoders are fast because they do not keep track of where they are. When one of them
refuses a message, this reads it once more, slowly, and only for that purpose.
"""

from __future__ import annotations

from fencepost_protocol import limits
from fencepost_protocol.dissect.trace import PathTrace, TooManyParts
from fencepost_protocol.exceptions import ProtocolError
from fencepost_protocol.schema.parse import SchemaError


def locate(
    name: str, version: int, content: memoryview
) -> tuple[str | None, int | None, str | None]:
    """Field path, offset and reason; all ``None`` when nothing is wrong or it cannot be told.

    Never raises. A message of more than ``MAX_LOCATED_PARTS`` fields up to the bad one is given up:
    whoever sent it shall not keep us busy for long.
    """
    # construct is slow to import, and nobody else needs it.
    from fencepost_protocol.dissect import constructs, declarations

    try:
        declared = declarations.declaration(name, version)
    except (ProtocolError, SchemaError):
        return None, None, None
    trace = PathTrace(limits.MAX_LOCATED_PARTS)
    source = constructs.Source(content, trace)
    try:
        error = declarations.read_through(declared, source)
    except TooManyParts:
        return None, None, None
    if error is None:
        return None, None, None
    return trace.path, trace.at, constructs.why(error, source, trace.at)
