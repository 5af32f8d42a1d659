"""The brokers that are measured, each a process of its own with its default settings."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping
from importlib.metadata import version
from pathlib import Path
from types import TracebackType
from typing import Final, Protocol, Self

from tests.bench.broker.measure import pinned

START_SECONDS: Final = 30.0


class PeerUnavailableError(Exception):
    """A broker cannot run here; says what is missing."""


class PeerFailedError(Exception):
    """A broker did not start; says what it said."""


class Peer(Protocol):
    """A running broker."""

    name: str
    port: int
    pid: int
    version: str

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None: ...


class FencepostPeer:
    """`fencepost up`, in memory or with a data directory."""

    def __init__(self, core: int | None = None, *, durable: bool = False) -> None:
        self.name = "fencepost-disk" if durable else "fencepost"
        self.version = version("fencepost")
        self.port = 0
        self.pid = 0
        self.data_dir = Path(tempfile.mkdtemp(prefix="fencepost-bench-")) if durable else None
        self._core = core
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Self:
        keep = ["--data-dir", str(self.data_dir)] if self.data_dir else []
        with pinned(self._core):
            self._process = subprocess.Popen(
                [*fencepost_command(), "up", "--port", "0", "--json", *keep],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                env=as_a_user_has_it(os.environ),
                text=True,
            )
        self.pid = self._process.pid
        bootstrap = json.loads(first_line(self._process, self.name))["bootstrap"]
        self.port = int(bootstrap.rpartition(":")[2])
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
        if self.data_dir is not None:
            shutil.rmtree(self.data_dir, ignore_errors=True)


class RunningPeer:
    """A broker that runs already, perhaps under a profiler; it goes on running."""

    def __init__(self, port: int, pid: int) -> None:
        self.name = "running"
        self.version = "as found"
        self.port = port
        self.pid = pid

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        return


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
    "fencepost": lambda core: FencepostPeer(core),
    "fencepost-disk": lambda core: FencepostPeer(core, durable=True),
}
"""By name, each with a core (or none) to be pinned to."""
