"""The checks of ``fencepost doctor``: each looks at one thing, and says what to do about it."""

from __future__ import annotations

import os
import shutil
import socket
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.machinery import EXTENSION_SUFFIXES
from importlib.util import find_spec
from pathlib import Path
from typing import Final, NamedTuple

FILES_MIN: Final = 1024
"""Open files that a broker with some hundred clients and partitions needs."""
FREE_BYTES_MIN: Final = 1 << 30
RELEASED_S: Final = 1_735_689_600
"""The start of 2025: a clock that is earlier is wrong."""
_PYTHON: Final = (3, 11)
_NATIVE: Final = ("aiohttp", "cramjam", "crc32c", "msgspec", "re2")
"""Packages with code in C, C++ or Rust, whose import fails where they were built for elsewhere."""

_COMPILED: Final = {
    "fencepost": "fencepost_broker.network.connection",
    "fencepost-client": "fencepost_protocol.framing",
}
"""A module of each distribution that compiled builds have as a shared object."""

TOOLS: Final = (
    ("java", "the tests beside Apache Kafka, and Spark", "default-jdk-headless"),
    ("mvn", "the tests beside Apache Kafka, and of the JUnit extension", "maven"),
    ("kcat", "the test of this client", "kcat"),
    ("node", "the tests of the client KafkaJS and of the helper for Node", "nodejs npm"),
    ("npm", "the test of the client KafkaJS", "npm"),
    ("go", "the tests of the client franz-go and of the helper for Go", "golang-go"),
    ("tshark", "the check of our frames by a foreign dissector", "tshark"),
    ("openssl", "the certificates of tests with TLS, also in make test", "openssl"),
    ("cc", "the loader of the broker's benchmark, also in make test", "gcc"),
)
"""Programs that tests of a checkout need, what for, and Debian's packages."""


class Wanted(NamedTuple):
    """What a broker would use."""

    port: int
    data_dir: str


@dataclass(frozen=True, slots=True)
class Finding:
    """What was found, and what is to be done, which is empty if all is well."""

    part: str
    name: str
    what: str
    to_do: str = ""


def findings(wanted: Wanted, parts: Sequence[str]) -> list[Finding]:
    """Look at everything that these parts need."""
    return [found for part in PARTS if part in parts for found in _CHECKS[part](wanted)]


def _broker(wanted: Wanted) -> Iterator[Finding]:
    yield python(sys.version_info[:3])
    yield build()
    yield loop()
    yield packages()
    yield port(wanted.port)
    yield open_files()
    yield clock(time.time())
    yield disk(Path(wanted.data_dir))


def python(version: tuple[int, int, int]) -> Finding:
    """Look at the version of Python."""
    told = "Python " + ".".join(map(str, version))
    to_do = "" if version >= _PYTHON else "install Python 3.11 or newer"
    return Finding("broker", "python", told, to_do)


def build() -> Finding:
    """Look whether this is a compiled build."""
    return Finding("broker", "build", build_name())


def build_name() -> str:
    """Say which distributions are compiled, by the file of one module of each."""
    compiled = [name for name, module in _COMPILED.items() if is_compiled(module)]
    if len(compiled) == 1:
        return f"{compiled[0]} is compiled, the rest is pure Python"
    return "compiled" if compiled else "pure Python"


def is_compiled(module: str) -> bool:
    """Whether Python takes a module from a shared object."""
    spec = find_spec(module)
    return bool(spec and spec.origin and spec.origin.endswith(tuple(EXTENSION_SUFFIXES)))


def loop() -> Finding:
    """Look at the event loop, which is asyncio's own where uvloop is not installed."""
    name = "uvloop" if find_spec("uvloop") else "asyncio's own, which is slower than uvloop"
    return Finding("broker", "loop", name)


def packages() -> Finding:
    """Look at packages that have been compiled."""
    for name in _NATIVE:
        try:
            import_module(name)
        except ImportError as error:
            to_do = "pip install --force-reinstall fencepost"
            return Finding("broker", "packages", f"{name} cannot be imported ({error})", to_do)
    return Finding("broker", "packages", "all can be imported")


def port(number: int) -> Finding:
    """Look whether a broker could listen."""
    try:
        # As a broker does it: an address whose last connections linger is free.
        with socket.create_server(("127.0.0.1", number)):
            return Finding("broker", "port", f"127.0.0.1:{number} is free")
    except OSError as error:
        to_do = "end what listens there, or start with --port 0, which takes a free one"
        return Finding("broker", "port", f"127.0.0.1:{number}: {error.strerror}", to_do)


def open_files() -> Finding:
    """Look at the limit of open files and connections, which Windows does not have."""
    try:
        import resource
    except ImportError:
        return Finding("broker", "open files", "no limit")
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= FILES_MIN:
        return Finding("broker", "open files", f"up to {soft}")
    can = hard == resource.RLIM_INFINITY or hard >= FILES_MIN
    to_do = f"ulimit -n {FILES_MIN}" + ("" if can else ", after root has raised the hard limit")
    return Finding("broker", "open files", f"up to {soft}", to_do)


def clock(now_s: float) -> Finding:
    """Look at the clock, by which records are stamped and deleted."""
    told = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(now_s))
    to_do = "" if now_s >= RELEASED_S else "set the clock: retention would delete or keep wrongly"
    return Finding("broker", "clock", told, to_do)


def disk(folder: Path) -> Finding:
    """Look whether a data directory can be written, and has room."""
    while not folder.exists():
        folder = folder.parent  # a broker makes it
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"x")
            file.flush()
            os.fsync(file.fileno())
        free = shutil.disk_usage(folder).free
    except OSError as error:
        to_do = "name a directory that can be written with --data-dir, or leave topics in memory"
        return Finding("broker", "disk", f"{folder}: {error.strerror}", to_do)
    to_do = "" if free >= FREE_BYTES_MIN else "make room: a full disk stops a broker"
    return Finding("broker", "disk", f"{folder}: {free / (1 << 30):.1f} GB are free", to_do)


def _spark(_: Wanted) -> Iterator[Finding]:
    for name, what_for in (
        ("numpy", "the audit and Spark"), ("pyarrow", "the audit and Spark"),
        ("pandas", "Spark"), ("pyspark", "Spark"),
    ):  # fmt: skip
        to_do = "" if find_spec(name) else f"for {what_for}: pip install 'fencepost[spark]'"
        yield Finding("spark", name, "missing" if to_do else "installed", to_do)
    java = shutil.which("java")
    to_do = (
        "" if java else "install Java 17 or newer (Debian: apt-get install default-jdk-headless)"
    )
    yield Finding("spark", "java", java or "missing", to_do)


def _console(_: Wanted) -> Iterator[Finding]:
    from fencepost_broker.server.control.console import missing_files

    missing = missing_files()
    told = f"{', '.join(missing)} missing" if missing else "its files are installed"
    to_do = "pip install --force-reinstall fencepost" if missing else ""
    yield Finding("console", "page", told, to_do)


def _conformance(_: Wanted) -> Iterator[Finding]:
    for name, what_for, package in TOOLS:
        path = shutil.which(name)
        to_do = "" if path else f"for {what_for} (Debian: apt-get install {package})"
        yield Finding("conformance", name, path or "missing", to_do)


_CHECKS: Final[dict[str, Callable[[Wanted], Iterator[Finding]]]] = {
    "broker": _broker,
    "spark": _spark,
    "console": _console,
    "conformance": _conformance,
}
PARTS: Final = tuple(_CHECKS)
