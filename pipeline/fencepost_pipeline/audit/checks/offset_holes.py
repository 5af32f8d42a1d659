"""Offsets only grow, and what is missing between them.

A broker gives out offsets without gaps. Where some are missing, compaction took them, or retention
and DeleteRecords (everything before the first batch), or a segment could not be read. Whatever is
not there cannot be blamed: the other invariants compare what they miss with the number of offsets
that are missing at that place, and a finding needs more than these could have held.

A base offset at or before the last offset of the batch in front of it is never right.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from fencepost_pipeline.audit.batch_headers import Bools, Ints, Rows
from fencepost_pipeline.audit.findings import Finding, Invariant, Ledger

LOG_START: Final = 0


@dataclass(slots=True)
class Holes:
    """Counts missing offsets, and finds those that do not grow."""

    topic: str
    partition: int
    missing: int = 0
    next_offset: int = LOG_START
    last_hole_behind: int = -1
    """The offset after the last hole; -1 while there is none."""

    def feed(self, rows: Rows, ledger: Ledger) -> Ints:
        """How many offsets are missing before each row, from offset 0 on."""
        before = np.concatenate(([self.next_offset - 1], rows.last_offset[:-1]))
        reach = np.maximum.accumulate(before)
        hole = rows.base_offset - reach - 1
        for i in np.flatnonzero(hole < 0):
            ledger.found(
                Finding(
                    Invariant.OFFSETS,
                    f"the batch in front of it ends with offset {reach[i]}",
                    self.topic,
                    self.partition,
                    int(rows.base_offset[i]),
                    int(rows.last_offset[i]),
                    int(rows.producer_id[i]),
                    int(rows.producer_epoch[i]),
                    position=int(rows.position[i]),
                )
            )
        ledger.checked(Invariant.OFFSETS, len(rows))
        hole = np.maximum(hole, 0)
        total = self.missing + np.cumsum(hole)
        holes = np.flatnonzero(hole)
        if len(holes):
            self.last_hole_behind = int(rows.base_offset[holes[-1]])
        self.missing = int(total[-1])
        self.next_offset = int(max(reach[-1], rows.last_offset[-1])) + 1
        return total


def check_crc(topic: str, partition: int, rows: Rows, ledger: Ledger) -> Bools:
    """A batch whose checksum is wrong is reported; what it says is not believed."""
    ledger.checked(Invariant.READABLE, len(rows))
    for i in np.flatnonzero(~rows.crc_ok):
        ledger.found(
            Finding(
                Invariant.READABLE,
                "the checksum of the batch is wrong",
                topic,
                partition,
                int(rows.base_offset[i]),
                int(rows.last_offset[i]),
                position=int(rows.position[i]),
            )
        )
    return rows.crc_ok
