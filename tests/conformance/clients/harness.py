"""Unmodified clients of every language, each behind a script that a user could have written.

`CLIENTS` names them; `prepare` fetches and builds what one needs (on first use, into folders that
git ignores), `run` calls its script, `start_broker` starts what it talks to. What the scripts are
asked for, and how they answer, stands in `scenarios.toml`.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Final, Protocol, Self

from tests.support.apache_kafka import ApacheKafka, advertised_apis, build_once

CLIENTS_DIR = Path(__file__).parent
REPOSITORY_DIR = CLIENTS_DIR.parents[2]

# Bounds for giving up. The scripts give up single waits themselves, after 30 s each.
SCRIPT_SECONDS = 300.0
READY_SECONDS = 30.0
STOP_SECONDS = 30.0

# For each scenario its checks, each with what it expects.
SCENARIOS: Final[Mapping[str, Mapping[str, str]]] = tomllib.loads(
    (CLIENTS_DIR / "scenarios.toml").read_text(encoding="utf-8")
)

# What a scenario needs of a broker besides the data plane: API keys, with their names.
JOIN_GROUP = (11, "JoinGroup")
NEEDS: Final[Mapping[str, Sequence[tuple[int, str]]]] = {
    "groups": [JOIN_GROUP],
    "groups-consumer-protocol": [(68, "ConsumerGroupHeartbeat")],
    "transactions": [JOIN_GROUP, (26, "EndTxn")],
}

# The protocol of KIP-848 has its heartbeat interval from the broker: 5 s, unless it is told so.
BROKER_SETTINGS = {
    "group.consumer.min.heartbeat.interval.ms": "200",
    "group.consumer.heartbeat.interval.ms": "200",
}


class ClientUnavailableError(Exception):
    """Something that the client needs is not installed; says what."""


class ClientBuildError(Exception):
    """What the client needs is there, and fetching or building its packages fails."""


class BrokerUnavailableError(Exception):
    """There is no broker of that kind here; says why."""


class BrokerFailedError(Exception):
    """The broker did not start, or not stop; says what it said."""


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


class RunningBroker(Protocol):
    """A broker that scripts can be run against."""

    @property
    def bootstrap(self) -> str: ...

    def restart(self) -> None: ...

    def stderr(self) -> str: ...


@contextmanager
def start_broker(kind: str) -> Iterator[RunningBroker]:
    """A broker of that kind, gone at the end; it keeps its address and its data in a restart."""
    if kind == "kafka":
        with ApacheKafka(BROKER_SETTINGS) as kafka:
            yield kafka
    elif kind == "fencepost":
        with FencepostBroker() as fencepost:
            yield fencepost
    else:
        raise ValueError(f"no kind of broker: {kind!r} (there are 'fencepost' and 'kafka')")


class FencepostBroker:
    """`fencepost up` in a process of its own, with a data directory of its own."""

    def __init__(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="fencepost-"))
        self._port = 0
        self._bootstrap = ""
        self._process: subprocess.Popen[str] | None = None
        self._stderr: IO[bytes] | None = None

    @property
    def bootstrap(self) -> str:
        return self._bootstrap

    def __enter__(self) -> Self:
        try:
            self._refuse_missing_command()
            self._stderr = (self._folder / "stderr").open("w+b")
            self._start()
        except BaseException:
            self._clean_up()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._clean_up()

    def restart(self) -> None:
        """Stops it in an orderly way and starts it again, on the same port with the same data."""
        process = self._process
        assert process is not None
        process.terminate()
        try:
            code = process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            raise BrokerFailedError(
                f"not stopped after {STOP_SECONDS:.0f} s; it said:\n{self.stderr()[-4000:]}"
            ) from None
        if code not in (0, -signal.SIGTERM):
            raise BrokerFailedError(f"stopped with {code}; it said:\n{self.stderr()[-4000:]}")
        process.communicate()
        self._start()

    def stderr(self) -> str:
        return (self._folder / "stderr").read_text(errors="replace")

    def _refuse_missing_command(self) -> None:
        result = subprocess.run(
            [sys.executable, "-m", "fencepost_broker", "up", "--help"],
            capture_output=True,
            text=True,
            check=False,
        )
        if result.returncode != 0:
            last = result.stderr.strip().splitlines()[-1:]
            raise BrokerUnavailableError(f"there is no command 'fencepost up': {last}")

    def _start(self) -> None:
        assert self._stderr is not None
        known = self._known_settings()
        settings = [f"{name}={value}" for name, value in BROKER_SETTINGS.items() if name in known]
        self._process = subprocess.Popen(
            [
                *(sys.executable, "-m", "fencepost_broker", "up", "--json"),
                *("--port", str(self._port), "--data-dir", str(self._folder / "data")),
                *(word for setting in settings for word in ("-c", setting)),
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
            text=True,
        )
        assert self._process.stdout is not None
        too_late = threading.Timer(READY_SECONDS, self._process.kill)
        too_late.start()
        line = self._process.stdout.readline()
        too_late.cancel()
        if not line:
            code = self._process.wait()
            raise BrokerFailedError(
                f"'fencepost up' ended with {code}; it said:\n{self.stderr()[-4000:]}"
            )
        self._bootstrap = json.loads(line)["bootstrap"]
        self._port = int(self._bootstrap.rpartition(":")[2])

    def _known_settings(self) -> str:
        """What `fencepost config` lists: settings of what is not built yet are left out."""
        return subprocess.run(
            [sys.executable, "-m", "fencepost_broker", "config"],
            capture_output=True,
            text=True,
            check=False,
        ).stdout

    def _clean_up(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None
        if self._stderr is not None:
            self._stderr.close()
        shutil.rmtree(self._folder, ignore_errors=True)


def missing_apis(bootstrap: str, scenario: str) -> list[str]:
    """The names of the APIs that a scenario needs and the broker does not serve."""
    needed = NEEDS.get(scenario, [])
    served = advertised_apis(int(bootstrap.rpartition(":")[2])) if needed else {}
    return [name for key, name in needed if key not in served]


def run(client: Client, bootstrap: str, prefix: str, scenarios: Sequence[str]) -> ScriptRun:
    """Calls the client's script for these scenarios."""
    command = [*client.prepare(), bootstrap, *scenarios, f"--prefix={prefix}"]
    if client.reads_in_groups and JOIN_GROUP[0] not in advertised_apis(
        int(bootstrap.rpartition(":")[2])
    ):
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
        go = _tool("go", "Go")
        _build(folder, [go, "build", "-o", str(program), "."])

    _tool("go", "Go")
    build_once(folder, ["go.mod", "go.sum", *_below(folder, "*.go")], "target", compile_)
    return [str(program)]


def _kafkajs() -> list[str]:
    node = _tool("node", "Node.js, 20 or later")
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
