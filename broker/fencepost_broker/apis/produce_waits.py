"""A Produce that is answered once what it appended is on disk."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.produce import TopicProduceData

from fencepost_broker.apis.produce_answers import Outcome, answer_all
from fencepost_broker.apis.request import Request
from fencepost_broker.log import AppendResult, PartitionLog, StorageError

if TYPE_CHECKING:
    from fencepost_broker.flushes import Flushes


class UnflushedProduce:
    """Waits for the logs that its batches are in; one that fails is answered as such."""

    def __init__(
        self,
        request: Request,
        outcomes: Sequence[tuple[TopicProduceData, Sequence[Outcome]]],
        logs: Sequence[tuple[PartitionLog, AppendResult]],
    ) -> None:
        self._request = request
        self._outcomes = outcomes
        self._logs = logs
        self._left = 0
        for data, _ in outcomes:
            data.partition_data = []  # its records lie in the frame, which is not ours to keep

    def wait(self, flushes: Flushes) -> None:
        """Have the logs flushed; the answer leaves after the last."""
        logs = dict.fromkeys(log for log, _ in self._logs)
        self._left = len(logs)
        flushes.ask(logs, self)

    def log_flushed(self, log: PartitionLog, error: StorageError | None) -> None:
        """One of them is done."""
        if error is not None:
            for each, result in self._logs:
                if each is log:
                    result.error = ErrorCode.KAFKA_STORAGE_ERROR
                    result.message = str(error)
        self._left -= 1
        if not self._left:
            self._request.release(answer_all(self._request, self._outcomes))
