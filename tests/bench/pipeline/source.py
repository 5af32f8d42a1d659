"""Rows a second of the Spark source, beside Spark's own Kafka connector, on one broker in one run.

    python -m tests.bench.pipeline.source [--rows 1000000] [--rounds 5] [--out PAGE]

All columns of all rows go into Spark's sink that throws them away. Contenders take turns, so that a
machine that is busy with other things is as busy for each; CPU seconds are those of the JVM and of
all Python workers. Needs a Java runtime and Maven (the connector's jars).
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from fencepost_client import NewTopic
from fencepost_client.blocking import Admin, Producer

from tests.bench.table import markdown_table, plain_table
from tests.support.apache_kafka import ApacheKafka, build_once
from tests.support.up import Up

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

CONNECTOR: Final = Path(__file__).parent / "connector"
PARTITIONS: Final = 4
SIZES: Final = (100, 1000)
TASKS: Final = 2
ROWS_SHARE_OF_LARGE: Final = 5
"""Of rows of 1 KB there are fewer by this."""
PAGE: Final = """# The Spark source beside Spark's own connector

Written by `make bench-spark-source`, {date}, {machine}, load {load:.0f} at the end: where
others work on the same cores, rows a second say less than CPU per row. A topic of {partitions}
partitions on {broker}, `local[{tasks}]`, read_committed, all rows into `noop`; medians of {rounds}
rounds in turn, after one that is not counted. CPU is that of the JVM and of the Python workers, the
broker's left out. Spark 4.3.0; its own connector is that of 4.2.0: there is none for 4.3.0.

{table}

Both contain the start of a query, some hundred milliseconds. Spark's own connector makes an object
of each record in the JVM; ours decodes in a Python worker, a column at a time, and hands Arrow
batches to the JVM. `.schema("value BINARY")` leaves out what a query does not want.
"""


@dataclass(slots=True)
class Measured:
    """What rounds of one contender took."""

    seconds: list[float] = field(default_factory=list)
    cpu_seconds: list[float] = field(default_factory=list)

    def row(self, name: str, size: int, rows: int) -> list[str]:
        """A line of the table."""
        seconds = statistics.median(self.seconds)
        cpu = statistics.median(self.cpu_seconds)
        return [
            name,
            f"{size} B",
            f"{rows:,}",
            f"{rows / seconds:,.0f}",
            f"{rows * size / seconds / 1e6:,.0f}",
            f"{cpu / rows * 1e6:.2f}",
        ]


@contextmanager
def session() -> Iterator[SparkSession]:
    """A local session that has both sources."""
    build_once(CONNECTOR, ["pom.xml"], "target", _run_maven)
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    from fencepost_pipeline.spark import register
    from pyspark.sql import SparkSession

    jars = ",".join(str(jar) for jar in sorted((CONNECTOR / "target" / "lib").glob("*.jar")))
    spark = (
        SparkSession.builder.master(f"local[{TASKS}]")
        .config("spark.jars", jars)
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.memory", "1g")
        .config("spark.log.level", "ERROR")
        .getOrCreate()
    )
    register(spark)
    try:
        yield spark
    finally:
        spark.stop()


def _run_maven(folder: Path) -> None:
    maven = shutil.which("mvn")
    assert maven is not None, "the connector's jars need Maven: there is no 'mvn' on the PATH"
    subprocess.run([maven, "-q", "-B", "package"], cwd=folder, check=True)


def fill(bootstrap: str, topic: str, rows: int, size: int) -> None:
    """Rows of one size, in all partitions alike."""
    with Admin(bootstrap) as admin:
        admin.create_topics([NewTopic(topic, PARTITIONS)])
    with Producer(bootstrap, linger_ms=20, batch_size=64 << 10) as producer:
        for number in range(rows):
            value = (b"%010d" % number) * (size // 10)
            producer.send(topic, value, key=b"%08d" % number, partition=number % PARTITIONS)


def frames(spark: SparkSession, bootstrap: str, topic: str) -> dict[str, DataFrame]:
    """The same rows by each contender."""

    def load(format_: str, schema: str | None = None) -> DataFrame:
        reader = spark.read.format(format_).option("kafka.bootstrap.servers", bootstrap)
        if schema is not None:
            reader = reader.schema(schema)
        reader = reader.option("kafka.isolation.level", "read_committed")
        return reader.option("subscribe", topic).load()

    return {
        "Spark's own connector": load("kafka"),
        "fencepost": load("fencepost"),
        "fencepost, value only": load("fencepost", "value BINARY"),
    }


def measure(frame: DataFrame) -> tuple[float, float]:
    """Seconds, and CPU seconds of everything below this process."""
    cpu, begin = tree_cpu_seconds(os.getpid()), time.perf_counter()
    frame.write.format("noop").mode("overwrite").save()
    return time.perf_counter() - begin, tree_cpu_seconds(os.getpid()) - cpu


def tree_cpu_seconds(root: int) -> float:
    """CPU time of a process and of its descendants, those that have ended included."""
    parents: dict[int, int] = {}
    ticks: dict[int, int] = {}
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:  # It may end while it is looked at.
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        parents[int(folder.name)] = int(fields[1])
        ticks[int(folder.name)] = sum(map(int, fields[11:15]))
    total = 0
    for process in ticks:
        at = process
        while at not in {root, 0} and at not in BROKERS:
            at = parents.get(at, 0)
        total += ticks[process] if at == root else 0
    return total / os.sysconf("SC_CLK_TCK")


BROKERS: set[int] = set()
"""Processes whose CPU time is not the source's."""


@contextmanager
def broker(kind: str) -> Iterator[str]:
    """A broker of ours or Apache Kafka."""
    if kind == "kafka":
        with ApacheKafka() as kafka:
            assert kafka.process_id is not None
            BROKERS.add(kafka.process_id)
            yield kafka.bootstrap
    else:
        with Up() as up:
            BROKERS.add(up.pid)
            yield f"127.0.0.1:{up.port}"


def main() -> None:
    """Measure and tell."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000, help="of 100 bytes")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--broker", choices=["fencepost", "kafka"], default="kafka")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    lines: list[list[str]] = []
    with broker(given.broker) as bootstrap, session() as spark:
        for size in SIZES:
            rows = given.rows if size == SIZES[0] else given.rows // ROWS_SHARE_OF_LARGE
            topic = f"rows-of-{size}"
            fill(bootstrap, topic, rows, size)
            contenders = frames(spark, bootstrap, topic)
            measured = {name: Measured() for name in contenders}
            for number in range(given.rounds + 1):
                for name, frame in contenders.items():
                    seconds, cpu_seconds = measure(frame)
                    if number:
                        measured[name].seconds.append(seconds)
                        measured[name].cpu_seconds.append(cpu_seconds)
            lines += [found.row(name, size, rows) for name, found in measured.items()]
    head = ["source", "value", "rows", "rows/s", "MB/s", "CPU us/row"]
    print(plain_table(head, lines))
    if given.out is not None:
        page = PAGE.format(
            machine=f"{os.cpu_count()} cores, {platform.system()} {platform.machine()}",
            load=os.getloadavg()[0],
            date=time.strftime("%Y-%m-%d"),
            partitions=PARTITIONS,
            broker="Apache Kafka 4.3.1" if given.broker == "kafka" else "Fencepost",
            tasks=TASKS,
            rounds=given.rounds,
            table=markdown_table(head, lines),
        )
        given.out.write_text(page)


if __name__ == "__main__":
    main()
