"""The bytes of a finding, as ``fencepost dissect`` shows them."""

from __future__ import annotations

import struct
from itertools import islice
from pathlib import Path
from typing import BinaryIO, Final

from fencepost_protocol.dissect.logfile import batch_trees, topic_of
from fencepost_protocol.dissect.render import Style, text_lines

from fencepost_pipeline.audit.findings import Finding

LINES_SHOWN: Final = 60
_BYTES_READ: Final = 1 << 16
_BATCHES_WALKED: Final = 200_000
_HEAD: Final = struct.Struct(">qi11xi")
"""Base offset, length, and the last offset as a delta, of a batch."""
_OVERHEAD: Final = 12


def bytes_of(finding: Finding) -> str:
    """The batch as text; empty where there is no file, no offset, or no such batch any more."""
    if not finding.segment or (finding.offset < 0 and finding.position < 0):
        return ""
    path = Path(finding.segment)
    try:
        with path.open("rb") as file:
            found = _batch(file, finding)
    except OSError:
        return ""
    if found is None:
        return ""
    position, content = found
    lines = [f"{path.resolve()}, from byte {position} on"]
    for tree in islice(batch_trees(memoryview(content), topic_of(path)), 1):
        lines += islice(text_lines(tree, Style(is_full=False)), LINES_SHOWN)
    return "\n".join(lines)


def _batch(file: BinaryIO, finding: Finding) -> tuple[int, bytes] | None:
    """Where the batch with the finding's offset begins, and its bytes."""
    position = max(finding.position, 0)
    for _ in range(_BATCHES_WALKED):
        file.seek(position)
        head = file.read(_HEAD.size)
        if len(head) < _HEAD.size:
            return None
        base, length, delta = _HEAD.unpack(head)
        size = length + _OVERHEAD
        if finding.position >= 0 or base <= finding.offset <= base + delta or length <= 0:
            file.seek(position)
            return position, file.read(min(size, _BYTES_READ) if length > 0 else _BYTES_READ)
        if base > finding.offset:
            return None
        position += size
    return None
