"""Unmodified clients of every language, each behind a script that a user could have written.

`CLIENTS` names them; `prepare` fetches and builds what one needs (on first use, into folders that
git ignores), `run` calls its script. What the scripts are asked for, and how they answer, stands in
`scenarios.toml`.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from tests.conformance.clients.brokers import JOIN_GROUP, serves
from tests.support.apache_kafka import build_once

CLIENTS_DIR = Path(__file__).parent
REPOSITORY_DIR = CLIENTS_DIR.parents[2]

# Bounds for giving up. The scripts give up single waits themselves, after 30 s each.
SCRIPT_SECONDS = 300.0

# For each scenario its checks, each with what it expects.
SCENARIOS: Final[Mapping[str, Mapping[str, str]]] = tomllib.loads(
    (CLIENTS_DIR / "scenarios.toml").read_text(encoding="utf-8")
)


class ClientUnavailableError(Exception):
    """Something that the client needs is not installed; says what."""


class ClientBuildError(Exception):
    """What the client needs is there, and fetching or building its packages fails."""


@dataclass(frozen=True, slots=True)
class Client:
    """One client library: how its script is made ready, and what is told to it."""

    name: str
    prepare: Callable[[], list[str]]
    # Reads only as a member of a group: told when a broker has no groups.
    reads_in_groups: bool = False


@dataclass(frozen=True, slots=True)
class Check:
    """What a script reported of one check."""

    name: str
    ok: bool
    detail: str = ""
    unsupported: bool = False


@dataclass(slots=True)
class ScriptRun:
    """One call of a script: what it reported by scenario, and how it ended."""

    client: str
    checks: dict[str, list[Check]] = field(default_factory=dict)
    noise: list[str] = field(default_factory=list)
    ending: str = ""
    stderr: str = ""

    def unsupported(self, scenario: str) -> list[Check]:
        return [check for check in self.checks.get(scenario, []) if check.unsupported]

    def failures(self, scenario: str) -> list[str]:
        """What is wrong with a scenario: failed checks, and those that are not reported."""
        reported = self.checks.get(scenario, [])
        failures = [f"{check.name}: {check.detail}" for check in reported if not check.ok]
        wanted = list(SCENARIOS[scenario])
        names = [check.name for check in reported]
        failures += [f"{name}: not reported" for name in wanted if name not in names]
        surplus = [name for name in names if name not in wanted and name != "set-up"]
        failures += [f"{name}: there is no such check in scenarios.toml" for name in surplus]
        failures += [f"{name}: reported twice" for name in set(names) if names.count(name) > 1]
        if failures:
            failures.append(f"the script {self.ending}")
            failures += self.noise
        return failures


def run(client: Client, bootstrap: str, prefix: str, scenarios: Sequence[str]) -> ScriptRun:
    """Calls the client's script for these scenarios."""
    command = [*client.prepare(), bootstrap, *scenarios, f"--prefix={prefix}"]
    if client.reads_in_groups and not serves(bootstrap, JOIN_GROUP):
        command.append("--without-groups")
    with tempfile.TemporaryFile() as stderr, tempfile.TemporaryFile() as stdout:
        process = subprocess.Popen(
            command,
            cwd=REPOSITORY_DIR,
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            start_new_session=True,
        )
        try:
            ending = f"ended with {process.wait(SCRIPT_SECONDS)}"
        except subprocess.TimeoutExpired:
            ending = f"did not end within {SCRIPT_SECONDS:.0f} s"
        finally:
            _end_with_children(process)
        stdout.seek(0)
        stderr.seek(0)
        said = stderr.read()[-6000:].decode(errors="replace")
        result = ScriptRun(client.name, ending=ending, stderr=said)
        for line in stdout.read().decode(errors="replace").splitlines():
            _take_line(result, line)
    return result


def _take_line(result: ScriptRun, line: str) -> None:
    try:
        report = json.loads(line)
        check = Check(
            report["check"], report["ok"], report["detail"], report.get("unsupported", False)
        )
        result.checks.setdefault(report["scenario"], []).append(check)
    except (ValueError, TypeError, KeyError):
        result.noise.append(f"on its standard output: {line[:500]}")


def _end_with_children(process: subprocess.Popen[bytes]) -> None:
    """Ends a script that still runs, and what it started (the session is its own)."""
    if sys.platform == "win32":
        process.kill()
    else:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _java() -> list[str]:
    java = _tool("java", "a Java runtime, 17 or later")
    folder = CLIENTS_DIR / "java"
    sources = ["pom.xml", *_below(folder, "src/**/*.java"), *_below(folder, "src/**/*.properties")]

    def package(_: Path) -> None:
        _tool("javac", "a JDK, 17 or later")
        _build(folder, [_tool("mvn", "Apache Maven"), "-q", "-B", "package"])

    build_once(folder, sources, "target", package)
    jars = os.pathsep.join(str(folder / "target" / name) for name in ("clients.jar", "lib/*"))
    quick = ("-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
    return [java, *quick, "-cp", jars, "fencepost.clients.Main"]


def _franz_go() -> list[str]:
    folder = CLIENTS_DIR / "franz-go"
    program = folder / "target" / ("client.exe" if sys.platform == "win32" else "client")

    def compile_(_: Path) -> None:
        _refuse_older([go, "env", "GOVERSION"], 1, "Go", 26)
        _build(folder, [go, "build", "-o", str(program), "."])

    go = _tool("go", "Go, 1.26 or later")
    build_once(folder, ["go.mod", "go.sum", *_below(folder, "*.go")], "target", compile_)
    return [str(program)]


def _kafkajs() -> list[str]:
    node = _tool("node", "Node.js, 20 or later")
    _refuse_older([node, "--version"], 20, "Node.js")
    folder = CLIENTS_DIR / "kafkajs"

    def install(_: Path) -> None:
        # Scripts of packages are not needed here, and nobody has read them.
        _build(folder, [_tool("npm", "npm"), "ci", "--ignore-scripts", "--no-audit", "--no-fund"])

    build_once(folder, ["package.json", "package-lock.json"], "node_modules", install)
    return [node, str(folder / "client.mjs")]


def _python(module: str) -> Callable[[], list[str]]:
    def prepare() -> list[str]:
        folder = CLIENTS_DIR / "python"
        environment = folder / ".venv-clients"
        scripts = "Scripts" if sys.platform == "win32" else "bin"
        python = str(environment / scripts / "python")

        def install(_: Path) -> None:
            _build(folder, [sys.executable, "-m", "venv", str(environment)])
            _build(folder, [python, "-m", "pip", "install", "-q", "-r", "requirements.txt"])

        build_once(folder, ["requirements.txt"], environment.name, install)
        return [python, "-m", f"tests.conformance.clients.python.{module}"]

    return prepare


def _kcat() -> list[str]:
    _tool("kcat", "kcat")
    return [sys.executable, "-m", "tests.conformance.clients.python.kcat_client"]


def _tool(command: str, what: str) -> str:
    path = shutil.which(command)
    if path is None:
        raise ClientUnavailableError(f"it needs {what}: there is no '{command}' on the PATH")
    return path


def _refuse_older(command: list[str], major: int, what: str, minor: int = 0) -> None:
    printed = subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    found = tuple(int(part) for part in re.findall(r"\d+", printed)[:2])
    if found < (major, minor):
        wanted = f"{major}.{minor}" if minor else f"{major}"
        raise ClientUnavailableError(f"it needs {what} {wanted} or later: this is {printed}")


def _below(folder: Path, pattern: str) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.glob(pattern))


def _build(folder: Path, command: list[str]) -> None:
    result = subprocess.run(
        command,
        cwd=folder,
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


CLIENTS: Final[Mapping[str, Client]] = {
    client.name: client
    for client in (
        Client("java", _java),
        Client("confluent-kafka", _python("confluent_client")),
        Client("kcat", _kcat),
        Client("aiokafka", _python("aiokafka_client")),
        Client("kafka-python", _python("kafka_python_client")),
        Client("kafkajs", _kafkajs, reads_in_groups=True),
        Client("franz-go", _franz_go),
    )
}
