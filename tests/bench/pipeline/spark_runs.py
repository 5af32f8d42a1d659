"""A Spark session and a broker to measure with, and what their processes spend."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from fencepost_client import NewTopic
from fencepost_client.blocking import Admin, Producer

from tests.bench.pipeline.rounds import Budget, Taken
from tests.support.apache_kafka import ApacheKafka, build_once
from tests.support.up import Up

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CONNECTOR: Final = Path(__file__).parent / "connector"
PARTITIONS: Final = 4
TASKS: Final = 2
SIZES: Final = (100, 1000)
_SENT_AT_ONCE: Final = 4_000


@dataclass(frozen=True, slots=True)
class Place:
    """A broker: where it answers, where its files are, and which process it is."""

    name: str
    bootstrap: str
    data_dir: Path
    process_id: int


@contextmanager
def broker(kind: str) -> Iterator[Place]:
    """A broker of ours or Apache Kafka."""
    if kind == "kafka":
        with ApacheKafka(at_full_speed=True) as kafka:
            assert kafka.process_id is not None
            yield Place("Apache Kafka 4.3.1", kafka.bootstrap, kafka.data_dir, kafka.process_id)
    else:
        with (
            tempfile.TemporaryDirectory(prefix="bench-spark-") as folder,
            Up("--data-dir", f"{folder}/data") as up,
        ):
            yield Place("Fencepost", f"127.0.0.1:{up.port}", Path(folder) / "data", up.pid)


@contextmanager
def session() -> Iterator[SparkSession]:
    """A local session that has our sources and Spark's own."""
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


def create(bootstrap: str, topic: str) -> None:
    """A topic to measure with."""
    with Admin(bootstrap) as admin:
        admin.create_topics([NewTopic(topic, PARTITIONS)])


def fill(bootstrap: str, topic: str, rows: int, size: int) -> None:
    """Rows of one size, in all partitions alike."""
    create(bootstrap, topic)
    with Producer(bootstrap, linger_ms=20, batch_size=64 << 10) as producer:
        for first in range(0, rows, _SENT_AT_ONCE):
            numbers = range(first, min(first + _SENT_AT_ONCE, rows))
            for partition in range(PARTITIONS):
                own = numbers[partition::PARTITIONS]
                values = [(b"%010d" % number) * (size // 10) for number in own]
                keys = [b"%08d" % number for number in own]
                producer.send_many(topic, values, keys=keys, partition=partition)


def compare(
    place: Place,
    contenders: Mapping[str, Callable[[], None]],
    budget: Budget,
    wanted: int,
    parts_left: int,
    name: str,
) -> dict[str, Taken]:
    """Let all take turns; the first round is not counted."""
    measured = {each: Taken() for each in contenders}
    for number in budget.rounds(wanted + 1, parts_left, name):
        for each, run in contenders.items():
            before, begin = cpu_seconds(os.getpid(), place.process_id), time.perf_counter()
            run()
            seconds = time.perf_counter() - begin
            after = cpu_seconds(os.getpid(), place.process_id)
            if number == 1:  # the warm-up counts only where there was time for nothing else
                measured[each] = Taken()
            measured[each].seconds.append(seconds)
            measured[each].cpu.append(after.total - before.total)
            measured[each].python_cpu.append(after.python - before.python)
    return measured


class CpuSeconds(NamedTuple):
    """What processes have spent."""

    total: float
    python: float


def cpu_seconds(root: int, but: int) -> CpuSeconds:
    """CPU time of a process and of its descendants, also ended ones; without one of them."""
    parents: dict[int, int] = {}
    ticks: dict[int, int] = {}
    pythons: set[int] = set()
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:  # It may end while it is looked at.
            head, _, tail = (folder / "stat").read_text().rpartition(")")
        except (FileNotFoundError, ProcessLookupError):
            continue
        fields, process = tail.split(), int(folder.name)
        parents[process] = int(fields[1])
        ticks[process] = sum(map(int, fields[11:15]))
        if "python" in head:
            pythons.add(process)
    total = python = 0
    for process, spent in ticks.items():
        at = process
        while at not in {root, but, 0}:
            at = parents.get(at, 0)
        if at == root:
            total += spent
            python += spent if process in pythons else 0
    hertz = os.sysconf("SC_CLK_TCK")
    return CpuSeconds(total / hertz, python / hertz)


def machine() -> str:
    """What it was measured on."""
    return f"{os.cpu_count()} cores, {platform.system()} {platform.machine()}"
