"""Zombie epochs: a write by an older epoch after a newer one.

Every partition remembers the highest epoch that each producer id has shown there, and refuses
writes below it: an instance that was replaced can no longer write. So in the order of offsets the
epochs of a producer id never fall.

A marker shows an epoch, too, but two kinds of them are in use: the transaction's own (transaction
versions 0 and 1), and one above it (version 2, and whenever a coordinator fences a producer). A
marker of epoch m therefore proves that m - 1 was reached. A write of m - 1 after it joined the
transaction too late, which :mod:`.transaction_ends` reports.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from fencepost_pipeline.audit.batch_headers import Bools, Ints, Rows
from fencepost_pipeline.audit.findings import Finding, Invariant, Ledger


@dataclass(slots=True)
class Zombies:
    """The highest epoch of each producer of a partition, and who is below it."""

    topic: str
    partition: int
    _ids: Ints = field(default_factory=lambda: np.empty(0, np.int64))
    _highest: Ints = field(default_factory=lambda: np.empty(0, np.int64))

    def feed(self, rows: Rows, ledger: Ledger) -> Bools:
        """Which rows are zombies' writes."""
        zombie = np.zeros(len(rows), np.bool_)
        with_id = np.flatnonzero((rows.producer_id >= 0) & (rows.data | rows.marker))
        ledger.checked(Invariant.ZOMBIES, len(with_id))
        if not len(with_id):
            return zombie
        carried = len(self._ids)
        ids = np.concatenate((self._ids, rows.producer_id[with_id]))
        shown = rows.producer_epoch[with_id] - rows.marker[with_id]
        shown = np.concatenate((self._highest, shown))
        order = np.argsort(ids, kind="stable")
        highest = highest_so_far(ids[order], shown[order])
        epoch = np.concatenate((self._highest, rows.producer_epoch[with_id]))[order]
        for k in np.flatnonzero(epoch < highest):
            i = with_id[order[k] - carried]
            zombie[i] = True
            ledger.found(
                Finding(
                    Invariant.ZOMBIES,
                    f"epoch {epoch[k]} of producer {ids[order[k]]} writes after epoch {highest[k]}",
                    self.topic,
                    self.partition,
                    int(rows.base_offset[i]),
                    int(rows.last_offset[i]),
                    int(rows.producer_id[i]),
                    int(rows.producer_epoch[i]),
                    position=int(rows.position[i]),
                )
            )
        last = np.flatnonzero(np.diff(ids[order], append=-1))
        self._ids, self._highest = ids[order][last], highest[last]
        return zombie


def highest_so_far(groups: Ints, values: Ints) -> Ints:
    """The running maximum within each group of equal neighbours.

    Groups are lifted one above the other, so that one running maximum serves all of them.
    """
    number = np.cumsum(np.diff(groups, prepend=groups[0]) != 0)
    low = int(values.min())
    span = int(values.max()) - low + 1
    if span * (int(number[-1]) + 1) < 1 << 62:
        lift = number * span - low
        return np.asarray(np.maximum.accumulate(values + lift) - lift)
    parts = np.split(values, np.flatnonzero(np.diff(number)) + 1)
    return np.concatenate([np.maximum.accumulate(part) for part in parts])
