"""Executors in JVMs of their own that are killed: ``make kill-executors``.

Spark's ``local-cluster`` starts a master, workers and executors on this machine. One executor dies
(SIGKILL) while its task reads: another one runs the task again, and all rows are there once. Then
one dies while its task writes: the second attempt ends the batch, nothing of it is committed, and
the query that is started again writes it once.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any, Final

import pyspark
from fencepost_client import NewTopic
from fencepost_client.blocking import Admin, Producer
from fencepost_pipeline.spark import register

from tests.pipeline.sink.brokers import Running
from tests.support.up import Up
from tests.support.waiting import polled

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT: Final = Path(__file__).parents[3]
PARTITIONS: Final = 4
READ: Final = [b"%06d" % number for number in range(100_000)]
WRITTEN: Final = [b"%d" % number for number in range(20_000)]
_ARROW_ROWS: Final = 2_000
_PAUSE_SECONDS: Final = 0.1
"""Behind each of a task's batches, so that it is not through before it can be killed."""


def session(master: str = "local-cluster[2,1,512]") -> SparkSession:
    """Executors of one core, two of them here."""
    os.environ |= {
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_HOME": str(Path(pyspark.__file__).parent),
        "PYTHONPATH": str(ROOT),
    }
    from pyspark.sql import SparkSession

    spark = (
        SparkSession.builder.master(master)
        .config("spark.executor.memory", "512m")
        .config("spark.executor.cores", "1")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.execution.arrow.maxRecordsPerBatch", _ARROW_ROWS)
        .config("spark.log.level", "OFF")
        .getOrCreate()
    )
    register(spark)
    return spark


def executors(spark: SparkSession) -> list[int]:
    """Their process ids: each has the application's id among its words."""
    listed = subprocess.run(
        ["ps", "-e", "-o", "pid=,args="], capture_output=True, text=True, check=True
    ).stdout
    application = spark.sparkContext.applicationId
    lines = [line.split(maxsplit=1) for line in listed.splitlines()]
    return [
        int(pid)
        for pid, words in lines
        if "CoarseGrainedExecutorBackend" in words and application in words
    ]


def slowly(mark: str) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Rows as they are, with time between them; who does it first says with which executor."""

    def give(batches: Iterator[Any]) -> Iterator[Any]:
        for number, batch in enumerate(batches):
            yield batch
            if number == 1 and not os.path.exists(mark):  # noqa: PTH110 - runs where Spark runs
                said = f"{mark}.{os.getpid()}"
                with open(said, "w") as file:  # noqa: PTH123
                    # The worker's parent is a daemon of PySpark's, and that one's the executor.
                    daemon = open(f"/proc/{os.getppid()}/stat").read()  # noqa: PTH123, SIM115
                    file.write(daemon.rpartition(")")[2].split()[1])
                os.rename(said, mark)  # noqa: PTH104
            time.sleep(_PAUSE_SECONDS)

    return give


def kill_one(spark: SparkSession, mark: Path) -> Thread:
    """Kill the executor that says it is in the middle."""

    def kill() -> None:
        polled(mark.exists, "no executor gets to the middle", 600)
        pid = int(mark.read_text())
        assert pid in executors(spark), "this is no executor"
        os.kill(pid, signal.SIGKILL)

    thread = Thread(target=kill)
    thread.start()
    return thread


def read(spark: SparkSession, bootstrap: str, folder: Path) -> None:
    """A task's executor dies while it reads."""
    killing = kill_one(spark, folder / "read")
    source = spark.read.format("fencepost").option("kafka.bootstrap.servers", bootstrap)
    rows = source.option("subscribe", "in").load().select("value")
    found = rows.mapInArrow(slowly(str(folder / "read")), "value binary").collect()
    killing.join()
    assert sorted(row.value for row in found) == READ
    print("an executor was killed while it read: all rows are there, each once", flush=True)


def write_source(folder: Path) -> None:
    """What ``copy`` writes."""
    source = folder / "in"
    source.mkdir(parents=True)
    (source / "0.txt").write_bytes(b"".join(value + b"\n" for value in WRITTEN))


def copy(spark: SparkSession, bootstrap: str, folder: Path) -> None:
    """One batch of a streaming query; it says when it is in the middle."""
    lines = spark.readStream.text(str(folder / "in")).coalesce(1)
    rows = lines.mapInArrow(slowly(str(folder / "write")), lines.schema)
    start = rows.writeStream.format("fencepost").trigger(availableNow=True)
    options = {
        "kafka.bootstrap.servers": bootstrap, "topic": "out", "sinkId": folder.name,
        "kafka.batch.size": "1000", "checkpointLocation": str(folder / "checkpoint"),
    }  # fmt: skip
    start.options(**options).start().awaitTermination()


def write(spark: SparkSession, cluster: Running, folder: Path) -> None:
    """A task's executor dies while it writes."""
    write_source(folder)
    killing = kill_one(spark, folder / "write")
    told = ""
    try:
        copy(spark, cluster.bootstrap, folder)
    except Exception as error:  # noqa: BLE001 - Spark's own class
        told = str(error)
    killing.join()
    assert "attempt 2" in told, told
    assert not cluster.values("out"), "nothing of the batch is committed"
    copy(spark, cluster.bootstrap, folder)
    assert cluster.values("out") == Counter(WRITTEN)
    print("an executor was killed while it wrote: its batch ended, and is there once", flush=True)


def fill(cluster: Running) -> None:
    """Make the topic that is read, and the one that is written."""
    with Admin(cluster.bootstrap) as admin:
        admin.create_topics([NewTopic("in", PARTITIONS), NewTopic("out", 2)])
    with Producer(cluster.bootstrap) as producer:
        for number in range(PARTITIONS):
            producer.send_many("in", READ[number::PARTITIONS], partition=number)
        producer.flush()


def main() -> None:
    """Both."""
    with Up() as broker, tempfile.TemporaryDirectory() as name:
        cluster = Running(broker)
        fill(cluster)
        spark = session()
        try:
            read(spark, cluster.bootstrap, Path(name))
            write(spark, cluster, Path(name))
        finally:
            spark.stop()


if __name__ == "__main__":
    main()
