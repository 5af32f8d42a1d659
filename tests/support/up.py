"""``fencepost up`` in a process of its own, and blocking connections to it.

    with Up("-c", "num.partitions=3") as broker, broker.connect() as client:
        answer = client.ask(MetadataRequest(), 13)
        broker.kill()
        broker.start()  # the same arguments again

What the broker says is kept in a file; ``said`` reads it. Give a data directory to ``arguments``
where something shall be there after a restart.
"""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from fencepost_protocol.apis import Message, response_class
from fencepost_protocol.framing import api_key_of, encode_request, read_response_head
from fencepost_protocol.generated.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from fencepost_protocol.generated.fetch import FetchPartition, FetchRequest, FetchTopic
from fencepost_protocol.generated.metadata import MetadataRequest, MetadataRequestTopic
from fencepost_protocol.generated.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    TopicProduceData,
)
from fencepost_protocol.records.batch import split_batches
from fencepost_protocol.records.reader import Record, iter_records

from tests.support.waiting import polled

COMMAND = (sys.executable, "-m", "fencepost_broker", "up", "--port", "0", "--json")
WITHOUT_PORT = (*COMMAND[:4], "--json")
"""For one whose ``listeners`` are told."""
PATIENCE_SECONDS = 120.0
"""For giving up on a broker that hangs; generous, for a machine that is busy."""
BUG = "a request made the broker fail"

CREATE_VERSION, METADATA_VERSION, FETCH_VERSION, PRODUCE_VERSION = 7, 12, 11, 9
FETCH_BYTES = 1 << 20


class ClosedError(Exception):
    """The broker closed the connection instead of an answer."""


def is_gone(pid: int) -> bool:
    """Whether a process has ended; a zombie has."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def until_gone(pids: Sequence[int]) -> None:
    """Wait until all of them have ended."""
    polled(lambda: all(map(is_gone, pids)), f"some of {pids} stay", PATIENCE_SECONDS)


class Wire:
    """One blocking connection."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), PATIENCE_SECONDS)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._correlation_id = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.socket.close()

    def ask(self, request: Message, version: int) -> Any:
        """Send a request, wait for the answer, decode it."""
        return self.receive(request, version, self.send_request(request, version))

    def send_request(self, request: Message, version: int) -> int:
        """Send a request; gives its correlation id."""
        self._correlation_id += 1
        self.send(encode_request(request, version, self._correlation_id, "test"))
        return self._correlation_id

    def receive(self, request: Message, version: int, correlation_id: int) -> Any:
        """Read the answer to a request of that type."""
        frame = self.frame()
        key = api_key_of(request)
        answered, body = read_response_head(frame, key, version)
        assert answered == correlation_id
        response, end = response_class(key).decode(frame, version, body)
        assert end == len(frame)
        return response

    def send(self, data: bytes | bytearray | memoryview) -> None:
        """Send bytes as they are."""
        try:
            self.socket.sendall(data)
        except (BrokenPipeError, ConnectionResetError) as error:
            raise ClosedError(str(error)) from error

    def frame(self) -> memoryview:
        """Read one frame."""
        return memoryview(self._read(struct.unpack(">i", self._read(4))[0]))

    def _read(self, size: int) -> bytearray:
        data = bytearray(size)
        view = memoryview(data)
        filled = 0
        while filled < size:
            try:
                got = self.socket.recv_into(view[filled:])
            except ConnectionResetError as error:
                raise ClosedError(str(error)) from error
            if not got:
                raise ClosedError(f"after {filled} of {size} bytes")
            filled += got
        return data

    def is_closed(self) -> bool:
        """Wait for the other side to close; False when it says something instead."""
        try:
            return not self.socket.recv(1)
        except ConnectionResetError:
            return True

    # -- the everyday requests -----------------------------------------------------------------

    def create(self, name: str, partitions: int = 1, **configs: str) -> None:
        """Create a topic; ``_`` in the names of settings stands for a dot."""
        given = [
            CreatableTopicConfig(key.replace("_", "."), value) for key, value in configs.items()
        ]
        topic = CreatableTopic(name, partitions, -1, configs=given)
        answer = self.ask(CreateTopicsRequest(topics=[topic]), CREATE_VERSION).topics[0]
        assert not answer.error_code, answer.error_message

    def produce(
        self, topic: str, records: bytes | bytearray | None, partition: int = 0, *,
        version: int = PRODUCE_VERSION,
    ) -> PartitionProduceResponse:  # fmt: skip
        """Produce one batch as it is."""
        request = produce_request(topic, records, partition)
        answer: PartitionProduceResponse
        answer = self.ask(request, version).responses[0].partition_responses[0]
        return answer

    def fetch(self, topic: str, partition: int = 0) -> list[Record]:
        """All records of a partition, in order."""
        found: list[Record] = []
        offset = 0
        while True:
            wanted = FetchPartition(partition, fetch_offset=offset, partition_max_bytes=FETCH_BYTES)
            request = FetchRequest(
                max_wait_ms=0,
                min_bytes=0,
                max_bytes=FETCH_BYTES,
                topics=[FetchTopic(topic, partitions=[wanted])],
            )
            data = self.ask(request, FETCH_VERSION).responses[0].partitions[0]
            assert not data.error_code, data.error_code
            if not data.records:
                return found
            for header, batch in split_batches(data.records, tolerate_partial=True):
                if not header.is_control:
                    found += (each for each in iter_records(batch) if each.offset >= offset)
                offset = header.next_offset

    def topics(self, *names: str) -> dict[str, int]:
        """The error code of each of these topics, or of all that there are."""
        asked = [MetadataRequestTopic(name=name) for name in names] if names else None
        request = MetadataRequest(topics=asked, allow_auto_topic_creation=False)
        return {each.name: each.error_code for each in self.ask(request, METADATA_VERSION).topics}

    def topic_ids(self) -> list[bytes]:
        """The ids of all topics."""
        answer = self.ask(MetadataRequest(topics=None), METADATA_VERSION)
        return [each.topic_id for each in answer.topics]


def produce_request(
    topic: str, records: bytes | bytearray | None, partition: int = 0, *, acks: int = -1
) -> ProduceRequest:
    """A Produce request with one batch."""
    entry = PartitionProduceData(partition, records)
    return ProduceRequest(None, acks, 30_000, [TopicProduceData(topic, partition_data=[entry])])


class Up:
    """A broker in a process of its own, on a port that the system chose."""

    def __init__(
        self, *arguments: str, environment: dict[str, str] | None = None,
        before: Sequence[str] = (), command: Sequence[str] = COMMAND,
    ) -> None:  # fmt: skip
        """``before`` is a command that runs ours, such as ``("prlimit", "--nofile=64")``."""
        self._command = [*before, *command, *arguments]
        self._environment = os.environ | (environment or {})
        self._folder = tempfile.TemporaryDirectory(prefix="fencepost-up-")
        self._stderr = Path(self._folder.name) / "stderr"
        self._process: subprocess.Popen[str] | None = None
        self.port = 0
        self.told: dict[str, Any] = {}
        """What it has said of itself when it was ready."""

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:
            self._folder.cleanup()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.kill()
        if error is not None:
            sys.stderr.write(self.stderr()[-8000:])
        self._folder.cleanup()

    def start(self) -> None:
        """Start it, and wait until it is ready."""
        stdout = self._spawn()
        line = stdout.readline()
        if not line:
            assert self._process is not None
            code = self._process.wait()
            stdout.close()
            self._process = None
            raise AssertionError(f"the broker ended with {code}: {self.stderr()[-4000:]}")
        self.told = json.loads(line)
        self.port = int(self.told["bootstrap"].rpartition(":")[2])

    def start_and_kill(self, after_seconds: float) -> bool:
        """Start it and kill it before or after it is ready; says whether it was before."""
        stdout = self._spawn()
        is_ready = bool(select.select([stdout], [], [], after_seconds)[0])
        self.kill()
        return not is_ready

    def _spawn(self) -> IO[str]:
        with self._stderr.open("ab") as stderr:
            self._process = subprocess.Popen(
                self._command, stdout=subprocess.PIPE, stderr=stderr, text=True,
                env=self._environment,
            )  # fmt: skip
        assert self._process.stdout is not None
        return self._process.stdout

    @property
    def pid(self) -> int:
        """Its process id."""
        assert self._process is not None
        return self._process.pid

    def connect(self) -> Wire:
        """Open a connection."""
        return Wire(self.port)

    def kill(self) -> None:
        """SIGKILL."""
        self._end(signal.SIGKILL)

    def stop(self) -> int | None:
        """SIGTERM; gives the exit code."""
        return self._end(signal.SIGTERM)

    def _end(self, number: int) -> int | None:
        process = self._process
        if process is None:
            return None
        process.send_signal(number)
        code = process.wait(PATIENCE_SECONDS)
        assert process.stdout is not None
        process.stdout.close()
        self._process = None
        return code

    # -- what it says and takes ----------------------------------------------------------------

    def stderr(self) -> str:
        """All that it has said, of all its lives."""
        return self._stderr.read_text(errors="replace")

    def said(self) -> list[dict[str, Any]]:
        """Its log lines."""
        return [json.loads(line) for line in self.stderr().splitlines() if line.startswith("{")]

    def assert_healthy(self) -> None:
        """It runs and has not met a bug of its own."""
        assert self._process is not None
        assert self._process.poll() is None, f"the broker ended: {self.stderr()[-4000:]}"
        text = self.stderr()
        assert "Traceback" not in text, text[-8000:]
        assert BUG not in text, text[-8000:]

    def resident_bytes(self) -> int:
        """How much memory it has now."""
        return _status_bytes(self.pid, "VmRSS")

    def peak_bytes(self) -> int:
        """How much memory it had at most since the last ``forget_peak``."""
        return _status_bytes(self.pid, "VmHWM")

    def forget_peak(self) -> None:
        """Let the peak begin at what it has now."""
        Path(f"/proc/{self.pid}/clear_refs").write_text("5")

    def cpu_seconds(self) -> float:
        """How much processor time it has used."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _status_bytes(pid: int, name: str) -> int:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) * 1024
    raise AssertionError(f"there is no {name} in /proc/{pid}/status")
