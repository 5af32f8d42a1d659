"""One question to two controllers: Apache Kafka's and ours, with answers that can be compared.

What each makes up for itself (topic ids, broker epochs, directories, incarnations) is replaced by
what it stands for, so that answers and the records in both metadata logs are equal or are not.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, TypeAlias

from fencepost_broker.apis.cluster.client_quotas import described_quotas
from fencepost_broker.apis.security.acls import described_acls
from fencepost_broker.apis.security.scram_users import described_credentials
from fencepost_broker.apis.topics.reassignments import reassignments_under_way
from fencepost_broker.metadata.decision import MetadataRecord
from fencepost_broker.metadata.log.records import decode_record
from fencepost_protocol.apis import Message, response_class
from fencepost_protocol.framing import api_key_of, encode_request, read_response_head
from fencepost_protocol.generated.broker_registration import BrokerRegistrationRequest, Feature
from fencepost_protocol.generated.describe_cluster import DescribeClusterRequest
from fencepost_protocol.generated.error_code import ErrorCode
from fencepost_protocol.generated.index import ApiKey
from fencepost_protocol.generated.partition_change_record import PartitionChangeRecord
from fencepost_protocol.primitives import ZERO_UUID
from fencepost_protocol.records.batch import split_batches
from fencepost_protocol.records.reader import iter_records

from tests.machine.controller.cluster import Cluster
from tests.support.apache_kafka import ApacheKafka

Case: TypeAlias = Callable[["Side"], Message]
TO_CONTROLLER = {
    ApiKey.ALLOCATE_PRODUCER_IDS,
    ApiKey.ALTER_PARTITION,
    ApiKey.ALTER_PARTITION_REASSIGNMENTS,
    ApiKey.BROKER_HEARTBEAT,
    ApiKey.BROKER_REGISTRATION,
    ApiKey.ELECT_LEADERS,
    ApiKey.LIST_PARTITION_REASSIGNMENTS,
    ApiKey.UNREGISTER_BROKER,
}
MADE_UP = {"incarnation_id", "directories", "log_dirs", "throttle_time_ms", "unknown_tagged_fields"}
MADE_UP_OF = {
    ("features", "RegisterBrokerRecord"),
    ("id", "AccessControlEntryRecord"),
    ("id", "RemoveAccessControlEntryRecord"),
}
KAFKA_FEATURES = (
    Feature("eligible.leader.replicas.version", 0, 1),
    Feature("group.version", 0, 1),
    Feature("kraft.version", 0, 1),
    Feature("metadata.version", 7, 30),
    Feature("share.version", 0, 1),
    Feature("streams.version", 0, 1),
    Feature("transaction.version", 0, 2),
)
LOOKED_UP: dict[str, Callable[[Any, Any], Any]] = {
    "DescribeAclsRequest": described_acls,
    "DescribeClientQuotasRequest": described_quotas,
    "DescribeUserScramCredentialsRequest": described_credentials,
    "ListPartitionReassignmentsRequest": reassignments_under_way,
}
"""What a broker answers by its image, without the controller."""
SHUFFLED = {
    "acls", "credential_infos", "entity", "entries", "matching_acls", "resources", "responses",
    "results", "topics", "values",
}  # fmt: skip
"""Results that Kafka gives in an order of its own."""


class Side:
    """A controller under test: what it is called, and what its made-up values stand for."""

    def __init__(self) -> None:
        self.topic_names: dict[bytes, str] = {}
        self.epochs: dict[int, int] = {}
        """Of brokers."""
        self.partition_epochs: dict[tuple[str, int], tuple[int, int]] = {}
        """Leader epoch and partition epoch, by topic and number."""
        self._eligible: dict[tuple[str, int], list[int]] = {}
        """Who may lead though not in sync, and who led last; of those that have any."""
        self.cluster_id = ""

    def topic_id(self, name: str) -> bytes:
        """The id that a topic has, or had last, on this side."""
        return next(key for key in reversed(self.topic_names) if self.topic_names[key] == name)

    def ask(self, message: Message, version: int | None = None) -> Any:
        raise NotImplementedError

    def new_records(self) -> list[MetadataRecord]:
        """What the metadata log has got since the last call."""
        raise NotImplementedError

    def compared(self, case: Case) -> tuple[Any, list[Any]]:
        """What a question is answered, and what it wrote."""
        answer = self.ask(case(self))
        records = self.new_records()
        for record in records:
            message: Any = record.message
            if message.NAME == "TopicRecord":
                self.topic_names[message.topic_id] = message.name
            if message.NAME == "RegisterBrokerRecord":
                self.epochs[message.broker_id] = message.broker_epoch
            if message.NAME in {"PartitionRecord", "PartitionChangeRecord"}:
                self._note_epochs(message)
            if message.NAME == "ClearElrRecord":
                self._note_cleared(message.topic_name)
        written = [(record.message.NAME, record.version, self.plain(record.message))
                   for record in records]  # fmt: skip
        return self.plain(answer), sorted(written, key=repr)

    def _note_epochs(self, message: Any) -> None:
        where = self.topic_names[message.topic_id], message.partition_id
        if message.NAME == "PartitionRecord":
            self._eligible.pop(where, None)
            self.partition_epochs[where] = message.leader_epoch, message.partition_epoch
            return
        leader_epoch, partition_epoch = self.partition_epochs[where]
        for part, told in enumerate((message.eligible_leader_replicas, message.last_known_elr)):
            if told is not None:
                self._eligible.setdefault(where, [0, 0])[part] = len(told)
        is_led_anew = message.leader != PartitionChangeRecord().leader
        self.partition_epochs[where] = leader_epoch + is_led_anew, partition_epoch + 1

    def _note_cleared(self, topic: str) -> None:
        for where, counts in self._eligible.items():
            if topic in ("", where[0]) and any(counts):
                leader_epoch, partition_epoch = self.partition_epochs[where]
                self.partition_epochs[where] = leader_epoch, partition_epoch + 1
                counts[:] = 0, 0

    def plain(self, value: Any) -> Any:
        """A message as dictionaries and lists, without what this side made up."""
        if not is_dataclass(value):
            return [self.plain(each) for each in value] if isinstance(value, list) else value
        found: dict[str, Any] = {}
        for field in fields(value):
            content = getattr(value, field.name)
            if field.name in MADE_UP or (field.name, type(value).__name__) in MADE_UP_OF:
                continue
            if field.name == "topic_id":
                known = self.topic_names.get(content, "unknown")
                content = "none" if content == ZERO_UUID else known
            elif field.name == "error_code":
                content = ErrorCode(content).name
            elif field.name == "error_message":
                content = presence(content)
            elif field.name == "broker_epoch":
                ours = [each for each, epoch in self.epochs.items() if epoch == content]
                content = ours or content
            elif field.name == "configs" and isinstance(content, list):
                content = bool(content)  # what settings there are is another test's affair
            content = self.plain(content)
            if field.name in SHUFFLED and content is not None:
                content = sorted(content, key=repr)
            found[field.name] = content
        return found


def presence(message: str | None) -> str:
    """All that is compared of a message: clients read codes, and the words are each side's own."""
    if message is None:
        return "null"
    return "some text" if message else "empty"


class KafkaSide(Side):
    """Apache Kafka, asked over its two ports, read in its own log file."""

    def __init__(self, kafka: ApacheKafka) -> None:
        super().__init__()
        self.kafka = kafka
        self.read_up_to = -1
        self.new_records()
        self.epochs = {1: next(self._epochs())}
        self.cluster_id = self.ask(DescribeClusterRequest(), 0).cluster_id

    def ask(self, message: Message, version: int | None = None) -> Any:
        key = api_key_of(message)
        port = self.kafka.controller_port if key in TO_CONTROLLER else self.kafka.port
        return ask(port, message, message.MAX_VERSION if version is None else version)

    def new_records(self) -> list[MetadataRecord]:
        found = [
            (offset, decode_record(value))
            for offset, value in log_values(self.kafka.data_dir / "__cluster_metadata-0")
            if offset > self.read_up_to
        ]
        self.read_up_to = found[-1][0] if found else self.read_up_to
        return [record for _, record in found]

    def _epochs(self) -> Iterator[int]:
        for _, value in log_values(self.kafka.data_dir / "__cluster_metadata-0"):
            message: Any = decode_record(value).message
            if message.NAME == "RegisterBrokerRecord":
                yield message.broker_epoch


class OurSide(Side):
    """Our machine, with a log in memory."""

    def __init__(self) -> None:
        super().__init__()
        self.cluster = Cluster().up(1)
        self.cluster_id = self.cluster.settings.cluster_id
        self.read_up_to = len(self.cluster.log)
        self.epochs = {1: self.cluster.image.cluster.brokers[1].epoch}

    def ask(self, message: Message, version: int | None = None) -> Any:
        look_up = LOOKED_UP.get(message.NAME)
        if look_up is None:
            answer = self.cluster.ask(message)
        else:
            answer = look_up(self.cluster.image, message)
        out = bytearray()
        version = message.MAX_VERSION if version is None else version
        answer.encode(version, out)
        return type(answer).decode(memoryview(out), version)[0]

    def new_records(self) -> list[MetadataRecord]:
        values = self.cluster.log[self.read_up_to :]
        self.read_up_to = len(self.cluster.log)
        return [decode_record(value) for value in values]


def ask(port: int, message: Message, version: int) -> Any:
    """One request over a connection of its own."""
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        connection.sendall(encode_request(message, version, 7, "controller-peer"))
        with connection.makefile("rb") as answers:
            (size,) = struct.unpack(">i", answers.read(4))
            frame = memoryview(answers.read(size))
    key = api_key_of(message)
    _, pos = read_response_head(frame, key, version)
    return response_class(key).decode(frame, version, pos)[0]


def log_values(folder: Path, pattern: str = "*.log") -> Iterator[tuple[int, bytes]]:
    """Offset and value of every record in the files of a metadata log, control records aside."""
    for path in sorted(folder.glob(pattern)):
        content = memoryview(path.read_bytes())
        for header, batch in split_batches(content, tolerate_partial=True):
            if header.is_control:
                continue
            for record in iter_records(batch):
                assert record.key is None
                assert record.value is not None
                yield record.offset, bytes(record.value)


def broker_registration(side: Side, broker_id: int, **changes: Any) -> BrokerRegistrationRequest:
    """How a broker introduces itself that is nothing but a number."""
    values: dict[str, Any] = {
        "cluster_id": side.cluster_id,
        "incarnation_id": bytes([broker_id]) * 16,
        "features": list(KAFKA_FEATURES),
        "rack": None,
        "log_dirs": [bytes([broker_id]) * 15 + b"d"],
    }
    return BrokerRegistrationRequest(broker_id, **(values | changes))
