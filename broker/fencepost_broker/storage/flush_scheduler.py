"""Flushes: workers off the loop force logs to disk, several at a time.

A partition is flushed after so many records (``flush.messages``; one, with ``fsync=always``), after
a time (``flush.ms``), and when a segment was rolled. A request that comes while a flush of the log
runs is part of its next flush: the slower the disk, the more requests one flush serves. An append
is durable, and answered, when a flush that began after it is done. Flushes of several logs run at
the same time, which is faster on most disks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Final, Protocol

from fencepost_broker.storage.log import FlushTask, PartitionLog, StorageError

if TYPE_CHECKING:
    from fencepost_broker.ports import Clock


_END: Final = "this partition takes no records until the broker is started again"


_LOOKED_AT_ONCE: Final = 1000
"""How many logs one look asks whether they want a flush."""


class Worker(Protocol):
    """Does work somewhere else."""

    at_once: int
    """How many pieces of work it does at the same time."""

    def run(self, work: Callable[[], None], done: Callable[[], None]) -> None:
        """Do the work elsewhere, then call ``done`` in this thread."""

    async def close(self) -> None:
        """Wait until all work is done and ``done`` was called."""


class InlineWorker:
    """Does the work at once, in this thread: for memory, and for simulated time."""

    at_once = 1

    def run(self, work: Callable[[], None], done: Callable[[], None]) -> None:
        """Do the work, then call ``done``."""
        work()
        done()

    async def close(self) -> None:
        """Return at once: no work is running."""


class FlushWaiter(Protocol):
    """Something that waits until a log is on disk."""

    def log_flushed(self, log: PartitionLog, error: StorageError | None) -> None:
        """Note that the log, as it was when this was asked for, is on disk or never will be."""


class FlushScheduler:
    """All flushes of one broker."""

    def __init__(self, worker: Worker, clock: Clock) -> None:
        self._worker = worker
        self._clock = clock
        self._wanted: dict[PartitionLog, list[FlushWaiter]] = {}
        self._running: set[PartitionLog] = set()
        self._groups_running = 0
        self._is_scheduled = False
        self._is_closed = False
        self._to_look_at: Iterator[PartitionLog] = iter(())

    def look(self, logs: Iterable[PartitionLog]) -> None:
        """Ask the next some of these logs whether they want a flush; later calls ask the others."""
        some = list(islice(self._to_look_at, _LOOKED_AT_ONCE))
        if not some:
            self._to_look_at = iter(list(logs))
            some = list(islice(self._to_look_at, _LOOKED_AT_ONCE))
        now_ms = self._clock.now_ms()
        self.ask(log for log in some if log.flush_is_due(now_ms))

    def ask(self, logs: Iterable[PartitionLog], waiter: FlushWaiter | None = None) -> None:
        """Flush these logs as they are now, and notify the waiter after each of them."""
        for log in logs:
            waiting = self._wanted.setdefault(log, [])
            if waiter is not None:
                waiting.append(waiter)
        if (
            self._wanted
            and self._groups_running < self._worker.at_once
            and not (self._is_scheduled or self._is_closed)
        ):
            # Later in this turn: appends of other connections are flushed with it.
            self._is_scheduled = True
            self._clock.call_later(0, self._begin)

    def use(self, worker: Worker) -> None:
        """Do later flushes by this worker; the former one does nothing at the time."""
        self._worker = worker

    async def close(self) -> None:
        """Wait for the running flushes and begin no others: closing the logs flushes them."""
        self._is_closed = True
        await self._worker.close()

    def _begin(self) -> None:
        self._is_scheduled = False
        if self._is_closed:
            return
        ready = [log for log in self._wanted if log not in self._running]
        free = self._worker.at_once - self._groups_running
        size = -(-len(ready) // free)
        for start in range(0, len(ready), size or 1):
            self._start({log: self._wanted.pop(log) for log in ready[start : start + size]})

    def _start(self, group: dict[PartitionLog, list[FlushWaiter]]) -> None:
        self._groups_running += 1
        self._running.update(group)
        tasks: list[tuple[PartitionLog, FlushTask]] = []
        for log, waiters in group.items():
            try:
                tasks.append((log, log.begin_flush()))
            except StorageError as error:  # nothing was lost: the next one may succeed
                log.tell("storage-error", str(error), unexpected=True)
                _tell(waiters, log, error)
        errors: dict[PartitionLog, StorageError] = {}
        self._worker.run(lambda: _run(tasks, errors), lambda: self._finish(group, tasks, errors))

    def _finish(
        self,
        group: dict[PartitionLog, list[FlushWaiter]],
        tasks: list[tuple[PartitionLog, FlushTask]],
        errors: dict[PartitionLog, StorageError],
    ) -> None:
        self._groups_running -= 1
        self._running.difference_update(group)
        now_ms = self._clock.now_ms()
        for log, task in tasks:
            error = errors.get(log)
            if error is None:
                log.flushed(task, now_ms)
            else:
                log.flush_failed(error)
                log.tell("flush-failed", f"{error}; {_END}", unexpected=True)
            _tell(group[log], log, error)
        self.ask(())  # what was asked for meanwhile


def _tell(waiters: list[FlushWaiter], log: PartitionLog, error: StorageError | None) -> None:
    for waiter in waiters:
        waiter.log_flushed(log, error)


def _run(
    tasks: list[tuple[PartitionLog, FlushTask]], errors: dict[PartitionLog, StorageError]
) -> None:
    """Run all syncs, which may block, in the worker."""
    for log, task in tasks:
        try:
            task.run()
        except StorageError as error:
            errors[log] = error
        except Exception as error:  # noqa: BLE001 (our bug must not look like a flush that was done)
            errors[log] = StorageError("sync", log.folder, repr(error))


def flush_here(log: PartitionLog, now_ms: int) -> None:
    """Flush at once, without the worker; raises ``StorageError``."""
    task = log.begin_flush()
    try:
        task.run()
    except StorageError as error:
        log.flush_failed(error)
        raise
    log.flushed(task, now_ms)
