"""A query over ``format("fencepost")`` in a process of its own that dies when it is told to.

``python -m tests.pipeline.kill.doomed BOOTSTRAP CHECKPOINT UNTIL`` writes numbers, a batch after
the other, and says each batch's number; UNTIL is the batch to end behind. A query that fails is
said, and started again. The order when to die stands in a file, ``order`` in a folder that the
environment names, where the driver's other processes and the tasks' find it, too. It counts from
when it is given, under a name of its own::

    7 begin:2:1      SIGKILL for Spark's JVM at step 2 of the first begin: behind InitProducerId
    8 task:1:2       the same in the second task from now on, when some rows are written
    9 worker:1:2     the task's Python process alone
    10 commit:3:1    before EndTxn of the first commit, behind the marker
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NoReturn

import pyarrow as pa
from fencepost_pipeline.sink import driver
from fencepost_pipeline.spark.data_source import FencepostDataSource
from fencepost_pipeline.spark.sink import StreamSink
from fencepost_pipeline.spark.sink_options import read_stream_options
from pyspark.sql.datasource import DataSourceStreamWriter, WriterCommitMessage
from pyspark.sql.types import StructType

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

FOLDER: Final = "FENCEPOST_TEST_DOOM_FOLDER"
ROWS: Final = 2_000
"""Of a batch."""
TOPIC: Final = "numbers"
SINK_ID: Final = "doomed"
FAILED: Final = 3
_FAILURES_MAX: Final = 5
"""Of the query, in one life."""
QUICKLY_UP: Final = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""For a JVM that lives some seconds: half the time until the first batch is there."""
_ARROW_ROWS: Final = 200


def step_when_due(phase: str) -> int | None:
    """At which step to die in this phase; ``None`` when it is not yet time."""
    name, _, order = (folder() / "order").read_text().partition(" ")
    ordered, _, rest = order.partition(":")
    if ordered != phase:
        return None
    step, _, time_of_phase = rest.partition(":")
    with (folder() / f"count-{name}").open("a+b") as counter:
        counter.write(b".")
        return int(step) if counter.tell() == int(time_of_phase) else None


def folder() -> Path:
    """Of this life."""
    return Path(os.environ[FOLDER])


def kill_driver() -> NoReturn:
    """The JVM, and this process, which has nobody to work for."""
    os.kill(int((folder() / "jvm").read_text()), signal.SIGKILL)
    kill_myself()


def kill_myself() -> NoReturn:
    """SIGKILL."""
    (folder() / "struck").touch()
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("SIGKILL was survived")


def dying(procedure: Generator[Any, Any, Any], at: int) -> Generator[Any, Any, Any]:
    """A procedure with a step before each of its requests and one behind."""
    steps = 0

    def pass_step() -> None:
        nonlocal steps
        steps += 1
        if steps == at:
            kill_driver()

    try:
        asked = next(procedure)
        while True:
            pass_step()
            try:
                answer = yield asked
            except Exception as error:  # noqa: BLE001 - it is the procedure's
                asked = procedure.throw(error)
                continue
            pass_step()
            asked = procedure.send(answer)
    except StopIteration as done:
        return done.value


def doom(phase: str) -> None:
    """Have the next procedure die, if it is time."""
    at = step_when_due(phase)
    if at is None:
        return
    run = driver.run

    def doomed(settings: Any, procedure_of: Callable[[Any], Any]) -> Any:
        driver.run = run
        return run(settings, lambda client: dying(procedure_of(client), at))

    driver.run = doomed


class DoomedSink(StreamSink):
    """The sink, with the order in mind."""

    def __getstate__(self) -> dict[str, Any]:
        if self.begun is None:
            doom("begin")
        return super().__getstate__()

    def write(self, iterator: Iterator[pa.RecordBatch]) -> WriterCommitMessage:
        kill = None
        if step_when_due("task") is not None:
            kill = kill_driver
        elif step_when_due("worker") is not None:
            kill = kill_myself

        def given() -> Iterator[pa.RecordBatch]:
            for number, batch in enumerate(iterator):
                if kill is not None and number == 2:
                    kill()
                yield batch

        return super().write(given())

    def commit(self, messages: list[Any], batchId: int) -> None:  # noqa: N803
        doom("commit")
        super().commit(messages, batchId)


class DoomedDataSource(FencepostDataSource):
    """Under a name of its own."""

    @classmethod
    def name(cls) -> str:
        return "doomed"

    def streamWriter(  # noqa: N802
        self, schema: StructType, overwrite: bool
    ) -> DataSourceStreamWriter:
        return DoomedSink(read_stream_options(self.options), schema)


def main(bootstrap: str, checkpoint: str, until: int) -> int:
    """Run the query; gives the exit code."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    from pyspark.sql import SparkSession

    spark = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.execution.arrow.maxRecordsPerBatch", _ARROW_ROWS)
        .config("spark.log.level", "OFF")
        .config("spark.driver.extraJavaOptions", QUICKLY_UP)
        .getOrCreate()
    )
    gateway = spark.sparkContext._gateway
    assert gateway is not None
    (folder() / "jvm").write_text(str(gateway.proc.pid))
    spark.dataSource.register(DoomedDataSource)
    for _ in range(_FAILURES_MAX):
        query = start(spark, bootstrap, checkpoint)
        if run(query, until):
            spark.stop()
            return 0
        print(f"failed: {' '.join(str(query.exception()).split())}", flush=True)
    return FAILED


def start(spark: SparkSession, bootstrap: str, checkpoint: str) -> StreamingQuery:
    """The query, on its checkpoint."""
    numbers = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", ROWS)
    rows = (
        numbers.option("numPartitions", 2)
        .load()
        .selectExpr("CAST(value AS STRING) AS value", "CAST(value % 2 AS INT) AS partition")
        .repartition("partition")
    )
    return (
        rows.writeStream.format("doomed")
        .option("kafka.bootstrap.servers", bootstrap)
        .option("kafka.batch.size", 1_000)
        .option("topic", TOPIC)
        .option("sinkId", SINK_ID)
        .option("checkpointLocation", checkpoint)
        .start()
    )


def run(query: StreamingQuery, until: int) -> bool:
    """Say what the query does; whether it came to its last batch."""
    last = -1
    while query.isActive:
        progress = query.lastProgress
        if progress is not None and progress["batchId"] > last:
            last = progress["batchId"]
            print(f"batch {last}", flush=True)
            if last >= until:
                query.stop()
                return True
        time.sleep(0.05)
    return False


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
