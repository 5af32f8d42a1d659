"""What compaction knows of the transactions in the log that it reads."""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field

from fencepost_protocol.records.batch import BatchHeader
from fencepost_protocol.records.control import ControlType, read_control_records

from fencepost_broker.storage.log.indexes import AbortedEntry


@dataclass(slots=True)
class _Aborted:
    entry: AbortedEntry
    has_records: bool = False


@dataclass(slots=True)
class CleanedTransactions:
    """The transactions that a compaction meets while it reads a log from its beginning."""

    _waiting: list[tuple[int, AbortedEntry]] = field(default_factory=list)
    _seen: set[AbortedEntry] = field(default_factory=set)
    _aborted: dict[int, _Aborted] = field(default_factory=dict)
    _committed: set[int] = field(default_factory=set)
    kept: list[AbortedEntry] = field(default_factory=list)
    """Entries of aborted transactions that still have records: the new transaction index."""

    def add(self, entries: list[AbortedEntry]) -> None:
        """Take note of aborted transactions."""
        for entry in entries:
            if entry not in self._seen:
                self._seen.add(entry)
                heapq.heappush(self._waiting, (entry.first_offset, entry))

    def _begin_up_to(self, offset: int) -> None:
        while self._waiting and self._waiting[0][0] <= offset:
            _, entry = heapq.heappop(self._waiting)
            self._aborted.setdefault(entry.producer_id, _Aborted(entry))

    def on_data(self, header: BatchHeader) -> bool:
        """Say whether a batch belongs to an aborted transaction."""
        if not header.is_transactional:
            return False
        self._begin_up_to(header.last_offset)
        aborted = self._aborted.get(header.producer_id)
        if aborted is None:
            self._committed.add(header.producer_id)
            return False
        aborted.has_records = True
        return True

    def on_marker(self, header: BatchHeader, batch: memoryview) -> bool:
        """Say whether a marker's transaction has no record left, so that it may go."""
        self._begin_up_to(header.last_offset)
        records = read_control_records(batch) if header.record_count else []
        if not records:
            return True
        if records[0].type is ControlType.ABORT:
            aborted = self._aborted.pop(header.producer_id, None)
            if aborted is not None and aborted.has_records:
                self.kept.append(aborted.entry)
                return False
            return True
        if records[0].type is ControlType.COMMIT:
            if header.producer_id in self._committed:
                self._committed.discard(header.producer_id)
                return False
            return True
        return False
