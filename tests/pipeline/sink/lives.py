"""Spark's part of a stream without Spark: batches by number, a checkpoint, and deaths on the way.

A life runs the batches from the checkpoint on, as Spark does, and dies at its n-th step: before a
request of the driver leaves, behind one whose answer is then never seen, or between two tasks.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
from fencepost_client.producer.shared_transaction import OpenTransaction, SharedTransactionManager
from fencepost_client.producer.transaction_manager import TransactionManager
from fencepost_pipeline.sink import commit_protocol as protocol
from fencepost_pipeline.sink import driver
from fencepost_pipeline.sink.commit_protocol import Begun
from fencepost_pipeline.sink.marker import Batch, marker_after
from fencepost_pipeline.sink.settings import SinkSettings
from fencepost_pipeline.sink.task_reports import TaskReport, settle
from fencepost_pipeline.sink.task_writer import Attempt, write

QUERY = "query-1"


class DiedError(Exception):
    """The process is gone; what it held is, too."""


@dataclass
class Death:
    """When it comes; ``steps`` counts on through all of a life."""

    at: int = -1
    steps: int = 0

    def step(self) -> None:
        """Something is about to happen."""
        self.steps += 1
        if self.steps == self.at:
            raise DiedError

    def along(self, procedure: Generator[Any, Any, Any]) -> Generator[Any, Any, Any]:
        """The procedure, with a step before each of its requests and one behind."""
        try:
            step = next(procedure)
            while True:
                self.step()
                try:
                    answer = yield step
                except Exception as error:  # noqa: BLE001
                    step = procedure.throw(error)
                    continue
                self.step()
                step = procedure.send(answer)
        except StopIteration as done:
            return done.value


@dataclass
class Spark:
    """A query over fixed batches, each with the rows of its tasks."""

    settings: SinkSettings
    batches: Sequence[Sequence[pa.RecordBatch]]
    query_id: str = QUERY
    checkpoint: int = 0
    """The batch that is run next: Spark's own log of commits."""
    skipped: list[int] = field(default_factory=list)

    def live(self, death: Death | None = None) -> None:
        """Run what is left of the batches."""
        death = death or Death()
        while self.checkpoint < len(self.batches):
            self.run_batch(death)
            death.step()
            self.checkpoint += 1

    def begin(self, death: Death) -> Begun:
        """The planner's process."""
        settings = self.settings

        def of(client: Any) -> Any:
            manager = TransactionManager(
                settings.transactional_id, settings.transaction_timeout_ms, lambda: 0.5
            )
            version = lambda: client.connections.feature("transaction.version")  # noqa: E731
            return death.along(protocol.begin(manager, settings.place, version, client.backoff))

        begun: Begun = driver.run(settings, of)
        return begun

    def run_batch(self, death: Death) -> None:
        """One micro-batch."""
        begun = self.begin(death)
        batch = Batch(self.checkpoint, self.query_id)
        reports: list[TaskReport | None] = []
        for task, rows in enumerate(self.batches[self.checkpoint]):
            death.step()
            reports.append(write(iter([rows]), begun, self.settings, Attempt(task, batch=batch)))
        work = settle(reports)
        if work is None:
            self.skipped.append(self.checkpoint)
        else:
            self.commit(work.transaction, batch, death)

    def commit(self, transaction: OpenTransaction, batch: Batch, death: Death) -> None:
        """The committing process."""
        marker = marker_after(batch, transaction.producer_id, transaction.producer_epoch)
        settings = self.settings

        def of(client: Any) -> Any:
            manager = SharedTransactionManager(transaction, lambda: 0.5)
            return death.along(protocol.commit(manager, settings.place, marker, client.backoff))

        driver.run(settings, of)


def rows(values: Sequence[str], partition: int | None = None) -> pa.RecordBatch:
    """Rows with a value, and a partition if they are to have one."""
    columns: dict[str, pa.Array] = {"value": pa.array(values, pa.string())}
    if partition is not None:
        columns["partition"] = pa.array([partition] * len(values), pa.int32())
    return pa.RecordBatch.from_pydict(columns)
