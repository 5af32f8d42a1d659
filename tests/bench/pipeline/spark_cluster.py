"""The pipelines on a Spark standalone cluster of this machine: ``make spark-cluster``.

    python -m tests.bench.pipeline.spark_cluster [--gb 1] [--out PAGE]

A master and two workers are processes; each executor is a JVM of its own. Log directories of the
size are audited and read with one core and with two. Then an executor is killed while the audit
runs, one while a task reads a topic, one while a task writes, and the driver while its task writes.
"""

from __future__ import annotations

import argparse
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any, Final

import pyspark
from fencepost_pipeline.audit.audit_run import Wishes
from fencepost_pipeline.audit.data_directories import DataDirectory

from tests.bench.pipeline.audit_logs import write_logs
from tests.bench.pipeline.rounds import say
from tests.pipeline.kill import executors
from tests.pipeline.kill.executors import WRITTEN
from tests.pipeline.sink.brokers import Running
from tests.support.up import Up
from tests.support.waiting import polled

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SPARK: Final = Path(pyspark.__file__).parent
WORKERS: Final = 2
RECORD_BYTES: Final = 1000
PATIENCE_SECONDS: Final = 600
_DRIVE: Final = "drive"
PAGE: Final = """\
<!-- Generated from a run by `make spark-cluster`. Do not edit. -->

# The pipelines on a Spark cluster

`make spark-cluster` starts a standalone master of PySpark {spark} and {workers} workers of one
core, as processes of one machine. Each executor is a JVM with Python workers of its own.
Measured {day}, the second of two runs of each, on a machine of {cores} cores at a load of
{load:.1f}: above {cores}, other programs took a part, and times and their ratios say little.

{measured}

Then processes were killed (SIGKILL), and the run checked what is left:

| killed | result |
| --- | --- |
| an executor, in the middle of the audit | the same transactions, and no findings |
| an executor, while its task reads a topic | all rows, each once |
| an executor, while its task writes | nothing is committed; the query is started again: once |
| the driver, while its task writes | the same |

The audit's scans, and the reading of the coordinators' log, are spread over the executors. Their
results, one row for each transaction and partition, are compared in the driver, which takes
[less than a microsecond](audit.md) for a transaction. `make spark-cluster GB=100` measures other
sizes; the folder for temporary files needs as much room.

"""


@contextmanager
def daemon(folder: Path, name: str, ready: str, *words: str) -> Iterator[str]:
    """Run a process of Spark's, and give what its log says when it is ready."""
    log = folder / f"{name}.log"
    environment = os.environ | {
        "SPARK_DAEMON_MEMORY": "256m", "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_HOME": str(SPARK),
        "PYSPARK_PYTHON": sys.executable,
    }  # fmt: skip
    with log.open("wb") as file:
        process = subprocess.Popen(
            [SPARK / "bin/spark-class", *words], stderr=file, stdout=file, env=environment
        )

    def said() -> re.Match[str] | None:
        assert process.poll() is None, log.read_text()
        return re.search(ready, log.read_text(errors="replace"))

    try:
        found = polled(said, f"{name} is not ready", PATIENCE_SECONDS)
        assert found is not None
        yield found[0]
    finally:
        process.terminate()
        process.wait()


@contextmanager
def standalone(folder: Path) -> Iterator[str]:
    """A master and workers of one core; gives the master's address."""
    where = ("--host", "127.0.0.1", "--port", "0", "--webui-port", "0")
    with ExitStack() as stack:
        deploy = "org.apache.spark.deploy"
        master = stack.enter_context(
            daemon(folder, "master", r"spark://127\.0\.0\.1:\d+", f"{deploy}.master.Master", *where)
        )
        for number in range(WORKERS):
            words = ("--cores", "1", "--memory", "1g", "--work-dir", f"{folder}/work-{number}")
            stack.enter_context(
                daemon(
                    folder, f"worker-{number}", "Successfully registered with master",
                    f"{deploy}.worker.Worker", *where, *words, master,
                )
            )  # fmt: skip
        yield master


@contextmanager
def session(master: str, cores: int) -> Iterator[SparkSession]:
    """A driver in this process, whose application gets so many cores."""
    os.environ["PYSPARK_SUBMIT_ARGS"] = f"--conf spark.cores.max={cores} pyspark-shell"
    spark = executors.session(master)
    try:
        polled(lambda: len(executors.executors(spark)) == cores, "no executors", PATIENCE_SECONDS)
        yield spark
    finally:
        spark.stop()
        gateway = spark.sparkContext._gateway
        assert gateway is not None
        gateway.shutdown()  # the next session takes other settings
        gateway.proc.stdin.close()
        gateway.proc.wait()
        pyspark.SparkContext._gateway = pyspark.SparkContext._jvm = None


def audited(spark: SparkSession, logs: Path) -> int:
    """Audit; gives the number of transactions."""
    from fencepost_pipeline.audit.spark_job import audit_with_spark

    found = audit_with_spark(spark, DataDirectory([logs]), Wishes())
    assert found.holds
    return int(found.transactions.num_rows)


def counted(spark: SparkSession, logs: Path) -> int:
    """Read all records by the source of log files; gives how many have their length."""
    rows = spark.read.format("fencepost-log").option("topics", "bench").load(str(logs))
    return int(rows.where(f"length(value) = {RECORD_BYTES}").count())


def timed(run: Callable[[SparkSession, Path], int], *words: Any) -> tuple[float, int]:
    """Seconds of the second of two runs, which finds modules imported and files in memory."""
    run(*words)
    begin = time.perf_counter()
    found = run(*words)
    return time.perf_counter() - begin, found


def kill_in_the_middle(spark: SparkSession, after_seconds: float) -> Thread:
    """Kill an executor when so many seconds have passed."""
    victim = executors.executors(spark)[0]

    def kill() -> None:
        time.sleep(after_seconds)
        os.kill(victim, signal.SIGKILL)

    thread = Thread(target=kill)
    thread.start()
    return thread


def kill_the_driver(master: str, cluster: Running, folder: Path) -> None:
    """The driver dies while its task writes; the query that is started again writes all once."""
    before = cluster.values("out")
    executors.write_source(folder)
    words = [sys.executable, "-m", __spec__.name, _DRIVE, master, cluster.bootstrap, str(folder)]
    with subprocess.Popen(words, start_new_session=True) as driver:
        polled((folder / "write").exists, "no task gets to the middle", PATIENCE_SECONDS)
        os.killpg(driver.pid, signal.SIGKILL)  # Python and its JVM
    assert cluster.values("out") == before, "nothing of the batch is committed"
    subprocess.run(words, check=True)
    assert cluster.values("out") == before + Counter(WRITTEN)
    say("the driver was killed while its task wrote: the batch is there once")


def drive(master: str, bootstrap: str, folder: Path) -> None:
    """Be the driver."""
    with session(master, 1) as spark:
        executors.copy(spark, bootstrap, folder)


def row(what: str, seconds: dict[int, float], gb: float) -> str:
    """A row of the table."""
    one, two = seconds[1], seconds[2]
    return f"| {what} | {one:.1f} | {two:.1f} | {one / two:.2f} | {1000 * gb / two:.0f} |"


def measure(master: str, folder: Path, gb: float) -> list[str]:
    """Time against cores, and an audit whose executor dies; gives the page's lines."""
    begin = time.perf_counter()
    records = write_logs(folder / "logs", int(gb * 1e9), RECORD_BYTES)
    speed = gb * 1000 / (time.perf_counter() - begin)
    logs = folder / "logs"
    audits: dict[int, float] = {}
    reads: dict[int, float] = {}
    transactions = 0
    for cores in (1, 2):
        with session(master, cores) as spark:
            audits[cores], transactions = timed(audited, spark, logs)
            reads[cores], found = timed(counted, spark, logs)
            assert found == records
            say(f"{cores} cores: audit {audits[cores]:.1f} s, read {reads[cores]:.1f} s")
            if cores == WORKERS:
                killing = kill_in_the_middle(spark, audits[cores] / 2)
                assert audited(spark, logs) == transactions
                killing.join()
                say("an executor was killed while the audit ran: the same result")
    return [
        f"Logs of {gb:g} GB with {records:,} records of {RECORD_BYTES} bytes in {transactions:,}"
        f" transactions, written by the generator at {speed:.0f} MB/s.",
        "",
        "| | 1 core, s | 2 cores, s | times faster | MB/s with 2 |",
        "| --- | ---: | ---: | ---: | ---: |",
        row("the audit (headers of batches, transactions)", audits, gb),
        row("`fencepost-log`, all records decoded and counted", reads, gb),
    ]


def page(lines: list[str], load: float) -> str:
    """The page of docs/."""
    return PAGE.format(
        spark=pyspark.__version__, workers=WORKERS, day=datetime.now(UTC).date(),
        cores=os.cpu_count(), load=load, measured="\n".join(lines),
    )  # fmt: skip


def main() -> None:
    """Measure, kill, and write the page."""
    if sys.argv[1:2] == [_DRIVE]:
        master, bootstrap, name = sys.argv[2:]
        drive(master, bootstrap, Path(name))
        return
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gb", type=float, default=1.0)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, Up() as broker:
        folder = Path(name)
        cluster = Running(broker)
        executors.fill(cluster)
        with standalone(folder) as master:
            lines = measure(master, folder, options.gb)
            load = os.getloadavg()[1]
            say("\n".join(lines))
            with session(master, WORKERS) as spark:
                executors.read(spark, cluster.bootstrap, folder)
                executors.write(spark, cluster, folder)
            kill_the_driver(master, cluster, folder / "driver")
    if options.out is not None:
        options.out.write_text(page(lines, load), encoding="utf-8")


if __name__ == "__main__":
    main()
