"""Apache Kafka with its StandardAuthorizer and ours answer a user with few rights alike.

What is asked stands in `authorizer_cases.py`. Whoever comes from another address of this machine
is another one: ACLs are for hosts, and everybody is User:ANONYMOUS.

Compared is everything that an answer says, but for what each side makes up for itself. Topics are
compared sorted where Kafka gives them in an order of its own (that of a hash map).
"""

from __future__ import annotations

import socket
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any

import pytest
from fencepost_protocol.apis import Message
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated import offset_commit as committing
from fencepost_protocol.generated.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from fencepost_protocol.generated.create_topics import CreatableTopic, CreateTopicsRequest
from fencepost_protocol.generated.find_coordinator import FindCoordinatorRequest
from fencepost_protocol.generated.init_producer_id import InitProducerIdRequest
from fencepost_protocol.generated.metadata import MetadataRequest
from fencepost_protocol.primitives import ZERO_UUID

from tests.conformance import authorizer_cases as asked
from tests.conformance.controller_peer import presence
from tests.conformance.share_access_cases import share_cases
from tests.support.apache_kafka import ApacheKafka, KafkaUnavailableError
from tests.support.up import ClosedError, Up, Wire

pytestmark = pytest.mark.conformance

SETTINGS = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "allow.everyone.if.no.acl.found": "true",
    "offsets.topic.num.partitions": "5",
    "transaction.state.log.num.partitions": "5",
    "group.initial.rebalance.delay.ms": "0",
    "transaction.two.phase.commit.enable": "true",
    "unstable.api.versions.enable": "true",
    "node.id": "1",
}
MADE_UP = {
    "throttle_time_ms", "unknown_tagged_fields", "cluster_id", "port", "host", "session_id",
    "member_id", "producer_id", "log_append_time_ms", "broker_epoch", "timestamp", "last_timestamp",
    "finalized_features_epoch", "supported_features", "finalized_features", "api_keys",
    "heartbeat_interval_ms", "transaction_start_time_ms",
}  # fmt: skip


SHUFFLED = {
    "AddPartitionsToTxn", "AlterShareGroupOffsets", "ConsumerGroupDescribe", "CreateTopics",
    "DeleteRecords", "DeleteShareGroupOffsets", "DeleteTopics", "DescribeTopicPartitions", "Fetch",
    "ListGroups", "ListOffsets", "Metadata", "Produce",
}  # fmt: skip
"""What Kafka answers in the order of a hash map, or as its parts are done."""


class Asking(Wire):
    """A connection from another address."""

    def __init__(self, port: int, host: str) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), 60, source_address=(host, 0))
        self._correlation_id = 0


class Side:
    """A broker under test."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.names: dict[bytes, str] = {}

    def ask(self, request: Message, version: int, host: str = asked.ADMIN) -> Any:
        with Asking(self.port, host) as wire:
            try:
                return wire.ask(request, version)
            except ClosedError:
                return "closed"

    def prepare(self) -> dict[str, bytes]:
        """Rights, topics and groups; gives the topics' ids."""
        answer = self.ask(asked.rights(), 3)
        assert not any(each.error_code for each in answer.results), answer
        topics = [CreatableTopic(each, 1, 1) for each in asked.TOPICS]
        self.ask(CreateTopicsRequest(topics, 10_000), 7)
        for kind in (0, 1):
            find = FindCoordinatorRequest(key_type=kind, coordinator_keys=["mine"])
            self.until_fine(find, 4, lambda told: told.coordinators[0].error_code)
        for group in ("mine", "mine-too", "shut"):
            commit = committing.OffsetCommitRequest(
                group,
                topics=[
                    committing.OffsetCommitRequestTopic(
                        each, partitions=[committing.OffsetCommitRequestPartition(0, 3)]
                    )
                    for each in ("mine", "shut", "seen")
                ],
            )
            self.until_fine(commit, 8, lambda told: told.topics[0].partitions[0].error_code)
        beat = ConsumerGroupHeartbeatRequest("mine-848", "A" * 22, 0, rebalance_timeout_ms=60_000)
        beat.subscribed_topic_names, beat.topic_partitions = ["mine", "shut"], []
        self.until_fine(beat, 1, lambda told: told.error_code)
        for transactional_id in ("mine-open", "shut-open"):
            begin = InitProducerIdRequest(transactional_id, 60_000)
            self.until_fine(begin, 4, lambda told: told.error_code)
        ids = {each.name: each.topic_id for each in self.ask(MetadataRequest(None), 12).topics}
        self.names = {topic_id: name for name, topic_id in ids.items()}
        return ids

    def until_fine(self, request: Message, version: int, error: Any) -> None:
        """Ask until the coordinator is there."""
        for _ in range(1000):
            code = error(self.ask(request, version))
            if not code:
                return
            assert code in (14, 15, 16, 3, 51), ErrorCode(code)
        raise AssertionError(ErrorCode(code))

    def plain(self, value: Any) -> Any:
        """An answer as dictionaries and lists, without what this side made up."""
        if isinstance(value, list):
            return [self.plain(each) for each in value]
        if not is_dataclass(value):
            return value
        found: dict[str, Any] = {}
        for each in fields(value):
            content = getattr(value, each.name)
            if each.name in MADE_UP:
                continue
            if each.name == "topic_id":
                known = self.names.get(content, "unknown")
                content = "none" if content == ZERO_UUID else known
            elif each.name.endswith("error_code"):
                content = ErrorCode(content).name
            elif each.name.endswith("error_message"):
                content = presence(content)
            elif each.name == "records" and content is not None:
                content = len(content)
            elif each.name == "configs" and isinstance(content, list):
                content = bool(content)  # what settings there are is another test's affair
            found[each.name] = self.plain(content)
        if found.get("error_code") == "NONE":
            found.pop("error_message", None)  # what is told of what went well is another's, too
        return found


@pytest.fixture(scope="module")
def kafka() -> Iterator[Side]:
    try:
        with ApacheKafka(SETTINGS) as running:
            yield Side(running.port)
    except KafkaUnavailableError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def ours() -> Iterator[Side]:
    settings = [word for each in SETTINGS.items() for word in ("-c", "=".join(each))]
    with Up(*settings) as running:
        yield Side(running.port)


def test_the_same_answers(kafka: Side, ours: Side) -> None:
    sides = kafka, ours
    all_cases = []
    for side in sides:
        ids = side.prepare()
        all_cases.append([*asked.cases(ids), *share_cases(ids)])
    different = []
    for theirs, mine in zip(*all_cases, strict=True):
        answers = [
            side.plain(side.ask(case.request, case.version, case.host))
            for side, case in zip(sides, (theirs, mine), strict=True)
        ]
        expected, found = answers
        if type(mine.request).__name__.removesuffix("Request") in SHUFFLED:
            expected, found = map(in_order, answers)
        if expected != found:
            different.append(f"{mine.label}\n  Kafka {expected}\n  ours  {found}")
    assert not different, "\n".join(
        [f"{len(different)} of {len(all_cases[0])} differ:", *different]
    )


def in_order(value: Any) -> Any:
    """With lists sorted."""
    if isinstance(value, list):
        return sorted(map(in_order, value), key=repr)
    if isinstance(value, dict):
        return {key: in_order(each) for key, each in value.items()}
    return value
