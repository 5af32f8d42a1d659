"""Sequence numbers: no gap, nothing twice, per producer, epoch and partition.

An idempotent producer numbers the records it sends to a partition from 0, and a broker takes only
the next number, so a retry is neither lost nor written twice. The rules in full:

- A new epoch begins again at 0. (Under transaction version 2 every transaction is a new epoch;
  before, numbers run on through the transactions of an epoch.)
- Behind 2^31 - 1 comes 0.
- Retention and compaction remove batches: numbers may be missing where at least as many offsets
  are (:mod:`.offset_holes`). Compaction leaves sequence numbers of a batch as they were.
- A partition forgets a producer that has not written for ``producer.id.expiration.ms`` (a day).
  It then takes whatever number comes, so a gap after so long a pause is not judged. Numbers that
  were used before are a duplicate even then: that is the accident the expiry makes possible.
- A producer that the partition does not know may begin with any number. With the whole log at hand
  that still is a gap: what it wrote before is not here. (A producer that lived on while its topic
  was deleted and made anew looks the same.)

Numbers are unrolled first, so that a wrap is no fall: from the end of a batch to the begin of the
next one it is the nearer way around the ring. The next number expected is one above the highest so
far, so that one batch written twice is one duplicate and not a gap after it as well.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, NamedTuple

import numpy as np

from fencepost_pipeline.audit.batch_headers import Bools, Ints, Rows
from fencepost_pipeline.audit.checks.zombie_epochs import highest_so_far
from fencepost_pipeline.audit.findings import Finding, Invariant, Ledger

RING: Final = 1 << 31
EXPIRY_MS: Final = 86_400_000
"""Kafka's default of ``producer.id.expiration.ms``."""


class _Run(NamedTuple):
    """Rows of data in the order of producer and offset, those carried over before the new ones."""

    row: Ints
    """Which row of the chunk; -1 for one that stands for earlier chunks."""
    id: Ints
    epoch: Ints
    first: Ints
    last: Ints
    holes: Ints
    time: Ints


def _empty() -> _Run:
    return _Run(*[np.empty(0, np.int64)] * 7)


@dataclass(slots=True)
class Sequences:
    """The last number of each producer of a partition, and what does not follow it."""

    topic: str
    partition: int
    expiry_ms: int = EXPIRY_MS
    _known: _Run = field(default_factory=_empty)

    def feed(self, rows: Rows, holes: Ints, zombies: Bools, ledger: Ledger) -> None:
        """Look at a chunk; what zombies wrote is reported as theirs alone."""
        use = rows.data & (rows.producer_id >= 0) & (rows.base_sequence >= 0) & ~zombies
        new = np.flatnonzero(use)
        ledger.checked(Invariant.GAPS, len(new))
        ledger.checked(Invariant.DUPLICATES, len(new))
        if not len(new):
            return
        run = self._sorted(rows, new, holes)
        same_id = np.diff(run.id, prepend=-1) == 0
        follows = same_id & (np.diff(run.epoch, prepend=-1) == 0)
        begin, reach = _unrolled(run, follows)
        before = np.concatenate(([0], reach[:-1]))
        ahead = np.where(follows, begin - before - 1, run.first)
        ahead[run.row < 0] = 0
        self._report(rows, run, np.where(follows, before, -1), ahead, same_id, ledger)
        last = np.flatnonzero(np.diff(run.id, append=-1))
        number = (run.last[last] + reach[last] - _end(run, begin)[last]) % RING
        keep = _Run(*(column[last] for column in run))
        self._known = keep._replace(row=np.full(len(last), -1), first=number, last=number)

    def _sorted(self, rows: Rows, new: Ints, holes: Ints) -> _Run:
        columns = _Run(
            new,
            rows.producer_id[new],
            rows.producer_epoch[new],
            rows.base_sequence[new],
            rows.last_sequence[new],
            holes[new],
            rows.max_timestamp[new],
        )
        joined = [np.concatenate(pair) for pair in zip(self._known, columns, strict=True)]
        order = np.argsort(joined[1], kind="stable")
        return _Run(*(column[order] for column in joined))

    def _report(
        self, rows: Rows, run: _Run, before: Ints, ahead: Ints, same_id: Bools, ledger: Ledger
    ) -> None:
        """``ahead``: how many numbers are skipped; below 0, how many were used already."""
        for k in np.flatnonzero(ahead < 0).tolist():
            ledger.found(self._finding(Invariant.DUPLICATES, rows, run, k, "were written before"))
        holes_between = np.where(same_id, np.diff(run.holes, prepend=0), run.holes)
        explained = ahead <= holes_between
        idle = same_id & (np.diff(run.time, prepend=0) > self.expiry_ms)
        gaps = ahead > 0
        ledger.excused(
            Invariant.GAPS,
            "numbers missing where offsets are missing, too",
            (gaps & explained).sum(),
        )
        ledger.excused(
            Invariant.GAPS, "pause longer than the producer state's expiry",
            (gaps & ~explained & idle).sum(),
        )  # fmt: skip
        for k in np.flatnonzero(gaps & ~explained & ~idle).tolist():
            if not same_id[k]:
                text = (
                    f"are its first here, {ahead[k]} are missing before them (or it lived on while "
                    f"its topic was deleted and made anew)"
                )
            elif before[k] >= 0:
                text = f"come after {ahead[k]} that are missing"
            else:
                text = f"begin a new epoch, {ahead[k]} are missing before them"
            ledger.found(self._finding(Invariant.GAPS, rows, run, k, text))

    def _finding(self, kind: Invariant, rows: Rows, run: _Run, k: int, text: str) -> Finding:
        i = run.row[k]
        numbers = f"{run.first[k]} to {run.last[k]}"
        return Finding(
            kind,
            f"sequence numbers {numbers} of producer {run.id[k]} epoch {run.epoch[k]} {text}",
            self.topic,
            self.partition,
            int(rows.base_offset[i]),
            int(rows.last_offset[i]),
            int(run.id[k]),
            int(run.epoch[k]),
            position=int(rows.position[i]),
        )


def _unrolled(run: _Run, follows: Bools) -> tuple[Ints, Ints]:
    """Each row's first number without wraps, and the highest number so far in its epoch."""
    count = (run.last - run.first) % RING + 1
    ahead = run.first[1:] - run.last[:-1] - 1
    ahead = (ahead + RING // 2) % RING - RING // 2
    step = np.concatenate(([0], count[:-1] + ahead))
    climb = np.cumsum(np.where(follows, step, 0))
    begins = np.flatnonzero(~follows)
    group = np.cumsum(~follows) - 1
    begin = climb - climb[begins][group] + run.first[begins][group]
    return begin, highest_so_far(group, _end(run, begin))


def _end(run: _Run, begin: Ints) -> Ints:
    return begin + (run.last - run.first) % RING
