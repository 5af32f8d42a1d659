"""The brokers that are measured, each a process of its own with its default settings.

with PEERS["kfake"](core) as peer:
    talk_to(peer.port)
    read_clocks_of(peer.pid)
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from importlib import metadata
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from fencepost_protocol.generated.index import ApiKey

from tests.bench.broker.build import (
    GO_DIR,
    BuildError,
    MissingToolError,
    go_program,
    librdkafka_python,
    librdkafka_version,
)
from tests.bench.broker.measure import pinned
from tests.support.apache_kafka import (
    APACHE_DIR,
    ApacheKafka,
    KafkaFailedError,
    KafkaUnavailableError,
    advertised_apis,
)

REPOSITORY_DIR: Final = Path(__file__).resolve().parents[3]
START_SECONDS: Final = 30.0
KAFKA_HEAP: Final = "1g"
KFAKE: Final = "github.com/twmb/franz-go/pkg/kfake"


class PeerUnavailableError(Exception):
    """A broker cannot run here; says what is missing."""


class PeerFailedError(Exception):
    """A broker did not start; says what it said."""


class Peer(ABC):
    """A broker in a with statement."""

    name: str
    newest_right: Mapping[ApiKey, int] = {}
    """Where not all versions that it serves can be read: the newest that can."""

    def __init__(self, core: int | None = None) -> None:
        self.core = core
        self.port = 0
        self.pid = 0

    @abstractmethod
    def version(self) -> str:
        """Which one it is."""

    @abstractmethod
    def __enter__(self) -> Self:
        """Starts it; it answers when this returns."""

    @abstractmethod
    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None: ...

    def fresh(self) -> Peer:
        """Another one of its kind, not started yet."""
        return type(self)(self.core)

    def cold_start_seconds(self) -> float:
        """How long another one of its kind takes from its start to its first answer."""
        begin = time.perf_counter()
        with self.fresh() as other:
            advertised_apis(other.port)
            return time.perf_counter() - begin


class ProcessPeer(Peer):
    """One that prints a line when it is ready."""

    def __init__(self, core: int | None = None) -> None:
        super().__init__(core)
        self._process: subprocess.Popen[str] | None = None

    @abstractmethod
    def command(self) -> list[str]:
        """What to start."""

    def environment(self) -> dict[str, str]:
        """In what environment."""
        return dict(os.environ)

    def port_in(self, line: str) -> int:
        """The port, from the line."""
        return int(line)

    def __enter__(self) -> Self:
        command = self.command()
        with pinned(self.core):
            self._process = subprocess.Popen(
                command,
                cwd=REPOSITORY_DIR,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=self.environment(),
                text=True,
            )
        self.pid = self._process.pid
        try:
            self.port = self.port_in(first_line(self._process, self.name))
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()


class FencepostPeer(ProcessPeer):
    """`fencepost up`, with everything in memory."""

    name = "fencepost"
    settings: tuple[str, ...] = ()

    def version(self) -> str:
        return metadata.version("fencepost")

    def command(self) -> list[str]:
        settings = (word for setting in self.settings for word in ("-c", setting))
        return [*fencepost_command(), "up", "--port", "0", "--json", *settings]

    def environment(self) -> dict[str, str]:
        return as_a_user_has_it(os.environ)

    def port_in(self, line: str) -> int:
        return int(json.loads(line)["bootstrap"].rpartition(":")[2])


class FencepostOnDisk(FencepostPeer):
    """`fencepost up --data-dir`."""

    name = "fencepost-disk"

    def __init__(self, core: int | None = None) -> None:
        super().__init__(core)
        self.data_dir = Path(tempfile.mkdtemp(prefix="fencepost-bench-"))

    def command(self) -> list[str]:
        return [*super().command(), "--data-dir", str(self.data_dir)]

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        super().__exit__(kind, error, traceback)
        shutil.rmtree(self.data_dir, ignore_errors=True)

    def restart(self) -> float:
        """Kill it and start it again on what it has written; gives the seconds to its port."""
        FencepostPeer.__exit__(self, None, None, None)
        begin = time.perf_counter()
        FencepostPeer.__enter__(self)
        return time.perf_counter() - begin


class FencepostUnparked(FencepostPeer):
    """Where what comes too early is refused, as in Apache Kafka, and does not wait (KIP-609)."""

    name = "fencepost-unparked"
    settings = ("transaction.park.enable=false",)


class FencepostFsync(FencepostOnDisk):
    """Where nothing is acknowledged that is not on the disk itself."""

    name = "fencepost-fsync"
    settings = ("fsync=always",)


class KafkaPeer(Peer):
    """Apache Kafka: one node, broker and controller, on its own JVM."""

    name = "kafka"

    def __init__(self, core: int | None = None) -> None:
        super().__init__(core)
        self._kafka = ApacheKafka(heap=KAFKA_HEAP, at_full_speed=True)

    def version(self) -> str:
        pom = (APACHE_DIR / "pom.xml").read_text(encoding="utf-8")
        found = re.search(r"kafka_2\.13</artifactId>\s*<version>([^<]+)", pom)
        properties = re.search(r"<kafka\.version>([^<]+)", pom)
        either = found if found and "$" not in found[1] else properties
        return either[1] if either else "?"

    def __enter__(self) -> Self:
        try:
            with pinned(self.core):
                self._kafka.__enter__()
        except KafkaUnavailableError as error:
            raise PeerUnavailableError(str(error)) from error
        except KafkaFailedError as error:
            raise PeerFailedError(str(error)) from error
        self._note()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._kafka.__exit__(kind, error, traceback)

    def cold_start_seconds(self) -> float:
        """Its first start belongs to formatting: this is the second one, on its empty data."""
        other = KafkaPeer(self.core)
        with other:
            other._kafka.stop()
            begin = time.perf_counter()
            with pinned(self.core):
                other._kafka.start()
            return time.perf_counter() - begin

    def _note(self) -> None:
        self.port = self._kafka.port
        self.pid = self._kafka.process_id or 0


class KfakePeer(ProcessPeer):
    """franz-go's kfake."""

    name = "kfake"

    def version(self) -> str:
        module = (GO_DIR / "go.mod").read_text(encoding="utf-8")
        found = re.search(rf"{re.escape(KFAKE)} (\S+)", module)
        return found[1] if found else "?"

    def command(self) -> list[str]:
        try:
            return [str(go_program()), "kfake"]
        except (MissingToolError, BuildError) as error:
            raise PeerUnavailableError(str(error)) from error


class MockPeer(ProcessPeer):
    """librdkafka's mock cluster; its process does nothing else."""

    name = "mock"
    newest_right: Mapping[ApiKey, int] = {ApiKey.METADATA: 8, ApiKey.API_VERSIONS: 2}

    def version(self) -> str:
        return f"librdkafka {librdkafka_version()}"

    def command(self) -> list[str]:
        try:
            return [librdkafka_python(), "-m", "tests.bench.broker.librdkafka_mock"]
        except (MissingToolError, BuildError) as error:
            raise PeerUnavailableError(str(error)) from error


class RunningPeer(Peer):
    """A broker that runs already, perhaps under a profiler; it goes on running."""

    name = "running"

    def __init__(self, port: int, pid: int) -> None:
        super().__init__()
        self.port = port
        self.pid = pid

    def version(self) -> str:
        return "as found"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        return

    def fresh(self) -> Peer:
        raise PeerUnavailableError("this needs a broker that is started for it")


def fencepost_command() -> list[str]:
    """The command as it was installed beside this Python."""
    return [str(Path(sys.executable).with_name("fencepost"))]


def as_a_user_has_it(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment without what changes how a Python or a Fencepost starts."""
    return {
        name: value
        for name, value in environment.items()
        if not name.startswith(("PYTHON", "FENCEPOST_"))
    }


def first_line(process: subprocess.Popen[str], name: str) -> str:
    """What a process says when it is ready."""
    assert process.stdout is not None
    too_late = threading.Timer(START_SECONDS, process.kill)
    too_late.start()
    try:
        line = process.stdout.readline()
    finally:
        too_late.cancel()
    if not line:
        raise PeerFailedError(f"{name} ended with {process.wait()} before it was ready")
    return line


PEERS: Final[Mapping[str, Callable[[int | None], Peer]]] = {
    kind.name: kind
    for kind in (
        FencepostPeer,
        FencepostOnDisk,
        FencepostUnparked,
        FencepostFsync,
        KafkaPeer,
        KfakePeer,
        MockPeer,
    )
}
"""By name; each is called with the core (or none) that it is pinned to."""
IN_MEMORY: Final = FencepostPeer.name
ON_DISK: Final = FencepostOnDisk.name
UNPARKED: Final = FencepostUnparked.name
FSYNC: Final = FencepostFsync.name
OURS: Final = (IN_MEMORY, ON_DISK)
"""The two that take part in every row."""
FENCEPOSTS: Final = (*OURS, UNPARKED, FSYNC)
