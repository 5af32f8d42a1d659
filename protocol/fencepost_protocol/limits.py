"""Every bound that the protocol layer puts on what a peer or a file may ask of us.

A length is first checked against the bytes that are left; these limits bound what small inputs
may grow into.
"""

from __future__ import annotations

from typing import Final

MAX_ELEMENTS: Final = 4_000_000
"""Array elements in one message, all arrays together."""

MAX_UNKNOWN_TAGS: Final = 1_000
"""Unknown tagged fields in one tagged section."""

MAX_DECOMPRESSED_BYTES: Final = 128 * 1024 * 1024
"""What one compressed record batch may unpack to, unless the caller sets a limit of its own."""

MAX_RECORD_HEADERS: Final = 100_000
"""Headers in one record."""

MAX_LOCATED_PARTS: Final = 10_000
"""Fields, lengths and elements that an error message's search for the bad field goes through."""

MAX_DISSECTED_PARTS: Final = 100_000
"""Nodes of one dissected message or record batch; what is beyond is shown as not read."""

MAX_DISSECTED_INPUT_BYTES: Final = 256 * 1024 * 1024
"""What the dissector reads from a pipe; files are mapped and may be larger."""

MAX_CAPTURED_PACKET_BYTES: Final = 16 * 1024 * 1024
"""One packet of a capture file."""

MAX_CAPTURED_FRAME_BYTES: Final = 256 * 1024 * 1024
"""One frame in a capture; a larger size is taken for a sign that no frame begins there."""

MAX_CAPTURED_CONNECTIONS: Final = 10_000
"""Connections of a capture that are followed at the same time; the longest silent one is ended."""

MAX_CAPTURED_SEGMENTS_WAITING: Final = 1_000
"""Segments of one direction that wait for an earlier one before that is taken for lost."""

MAX_CAPTURED_REQUESTS_WAITING: Final = 10_000
"""Requests of one captured connection whose responses are still expected."""
