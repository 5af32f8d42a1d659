"""A hundred thousand topics in one request: as long as ten times ten thousand, and not more memory.

A broker is one loop, so others wait for as long as one request takes, or its largest part where it
is carried out in parts: that must grow with the request and not faster.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from fencepost_protocol.apis import Message
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated import describe_configs as configs
from fencepost_protocol.generated import incremental_alter_configs as altered
from fencepost_protocol.generated.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from fencepost_protocol.generated.create_topics import CreatableTopic, CreateTopicsRequest
from fencepost_protocol.generated.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from fencepost_protocol.generated.delete_topics import DeleteTopicsRequest, DeleteTopicState
from fencepost_protocol.generated.describe_log_dirs import (
    DescribableLogDirTopic,
    DescribeLogDirsRequest,
)
from fencepost_protocol.generated.describe_producers import DescribeProducersRequest, TopicRequest
from fencepost_protocol.generated.describe_topic_partitions import (
    DescribeTopicPartitionsRequest,
)
from fencepost_protocol.generated.describe_topic_partitions import (
    TopicRequest as DescribedTopic,
)
from fencepost_protocol.generated.elect_leaders import ElectLeadersRequest, TopicPartitions
from fencepost_protocol.generated.fetch import FetchPartition, FetchRequest, FetchTopic
from fencepost_protocol.generated.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from fencepost_protocol.generated.metadata import MetadataRequest, MetadataRequestTopic
from fencepost_protocol.generated.offset_for_leader_epoch import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)
from fencepost_protocol.generated.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from fencepost_protocol.records.writer import build_batch

from tests.support.up import Up

pytestmark = pytest.mark.slow

MANY = 100_000
FEWER = 10_000
GROWTH_BYTES = 250 << 20
"""2.5 KB for each of the topics: the frame, what it is decoded to, and the answer."""

Make = Callable[[list[str]], tuple[Message, int]]
TOPIC = 2
NEW_VALUE = altered.AlterableConfig("retention.ms", 0, "5")
BATCH = bytes(build_batch(None, [b"v"], 1_000))


def requests() -> Iterator[tuple[str, Make]]:
    """Each makes a request of so many names."""
    yield "metadata", lambda names: metadata(names, create=False)
    yield "metadata, creating", lambda names: metadata(names, create=True)
    yield "metadata, one name", lambda names: metadata(["t"] * len(names), create=False)
    yield "create", lambda names: create(names)
    yield "create, one name", lambda names: create(["t"] * len(names))
    yield "create, bad names", lambda names: create([f"/{name}" for name in names])
    yield "delete", lambda names: (DeleteTopicsRequest(list(map(DeleteTopicState, names))), 6)
    yield "grow", lambda names: (
        CreatePartitionsRequest([CreatePartitionsTopic(name, 9, None) for name in names]), 3,
    )  # fmt: skip
    yield "produce", produce
    yield "produce, one name", lambda names: produce(["t"] * len(names))
    yield "fetch", lambda names: fetch(names)
    yield "fetch, one name", lambda names: fetch(["empty"] * len(names), min_bytes=1 << 20)
    yield "fetch, a session", lambda names: fetch(names, session_epoch=0)
    yield "offsets", lambda names: offsets(names, -1)
    yield "offsets by time", lambda names: offsets(["t"] * len(names), 5)
    yield "epochs", lambda names: (
        OffsetForLeaderEpochRequest(
            -2, [OffsetForLeaderTopic(name, [OffsetForLeaderPartition(0)]) for name in names]
        ), 4,
    )  # fmt: skip
    yield "describe configs", lambda names: (
        configs.DescribeConfigsRequest(
            [configs.DescribeConfigsResource(TOPIC, name, ["retention.ms"]) for name in names]
        ), 4,
    )  # fmt: skip
    yield "alter configs", lambda names: (
        altered.IncrementalAlterConfigsRequest(
            [altered.AlterConfigsResource(TOPIC, name, [NEW_VALUE]) for name in names]
        ), 1,
    )  # fmt: skip
    yield "delete records", lambda names: (
        DeleteRecordsRequest(
            [DeleteRecordsTopic(name, [DeleteRecordsPartition(0, 0)]) for name in names]
        ), 2,
    )  # fmt: skip
    yield "producers", lambda names: (
        DescribeProducersRequest([TopicRequest(name, [0]) for name in names]), 0,
    )  # fmt: skip
    yield "log dirs", lambda names: (
        DescribeLogDirsRequest([DescribableLogDirTopic(name, [0]) for name in names]), 4,
    )  # fmt: skip
    yield "partitions", lambda names: (
        DescribeTopicPartitionsRequest(list(map(DescribedTopic, names))), 0,
    )  # fmt: skip
    yield "elect", lambda names: (
        ElectLeadersRequest(0, [TopicPartitions(name, [0]) for name in names]), 2,
    )  # fmt: skip


def metadata(names: list[str], *, create: bool) -> tuple[Message, int]:
    return MetadataRequest([MetadataRequestTopic(name=name) for name in names], create), 12


def create(names: list[str]) -> tuple[Message, int]:
    return CreateTopicsRequest([CreatableTopic(name, 1, 1) for name in names]), 7


def produce(names: list[str]) -> tuple[Message, int]:
    data = [PartitionProduceData(0, BATCH)]
    topics = [TopicProduceData(name, partition_data=data) for name in names]
    return ProduceRequest(None, -1, 1, topics), 9


def fetch(names: list[str], *, min_bytes: int = 0, session_epoch: int = -1) -> tuple[Message, int]:
    topics = [FetchTopic(name, partitions=[FetchPartition(0)]) for name in names]
    request = FetchRequest(
        max_wait_ms=1, min_bytes=min_bytes, session_epoch=session_epoch, topics=topics
    )
    return request, 11


def offsets(names: list[str], timestamp: int) -> tuple[Message, int]:
    wanted = [ListOffsetsPartition(0, timestamp=timestamp)]
    return ListOffsetsRequest(-1, 0, [ListOffsetsTopic(name, wanted) for name in names]), 7


@pytest.fixture(scope="module")
def broker() -> Iterator[Up]:
    with Up("--topic", "t:1", "--topic", "empty:1") as running:
        yield running


REQUESTS = dict(requests())


@pytest.mark.parametrize("label", REQUESTS)
def test_a_hundred_thousand_topics(broker: Up, label: str) -> None:
    prefix = label.replace(" ", "-").replace(",", "")
    names = [f"{prefix}-{number}" for number in range(FEWER + MANY)]
    make = REQUESTS[label]
    fewer_s = seconds(broker, *make(names[:FEWER]))
    before = broker.resident_bytes()
    broker.forget_peak()
    many_s = seconds(broker, *make(names[FEWER:]))
    grown = broker.peak_bytes() - before
    broker.assert_healthy()
    print(f"{label}: {fewer_s:.2f} s, {many_s:.2f} s, {grown >> 20} MB")
    assert grown < GROWTH_BYTES
    assert many_s < 30 * max(fewer_s, 0.05), "the time grows faster than the request"


def seconds(broker: Up, request: Message, version: int) -> float:
    """The processor time that a request takes, with a well-behaved one right behind it."""
    before = broker.cpu_seconds()
    with broker.connect() as attacker, broker.connect() as healthy:
        correlation_id = attacker.send_request(request, version)
        assert healthy.topics("t") == {"t": ErrorCode.NONE}
        attacker.receive(request, version, correlation_id)
    return broker.cpu_seconds() - before
