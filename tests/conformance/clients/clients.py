"""Unmodified clients of every language, each behind a script that a user could have written.

`CLIENTS` names them; `prepare` fetches and builds what one needs, on first use, into folders that
git ignores. Each client's version stands where its own packager wants it: `version` reads it there.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.support.apache_kafka import build_once

CLIENTS_DIR = Path(__file__).parent

# The Go that is called is the one that is meant: it does not look for others.
GO_ENVIRONMENT = {"GOTOOLCHAIN": "local"}


class ClientUnavailableError(Exception):
    """Something that the client needs is not installed; says what."""


class ClientBuildError(Exception):
    """What the client needs is there, and fetching or building its packages fails."""


@dataclass(frozen=True, slots=True)
class Client:
    """One client library: how its script is made ready, and what is told to it."""

    name: str
    prepare: Callable[[], list[str]]
    version: Callable[[], str]
    # Reads only as a member of a group: told when a broker has no groups.
    reads_in_groups: bool = False


def _java() -> list[str]:
    java = tool("java", "a Java runtime, 17 or later")
    folder = CLIENTS_DIR / "java"
    sources = ["pom.xml", *_below(folder, "src/**/*.java"), *_below(folder, "src/**/*.properties")]

    def package(_: Path) -> None:
        tool("javac", "a JDK, 17 or later")
        build(folder, [tool("mvn", "Apache Maven"), "-q", "-B", "package"])

    build_once(folder, sources, "target", package)
    jars = os.pathsep.join(str(folder / "target" / name) for name in ("clients.jar", "lib/*"))
    quick = ("-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
    return [java, *quick, "-cp", jars, "fencepost.clients.Main"]


def _franz_go() -> list[str]:
    return [str(go_program(CLIENTS_DIR / "franz-go"))]


def go_program(folder: Path) -> Path:
    """The program of a folder's Go module, built if its sources have changed."""
    program = folder / "target" / ("client.exe" if sys.platform == "win32" else "client")

    def compile_(_: Path) -> None:
        build(folder, [new_enough(go), "build", "-o", str(program), "."], GO_ENVIRONMENT)

    go = tool("go", "Go")
    build_once(folder, ["go.mod", "go.sum", *_below(folder, "*.go")], "target", compile_)
    return program


def new_enough(go: str) -> str:
    """This Go, or the one that go.mod asks for.

    Every Go can fetch a later one as a module, checked like all modules; the old ones (Debian's)
    only do not do so by themselves.
    """
    (wanted,) = re.findall(r"^go (\S+)$", _text("franz-go/go.mod"), re.MULTILINE)
    asked = ["GOVERSION", "GOOS", "GOARCH"]
    found, system, machine = build(CLIENTS_DIR, [go, "env", *asked], GO_ENVIRONMENT).split()
    if _numbers(found) >= _numbers(wanted):
        return go
    toolchain = f"golang.org/toolchain@v0.0.1-go{wanted}.{system}-{machine}"
    with tempfile.TemporaryDirectory() as outside_of_modules:
        printed = build(Path(outside_of_modules), [go, "mod", "download", "-json", toolchain])
    root = Path(json.loads(printed)["Dir"])
    for program in (*root.glob("bin/*"), *root.glob("pkg/tool/*/*")):
        program.chmod(0o755)  # modules hold no programs otherwise
    return str(root / "bin" / "go")


def _kafkajs() -> list[str]:
    node = tool("node", "Node.js, 18 or later")
    printed = build(CLIENTS_DIR, [node, "--version"]).strip()
    if _numbers(printed) < (18,):
        raise ClientUnavailableError(f"it needs Node.js 18 or later: this is {printed}")
    folder = CLIENTS_DIR / "kafkajs"

    def install(_: Path) -> None:
        # Scripts of packages are not needed here, and nobody has read them.
        build(folder, [tool("npm", "npm"), "ci", "--ignore-scripts", "--no-audit", "--no-fund"])

    build_once(folder, ["package.json", "package-lock.json"], "node_modules", install)
    return [node, str(folder / "client.mjs")]


def _python(module: str) -> Callable[[], list[str]]:
    def prepare() -> list[str]:
        folder = CLIENTS_DIR / "python"
        environment = folder / ".venv-clients"
        scripts = "Scripts" if sys.platform == "win32" else "bin"
        python = str(environment / scripts / "python")

        def install(_: Path) -> None:
            build(folder, [sys.executable, "-m", "venv", str(environment)])
            build(folder, [python, "-m", "pip", "install", "-q", "-r", "requirements.txt"])

        build_once(folder, ["requirements.txt"], environment.name, install)
        return [python, "-m", f"tests.conformance.clients.python.{module}"]

    return prepare


def _kcat() -> list[str]:
    tool("kcat", "kcat")
    return [sys.executable, "-m", "tests.conformance.clients.python.kcat_client"]


def tool(command: str, what: str) -> str:
    path = shutil.which(command)
    if path is None:
        raise ClientUnavailableError(f"it needs {what}: there is no '{command}' on the PATH")
    return path


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version))


def _below(folder: Path, pattern: str) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.glob(pattern))


def build(folder: Path, command: list[str], environment: Mapping[str, str] = {}) -> str:
    """What the command prints; raises when it fails."""
    result = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )
    if result.returncode != 0:
        raise ClientBuildError(
            f"'{' '.join(command)}' failed in {folder} (is its package registry reachable?):\n"
            + result.stdout[-4000:]
        )
    return result.stdout


def _python_client(name: str, module: str) -> Client:
    version = _pinned("python/requirements.txt", rf"^{re.escape(name)}==(\S+)")
    return Client(name, _python(module), version)


def _text(file: str) -> str:
    return (CLIENTS_DIR / file).read_text(encoding="utf-8")


def _pinned(file: str, pattern: str) -> Callable[[], str]:
    def version() -> str:
        (found,) = re.findall(pattern, _text(file), re.MULTILINE)
        return str(found)

    return version


def _kcat_version() -> str:
    printed = build(CLIENTS_DIR, [tool("kcat", "kcat"), "-V"])
    kcat, librdkafka = re.findall(r"(?:Version|librdkafka) ([\d.]+)", printed)
    return f"{kcat} (librdkafka {librdkafka})"


CLIENTS: Final[Mapping[str, Client]] = {
    client.name: client
    for client in (
        Client("java", _java, _pinned("java/pom.xml", "<kafka.version>(.+)</")),
        _python_client("confluent-kafka", "confluent_client"),
        Client("kcat", _kcat, _kcat_version),
        _python_client("aiokafka", "aiokafka_client"),
        _python_client("kafka-python", "kafka_python_client"),
        Client(
            "kafkajs",
            _kafkajs,
            _pinned("kafkajs/package.json", r'"kafkajs": "(.+)"'),
            reads_in_groups=True,
        ),
        Client("franz-go", _franz_go, _pinned("franz-go/go.mod", r"/franz-go v(\S+)")),
    )
}
