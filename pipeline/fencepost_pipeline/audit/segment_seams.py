"""Gaps between neighbouring segment files, which a scan of a partition finds."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Final, NamedTuple

import numpy as np

from fencepost_pipeline.audit.batch_headers import Rows

SEAMS_KEPT: Final = 1000


class Seam(NamedTuple):
    """Two neighbouring files with offsets missing between them."""

    before: str
    behind: str
    start: int
    """The first offset that is missing."""
    end: int
    """The one after the last."""


@dataclass(slots=True)
class Seams:
    """Looks at a partition's files while it is scanned."""

    found: list[Seam] = field(default_factory=list)
    looks_compacted: bool = False
    """Offsets are missing elsewhere, too: inside of a file or of a batch."""
    _last_file: str = ""
    _last_offset: int = -1

    def feed(self, rows: Rows) -> None:
        """A chunk of batches, in the order of offsets."""
        files = {first: name for name, first in rows.segment if name != self._last_file}
        before = np.concatenate(([self._last_offset], rows.last_offset[:-1]))
        hole = rows.base_offset - before - 1
        for i in np.flatnonzero(hole > 0).tolist():
            name = files.get(int(rows.base_offset[i]))
            if name is None:
                self.looks_compacted = True
                continue
            earlier = [file for file, first in rows.segment if first < int(rows.base_offset[i])]
            self._between(earlier[-1] if earlier else self._last_file, name, int(before[i]) + 1)
        counted = rows.data & (rows.record_count >= 0)
        whole = rows.last_offset - rows.base_offset + 1
        self.looks_compacted |= bool((counted & (rows.record_count < whole)).any())
        if rows.segment:
            self._last_file = rows.segment[-1][0]
        self._last_offset = int(rows.last_offset[-1])

    def _between(self, before: str, behind: str, start: int) -> None:
        number = PurePath(behind).stem
        if not before or not number.isdigit():
            return  # what is missing in front of the first file was retention's
        if int(number) > start:
            if len(self.found) < SEAMS_KEPT:
                self.found.append(Seam(before, behind, start, int(number)))
        else:
            self.looks_compacted = True
