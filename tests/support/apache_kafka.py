"""A real Apache Kafka on this machine: one KRaft node, broker and controller in one process.

Its jars come from Maven Central on first use (`tests/conformance/apache/pom.xml`).

    with ApacheKafka({"group.initial.rebalance.delay.ms": "0"}) as kafka:
        talk_to(kafka.bootstrap)
        kafka.kill()     # SIGKILL; stop() is the orderly way
        kafka.start()    # the same ports, the same data
        print(kafka.run_tool("org.apache.kafka.tools.DumpLogSegments", "--files", path))

Between `stop` and `start` the files below `data_dir` are yours to read, copy and exchange.
"""

from __future__ import annotations

import base64
import hashlib
import os
import random
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import TracebackType
from typing import IO, Self

if sys.platform != "win32":
    import fcntl

APACHE_DIR = Path(__file__).parents[1] / "conformance" / "apache"
LIBRARY_DIR = APACHE_DIR / "target" / "lib"

HOST = "127.0.0.1"
NODE_ID = 1

HEAP = "512m"
JVM_FLAGS = ("-XX:+UseSerialGC", "-XX:-UsePerfData")

# What lives for seconds loses most of them to the second compiler and to loading classes. CPU time
# from formatting to the first answer: 6.0 s; 3.9 s without that compiler; 2.4 s with ARCHIVE, too.
ONE_COMPILER = "-XX:TieredStopAtLevel=1"
ARCHIVE = LIBRARY_DIR.parent / "classes.jsa"
TOOL_JVM_FLAGS = ("-Xmx512m", "-XX:+UseSerialGC", ONE_COMPILER)

# Bounds for giving up, generous for a machine that is busy with other things.
START_SECONDS = 120.0
STOP_SECONDS = 60.0
TOOL_SECONDS = 120.0

# One node cannot replicate; small internal topics are made faster than ones of 50 partitions.
ONE_NODE_SETTINGS = {
    "offsets.topic.replication.factor": "1",
    "offsets.topic.num.partitions": "5",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "transaction.state.log.num.partitions": "5",
    "share.coordinator.state.topic.replication.factor": "1",
    "share.coordinator.state.topic.min.isr": "1",
    "share.coordinator.state.topic.num.partitions": "5",
    "group.initial.rebalance.delay.ms": "0",
    "log.retention.check.interval.ms": "86400000",  # or it deletes tests' records of 1970
}


class KafkaUnavailableError(Exception):
    """A tool that Apache Kafka needs is not installed."""


class KafkaFailedError(Exception):
    """Apache Kafka, one of its tools or the fetching of its jars failed; says what it said."""


def fetch() -> None:
    """Fetches the jars, unless they are there."""
    build_once(APACHE_DIR, ["pom.xml"], "target", _build)


def build_once(
    folder: Path, sources: Iterable[str], target: str, build: Callable[[Path], None]
) -> None:
    """Calls build(folder) when one of the sources has changed since `target` was built.

    The old target is removed first. Two test runs at once do not build into the same folder.
    """
    target_dir = folder / target
    stamp = target_dir / "built-from.sha256"
    paths = [folder / source for source in sources]
    with _locked(folder):
        digest = hashlib.sha256()
        for path in paths:
            digest.update(path.relative_to(folder).as_posix().encode() + b"\0" + path.read_bytes())
        if not stamp.exists() or stamp.read_text() != digest.hexdigest():
            shutil.rmtree(target_dir, ignore_errors=True)
            build(folder)
            stamp.write_text(digest.hexdigest())


class ApacheKafka:
    """One node of Apache Kafka in a folder of its own that is removed at the end.

    `overrides` are lines of server.properties; a value of None takes a default of ours away.
    `format_arguments` go to StorageTool, such as ["--feature", "transaction.version=1"]. With
    `joins` it is a broker in the cluster of that one, in whose process the controller is. Running
    `at_full_speed`, for benchmarks and heavy load, it does nothing for a quick start.
    """

    library = LIBRARY_DIR
    """Where its jars are."""

    def __init__(
        self,
        overrides: Mapping[str, str | None] | None = None,
        *,
        format_arguments: Sequence[str] = (),
        heap: str = HEAP,
        node_id: int = NODE_ID,
        joins: ApacheKafka | None = None,
        at_full_speed: bool = False,
    ) -> None:
        self.node_id = node_id
        self._joins = joins
        # No '-' in front, or the tool may take it for an option.
        made_up = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
        self.cluster_id: str = made_up.replace("-", "a") if joins is None else joins.cluster_id
        self._overrides = dict(overrides or {})
        self._format_arguments = list(format_arguments)
        self._jvm_flags = [f"-Xmx{heap}", *JVM_FLAGS, *([] if at_full_speed else [ONE_COMPILER])]
        self._at_full_speed = at_full_speed
        self._folder: Path | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._stderr: IO[bytes] | None = None
        self.port = 0
        self.controller_port = 0

    @property
    def bootstrap(self) -> str:
        """Where clients connect."""
        return f"{HOST}:{self.port}"

    @property
    def folder(self) -> Path:
        if self._folder is None:
            raise RuntimeError("use ApacheKafka in a with statement")
        return self._folder

    @property
    def data_dir(self) -> Path:
        """Where the topic folders are: log.dirs."""
        return self.folder / "data"

    @property
    def process_id(self) -> int | None:
        """The broker's process, None while it is stopped."""
        return self._process.pid if self._process is not None else None

    def __enter__(self) -> Self:
        self._fetch()
        self._folder = Path(tempfile.mkdtemp(prefix="apache-kafka-"))
        try:
            self._stderr = (self._folder / "stderr").open("w+b")
            self.port, self.controller_port = free_ports(2)
            self._write_properties()
            self._format()
            self.start()
        except BaseException:
            self._clean_up()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._clean_up()

    def start(self) -> None:
        """Starts the broker and returns when it serves clients."""
        if self._process is not None:
            raise RuntimeError(f"the broker runs already, as process {self._process.pid}")
        assert self._stderr is not None
        flags = [*self._jvm_flags, *([] if self._at_full_speed else _quick_start(self.library))]
        self._process = subprocess.Popen(
            java_command(self.library, flags, "kafka.Kafka", str(self._properties_path)),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=self._stderr,
            cwd=self.folder,
        )
        try:
            self._wait_until_ready(time.monotonic() + START_SECONDS)
        except BaseException:
            self.kill()
            raise

    def stop(self) -> None:
        """Ends the broker in an orderly way: it writes what it holds and marks a clean end."""
        if self._process is None:
            return
        self._process.terminate()
        try:
            self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()
            raise KafkaFailedError(
                f"the broker did not end within {STOP_SECONDS:.0f} s{self._last_words()}"
            ) from None
        self._process = None

    def kill(self) -> None:
        """Ends the broker as a crash would (SIGKILL).

        The next start takes some 10 s: the controller lets no second incarnation in before the
        session of the first has expired (broker.session.timeout.ms).
        """
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def restart(self) -> None:
        self.stop()
        self.start()

    def stderr(self) -> str:
        """All that the broker has said so far: warnings and errors."""
        return (self.folder / "stderr").read_text(errors="replace")

    def run_tool(self, class_name: str, *arguments: str | os.PathLike[str]) -> str:
        """What one of Kafka's tools prints, such as org.apache.kafka.tools.DumpLogSegments."""
        return run_tool(class_name, *arguments)

    @property
    def _properties_path(self) -> Path:
        return self.folder / "server.properties"

    def _write_properties(self) -> None:
        leads = self._joins or self
        own = "" if self._joins else f",CONTROLLER://{HOST}:{self.controller_port}"
        settings: dict[str, str | None] = {
            "process.roles": "broker" if self._joins else "broker,controller",
            "node.id": str(self.node_id),
            "listeners": f"PLAINTEXT://{self.bootstrap}{own}",
            "controller.listener.names": "CONTROLLER",
            "controller.quorum.voters": f"{leads.node_id}@{HOST}:{leads.controller_port}",
            "log.dirs": str(self.data_dir),
            **ONE_NODE_SETTINGS,
            **self._overrides,
        }
        lines = [f"{name}={value}\n" for name, value in settings.items() if value is not None]
        self._properties_path.write_text("".join(lines))

    def _fetch(self) -> None:
        _tool("java", "a Java runtime, 17 or later")  # told before anything is fetched
        fetch()

    def _format(self) -> None:
        _run_tool(
            "kafka.tools.StorageTool",
            "format",
            "--cluster-id",
            self.cluster_id,
            "--config",
            self._properties_path,
            *self._format_arguments,
            library=self.library,
        )

    def _wait_until_ready(self, deadline: float) -> None:
        process = self._process
        assert process is not None
        while not _serves(self.port):
            try:
                # The pause between two attempts, which ends at once when there is no hope left.
                code = process.wait(0.05)
            except subprocess.TimeoutExpired:
                pass
            else:
                raise KafkaFailedError(f"the broker ended with {code}{self._last_words()}")
            if time.monotonic() > deadline:
                raise KafkaFailedError(
                    f"the broker was not ready within {START_SECONDS:.0f} s{self._last_words()}"
                )

    def _last_words(self) -> str:
        said = self.stderr()[-4000:].strip()
        return f"; it said:\n{said}" if said else "; it said nothing"

    def _clean_up(self) -> None:
        # Killed, not asked: what it has in memory is removed with its folder anyway.
        self.kill()
        if self._stderr is not None:
            self._stderr.close()
            self._stderr = None
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None


@contextmanager
def apache_cluster(
    count: int,
    overrides: Mapping[str, str | None] | None = None,
    of_each: Sequence[Mapping[str, str | None]] = (),
) -> Iterator[list[ApacheKafka]]:
    """So many brokers, 1 and on, with one controller, which is in the process of broker 1.

    `of_each` has further settings of each of them.
    """
    given = [{**(overrides or {}), **each} for each in (of_each or [{}] * count)]
    with ExitStack() as stack:
        first = stack.enter_context(ApacheKafka(given[0]))
        others = [
            ApacheKafka(each, node_id=number, joins=first)
            for number, each in enumerate(given[1:], 2)
        ]
        with ThreadPoolExecutor(count) as threads:
            list(threads.map(stack.enter_context, others))
        yield [first, *others]


def run_tool(class_name: str, *arguments: str | os.PathLike[str], given: str = "") -> str:
    """What a tool among Apache Kafka's jars prints; raises KafkaFailedError when it fails."""
    fetch()
    return _run_tool(class_name, *arguments, given=given)


def _run_tool(
    class_name: str,
    *arguments: str | os.PathLike[str],
    given: str = "",
    library: Path = LIBRARY_DIR,
) -> str:
    words = [os.fspath(argument) for argument in arguments]
    try:
        result = subprocess.run(
            java_command(library, [*TOOL_JVM_FLAGS, *_quick_start(library)], class_name, *words),
            input=given,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=TOOL_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise KafkaFailedError(
            f"{class_name} did not end within {TOOL_SECONDS:.0f} s ({words})"
        ) from error
    if result.returncode != 0:
        raise KafkaFailedError(
            f"{class_name} ended with {result.returncode} ({words}); it said:\n"
            f"{result.stderr[-4000:]}{result.stdout[-4000:]}"
        )
    return result.stdout


def free_ports(count: int) -> list[int]:
    """Ports on which nobody listens now.

    They lie below the range from which operating systems take the ports of outgoing connections:
    a broker that restarts must find its own ones free again.
    """
    chance = random.SystemRandom()
    ports: list[int] = []
    while len(ports) < count:
        port = chance.randrange(12_000, 32_000)
        with socket.socket() as probe:
            try:
                probe.bind((HOST, port))
            except OSError:
                continue
        if port not in ports:
            ports.append(port)
    return ports


def advertised_apis(port: int) -> dict[int, tuple[int, int]]:
    """The API keys that a broker there serves, with their lowest and highest versions."""
    with socket.create_connection((HOST, port), timeout=5) as connection:
        answer = _ask(connection, struct.pack(">hhih", 18, 0, 1, -1))
    _, error, count = struct.unpack_from(">ihi", answer)
    if error != 0:
        raise KafkaFailedError(f"ApiVersions was answered with error {error}")
    rows = (struct.unpack_from(">hhh", answer, 10 + 6 * number) for number in range(count))
    return {key: (lowest, highest) for key, lowest, highest in rows}


def _serves(port: int) -> bool:
    """Whether a broker there answers ApiVersions, and names a broker to talk to in Metadata."""
    try:
        advertised_apis(port)
        with socket.create_connection((HOST, port), timeout=5) as connection:
            answer = _ask(connection, struct.pack(">hhihi", 3, 1, 2, -1, 0))
    except (OSError, EOFError):
        return False
    _, brokers = struct.unpack_from(">ii", answer)
    return bool(brokers > 0)


def _ask(connection: socket.socket, request: bytes) -> bytes:
    """The answer to one request, correlation id first."""
    connection.sendall(struct.pack(">i", len(request)) + request)
    with connection.makefile("rb") as answers:
        return _read_frame(answers)


def _read_frame(answers: IO[bytes]) -> bytes:
    prefix = answers.read(4)
    frame = answers.read(size := struct.unpack(">i", prefix)[0] if len(prefix) == 4 else 0)
    if len(frame) != size or size < 8:
        raise EOFError("the connection was closed instead of an answer")
    return frame


def java_command(library: Path, flags: Sequence[str], class_name: str, *words: str) -> list[str]:
    """What runs a class of the jars in a folder."""
    return [
        _tool("java", "a Java runtime, 17 or later"),
        *flags,
        f"-Dlog4j2.configurationFile={APACHE_DIR / 'log4j2.properties'}",
        "-cp",
        f"{library}{os.sep}*",
        class_name,
        *words,
    ]


def _quick_start(library: Path) -> list[str]:
    """Flags for taking classes from the archive; what is wrong with it is no output of a tool."""
    archive = library.parent / ARCHIVE.name
    if not archive.exists():
        return []
    return [f"-XX:SharedArchiveFile={archive}", "-Xlog:disable", "-Xlog:all=warning:stderr"]


class _ArchivingKafka(ApacheKafka):
    """Writes the classes that it has loaded to the archive as it ends. (The jars are there.)"""

    def __init__(self) -> None:
        super().__init__()
        self._jvm_flags.append(f"-XX:ArchiveClassesAtExit={ARCHIVE}")

    def _fetch(self) -> None:
        pass


def _build(folder: Path) -> None:
    run_maven(folder)
    with _ArchivingKafka() as kafka:
        kafka.stop()


def _tool(command: str, what: str) -> str:
    path = shutil.which(command)
    if path is None:
        raise KafkaUnavailableError(
            f"running Apache Kafka needs {what}: there is no '{command}' on the PATH"
        )
    return path


def run_maven(folder: Path, *arguments: str) -> None:
    """Builds a folder's project."""
    maven = _tool("mvn", "Apache Maven")
    result = subprocess.run(
        [maven, "-q", "-B", "package", *arguments],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if result.returncode != 0:
        raise KafkaFailedError(
            f"'mvn package' failed in {folder} (are the Maven repositories reachable?):\n"
            + result.stdout[-4000:]
        )


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Keeps others out of the folder. (No lock on a file in it: Go, for one, locks its go.mod.)"""
    if sys.platform == "win32":
        yield
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
