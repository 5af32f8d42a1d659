"""``fencepost up`` as a person or a script runs it, in a process of its own."""

from __future__ import annotations

import ctypes
import json
import os
import re
import signal
import socket
import struct
import subprocess
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

import pytest
from fencepost_protocol.apis import Message, response_class
from fencepost_protocol.framing import api_key_of, encode_request, read_response_head
from fencepost_protocol.generated.api_versions import ApiVersionsRequest
from fencepost_protocol.generated.create_topics import CreatableTopic, CreateTopicsRequest
from fencepost_protocol.generated.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
)
from fencepost_protocol.generated.fetch import FetchPartition, FetchRequest, FetchTopic
from fencepost_protocol.generated.metadata import MetadataRequest, MetadataRequestTopic
from fencepost_protocol.generated.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from fencepost_protocol.records.reader import iter_records
from fencepost_protocol.records.writer import build_batch

from tests.support.up import Up
from tests.support.waiting import polled
from tests.wire.up_harness import COMMAND, broker


class Client:
    """One blocking connection."""

    def __init__(self, bootstrap: str) -> None:
        host, _, port = bootstrap.rpartition(":")
        self.socket = socket.create_connection((host.strip("[]"), int(port)))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.socket.close()

    def ask(self, request: Message, version: int) -> Any:
        self.socket.sendall(encode_request(request, version, 1, "test"))
        frame = memoryview(self._read(struct.unpack(">i", self._read(4))[0]))
        key = api_key_of(request)
        _, body = read_response_head(frame, key, version)
        return response_class(key).decode(frame, version, body)[0]

    def take_no_answers(self) -> None:
        """Ask until the broker takes no more, because too many answers lie untaken."""
        frame = encode_request(ApiVersionsRequest("test", "1"), 3, 1)
        self.socket.settimeout(0.2)
        with suppress(TimeoutError):
            while True:
                self.socket.sendall(frame * 100)

    def _read(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            piece = self.socket.recv(size - len(data))
            assert piece, "the broker closed the connection"
            data += piece
        return data

    def produce(self, topic: str, *values: bytes) -> int:
        batch = bytes(build_batch(None, list(values), 1_700_000_000_000))
        request = ProduceRequest(
            acks=-1,
            topic_data=[TopicProduceData(topic, partition_data=[PartitionProduceData(0, batch)])],
        )
        answer = self.ask(request, 9).responses[0].partition_responses[0]
        assert answer.error_code == 0
        offset: int = answer.base_offset
        return offset

    def fetch(self, topic: str) -> list[bytes]:
        wanted = FetchTopic(topic, partitions=[FetchPartition(0, partition_max_bytes=1 << 20)])
        answer = self.ask(FetchRequest(max_wait_ms=1, min_bytes=1, topics=[wanted]), 11)
        records = answer.responses[0].partitions[0].records
        return [bytes(record.value or b"") for record in iter_records(records)] if records else []


def test_produce_and_fetch() -> None:
    with broker("--topic", "t:3") as (process, ready), Client(ready["bootstrap"]) as client:
        assert ready["pid"] == process.pid
        assert ready["data_dir"] is None
        topics = client.ask(MetadataRequest(topics=[MetadataRequestTopic(name="t")]), 9).topics
        assert [len(topic.partitions) for topic in topics] == [3]
        assert client.produce("t", b"a", b"b") == 0
        assert client.produce("t", b"c") == 2
        assert client.fetch("t") == [b"a", b"b"], "the reader stops at the first batch"


def test_a_start_imports_nothing_that_only_some_brokers_use() -> None:
    with Up(environment={"PYTHONPROFILEIMPORTTIME": "1"}) as broker:
        loaded = set(re.findall(r"^import time:.*\| +([\w.]+)$", broker.stderr(), re.MULTILINE))
    assert "fencepost_broker.server.broker_server" in loaded
    of_others = {"construct", "datetime", "lzma", "msgspec", "pyarrow", "shutil", "tempfile"}
    ours = {"coordinator.group.machine", "coordinator.transaction.machine", "server.console"}
    assert not loaded & (of_others | {f"fencepost_broker.{name}" for name in ours})


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGKILL])
def test_what_was_acknowledged_is_there_after_a_restart(tmp_path: Path, end: int) -> None:
    arguments = ("--data-dir", str(tmp_path / "data"))
    with broker(*arguments) as (process, ready), Client(ready["bootstrap"]) as client:
        request = CreateTopicsRequest(topics=[CreatableTopic("kept", 1, 1)])
        created = client.ask(request, 7).topics[0]
        assert created.error_code == 0
        assert client.produce("kept", b"one") == 0
        process.send_signal(end)
        code = process.wait()
        assert code == (0 if end == signal.SIGTERM else -signal.SIGKILL)
    with broker(*arguments) as (_, ready), Client(ready["bootstrap"]) as client:
        topics = client.ask(MetadataRequest(topics=[MetadataRequestTopic(name="kept")]), 12).topics
        assert topics[0].topic_id == created.topic_id
        assert client.fetch("kept") == [b"one"]
        assert client.produce("kept", b"two") == 1


def test_settings_come_from_everywhere(tmp_path: Path) -> None:
    config = tmp_path / "server.properties"
    config.write_text("num.partitions=5\nnode.id=7\n")
    environment = {"FENCEPOST_NODE_ID": "8"}
    with (
        broker("--config", str(config), "-c", "num.partitions=6", **environment) as (_, ready),
        Client(ready["bootstrap"]) as client,
    ):
        client.ask(CreateTopicsRequest(topics=[CreatableTopic("t", -1, -1)]), 7)
        answer = client.ask(MetadataRequest(topics=None), 9)
        assert [broker.node_id for broker in answer.brokers] == [8]
        assert len(answer.topics[0].partitions) == 6


def test_topics_begin_with_their_settings() -> None:
    wanted = "t:2:cleanup.policy=compact,delete:leader.replication.throttled.replicas=0:1"
    with broker("--topic", wanted) as (_, ready), Client(ready["bootstrap"]) as client:
        asked = DescribeConfigsResource(2, "t", ["cleanup.policy", "retention.ms"])
        configs = client.ask(DescribeConfigsRequest([asked]), 4).results[0].configs
        assert {config.name: config.value for config in configs} == {
            "cleanup.policy": "compact,delete",
            "retention.ms": "604800000",
        }


def test_a_script_is_told_when_it_is_ready(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    pid_file = tmp_path / "pid"
    arguments = ["--port", "0", "--ready-fd", str(writing), "--pid-file", str(pid_file)]
    process = subprocess.Popen(
        [*COMMAND, *arguments], stdout=subprocess.PIPE, text=True, pass_fds=[writing]
    )
    try:
        os.close(writing)
        with os.fdopen(reading, encoding="utf-8") as pipe:
            told = json.loads(pipe.read())  # to its end: the broker closes it
        assert told["pid"] == process.pid == int(pid_file.read_text())
        assert told["listeners"] == {"PLAINTEXT": told["bootstrap"]}
        with Client(told["bootstrap"]) as client:
            client.ask(MetadataRequest(topics=None), 9)
    finally:
        process.kill()
        said, _ = process.communicate()
    assert said == f"ready at {told['bootstrap']} (topics are kept in memory, gone at exit)\n"


def test_the_pid_file_goes_with_the_process(tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    with broker("--pid-file", str(pid_file)) as (process, _):
        assert int(pid_file.read_text()) == process.pid
        process.terminate()
        assert process.wait() == 0
        assert not pid_file.exists()


def listens(bootstrap: str) -> bool:
    try:
        Client(bootstrap).socket.close()
    except ConnectionError:
        return False
    return True


def test_a_second_signal_ends_at_once() -> None:
    with broker() as (process, ready), Client(ready["bootstrap"]) as client:
        client.take_no_answers()  # until they are taken, stopping waits
        process.terminate()
        polled(lambda: not listens(ready["bootstrap"]), "it does not stop")
        process.terminate()
        assert process.wait() == 130


def without_roots_rights() -> None:
    """Let permissions hold for root, too: its process may override them no longer."""
    libc = ctypes.CDLL(None, use_errno=True)
    for capability in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
        assert libc.prctl(24, capability, 0, 0, 0) == 0, ctypes.get_errno()  # PR_CAPBSET_DROP


def failed(
    *arguments: str, before: Callable[[], None] | None = None
) -> subprocess.CompletedProcess[str]:
    command = [*COMMAND, "--port", "0", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, preexec_fn=before)


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["-c", "num.partitons=3"], 2, "there is no setting num.partitons; did you mean num.part"),
        (
            ["-c", "num.partitions=many"],
            2,
            "num.partitions=many: it is not a whole number; allowed: ",
        ),
        (
            ["-c", "listeners=SASL_SSL://:0", "-c", "sasl.enabled.mechanisms=PLAIN"],
            2,
            "SASL_SSL supports PLAIN, and no user has a password: set listener.name.",
        ),
        (["--user", "alice"], 2, "FENCEPOST_PASSWORD_ALICE in the environment"),
        (["--tls-cert", "none.pem"], 2, "--tls-cert none.pem needs the certificate's key"),
        (["--tls-cert", "n.pem", "--tls-key", "n.key"], 2, "--tls-cert n.pem: cannot be read: No"),
        (["-c", "listeners=A://:0"], 2, "A is missing in listener.security.protocol.map"),
        (["--config", "/none.toml"], 2, "/none.toml cannot be read: No such file or directory"),
        (["--config", "/"], 2, "/ cannot be read: Is a directory"),
        (["--log", "tea=debug"], 2, "there is no log area tea"),
        (["--topic", "t:none"], 2, "topic 't:none': 'none' is not a number of partitions"),
        (["--topic", "t:0"], 2, "topic 't:0': partitions must be 1 to "),
        (["--topic", ":3"], 2, "topic ':3': it must be NAME[:PARTITIONS]"),
        (["--topic", "t:1:retention.ms=x"], 2, "'t:1:retention.ms=x': retention.ms=x: it is no"),
        (["--topic", "t:retention=1"], 2, "there is no topic setting retention"),
        (["--topic", "a b"], 2, "--topic a b: 'a b' has ' ' in it"),
        (["--host", "203.0.113.1"], 3, "this machine does not have that address"),
        (
            ["--data-dir", "/proc/none"],
            5,
            "fencepost up: cannot make the data directory /proc/none: ",
        ),
        (["--pid-file", "/proc/none/pid"], 2, "there is no directory /proc/none"),
        (["--pid-file", "/proc/none"], 1, "cannot report that the broker is ready: "),
    ],
)
def test_what_cannot_be_is_told_in_one_line(arguments: list[str], code: int, said: str) -> None:
    done = failed(*arguments)
    assert done.returncode == code, done.stderr
    assert said in done.stderr
    told = [line for line in done.stderr.splitlines() if line[:1] != "{"]  # no log line
    assert [line.partition(":")[0] for line in told] == ["fencepost up"]


def test_everything_that_is_wrong_is_told(tmp_path: Path) -> None:
    config = tmp_path / "server.properties"
    config.write_text("num.partitions=0\nzookeeper.connect=x\n")
    done = failed("--config", str(config), "-c", "node.id=x")
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 3, done.stderr
    assert f"{config}:2" in done.stderr


def test_a_port_that_is_taken_is_told() -> None:
    with broker() as (_, ready):
        port = ready["bootstrap"].rpartition(":")[2]
        done = failed("--port", port)
        assert done.returncode == 3
        assert f"cannot listen on port {port} of 127.0.0.1: the port is in use" in done.stderr


def test_a_directory_that_another_broker_uses_is_told(tmp_path: Path) -> None:
    with broker("--data-dir", str(tmp_path)):
        done = failed("--data-dir", str(tmp_path))
        assert done.returncode == 4
        assert f"{tmp_path}/.lock: another broker uses the directory" in done.stderr


def test_a_directory_of_another_cluster_is_told(tmp_path: Path) -> None:
    directory = ("--data-dir", str(tmp_path))
    with broker(*directory, "-c", "cluster.id=ours") as (process, ready):
        with Client(ready["bootstrap"]) as client:
            assert client.ask(MetadataRequest(topics=None), 9).cluster_id == "ours"
        process.terminate()
        process.wait()
    for setting in ("cluster.id=theirs", "node.id=2"):
        name, _, value = setting.partition("=")
        done = failed(*directory, "-c", setting)
        assert done.returncode == 5
        found = "ours" if name == "cluster.id" else "1"
        assert f"the directory belongs to {name} {found}, not {value}; set {name}" in done.stderr


@pytest.mark.parametrize(
    ("file", "content", "said"),
    [
        ("meta.properties", b"\xff", "meta.properties: it is no text"),
        ("__cluster_metadata-0/00000000000000000000.log", None, "__cluster_metadata-0"),
    ],
)
def test_a_file_that_is_corrupt_is_told(
    tmp_path: Path, file: str, content: bytes | None, said: str
) -> None:
    directory = ("--data-dir", str(tmp_path))
    with broker(*directory) as (process, _):
        process.terminate()
        process.wait()
    path = tmp_path / file
    if content is None:  # a batch of which the checksum is right and a record is not
        content = bytes(build_batch(None, [b"no record of metadata"], 1)) + path.read_bytes()[83:]
    path.write_bytes(content)
    done = failed(*directory)
    assert done.returncode == 5, done.stderr
    assert said in done.stderr
    assert str(tmp_path) in done.stderr


def test_a_directory_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    tmp_path.chmod(0o555)
    done = failed(
        *("--data-dir", str(tmp_path)), before=None if os.geteuid() else without_roots_rights
    )
    tmp_path.chmod(0o755)
    assert done.returncode == 5, done.stderr
    assert "fencepost up: cannot " in done.stderr
    assert "Permission denied" in done.stderr
