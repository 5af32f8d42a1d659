"""``fencepost up`` as a person or a script runs it, in a process of its own."""

from __future__ import annotations

import json
import os
import signal
import socket
import struct
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

import pytest
from fencepost_protocol.apis import Message, response_class
from fencepost_protocol.framing import api_key_of, encode_request, read_response_head
from fencepost_protocol.generated.create_topics import CreatableTopic, CreateTopicsRequest
from fencepost_protocol.generated.fetch import FetchPartition, FetchRequest, FetchTopic
from fencepost_protocol.generated.metadata import MetadataRequest, MetadataRequestTopic
from fencepost_protocol.generated.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from fencepost_protocol.records.reader import iter_records
from fencepost_protocol.records.writer import build_batch

COMMAND = [sys.executable, "-m", "fencepost_broker", "up"]


@contextmanager
def broker(*arguments: str, **environment: str) -> Iterator[tuple[subprocess.Popen[str], Any]]:
    """A running broker and what it said when it was ready."""
    process = subprocess.Popen(
        [*COMMAND, "--port", "0", "--json", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=os.environ | environment,
    )
    try:
        assert process.stdout is not None
        yield process, json.loads(process.stdout.readline())
    finally:
        process.kill()
        process.communicate()


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


def failed(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["-c", "num.partitons=3"], 2, "num.partitions"),
        (["-c", "num.partitions=many"], 2, "num.partitions"),
        (["--topic", "t:none"], 2, "topic 't:none': 'none' is no number of partitions"),
        (["--port", "0", "--topic", "a b"], 1, "topic 'a b'"),
        (["--port", "0", "--data-dir", "/proc/none"], 1, "/proc/none"),
    ],
)
def test_what_cannot_be_is_told_in_one_line(arguments: list[str], code: int, said: str) -> None:
    done = failed(*arguments)
    assert done.returncode == code, done.stderr
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_a_port_that_is_taken_is_told() -> None:
    with broker() as (_, ready):
        done = failed("--port", ready["bootstrap"].rpartition(":")[2])
        assert done.returncode == 1
        assert "cannot listen" in done.stderr


def test_a_directory_that_another_broker_uses_is_told(tmp_path: Path) -> None:
    with broker("--data-dir", str(tmp_path)):
        done = failed("--port", "0", "--data-dir", str(tmp_path))
        assert done.returncode == 1
        assert str(tmp_path) in done.stderr
