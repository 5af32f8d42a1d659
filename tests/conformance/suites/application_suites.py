"""Applications of frameworks: each invoices orders, is killed in the middle, and started again."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from fencepost_client import Admin, Consumer, NewTopic, Producer
from fencepost_client.types import TopicPartition

from tests.conformance.clients.clients import build, go_program
from tests.conformance.suites import postgresql
from tests.conformance.suites.outcomes import FAILED, PASSED, Outcomes
from tests.conformance.suites.places import Place
from tests.conformance.suites.running import SUITES_DIR, TARGET, Run, Suite
from tests.support.apache_kafka import ONE_COMPILER, build_once, java_command, run_maven

_FOLDER: Final = SUITES_DIR / "applications"
_OPENED: Final = ("--add-opens=java.base/java.util=ALL-UNNAMED",)
"""Flink's serializer looks into Java's own collections."""
_POMS: Final = ("pom.xml", "../../pom.xml")
_SECONDS: Final = 600
_PARTITIONS: Final = 3
_ORDERS: Final = [f"order {number}" for number in range(2000)]
_BEFORE_KILL: Final = 200
"""The application is killed when so many invoices are there, and most orders are not read."""
_QUIET_MS: Final = 2000
"""What has been written twice is read until nothing has come for so long."""
EACH_ORDER: Final = "each order has an invoice"
ONCE: Final = "no order has two"
IN_ORDER: Final = "the changes of each row are in order"
_ROWS: Final = 100
"""Each order changes a row of the database: its number, modulo this, is the row's key."""


async def _order(place: Place, _: Path, orders: Sequence[str]) -> None:
    async with Producer(place.bootstrap) as producer:
        for order in orders:
            await producer.send("orders", order.encode(), key=order.encode())


async def _write_file(_: Place, state: Path, orders: Sequence[str]) -> None:
    with (state / "invoices.txt").open("a") as file:
        file.writelines(f"invoice for {order}\n" for order in orders)


@contextmanager
def _database(state: Path) -> Iterator[None]:
    with postgresql.running(state / "postgresql"):
        # Changes are kept from here on, before Debezium is started.
        postgresql.execute(
            "CREATE TABLE invoices (id int PRIMARY KEY, note text);"
            "CREATE PUBLICATION dbz_publication FOR TABLE invoices;"
            "SELECT pg_create_logical_replication_slot('debezium', 'pgoutput');"
        )
        yield


async def _change_rows(_: Place, __: Path, orders: Sequence[str]) -> None:
    """Transactions of ten changes; after each, one that is rolled back, and must not be read."""
    statements = []
    for start in range(0, len(orders), 10):
        statements += ["BEGIN;", *map(_change, orders[start : start + 10]), "COMMIT;"]
        statements += ["BEGIN;", "UPDATE invoices SET note = 'rolled back';", "ROLLBACK;"]
    postgresql.execute("\n".join(statements))


def _change(order: str) -> str:
    row = int(order.split()[-1]) % _ROWS
    values = f"({row}, 'invoice for {order}')"
    return (
        f"INSERT INTO invoices VALUES {values} ON CONFLICT (id) DO UPDATE SET note = excluded.note;"
    )


def in_order(written: Sequence[bytes]) -> bool:
    """Whether each change of a row follows the one before it, or repeats an earlier one."""
    last: dict[int, int] = {}
    for value in written:
        number = int(re.findall(rb"\d+", value)[-1])
        row = number % _ROWS
        if number > last.get(row, row - _ROWS) + _ROWS:
            return False
        last[row] = number
    return True


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
    rows_in_order: bool = False
    """Whether what is written of a row must be in the order of its changes."""
    beside: Callable[[Path], AbstractContextManager[object]] = nullcontext
    """What runs all the while, and is not killed; it is told the folder, too."""

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
        written: list[bytes] = []
        async with Consumer(place.bootstrap, isolation_level="read_committed") as consumer:
            consumer.assign([TopicPartition(self.output, n) for n in range(_PARTITIONS)])

            async def read(wanted: int, process: subprocess.Popen[bytes]) -> None:
                while (
                    len(set(written)) < wanted
                    and process.poll() is None
                    and time.monotonic() < deadline
                ):
                    records = await consumer.getmany(timeout_ms=500)
                    written.extend(record.value or b"" for record in records)

            with tempfile.TemporaryDirectory(prefix="application-") as folder:
                state = Path(folder)
                half = len(_ORDERS) // 2
                with self.beside(state):
                    for orders, wanted in (
                        (_ORDERS[:half], _BEFORE_KILL),
                        (_ORDERS[half:], len(_ORDERS)),
                    ):
                        await self.give(place, state, orders)
                        with self._running(place, run, state) as process:
                            await read(wanted, process)
            while records := await consumer.getmany(timeout_ms=_QUIET_MS):
                written.extend(record.value or b"" for record in records)
        judged = {EACH_ORDER: len(set(written)) == len(_ORDERS)}
        if self.exactly_once:
            judged[ONCE] = len(written) == len(set(written))
        if self.rows_in_order:
            judged[IN_ORDER] = in_order(written)
        return {name: PASSED if is_so else FAILED for name, is_so in judged.items()}

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
    name: str,
    version: str,
    class_name: str,
    script: str = "",
    below: str = "java",
    **fields: Any,
) -> _Application:
    """An application in Java; a script writes its settings and starts it, or it has none."""
    java = _FOLDER / below
    library = java / "target" / "lib"

    def prepare() -> Path:
        sources = [str(path.relative_to(java)) for path in sorted(java.glob("src/**/*.*"))]
        build_once(java, [*_POMS, *sources], "target", run_maven)
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


def _debezium() -> _Application:
    made = _in_java(
        "Debezium",
        "3.6.1.Final",
        "applications.Debezium",
        below="debezium",
        exactly_once=False,
        rows_in_order=True,
        beside=_database,
        give=_change_rows,
        output="shop.public.invoices",
    )

    def prepare() -> Path:
        postgresql.program("postgres")  # told before anything is fetched
        return made.prepare()

    return replace(made, prepare=prepare)


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
    _debezium(),
)
SUITES: Final = tuple(each.suite() for each in _APPLICATIONS)
