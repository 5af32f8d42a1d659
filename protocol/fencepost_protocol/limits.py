"""The limits of the protocol layer for data of peers and files.

A length is first checked against the remaining bytes. These limits are for small inputs that would
become large.
"""

from __future__ import annotations

from typing import Final

MAX_ELEMENTS: Final = 4_000_000
"""Elements of all arrays of a message."""

MAX_UNKNOWN_TAGS: Final = 1_000
"""Unknown tagged fields in one tagged section."""

MAX_DECOMPRESSED_BYTES: Final = 128 * 1024 * 1024
"""The uncompressed size of a record batch, unless the caller sets another limit."""

MAX_RECORD_HEADERS: Final = 100_000
"""Headers in one record."""

MAX_LOCATED_PARTS: Final = 10_000
"""Fields, lengths and elements in the search for the field of an error message."""

MAX_DISSECTED_PARTS: Final = 100_000
"""Nodes of a dissected message or record batch; the rest is shown as not read."""

MAX_DISSECTED_INPUT_BYTES: Final = 256 * 1024 * 1024
"""Bytes that the dissector reads from a pipe; files are mapped and can be larger."""

MAX_CAPTURED_PACKET_BYTES: Final = 16 * 1024 * 1024
"""Bytes of a packet in a capture file."""

MAX_CAPTURED_FRAME_BYTES: Final = 256 * 1024 * 1024
"""Bytes of a frame in a capture; with a larger size, no frame begins there."""

MAX_CAPTURED_CONNECTIONS: Final = 10_000
"""Open connections of a capture; above that, the one that was silent longest ends."""

MAX_CAPTURED_SEGMENTS_WAITING: Final = 1_000
"""TCP segments that wait for an earlier one before it counts as lost."""

MAX_CAPTURED_REQUESTS_WAITING: Final = 10_000
"""Requests of a captured connection without a response."""
