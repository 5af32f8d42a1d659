"""Which log is compacted, and when."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from fencepost_broker.storage.log.disk import CorruptFileError, StorageError
from fencepost_broker.storage.log.partition import PartitionLog

if TYPE_CHECKING:
    from fencepost_broker.storage.log.compaction import Dirt


class LogCleaner:
    """Compacts the logs of a data directory, one at a time, the dirtiest first."""

    def __init__(
        self,
        logs: Mapping[tuple[str, int], PartitionLog],
        on_cleaned: Callable[[], None],
        due_ms: int,
    ) -> None:
        """``on_cleaned`` is called when a log is compacted. It may raise ``StorageError``."""
        self._logs = logs
        self._on_cleaned = on_cleaned
        self._log: PartitionLog | None = None
        """The log that is being compacted."""
        self.due_ms = due_ms
        """When to look for a dirty log, if none is being compacted."""

    @property
    def is_running(self) -> bool:
        """Whether a log is being compacted."""
        return self._log is not None

    def give_up(self, log: PartitionLog) -> None:
        """Stop compacting this log, which is about to be deleted."""
        if self._log is log:
            self._log = None
        log.stop_compaction()

    def step(self, now_ms: int, backoff_ms: int) -> None:
        """Do a bounded piece of work: choose a log, or compact a part of the chosen one.

        ``backoff_ms`` is the pause if no log needs it, or if its compaction failed.
        """
        if self._log is None:
            self._choose(now_ms, backoff_ms)
        else:
            self._go_on(self._log, now_ms + backoff_ms)

    def _choose(self, now_ms: int, backoff_ms: int) -> None:
        from fencepost_broker.storage.log.compaction import Compaction, measure

        best: tuple[PartitionLog, Dirt] | None = None
        for log in self._logs.values():
            if not log.config.compact or log.is_uncleanable:
                continue
            try:
                dirt = measure(log, now_ms)
            except StorageError as error:
                log.tell("storage-error", str(error), unexpected=True)
                continue
            if dirt is not None and (best is None or dirt.ratio > best[1].ratio):
                best = log, dirt
        if best is None:
            self.due_ms = now_ms + backoff_ms
            return
        log, dirt = best
        log.compaction = Compaction(log, dirt, now_ms)
        self._log = log

    def _go_on(self, log: PartitionLog, retry_ms: int) -> None:
        try:
            if log.compaction is not None:
                if log.compaction.step():
                    return
                self._on_cleaned()
        except StorageError as error:
            log.tell("compaction-failed", str(error), unexpected=True)
            log.stop_compaction()
            # A batch whose records cannot be read will not get better, and the dirtiest log would
            # be chosen again and again: as in Kafka, it is left alone until the next start.
            log.is_uncleanable = isinstance(error, CorruptFileError)
            self.due_ms = retry_ms
        log.compaction = None
        self._log = None
