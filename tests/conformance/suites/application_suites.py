"""Applications of frameworks: each invoices orders, is killed in the middle, and started again."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from fencepost_client import Admin, Consumer, NewTopic, Producer
from fencepost_client.types import TopicPartition

from tests.conformance.clients.clients import build, go_program
from tests.conformance.suites.outcomes import FAILED, PASSED, Outcomes
from tests.conformance.suites.places import Place
from tests.conformance.suites.running import SUITES_DIR, TARGET, Run, Suite
from tests.support.apache_kafka import ONE_COMPILER, build_once, java_command, run_maven

_FOLDER: Final = SUITES_DIR / "applications"
_OPENED: Final = ("--add-opens=java.base/java.util=ALL-UNNAMED",)
"""Flink's serializer looks into Java's own collections."""
_SECONDS: Final = 600
_PARTITIONS: Final = 3
_ORDERS: Final = [f"order {number}" for number in range(2000)]
_BEFORE_KILL: Final = 200
"""The application is killed when so many invoices are there, and most orders are not read."""
_QUIET_MS: Final = 2000
"""What has been written twice is read until nothing has come for so long."""
EACH_ORDER: Final = "each order has an invoice"
ONCE: Final = "no order has two"


async def _order(place: Place, _: Path, orders: Sequence[str]) -> None:
    async with Producer(place.bootstrap) as producer:
        for order in orders:
            await producer.send("orders", order.encode(), key=order.encode())


async def _write_file(_: Place, state: Path, orders: Sequence[str]) -> None:
    with (state / "invoices.txt").open("a") as file:
        file.writelines(f"invoice for {order}\n" for order in orders)


@dataclass(frozen=True, slots=True)
class _Application:
    """A program that is told BOOTSTRAP and STATE, a folder, by its environment."""

    name: str
    version: str
    prepare: Callable[[], Path]
    command: Callable[[], Sequence[str]]
    exactly_once: bool = True
    give: Callable[[Place, Path, Sequence[str]], Coroutine[None, None, None]] = _order
    output: str = "invoices"
    """The topic of what it writes, one record for each order."""

    def suite(self) -> Suite:
        return Suite(self.name, self.version, self.prepare, self._run, _SECONDS)

    def _run(self, place: Place, run: Run) -> Outcomes:
        return asyncio.run(self._judged(place, run))

    async def _judged(self, place: Place, run: Run) -> Outcomes:
        deadline = time.monotonic() + run.suite.seconds
        async with Admin(place.bootstrap) as admin:
            await admin.create_topics(
                [NewTopic(topic, _PARTITIONS) for topic in {"orders", self.output}]
            )
        written: Counter[bytes] = Counter()
        async with Consumer(place.bootstrap, isolation_level="read_committed") as consumer:
            consumer.assign([TopicPartition(self.output, n) for n in range(_PARTITIONS)])

            async def read(wanted: int, process: subprocess.Popen[bytes]) -> None:
                while (
                    len(written) < wanted and process.poll() is None and time.monotonic() < deadline
                ):
                    records = await consumer.getmany(timeout_ms=500)
                    written.update(record.value or b"" for record in records)

            with tempfile.TemporaryDirectory(prefix="application-") as folder:
                state = Path(folder)
                half = len(_ORDERS) // 2
                for orders, wanted in (
                    (_ORDERS[:half], _BEFORE_KILL),
                    (_ORDERS[half:], len(_ORDERS)),
                ):
                    await self.give(place, state, orders)
                    with self._running(place, run, state) as process:
                        await read(wanted, process)
            while records := await consumer.getmany(timeout_ms=_QUIET_MS):
                written.update(record.value or b"" for record in records)
        outcomes = {EACH_ORDER: PASSED if len(written) == len(_ORDERS) else FAILED}
        if self.exactly_once:
            outcomes[ONCE] = PASSED if written.total() == len(written) else FAILED
        return outcomes

    @contextmanager
    def _running(self, place: Place, run: Run, state: Path) -> Iterator[subprocess.Popen[bytes]]:
        """The application, killed at the end with all that it has started."""
        with run.log.open("ab") as log:
            process = subprocess.Popen(
                self.command(),
                cwd=run.folder,
                env={**os.environ, "BOOTSTRAP": place.bootstrap, "STATE": str(state)},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
            try:
                yield process
            finally:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()


def _python(name: str, version: str, *needed: str, exactly_once: bool = False) -> _Application:
    """An application in Python, with an environment of its own."""
    folder = TARGET / f"application-{name.lower().replace(' ', '-')}-{version}"
    python = folder / ".venv" / "bin" / "python"
    script = _FOLDER / f"{name.lower().partition(' ')[0]}_app.py"

    def prepare() -> Path:
        if not (folder / "installed").exists():
            folder.mkdir(parents=True, exist_ok=True)
            build(folder, [sys.executable, "-m", "venv", "--clear", ".venv"])
            build(folder, [str(python), "-m", "pip", "install", "-q", *needed])
            (folder / "installed").touch()
        return folder

    return _Application(name, version, prepare, lambda: [str(python), str(script)], exactly_once)


def _in_java(
    name: str, version: str, class_name: str, script: str = "", below: str = "java", **fields: Any
) -> _Application:
    """An application in Java; a script writes its settings and starts it, or it has none."""
    java = _FOLDER / below
    library = java / "target" / "lib"

    def prepare() -> Path:
        sources = [str(path.relative_to(java)) for path in sorted(java.glob("src/**/*.*"))]
        build_once(java, ["pom.xml", *sources], "target", run_maven)
        return java

    def command() -> list[str]:
        starter = [sys.executable, str(_FOLDER / script)] if script else []
        return [*starter, *java_command(library, ["-Xmx512m", ONE_COMPILER, *_OPENED], class_name)]

    return _Application(name, version, prepare, command, **fields)


def _in_go(name: str, version: str, below: str) -> _Application:
    folder = _FOLDER / below

    def prepare() -> Path:
        go_program(folder)
        return folder

    return _Application(name, version, prepare, lambda: [str(go_program(folder))])


_APPLICATIONS: Final = (
    _python("FastStream", "0.7.8", "faststream[kafka]==0.7.8"),
    _python("Quix Streams", "3.28.1", "quixstreams==3.28.1", exactly_once=True),
    _python("Faust", "0.15.3", "faust-streaming==0.15.3"),
    _python("Bytewax", "0.21.1", "bytewax[kafka]==0.21.1"),
    _python("Celery", "5.7.0", "celery==5.7.0", "confluent-kafka==2.16.1"),
    _in_go("confluent-kafka-go", "2.11.1", "confluent-go"),
    _in_java("Spring for Apache Kafka", "4.1.2", "applications.Spring"),
    _in_java("SmallRye", "4.34.0", "applications.SmallRye", below="smallrye", exactly_once=False),
    _in_java("Flink", "2.2.1", "applications.Flink", below="flink"),
    _in_java(
        "Kafka Connect",
        "4.3.1",
        "org.apache.kafka.connect.cli.ConnectDistributed",
        "connect_app.py",
        give=_write_file,
    ),
    _in_java(
        "MirrorMaker 2",
        "4.3.1",
        "org.apache.kafka.connect.mirror.MirrorMaker",
        "mirror_app.py",
        output="here.orders",
    ),
)
SUITES: Final = tuple(each.suite() for each in _APPLICATIONS)
