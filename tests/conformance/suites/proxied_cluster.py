"""Five brokers, each behind a proxy of Toxiproxy, as the functional tests of sarama want them.

Clients are told the proxies' addresses. The tests stop brokers with `docker compose`: a program of
that name, which is first in the tests' PATH, hands the words to this process.
"""

from __future__ import annotations

import json
import os
import socketserver
import subprocess
import sys
import tempfile
import threading
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Final, Protocol

from tests.conformance.suites.places import Place
from tests.support.apache_kafka import HOST, ApacheKafka, KafkaFailedError
from tests.support.up import COMMAND, WITHOUT_PORT, Up
from tests.support.waiting import polled

BROKERS: Final = 5
_API_PORT: Final = 8474
_PROXY_PORT: Final = 29090
_BROKER_PORT: Final = 39090
_INNER_PORT: Final = 49090
_CONTROLLER_PORT: Final = 9192
_CONTROLLER_ID: Final = 100
_START_SECONDS: Final = 60.0
_DOCKER: Final = """\
#!{python}
import socket, sys
with socket.socket(socket.AF_UNIX) as to:
    to.connect({path!r})
    to.sendall(" ".join(sys.argv[1:]).encode() + b"\\n")
    with to.makefile("r") as answer:
        failed = answer.readline().strip()
        sys.stdout.write(answer.read())
sys.exit(failed or 0)
"""


class Broker(Protocol):
    """A process that can be stopped in order and started again."""

    def start(self) -> None: ...
    def stop(self) -> object: ...
    def stderr(self) -> str: ...


@contextmanager
def start(kind: str, settings: Mapping[str, str], toxiproxy: Path) -> Iterator[Place]:
    """The place for these tests; ``toxiproxy`` is the program."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="suites-")))
        brokers = stack.enter_context(_KINDS[kind](folder, settings))
        stack.enter_context(_proxies(toxiproxy))

        def said() -> str:
            return "".join(each.stderr() for each in brokers.values())

        path = stack.enter_context(_docker(folder, brokers, said))
        environment = {
            "TOXIPROXY_ADDR": f"http://{HOST}:{_API_PORT}",
            "KAFKA_VERSION": "4.3.1",
            "PATH": f"{path}:{os.environ['PATH']}",
        }
        bootstrap = ",".join(f"localhost:{_PROXY_PORT + each}" for each in brokers)
        yield Place(bootstrap, said, environment=environment)


def _of_each(number: int) -> dict[str, str]:
    at, inner = f"{HOST}:{_BROKER_PORT + number}", f"{HOST}:{_INNER_PORT + number}"
    return {
        "listeners": f"PLAINTEXT://{at},INNER://{inner}",
        "advertised.listeners": f"PLAINTEXT://localhost:{_PROXY_PORT + number},INNER://{inner}",
        "listener.security.protocol.map": (
            "PLAINTEXT:PLAINTEXT,INNER:PLAINTEXT,CONTROLLER:PLAINTEXT"
        ),
        "inter.broker.listener.name": "INNER",
        "broker.rack": str(number),
    }


@contextmanager
def _fencepost(folder: Path, settings: Mapping[str, str]) -> Iterator[Mapping[int, Broker]]:
    def words(number: int, given: Mapping[str, str]) -> list[str]:
        all_of = {"node.id": str(number), **settings, **given}
        told = ["--data-dir", str(folder / str(number))]
        return told + [word for name in all_of for word in ("-c", f"{name}={all_of[name]}")]

    with ExitStack() as stack:
        leads = words(_CONTROLLER_ID, {"process.roles": "controller"})
        controller = stack.enter_context(Up(*leads, command=COMMAND))
        brokers = {}
        for number in range(1, BROKERS + 1):
            given = {
                "process.roles": "broker",
                "controller.quorum.bootstrap.servers": controller.told["controller"],
                **_of_each(number),
            }
            up = Up(*words(number, given), command=WITHOUT_PORT)
            brokers[number] = stack.enter_context(up)
        yield brokers


class _Kafka(ApacheKafka):
    def _write_properties(self) -> None:
        self.port = _BROKER_PORT + self.node_id
        super()._write_properties()


@contextmanager
def _kafka(_: Path, settings: Mapping[str, str]) -> Iterator[Mapping[int, Broker]]:
    brokers: dict[int, _Kafka] = {}
    with ExitStack() as stack:
        for number in range(1, BROKERS + 1):
            given: dict[str, str | None] = {**settings, **_of_each(number)}
            given["controller.quorum.voters"] = f"1@{HOST}:{_CONTROLLER_PORT}"
            if number == 1:
                given["listeners"] = f"{given['listeners']},CONTROLLER://{HOST}:{_CONTROLLER_PORT}"
            broker = _Kafka(given, node_id=number, joins=brokers.get(1), at_full_speed=True)
            brokers[number] = stack.enter_context(broker)
        yield brokers


_KINDS: Final = {"fencepost-cluster": _fencepost, "kafka": _kafka}


@contextmanager
def _proxies(toxiproxy: Path) -> Iterator[None]:
    process = subprocess.Popen(
        [str(toxiproxy), "-host", HOST, "-port", str(_API_PORT)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    proxies = [
        {
            "name": f"kafka{number}",
            "listen": f"{HOST}:{_PROXY_PORT + number}",
            "upstream": f"{HOST}:{_BROKER_PORT + number}",
            "enabled": True,
        }
        for number in range(1, BROKERS + 1)
    ]
    asked = urllib.request.Request(
        f"http://{HOST}:{_API_PORT}/populate", json.dumps(proxies).encode()
    )

    def are_there() -> bool:
        with suppress(OSError), urllib.request.urlopen(asked):
            return True
        return False

    try:
        polled(are_there, "Toxiproxy does not answer", _START_SECONDS)
        yield
    finally:
        process.kill()
        process.wait()


@contextmanager
def _docker(folder: Path, brokers: Mapping[int, Broker], said: Callable[[], str]) -> Iterator[Path]:
    """Gives the folder of a program `docker` that stops and starts these brokers."""

    stopped: set[int] = set()

    def do(what: str, *more: str) -> str:
        if what == "logs":
            return said()
        number = int(more[-1].rpartition("-")[2])
        if what == "stop":
            brokers[number].stop()
            stopped.add(number)
        elif number in stopped:
            brokers[number].start()
            stopped.remove(number)
        return ""

    class Words(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            _, *words = self.rfile.readline().decode().split()
            failed = shown = ""
            try:
                shown = do(*words)
            except (KafkaFailedError, AssertionError, OSError) as error:  # the test is told
                failed = repr(error)
            self.wfile.write(f"{failed}\n{shown}".encode())

    path = folder / "docker.socket"
    program = folder / "bin" / "docker"
    program.parent.mkdir()
    program.write_text(_DOCKER.format(python=sys.executable, path=str(path)), encoding="utf-8")
    program.chmod(0o755)
    with socketserver.UnixStreamServer(str(path), Words) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield program.parent
        finally:
            server.shutdown()
            thread.join()
