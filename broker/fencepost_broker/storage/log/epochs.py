"""Where each leader epoch begins: the partition's ``leader-epoch-checkpoint``.

A follower, or a consumer after a change of leader, asks "where does epoch N end?" to find out from
which offset its log may differ (KIP-101, KIP-279). The answer is where the next larger epoch
begins, or the log's end for the newest one.

The file is written when the first record of an epoch is appended. An epoch without records is kept
in memory only: it is not needed after a restart, and a broker that becomes the leader of thousands
of partitions need not write as many files.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right

from fencepost_broker.storage.log.results import UNKNOWN_EPOCH, UNKNOWN_OFFSET, EpochEnd


class LeaderEpochs:
    """Epochs and their first offsets, both rising."""

    __slots__ = ("epochs", "latest", "starts", "written")

    def __init__(self, entries: list[tuple[int, int]] | None = None) -> None:
        self.epochs: list[int] = [epoch for epoch, _ in entries or ()]
        self.starts: list[int] = [start for _, start in entries or ()]
        self.latest = self.epochs[-1] if self.epochs else UNKNOWN_EPOCH
        """The newest epoch, -1 before the first."""
        self.written = self.latest
        """The file holds for records of epochs up to this one; every append looks at it."""

    def entries(self) -> list[tuple[int, int]]:
        """Return all entries, oldest first."""
        return list(zip(self.epochs, self.starts, strict=True))

    def copy(self) -> LeaderEpochs:
        """Return a copy that can be changed by itself."""
        copied = LeaderEpochs(self.entries())
        copied.written = self.written
        return copied

    def assign(self, epoch: int, start_offset: int) -> bool:
        """Begin an epoch; return whether anything changed.

        Entries that contradict it are dropped: those of the same or larger epochs, and those that
        begin at or after its offset. They had no records, or their records are being replaced.
        """
        if epoch < 0:
            return False
        if self.epochs and epoch == self.epochs[-1] and start_offset >= self.starts[-1]:
            return False
        while self.epochs and (self.epochs[-1] >= epoch or self.starts[-1] >= start_offset):
            self.epochs.pop()
            self.starts.pop()
        self.epochs.append(epoch)
        self.starts.append(start_offset)
        self.latest = epoch
        return True

    def truncate_from_end(self, end_offset: int) -> bool:
        """Drop the epochs that begin at or after the log's new end."""
        keep = bisect_left(self.starts, end_offset)
        if keep == len(self.starts):
            return False
        del self.epochs[keep:], self.starts[keep:]
        self.latest = self.epochs[-1] if self.epochs else UNKNOWN_EPOCH
        self.written = UNKNOWN_EPOCH
        return True

    def truncate_from_start(self, start_offset: int) -> bool:
        """Let the log begin later: the epoch that holds its new first offset begins there."""
        first = bisect_right(self.starts, start_offset) - 1
        if first < 0 or (first == 0 and self.starts[0] == start_offset):
            return False
        del self.epochs[:first], self.starts[:first]
        self.starts[0] = start_offset
        return True

    def epoch_of(self, offset: int) -> int:
        """The epoch in which an offset was written, -1 when it is not known."""
        number = bisect_right(self.starts, offset) - 1
        return self.epochs[number] if number >= 0 else UNKNOWN_EPOCH

    def end_of(self, epoch: int, log_end_offset: int) -> EpochEnd:
        """Where an epoch ends, or the largest one below it that is known."""
        if epoch < 0 or not self.epochs or epoch > self.epochs[-1]:
            return EpochEnd(UNKNOWN_EPOCH, UNKNOWN_OFFSET)
        if epoch == self.epochs[-1]:
            return EpochEnd(epoch, log_end_offset)
        above = bisect_right(self.epochs, epoch)
        if above == 0:
            # Older than all that is known: such a log ends where ours begins.
            return EpochEnd(epoch, self.starts[0])
        return EpochEnd(self.epochs[above - 1], self.starts[above])
