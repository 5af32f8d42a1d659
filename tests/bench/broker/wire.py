"""One plain connection for what is not measured: topics, offsets, the first look at an answer."""

from __future__ import annotations

import socket
import struct
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from types import TracebackType
from typing import Any, Final, Self

from fencepost_protocol.apis import Message, response_class
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.framing import (
    api_key_of,
    encode_request,
    read_response_head,
    response_is_flexible,
)
from fencepost_protocol.generated.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from fencepost_protocol.generated.delete_topics import DeleteTopicsRequest
from fencepost_protocol.generated.index import ApiKey
from fencepost_protocol.generated.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from fencepost_protocol.generated.metadata import MetadataRequest, MetadataRequestTopic

from tests.support.apache_kafka import advertised_apis

HOST: Final = "127.0.0.1"
CLIENT_ID: Final = "bench"
ANSWER_SECONDS: Final = 60.0
SIZE_BYTES: Final = 4
LATEST, EARLIEST = -1, -2
AT_ONCE: Final = 100
"""Small requests that are sent before the first answer is awaited."""

WANTED: Final = {
    ApiKey.PRODUCE: 9,
    ApiKey.FETCH: 12,
    ApiKey.LIST_OFFSETS: 5,
    ApiKey.METADATA: 9,
    ApiKey.FIND_COORDINATOR: 3,
    ApiKey.API_VERSIONS: 3,
    ApiKey.CREATE_TOPICS: 5,
    ApiKey.DELETE_TOPICS: 4,
    ApiKey.INIT_PRODUCER_ID: 4,
    ApiKey.ADD_PARTITIONS_TO_TXN: 3,
    ApiKey.END_TXN: 4,
    ApiKey.OFFSET_COMMIT: 8,
    ApiKey.OFFSET_FETCH: 7,
    ApiKey.JOIN_GROUP: 3,
    ApiKey.SYNC_GROUP: 3,
    ApiKey.HEARTBEAT: 4,
    ApiKey.CONSUMER_GROUP_HEARTBEAT: 1,
}
"""The newest versions that name topics by their names, and with which the same frame can be sent
again (EndTxn 5 gives another epoch, JoinGroup 4 another member id first); a broker that does not
serve one gets the newest that it does."""


class WrongAnswerError(Exception):
    """A broker answered with an error, or with something else than was asked for."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A request as it travels, and what is known of its answer."""

    frame: bytes
    answer_size: int
    error_at: int
    response: Any
    """The answer to the first one."""


class Wire:
    """A connection that waits for each answer."""

    def __init__(
        self,
        port: int,
        newest: Mapping[ApiKey, int] | None = None,
        apis: Mapping[int, tuple[int, int]] | None = None,
    ) -> None:
        self.port = port
        self._newest = newest or {}
        self.apis = advertised_apis(port) if apis is None else apis
        self._socket = socket.create_connection((HOST, port), timeout=ANSWER_SECONDS)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._answers = self._socket.makefile("rb")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """As the with statement does at its end."""
        self._answers.close()
        self._socket.close()

    def beside(self) -> Wire:
        """Another connection to the same broker."""
        return Wire(self.port, self._newest, self.apis)

    def serves(self, key: ApiKey) -> bool:
        """Whether the broker has this API."""
        return key in self.apis

    def version(self, key: ApiKey) -> int:
        """The version in which this API is used here."""
        return min(WANTED[key], self.apis[key][1], self._newest.get(key, WANTED[key]))

    def encode(self, request: Message) -> bytes:
        """A request's frame."""
        version = self.version(ApiKey(api_key_of(request)))
        return bytes(encode_request(request, version, 0, CLIENT_ID))

    def exchange(self, frame: bytes) -> bytes:
        """Send a frame and give the answer to it, without its size."""
        self._socket.sendall(frame)
        return self._receive()

    def _receive(self) -> bytes:
        prefix = self._answers.read(SIZE_BYTES)
        size = struct.unpack(">i", prefix)[0] if len(prefix) == SIZE_BYTES else -1
        answer = self._answers.read(max(size, 0))
        if len(answer) != size:
            raise WrongAnswerError(f"port {self.port}: the connection was closed")
        return answer

    def send(self, request: Message) -> None:
        """Without waiting for the answer."""
        self._socket.sendall(self.encode(request))

    def receive(self, request: Message) -> Any:
        """The decoded answer to what was sent."""
        return self._decode(request, self._receive())

    def ask_all(self, requests: Iterable[Message]) -> Iterator[Any]:
        """Send many requests of a kind, some at a time, and give their decoded answers."""
        for some in batched(requests, AT_ONCE):
            self._socket.sendall(b"".join(map(self.encode, some)))
            for request in some:
                yield self.receive(request)

    def ask(self, request: Message) -> Any:
        """Send a request and give its decoded answer."""
        return self.look(request).response

    def look(self, request: Message) -> Asked:
        """Send a request, decode the answer, and find out what to look at in later ones."""
        key = ApiKey(api_key_of(request))
        frame = self.encode(request)
        answer = self.exchange(frame)
        response = self._decode(request, answer)
        error_at = error_position(response, key, self.version(key))
        return Asked(frame, SIZE_BYTES + len(answer), error_at, response)

    def _decode(self, request: Message, answer: bytes) -> Any:
        key = ApiKey(api_key_of(request))
        version = self.version(key)
        _, body = read_response_head(memoryview(answer), key, version)
        response, end = response_class(key).decode(memoryview(answer), version, body)
        if end != len(answer):
            raise WrongAnswerError(f"{key.name}: {len(answer) - end} bytes behind the answer")
        return response

    # -- topics -------------------------------------------------------------------------------

    def create(self, name: str, partitions: int = 1, **configs: str) -> None:
        """Create a topic; underscores in the names of its settings stand for dots."""
        if self.serves(ApiKey.CREATE_TOPICS):
            settings = [
                CreatableTopicConfig(setting.replace("_", "."), value)
                for setting, value in configs.items()
            ]
            topic = CreatableTopic(name, partitions, 1, configs=settings)
            answer = self.ask(CreateTopicsRequest(topics=[topic], timeout_ms=60_000)).topics[0]
            if answer.error_code:
                code = ErrorCode(answer.error_code).name
                raise WrongAnswerError(f"creating {name}: {code} {answer.error_message or ''}")
        self._await_leaders(name, range(partitions))

    def _await_leaders(self, name: str, partitions: Iterable[int]) -> None:
        """Ask until each partition serves: Apache Kafka says created before it can be used.

        A broker without CreateTopics creates the topic when it is asked for it.
        """
        end = time.monotonic() + ANSWER_SECONDS
        named = MetadataRequest([MetadataRequestTopic(name=name)])
        while self.ask(named).topics[0].error_code:
            refuse_later_than(end, f"{name} is still unknown")
        for partition in partitions:
            while self._end_offset(name, partition).error_code:
                refuse_later_than(end, f"{name}-{partition} still has no leader")

    def delete(self, *names: str) -> None:
        """Delete topics, where that can be done."""
        if self.serves(ApiKey.DELETE_TOPICS):
            self.ask(DeleteTopicsRequest(topic_names=list(names), timeout_ms=30_000))

    def end_offset(self, topic: str, partition: int = 0, isolation_level: int = 0) -> int:
        """How many records a partition has had; at isolation level 1, how many are decided on."""
        return self._right_offset(self._end_offset(topic, partition, isolation_level))

    def records_kept(self, topic: str, partition: int = 0) -> int:
        """How many records a partition has."""
        start = self._right_offset(self._offset(topic, partition, EARLIEST))
        return self.end_offset(topic, partition) - start

    def _right_offset(self, answer: Any) -> int:
        if answer.error_code:
            raise WrongAnswerError(f"ListOffsets: {ErrorCode(answer.error_code).name}")
        return int(answer.offset)

    def _end_offset(self, topic: str, partition: int, isolation_level: int = 0) -> Any:
        return self._offset(topic, partition, LATEST, isolation_level)

    def _offset(self, topic: str, partition: int, at: int, isolation_level: int = 0) -> Any:
        wanted = ListOffsetsTopic(topic, [ListOffsetsPartition(partition, timestamp=at)])
        asked = ListOffsetsRequest(-1, isolation_level=isolation_level, topics=[wanted])
        return self.ask(asked).topics[0].partitions[0]


def batched(things: Iterable[Message], size: int) -> Iterator[tuple[Message, ...]]:
    """Some at a time (itertools has this from Python 3.12 on)."""
    rest = iter(things)
    while some := tuple(islice(rest, size)):
        yield some


def refuse_later_than(end: float, reason: str) -> None:
    """Gives up when it is later than that."""
    if time.monotonic() > end:
        raise WrongAnswerError(reason)


def error_holder(response: Any, key: ApiKey) -> tuple[Any, str]:
    """The part of an answer whose error code tells whether the one thing asked for was done.

    And what the code is called there.
    """
    holder, name = response, "error_code"
    match key:
        case ApiKey.PRODUCE:
            holder = response.responses[0].partition_responses[0]
        case ApiKey.FETCH:
            holder = response.responses[0].partitions[0]
        case ApiKey.METADATA | ApiKey.CREATE_TOPICS if response.topics:
            holder = response.topics[0]
        case ApiKey.OFFSET_COMMIT:
            holder = response.topics[0].partitions[0]
        case ApiKey.ADD_PARTITIONS_TO_TXN:
            holder = response.results_by_topic_v3_and_below[0].results_by_partition[0]
            name = "partition_error_code"
    return holder, name


def error_position(response: Any, key: ApiKey, version: int) -> int:
    """Where in the answer's frame that error code stands; 0 when there is none.

    Found by encoding the answer with another code and looking where the bytes differ.
    """
    holder, name = error_holder(response, key)
    if not hasattr(holder, name):
        return 0
    encoded = []
    before = getattr(holder, name)
    for code in (0, 0x0101):
        setattr(holder, name, code)
        out = bytearray()
        response.encode(version, out)
        encoded.append(out)
    setattr(holder, name, before)
    differing = (at for at, (a, b) in enumerate(zip(*encoded, strict=True)) if a != b)
    head = SIZE_BYTES + 4 + response_is_flexible(key, version)
    found = next(differing, None)  # a later version may have it, and this one not
    return 0 if found is None else head + found
