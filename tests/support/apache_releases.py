"""Earlier releases of Apache Kafka on this machine, and what they answer to ApiVersions.

    with apache_release("3.9") as kafka:
        print(told_by(kafka.port))

Their jars come from Maven Central on first use (`tests/conformance/releases/pom.xml`).
"""

from __future__ import annotations

import socket
import struct
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from fencepost_protocol.framing import encode_request
from fencepost_protocol.generated.api_versions import ApiVersionsRequest, ApiVersionsResponse

from tests.support.apache_kafka import (
    HOST,
    START_SECONDS,
    ApacheKafka,
    KafkaFailedError,
    build_once,
    free_ports,
    java_command,
    run_maven,
)

VERSIONS: Final = {"2.8": "2.8.2", "3.9": "3.9.1", "4.0": "4.0.2", "4.3": "4.3.1"}
"""The last bug fixes that Maven Central has of each release; 4.3.1 is the one of all tests."""
WITH_ZOOKEEPER: Final = ("2.8",)
"""Releases that keep their metadata in ZooKeeper, unless they are told otherwise."""

RELEASES_DIR: Final = Path(__file__).parents[1] / "conformance" / "releases"
_ZOOKEEPER: Final = "org.apache.zookeeper.server.ZooKeeperServerMain"
_ZOOKEEPER_FLAGS: Final = ("-Xmx256m", "-XX:+UseSerialGC", "-XX:-UsePerfData")


def apache_release(release: str) -> ApacheKafka:
    """A node of this release, for a with statement; 2.8 has a ZooKeeper beside it."""
    if VERSIONS[release] == VERSIONS["4.3"]:
        return ApacheKafka()
    return (_WithZooKeeper if release in WITH_ZOOKEEPER else _Release)(VERSIONS[release])


def jars_of(version: str) -> Path:
    """The folder with the jars of a broker, fetched on first use; its clients are among them."""
    argument = f"-Dkafka.version={version}"
    target = f"target/{version}"
    build_once(RELEASES_DIR, ["pom.xml"], target, lambda each: run_maven(each, argument))
    return _library(version)


def _library(version: str) -> Path:
    return RELEASES_DIR / "target" / version / "lib"


class _Release(ApacheKafka):
    def __init__(self, version: str) -> None:
        super().__init__()
        self._version = version
        self.library = _library(version)

    def _fetch(self) -> None:
        jars_of(self._version)


class _WithZooKeeper(_Release):
    _zookeeper: subprocess.Popen[bytes] | None = None
    _zookeeper_port = 0

    def _format(self) -> None:
        """Starts ZooKeeper: a folder without metadata needs no formatting."""
        [self._zookeeper_port] = free_ports(1)
        self._write_properties()
        self._zookeeper = subprocess.Popen(
            java_command(
                self.library, _ZOOKEEPER_FLAGS, _ZOOKEEPER,
                str(self._zookeeper_port), str(self.folder / "zookeeper"),
            ),
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=self._stderr,
            cwd=self.folder,
        )  # fmt: skip
        deadline = time.monotonic() + START_SECONDS
        while not _listens(self._zookeeper_port):
            try:
                code = self._zookeeper.wait(0.05)
            except subprocess.TimeoutExpired:
                if time.monotonic() < deadline:
                    continue
                code = None
            raise KafkaFailedError(f"ZooKeeper does not listen (ended with {code})")

    def _write_properties(self) -> None:
        settings = {
            "broker.id": str(self.node_id),
            "zookeeper.connect": f"{HOST}:{self._zookeeper_port}",
            "listeners": f"PLAINTEXT://{self.bootstrap}",
            "log.dirs": str(self.data_dir),
            "offsets.topic.replication.factor": "1",
            "offsets.topic.num.partitions": "5",
            "transaction.state.log.replication.factor": "1",
            "transaction.state.log.min.isr": "1",
            "transaction.state.log.num.partitions": "5",
            "group.initial.rebalance.delay.ms": "0",
        }
        self._properties_path.write_text("".join(f"{k}={v}\n" for k, v in settings.items()))

    def _clean_up(self) -> None:
        self.kill()
        if self._zookeeper is not None:
            self._zookeeper.kill()
            self._zookeeper.wait()
            self._zookeeper = None
        super()._clean_up()


def _listens(port: int) -> bool:
    try:
        socket.create_connection((HOST, port), timeout=5).close()
    except OSError:
        return False
    return True


@dataclass(frozen=True)
class Told:
    """What ApiVersions answers, by keys of APIs and by names of features."""

    apis: dict[int, tuple[int, int]]
    supported: dict[str, tuple[int, int]]
    finalized: dict[str, int]


def told_by(port: int) -> Told:
    """Asks a broker for its APIs and features, in the highest version that it has."""
    with socket.create_connection((HOST, port), timeout=30) as connection:
        # Version 0 can always be asked for; the ranges tell how the features are asked for.
        first = _asked(connection, 0)
        highest = next(each.max_version for each in first.api_keys if each.api_key == 18)
        answer = _asked(connection, min(highest, ApiVersionsRequest.MAX_VERSION))
    return Told(
        {each.api_key: (each.min_version, each.max_version) for each in answer.api_keys},
        {each.name: (each.min_version, each.max_version) for each in answer.supported_features},
        {each.name: each.max_version_level for each in answer.finalized_features},
    )


def first_answer(port: int, request: ApiVersionsRequest, version: int) -> ApiVersionsResponse:
    """The answer to an ApiVersions of any version, in the layout of version 0."""
    with socket.create_connection((HOST, port), timeout=30) as connection:
        connection.sendall(encode_request(request, version, 1, "tests"))
        return _answered(connection, 0)


def _asked(connection: socket.socket, version: int) -> ApiVersionsResponse:
    request = ApiVersionsRequest("tests", "1")
    connection.sendall(encode_request(request, version, 1, "tests"))
    return _answered(connection, version)


def _answered(connection: socket.socket, version: int) -> ApiVersionsResponse:
    with connection.makefile("rb") as answers:
        [size] = struct.unpack(">i", answers.read(4))
        body = memoryview(answers.read(size))
    answer, _ = ApiVersionsResponse.decode(body, version, 4)
    return answer
