"""Answers that wait until the batches of their request are flushed to disk."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Generic, TypeVar

from fencepost_broker.apis.request import Answer, Request
from fencepost_broker.storage.log import PartitionLog, StorageError

if TYPE_CHECKING:
    from fencepost_broker.storage.flush_scheduler import FlushScheduler

Result = TypeVar("Result")


class AnswerAfterFlush(Generic[Result]):
    """Answers a request after the flush of its logs; sets the error on results of failed logs."""

    def __init__(
        self,
        request: Request,
        logs: Sequence[tuple[PartitionLog, Result]],
        fail: Callable[[Result, StorageError], None],
        answer: Callable[[], Answer],
    ) -> None:
        self._request = request
        self._logs = logs
        self._fail = fail
        self._answer = answer
        self._left = 0

    def wait(self, flushes: FlushScheduler) -> None:
        """Request the flushes; the answer is sent after the last one."""
        logs = dict.fromkeys(log for log, _ in self._logs)
        self._left = len(logs)
        flushes.ask(logs, self)

    def log_flushed(self, log: PartitionLog, error: StorageError | None) -> None:
        """Note that one of the logs is flushed, or failed."""
        if error is not None:
            for each, result in self._logs:
                if each is log:
                    self._fail(result, error)
        self._left -= 1
        if not self._left:
            self._request.release(self._answer())
