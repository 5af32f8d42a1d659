"""What clients feel of a release: each function asks a broker, and returns what it saw."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Final

from fencepost_broker.config import Settings
from fencepost_broker.config.values.releases import Release
from fencepost_protocol.apis import Message
from fencepost_protocol.generated.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
)
from fencepost_protocol.generated.api_versions import ApiVersionsRequest
from fencepost_protocol.generated.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from fencepost_protocol.generated.create_topics import CreatableTopic, CreateTopicsRequest
from fencepost_protocol.generated.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
)
from fencepost_protocol.generated.end_txn import EndTxnRequest
from fencepost_protocol.generated.error_code import ErrorCode
from fencepost_protocol.generated.find_coordinator import FindCoordinatorRequest
from fencepost_protocol.generated.index import ApiKey
from fencepost_protocol.generated.init_producer_id import InitProducerIdRequest
from fencepost_protocol.generated.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from fencepost_protocol.generated.update_features import FeatureUpdateKey, UpdateFeaturesRequest
from fencepost_protocol.records.writer import build_batch

from tests.conformance.controller_peer import ask
from tests.support.apache_releases import first_answer
from tests.support.waiting import polled

PATIENCE_SECONDS: Final = 60.0
TWO_HOURS_MS: Final = 2 * 3600 * 1000
DEFAULT_CONFIG: Final = 5
COMPARED: Final = {
    name for name, each in Settings.settings.items() if not (each.ignored or each.stays)
} - {
    "group.consumer.assignors",  # names of classes before 4.0
    "listener.security.protocol.map",  # in another order
}
"""Settings whose defaults a broker can have from Apache Kafka."""
NOT_YET: Final = {
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    ErrorCode.CONCURRENT_TRANSACTIONS,
    ErrorCode.NOT_COORDINATOR,
}


class Asked:
    """A broker, asked in the versions of a release."""

    def __init__(self, port: int, release: Release) -> None:
        self.port = port
        self.release = release

    def ask(self, message: Any, highest: int = 99) -> Any:
        """Asks in the highest version of the release, or in an earlier one."""
        version = min(self.release.versions[message.API_KEY][1], message.MAX_VERSION, highest)
        return ask(self.port, message, version)

    def until_ready(self, message: Message, highest: int = 99) -> Any:
        """Asks again while the coordinator loads, or a transaction ends."""
        answers: list[Any] = []

        def is_ready() -> bool:
            answers.append(self.ask(message, highest))
            return answers[-1].error_code not in NOT_YET

        polled(is_ready, f"{message.NAME} is refused again and again", PATIENCE_SECONDS)
        return answers[-1]

    def create(self, topic: str) -> None:
        """Creates a topic with one partition, and waits until it can be written to."""
        self.ask(CreateTopicsRequest([CreatableTopic(topic, 1, 1)], 10_000))
        self.until_written(topic)

    def until_written(self, topic: str) -> None:
        """Waits until a new topic has a record."""
        polled(lambda: not self.produce(topic), f"{topic} is not led", PATIENCE_SECONDS)

    def produce(self, topic: str, timestamp_ms: int = 1000, name: str | None = None,
                highest: int = 9, **batch: Any) -> ErrorCode:  # fmt: skip
        """The code for one batch."""
        records = bytes(build_batch([b"key"], [b"v"], timestamp_ms, **batch))
        data = TopicProduceData(topic, partition_data=[PartitionProduceData(0, records)])
        answer = self.ask(ProduceRequest(name, -1, 5000, [data]), highest)
        return ErrorCode(answer.responses[0].partition_responses[0].error_code)

    def producer(self, name: str) -> tuple[int, int]:
        """A new epoch of a transactional id: producer id and epoch."""
        self.until_ready(FindCoordinatorRequest(name, 1), 3)
        made = self.until_ready(InitProducerIdRequest(name, 60_000), 4)
        return made.producer_id, made.producer_epoch

    def is_closed(self, message: Message, version: int) -> bool:
        """Whether the connection ends instead of an answer."""
        try:
            ask(self.port, message, version)
        except Exception:  # noqa: BLE001 (an empty answer cannot be read)
            return True
        return False


def times(asked: Asked) -> Any:
    """Timestamps in the future."""
    asked.create("times")
    return asked.produce("times", int(time.time() * 1000) + TWO_HOURS_MS)


def partitions_that_were_not_added(asked: Asked) -> Any:
    """A Produce of a transaction whose partition no AddPartitionsToTxn has named."""
    asked.create("not-added")
    producer_id, epoch = asked.producer("not-added")
    batch = {"producer_id": producer_id, "producer_epoch": epoch, "base_sequence": 0}
    return asked.produce("not-added", name="not-added", transactional=True, **batch)


def epochs_after_a_transaction(asked: Asked) -> Any:
    """The codes of a transaction by the release's versions, and how the epoch moved."""
    asked.create("epochs")
    producer_id, epoch = asked.producer("epochs")
    who = ("epochs", producer_id, epoch)
    topics = [AddPartitionsToTxnTopic("epochs", [0])]
    added = asked.ask(AddPartitionsToTxnRequest([], *who, topics), 3)
    ended = asked.until_ready(EndTxnRequest(*who, True))
    again = asked.until_ready(EndTxnRequest(*who, True))
    abort = asked.until_ready(EndTxnRequest(*who, False))
    fenced = asked.until_ready(EndTxnRequest("epochs", producer_id, epoch + 5, False))
    return {
        "added": added.results_by_topic_v3_and_below[0]
        .results_by_partition[0]
        .partition_error_code,
        "ended": ended.error_code,
        "ended again": again.error_code,
        "aborted instead": abort.error_code,
        "a later epoch": fenced.error_code,
        "bumped by": ended.producer_epoch - epoch if ended.producer_epoch >= 0 else None,
    }


def fenced_producers(asked: Asked) -> Any:
    """The codes of a producer that another one has replaced, by versions of requests."""
    asked.create("fenced")
    producer_id, epoch = asked.producer("fenced")
    asked.producer("fenced")
    topics = [AddPartitionsToTxnTopic("fenced", [0])]
    who = ("fenced", producer_id, epoch)
    batch = {"producer_id": producer_id, "producer_epoch": epoch, "base_sequence": 0}
    added = [asked.ask(AddPartitionsToTxnRequest([], *who, topics), each) for each in (1, 3)]
    return {
        "added": [
            each.results_by_topic_v3_and_below[0].results_by_partition[0].partition_error_code
            for each in added
        ],
        "ended": [asked.ask(EndTxnRequest(*who, True), each).error_code for each in (1, 3, 99)],
        "begun": [
            asked.ask(InitProducerIdRequest("fenced", 60_000, producer_id, epoch), each).error_code
            for each in (3, 4)
        ],
        "produced": asked.produce("fenced", name="fenced", transactional=True, **batch),
    }


def groups_of_the_new_protocol(asked: Asked) -> Any:
    """The first ConsumerGroupHeartbeat of a member."""
    message = ConsumerGroupHeartbeatRequest(
        "new", "AAAAAAAAAAAAAAAAAAAAAA", 0, rebalance_timeout_ms=60_000,
        subscribed_topic_names=["times"], topic_partitions=[],
    )  # fmt: skip
    if ApiKey.CONSUMER_GROUP_HEARTBEAT not in asked.release.versions:
        return asked.is_closed(message, 0)
    asked.until_ready(FindCoordinatorRequest("new", 0), 3)
    return asked.until_ready(message).error_code


def versions_that_are_too_new(asked: Asked) -> Any:
    """Requests above the highest version, and of ApiVersions."""
    highest = asked.release.versions
    init = InitProducerIdRequest("x", 60_000)
    above = highest[ApiKey.INIT_PRODUCER_ID][1] + 1
    told = {"closed": asked.is_closed(init, above) if above <= init.MAX_VERSION else None}
    if highest[ApiKey.API_VERSIONS][1] < ApiVersionsRequest.MAX_VERSION:
        told["ApiVersions"] = _version_0(asked, ApiVersionsRequest("client", "1"))
    return told


def _version_0(asked: Asked, message: ApiVersionsRequest) -> Any:
    answer = first_answer(asked.port, message, message.MAX_VERSION)
    ours = [each for each in answer.api_keys if each.api_key == ApiKey.API_VERSIONS]
    return answer.error_code, [(each.min_version, each.max_version) for each in ours]


def features_that_are_too_new(asked: Asked) -> Any:
    """An upgrade of transactions beyond what the release has, where features can be updated."""
    if not asked.release.supported:
        return None
    _, highest = asked.release.supported.get("transaction.version", (0, 0))
    update = FeatureUpdateKey("transaction.version", highest + 1, upgrade_type=1)
    answer = asked.ask(UpdateFeaturesRequest(5000, [update]), 1)
    return [answer.error_code, *(each.error_code for each in answer.results)]


def defaults(asked: Asked) -> dict[str, str | None]:
    """The defaults of settings that have an effect here and are not given."""
    answer = asked.ask(DescribeConfigsRequest([DescribeConfigsResource(4, "1", None)]), 3)
    return {
        each.name: each.value
        for each in answer.results[0].configs
        if each.config_source == DEFAULT_CONFIG and each.name in COMPARED
    }


CASES: Final[tuple[Callable[[Asked], Any], ...]] = (
    times,
    partitions_that_were_not_added,
    epochs_after_a_transaction,
    fenced_producers,
    groups_of_the_new_protocol,
    versions_that_are_too_new,
    features_that_are_too_new,
)
