"""Metadata: which topics it tells of, and which it makes. The answers are Apache Kafka 4.3.1's."""

from __future__ import annotations

from typing import Any

import pytest
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.metadata import MetadataRequest, MetadataRequestTopic
from fencepost_protocol.primitives import ZERO_UUID

from tests.support.broker import RunningBroker, running_broker

pytestmark = pytest.mark.asyncio

UNASKED = -(1 << 31)
NO_ID = b"\1" * 16
UNKNOWN = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
VERSIONS = range(14)


def named(*names: str) -> list[MetadataRequestTopic]:
    return [MetadataRequestTopic(name=name) for name in names]


def by_id(topic_id: bytes, name: str | None = None) -> MetadataRequestTopic:
    return MetadataRequestTopic(topic_id, name)


async def told(
    broker: RunningBroker,
    topics: list[MetadataRequestTopic] | None,
    version: int = 13,
    *,
    creating: bool = False,
) -> list[tuple[int, str | None, int]]:
    """Error, name and number of partitions of each topic in the answer."""
    creating = creating or version < 4  # which cannot say that they do not want it
    response = await broker.ask(MetadataRequest(topics, creating), version)
    return [(each.error_code, each.name, len(each.partitions)) for each in response.topics]


@pytest.mark.parametrize("version", VERSIONS)
async def test_asking_makes_a_topic_and_is_told_so_the_next_time(version: int) -> None:
    async with running_broker({"num.partitions": 3}) as broker:
        asked = named("orders")
        assert await told(broker, asked, version, creating=True) == [(UNKNOWN, "orders", 0)]
        assert await told(broker, asked, version, creating=True) == [(0, "orders", 3)]


@pytest.mark.parametrize("version", [4, 13])
async def test_asking_makes_no_topic_unless_the_request_says_so(version: int) -> None:
    async with running_broker() as broker:
        for _ in range(2):
            assert await told(broker, named("orders"), version) == [(UNKNOWN, "orders", 0)]
        assert not broker.server.image.topics.by_name


@pytest.mark.parametrize("version", [0, 3, 4, 13])
async def test_asking_makes_no_topic_where_the_broker_does_not_allow_it(version: int) -> None:
    async with running_broker({"auto.create.topics.enable": False}) as broker:
        for _ in range(2):
            asked = named("orders")
            assert await told(broker, asked, version, creating=True) == [(UNKNOWN, "orders", 0)]


@pytest.mark.parametrize(
    ("settings", "name"),
    [
        ({"default.replication.factor": 3}, "orders"),
        ({}, "a_b"),  # collides with a.b
        ({}, "__cluster_metadata"),
    ],
)
async def test_a_topic_that_cannot_be_made_stays_unknown(
    settings: dict[str, Any], name: str
) -> None:
    async with running_broker(settings) as broker:
        if not settings:
            broker.create("a.b")
        for _ in range(2):
            assert await told(broker, named(name), creating=True) == [(UNKNOWN, name, 0)]


@pytest.mark.parametrize("version", [0, 1, 4, 13])
@pytest.mark.parametrize("creating", [False, True])
@pytest.mark.parametrize("name", ["", ".", "..", "two words", "x" * 250])
async def test_a_name_that_cannot_be(name: str, creating: bool, version: int) -> None:
    async with running_broker() as broker:
        answer = await told(broker, named(name), version, creating=creating)
        assert answer == [(ErrorCode.INVALID_TOPIC_EXCEPTION, name, 0)]


async def test_each_topic_once_and_first_what_is_there() -> None:
    async with running_broker(topics={"t": 1, "u": 2}) as broker:
        asked = named("no!", "u", "nope", "t", "nope", "u")
        assert await told(broker, asked) == [
            (0, "u", 2),
            (0, "t", 1),
            (ErrorCode.INVALID_TOPIC_EXCEPTION, "no!", 0),
            (UNKNOWN, "nope", 0),
        ]


@pytest.mark.parametrize("version", VERSIONS)
async def test_all_topics(version: int) -> None:
    async with running_broker(topics={"t": 1, "u": 2}) as broker:
        every = [(0, "t", 1), (0, "u", 2)]
        if version:
            assert sorted(await told(broker, None, version)) == every
        assert sorted(await told(broker, [], version)) == ([] if version else every)


@pytest.mark.parametrize("version", [12, 13])
async def test_by_id(version: int) -> None:
    async with running_broker(topics={"t": 1, "u": 2}) as broker:
        ids = {name: topic.topic_id for name, topic in broker.server.table.by_name.items()}
        asked = [by_id(ids["u"]), by_id(NO_ID), by_id(ids["t"], "u"), by_id(ids["u"])]
        unknown = (ErrorCode.UNKNOWN_TOPIC_ID, None, 0)
        assert await told(broker, asked, version) == [unknown, (0, "u", 2), (0, "t", 1)]
        # Names beside ids are not looked at, and nothing is made for them.
        asked = [*named("t", "new"), by_id(ids["u"])]
        assert await told(broker, asked, version, creating=True) == [(0, "u", 2)]
        assert await told(broker, [by_id(NO_ID, "new")], version, creating=True) == [unknown]
        assert "new" not in broker.server.image.topics.by_name


@pytest.mark.parametrize(
    ("version", "topics"),
    [
        (10, [by_id(NO_ID, "t"), by_id(ZERO_UUID, "u")]),
        (11, [by_id(NO_ID)]),
        (10, [by_id(ZERO_UUID, "t"), by_id(ZERO_UUID)]),
        (12, [by_id(ZERO_UUID)]),
        (13, [by_id(ZERO_UUID, "t"), by_id(ZERO_UUID)]),
    ],
)
async def test_a_request_that_means_nothing(
    version: int, topics: list[MetadataRequestTopic]
) -> None:
    async with running_broker(topics={"t": 1}) as broker:
        response = await broker.ask(MetadataRequest(topics), version)
        answered = [(each.error_code, each.name, each.topic_id) for each in response.topics]
        invalid = ErrorCode.INVALID_REQUEST
        assert answered == [(invalid, each.name or "", each.topic_id) for each in topics]
        assert (response.brokers, response.controller_id, response.cluster_id) == ([], -1, None)
        assert response.error_code == (invalid if version >= 13 else 0)


@pytest.mark.parametrize("version", [8, 10, 13])
async def test_authorised_operations_where_asked_for(version: int) -> None:
    async with running_broker(topics={"t": 1}) as broker:
        asking = version <= 10  # DescribeCluster took it over
        request = MetadataRequest(named("t", "nope"), False, asking, True)
        response = await broker.ask(request, version)
        assert [each.topic_authorized_operations for each in response.topics] == [3576, 3576]
        assert response.cluster_authorized_operations == (8096 if asking else UNASKED)
        response = await broker.ask(MetadataRequest(named("t", "nope"), False), version)
        assert [each.topic_authorized_operations for each in response.topics] == [UNASKED] * 2
        assert response.cluster_authorized_operations == UNASKED


@pytest.mark.parametrize(
    ("name", "configs"),
    [
        (
            "__consumer_offsets",
            {
                "cleanup.policy": "compact",
                "compression.type": "producer",
                "segment.bytes": "2097152",
            },
        ),
        (
            "__transaction_state",
            {
                "cleanup.policy": "compact",
                "compression.type": "uncompressed",
                "min.insync.replicas": "1",
                "segment.bytes": "104857600",
                "unclean.leader.election.enable": "false",
            },
        ),
    ],
)
async def test_a_coordinators_topic_has_settings_of_its_own(
    name: str, configs: dict[str, str]
) -> None:
    settings = {"offsets.topic.num.partitions": 7, "offsets.topic.segment.bytes": 2097152}
    async with running_broker(settings) as broker:
        for partitions in (0, 7 if name == "__consumer_offsets" else 5):
            response = await broker.ask(MetadataRequest(named(name)), 13)
            (topic,) = response.topics
            assert (topic.is_internal, len(topic.partitions)) == (True, partitions)
        assert broker.server.image.configs.of_topic(name) == configs
