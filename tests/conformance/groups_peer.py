"""One question to two group coordinators: Apache Kafka's and ours, with answers to compare.

What each makes up for itself (member ids, topic ids, times) is replaced by what it stands for.
Which partition a member gets is the assignor's affair: how many is compared.
"""

from __future__ import annotations

import socket
import struct
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields, is_dataclass
from enum import IntEnum
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from fencepost_broker.coordinator.records import LogRecord, RecordFamily, decode_record
from fencepost_protocol.apis import Message, response_class
from fencepost_protocol.framing import api_key_of, encode_request, read_response_head
from fencepost_protocol.generated.create_topics import CreatableTopic, CreateTopicsRequest
from fencepost_protocol.generated.error_code import ErrorCode
from fencepost_protocol.generated.find_coordinator import FindCoordinatorRequest
from fencepost_protocol.generated.metadata import MetadataRequest
from fencepost_protocol.generated.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
)
from fencepost_protocol.primitives import ZERO_UUID
from fencepost_protocol.records.batch import split_batches
from fencepost_protocol.records.reader import iter_records

from tests.machine.coordinator.group.partition import Partition
from tests.support.waiting import polled

CLIENT = "a-client"
TOPICS = {"t": 4, "u": 2}
DROPPED = {
    "assignment_timestamp",
    "commit_timestamp",
    "create_timestamp",
    "current_state_timestamp",
    "error_message",
    "expire_timestamp",
    "throttle_time_ms",
    "timestamp",
    "unknown_tagged_fields",
    "version",
    "write_timestamp",
}
SORTED = {
    "assigned_partitions",
    "deleting_topics",
    "groups",
    "initialized_topics",
    "initializing_topics",
    "members",
    "topic_partitions",
    "topics",
}
"""What Kafka gives in an order of its own."""


def _are_numbers(content: list[Any]) -> bool:
    return bool(content) and isinstance(content[0], int)


class Side:
    """A coordinator under test."""

    def __init__(self) -> None:
        self.exact = False
        """Whether it matters which partition somebody has, and not only how many."""
        self.names: dict[str, str] = {}
        self.topic_ids: dict[str, bytes] = {}

    def begin(self, message: Message, version: int) -> Any:
        """Sends a request; gives what ``finish`` needs."""
        raise NotImplementedError

    def finish(self, handle: Any) -> Any:
        """The answer to it."""
        raise NotImplementedError

    def forget(self, handle: Any) -> None:
        """The connection goes before there is an answer."""
        raise NotImplementedError

    def wait(self, milliseconds: int) -> None:
        """Time passes."""
        raise NotImplementedError

    def ask(self, message: Message, version: int | None = None) -> Any:
        """Both."""
        known = message.MAX_VERSION if version is None else version
        return self.finish(self.begin(message, known))

    def records(self, group_id: str) -> list[LogRecord]:
        """What the log has of a group."""
        raise NotImplementedError

    def calls(self, made_up: str, name: str) -> str:
        """From now on what this side made up is called so; gives it back."""
        self.names[made_up] = name
        return made_up

    def plain(self, value: Any) -> Any:
        """A message as dictionaries and lists, without what this side made up."""
        if isinstance(value, str):
            return self.names.get(value, value)
        if isinstance(value, list):
            return [self.plain(each) for each in value]
        if not is_dataclass(value):
            return int(value) if isinstance(value, IntEnum) else value
        found: dict[str, Any] = {}
        for field in fields(value):
            name, content = field.name, getattr(value, field.name)
            if name in DROPPED:
                continue
            if name == "topic_id":
                known = {topic_id: topic for topic, topic_id in self.topic_ids.items()}
                content = "none" if content == ZERO_UUID else known.get(content, "unknown")
            elif name == "error_code":
                content = ErrorCode(content).name
            elif name == "metadata_hash":
                content = bool(content)
            elif name == "partitions" and isinstance(content, list) and _are_numbers(content):
                content = sorted(content) if self.exact else len(content)
            elif name == "assignment_epochs" and content:
                content = sorted(content)
            content = self.plain(content)
            found[name] = sorted(content, key=repr) if name in SORTED and content else content
        return found

    def written(self, group_id: str) -> list[Any]:
        """The group's records, to be compared; members come in any order."""
        found = [
            (each.key.NAME, each.value_version, self.plain(each.key), self.plain(each.value))
            for each in self.records(group_id)
        ]
        return sorted(found, key=repr)


class RunningBroker(Protocol):
    """A broker with files: Apache Kafka's, or ours."""

    @property
    def port(self) -> int:
        """Where it listens."""

    @property
    def data_dir(self) -> Path:
        """Where its topics' folders are."""


@dataclass
class OurBroker:
    """A ``RunningBroker`` of ours."""

    port: int
    data_dir: Path


class KafkaSide(Side):
    """A running broker, each request over a connection of its own, read in its own log files."""

    def __init__(self, kafka: RunningBroker) -> None:
        super().__init__()
        self.kafka = kafka
        topics = [CreatableTopic(name, count, 1) for name, count in TOPICS.items()]
        self.ask(CreateTopicsRequest(topics, 10_000), 5)
        find = FindCoordinatorRequest(coordinator_keys=["g"])
        polled(lambda: not self.ask(find, 4).coordinators[0].error_code, "no coordinator")
        answer = self.ask(MetadataRequest(None), 12)
        self.topic_ids = {each.name: each.topic_id for each in answer.topics}

    def wait_for(self, group_id: str) -> None:
        """Until the group has a coordinator that has been loaded."""
        find = FindCoordinatorRequest(coordinator_keys=[group_id])
        fetch = OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group_id)])
        polled(
            lambda: (
                not self.ask(find, 4).coordinators[0].error_code
                and not self.ask(fetch, 9).groups[0].error_code
            ),
            f"{group_id} has no coordinator",
        )

    def begin(self, message: Message, version: int) -> Any:
        connection = socket.create_connection(("127.0.0.1", self.kafka.port), timeout=60)
        connection.sendall(encode_request(message, version, 7, CLIENT))
        return connection, api_key_of(message), version

    def finish(self, handle: Any) -> Any:
        connection, key, version = handle
        with connection, connection.makefile("rb") as answers:
            (size,) = struct.unpack(">i", answers.read(4))
            frame = memoryview(answers.read(size))
        _, pos = read_response_head(frame, key, version)
        return response_class(key).decode(frame, version, pos)[0]

    def forget(self, handle: Any) -> None:
        connection, _, _ = handle
        connection.close()

    def wait(self, milliseconds: int) -> None:
        time.sleep(milliseconds / 1000)

    def records(self, group_id: str) -> list[LogRecord]:
        paths = self.kafka.data_dir.glob("__consumer_offsets-*/*.log")
        return [
            each
            for each in read_log(paths)
            if group_id in {getattr(each.key, "group", None), getattr(each.key, "group_id", None)}
        ]


def read_log(paths: Iterable[Path]) -> Iterator[LogRecord]:
    """The records in segments of ``__consumer_offsets``."""
    for path in sorted(paths):
        for header, batch in split_batches(memoryview(path.read_bytes()), tolerate_partial=True):
            if not header.is_control:
                for record in iter_records(batch):
                    yield decode_record(RecordFamily.GROUPS, record.key, record.value)


class OurSide(Side):
    """Our machine behind the codec, so that a value that does not fit is found."""

    def __init__(self, **settings: Any) -> None:
        super().__init__()
        self.partition = Partition(**settings)
        for name, count in TOPICS.items():
            self.partition.topics.create(name, count)
        self.partition.topics.create("__consumer_offsets", 5)
        self.topic_ids = self.partition.topics.ids

    def begin(self, message: Message, version: int) -> Any:
        frame = bytearray()
        message.encode(version, frame)
        request = type(message).decode(memoryview(frame), version, 0)[0]
        return self.partition.ask(request, version, CLIENT), version

    def finish(self, handle: Any) -> Any:
        answer, version = handle
        self.partition.advance(1)
        if isinstance(answer, int):
            answer = self.partition.replies[answer]
        out = bytearray()
        answer.encode(version, out)
        return type(answer).decode(memoryview(out), version, 0)[0]

    def forget(self, handle: Any) -> None:
        """The machine does not hear of connections."""

    def wait(self, milliseconds: int) -> None:
        self.partition.advance(milliseconds)

    def records(self, group_id: str) -> list[LogRecord]:
        return [
            record
            for decision in self.partition.decisions
            for record in decision.records
            if group_id
            in {getattr(record.key, "group", None), getattr(record.key, "group_id", None)}
        ]


Case: TypeAlias = Callable[[Side, str], Iterator[Any]]
"""Asks one side about a group of its own, and yields what is to be compared."""
