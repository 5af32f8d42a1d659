"""``fencepost tap`` beside a running broker, as a person or a script starts it."""

from __future__ import annotations

import json
import signal
import struct
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from socket import create_connection
from typing import Any

import pytest
from fencepost_protocol.apis import Message, response_class
from fencepost_protocol.framing import api_key_of, encode_request, read_response_head
from fencepost_protocol.generated.api_versions import ApiVersionsRequest
from fencepost_protocol.generated.fetch import FetchPartition, FetchRequest, FetchTopic
from fencepost_protocol.generated.init_producer_id import InitProducerIdRequest
from fencepost_protocol.generated.metadata import MetadataRequest
from fencepost_protocol.generated.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from fencepost_protocol.records.writer import build_batch

FENCEPOST = (sys.executable, "-m", "fencepost_broker")
PATIENCE_S = 60.0


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    """A broker with topics; its tap is at the same port, in UDP."""
    command = [*FENCEPOST, "up", "--port", "0", "--json", "--topic", "orders:2", "--topic", "other"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as broker:
        assert broker.stdout is not None
        told = json.loads(broker.stdout.readline())
        yield int(told["bootstrap"].rpartition(":")[2])
        broker.terminate()


class Client:
    """One connection, one request after the other."""

    def __init__(self, port: int, client_id: str) -> None:
        self.socket = create_connection(("127.0.0.1", port))
        self._stream = self.socket.makefile("rb")
        self._client_id = client_id

    def ask(self, request: Message, version: int) -> Any:
        self.socket.sendall(encode_request(request, version, 1, self._client_id))
        size = struct.unpack(">i", self._stream.read(4))[0]
        frame = memoryview(self._stream.read(size))
        key = api_key_of(request)
        _, body = read_response_head(frame, key, version)
        return response_class(key).decode(frame, version, body)[0]

    def produce(self, topic: str, *values: bytes, version: int = 9) -> Any:
        records = bytes(build_batch(None, values, 1000))
        data = TopicProduceData(topic, partition_data=[PartitionProduceData(1, records)])
        return self.ask(ProduceRequest(None, -1, 5000, [data]), version)

    def close(self) -> None:
        self._stream.close()
        self.socket.close()


@contextmanager
def client(port: int, client_id: str = "shop") -> Iterator[Client]:
    made = Client(port, client_id)
    with suppress(ConnectionError):
        yield made
    made.close()


class Watching:
    """A running ``fencepost tap``."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        assert process.stderr is not None
        assert "watching node 1" in process.stderr.readline()

    def lines(self, count: int) -> list[str]:
        assert self.process.stdout is not None
        return [self.process.stdout.readline().rstrip("\n") for _ in range(count)]

    def end(self, number: int = signal.SIGINT) -> tuple[list[str], str]:
        """What was still written, and the count."""
        self.process.send_signal(number)
        out, err = self.process.communicate()
        assert self.process.returncode == 0, err
        return out.splitlines(), err.strip()


@contextmanager
def watching(port: int, *options: str) -> Iterator[Watching]:
    command = [*FENCEPOST, "tap", f"127.0.0.1:{port}", *options]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True) as process:
        # A tap that shows too little would let its test wait for ever.
        end = threading.Timer(PATIENCE_S, process.kill)
        end.start()
        try:
            yield Watching(process)
        finally:
            end.cancel()
            process.kill()


def test_lines_and_the_count_at_the_end(port: int) -> None:
    with watching(port) as tap, client(port) as it:
        it.ask(ApiVersionsRequest("my-client", "1.0"), 3)
        it.produce("orders", b"value")
        it.produce("nowhere", b"value")
        lines = tap.lines(7)
        rest, count = tap.end()
    assert [line.split("  ", 1)[1].split(" ", 3)[0][0] for line in lines] == ["#"] * 7
    opened, asked, told, produced, acked, missed, refused = lines
    assert opened.endswith("connected")
    assert "shop > ApiVersions v3" in asked
    assert "shop (my-client 1.0) < ApiVersions v3" in told
    assert " api_keys " in told
    assert "> Produce v9 acks=-1 orders[1 73 B] (" in produced
    assert "< Produce v9" in acked
    assert "ms orders[1 base_offset=0] (" in acked
    assert "> Produce v9 acks=-1 nowhere[1 73 B] (" in missed
    assert "nowhere[1 UNKNOWN_TOPIC_OR_PARTITION" in refused
    assert rest == []
    assert count == "7 events seen, 7 shown, 0 lost"


def test_json_with_filters_of_both_sides(port: int) -> None:
    options = ("--json", "--hex", "--topic", "orders", "--api", "produce", "--client", "sh*")
    with watching(port, *options) as tap:
        for client_id in ("another", "shop"):
            with client(port, client_id) as it:
                it.ask(MetadataRequest(), 12)
                it.produce("other", b"value")
                it.produce("orders", b"value")
        asked, told = map(json.loads, tap.lines(2))
        rest, count = tap.end(signal.SIGTERM)
    assert rest == []
    assert count == "4 events seen, 2 shown, 0 lost"
    assert (asked["kind"], asked["api"], asked["topics"]) == ("request", "Produce", ["orders"])
    assert (told["kind"], told["client_id"], told["cut"]) == ("response", "shop", False)
    assert told["elapsed_us"] >= 0
    assert len(bytes.fromhex(told["frame"])) == told["size"]


def test_topics_are_named_though_the_protocol_tells_their_ids_only(port: int) -> None:
    with watching(port, "--topic", "orders", "--api", "Fetch", "--count", "2") as tap:
        with client(port) as it:
            topics = it.ask(MetadataRequest(topics=None), 12).topics
            fetches = [FetchTopic("", topic.topic_id, [FetchPartition(0)]) for topic in topics]
            for topic in fetches:
                topic.partitions[0].partition_max_bytes = 1000
                it.ask(FetchRequest(max_bytes=1000, topics=[topic]), 13)
        asked, told = tap.lines(2)
    assert "> Fetch v13" in asked
    assert "orders[0 fetch_offset=0]" in asked
    assert "orders[0 high_watermark=" in told


def test_a_transaction_is_followed_by_its_id(port: int) -> None:
    with watching(port, "--transactional-id", "txn1", "-v", "--count", "1") as tap:
        with client(port) as it:
            it.ask(InitProducerIdRequest(None, 60_000), 4)
            it.ask(InitProducerIdRequest("txn1", 60_000), 4)
        line, *tree = tap.lines(8)
    assert "> InitProducerId v4 transactional_id=txn1" in line
    assert any("request_api_key" in row for row in tree)


def test_what_breaks_the_protocol_is_shown_with_its_reason(port: int) -> None:
    with watching(port) as tap, client(port) as it:
        it.socket.sendall(b"GET / HTTP/1.1\r\n\r\n")
        opened, dropped, closed = tap.lines(3)
    assert opened.endswith("connected")
    assert "DROPPED by the broker" in dropped
    assert "socket.request.max.bytes" in dropped
    assert closed.endswith("closed")


def test_the_counters(port: int) -> None:
    with client(port) as it:
        it.produce("nowhere", b"value", version=8)
    command = [*FENCEPOST, "tap", f"127.0.0.1:{port}", "--stats"]
    lines = subprocess.check_output(command, text=True).splitlines()
    assert "requests.Produce.versions.8 1" in lines
    assert any(line.startswith("errors.UNKNOWN_TOPIC_OR_PARTITION ") for line in lines)
    told = json.loads(subprocess.check_output([*command, "--json"]))
    assert told["topics"]["orders"]["partitions"] == 2
    assert told["tap"]["datagrams_ignored"] == 0


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["127.0.0.1:1"], 1, "127.0.0.1:1/udp: Connection refused; check that a Fencepost broker"),
        (["--api", "produc"], 2, "--api produc: there is no such API; did you mean Produce?"),
        (["localhost:port"], 2, "localhost:port: it must be HOST or HOST:PORT"),
    ],
)
def test_mistakes_are_told_in_one_line(arguments: list[str], code: int, said: str) -> None:
    done = subprocess.run(
        [*FENCEPOST, "tap", *arguments], capture_output=True, text=True, check=False, cwd=Path("/")
    )
    assert done.returncode == code
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_reader_that_has_seen_enough_is_no_error(port: int) -> None:
    with watching(port, "--json") as tap, client(port) as it:
        it.ask(MetadataRequest(), 12)
        tap.lines(1)
        assert tap.process.stdout is not None
        tap.process.stdout.close()
        while tap.process.poll() is None:
            it.ask(MetadataRequest(), 12)
        assert tap.process.returncode == 0
        assert tap.process.stderr is not None
        assert "Traceback" not in tap.process.stderr.read()
