"""Answers that the broker keeps as bytes: true as long as the image is, and never longer."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest
from fencepost_broker.apis.request import Pieces, Request
from fencepost_broker.apis.response_cache import BYTES_MAX, REQUEST_BYTES_MAX, RememberedAnswers
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.api_versions import ApiVersionsRequest
from fencepost_protocol.generated.delete_topics import DeleteTopicsRequest, DeleteTopicState
from fencepost_protocol.generated.find_coordinator import FindCoordinatorRequest
from fencepost_protocol.generated.metadata import MetadataRequest, MetadataRequestTopic
from fencepost_protocol.primitives import Buffer

from tests.support.broker import Client, QuietLog, running_broker

ALL_FEATURES = ApiVersionsRequest("client", "1")


class Listener:
    """A connection, as far as a remembered answer cares."""

    def __init__(self, listener: str, software: str = "") -> None:
        self.listener = listener
        self.client_software_name = software
        self.client_software_version = "1"


def request(words: bytes, peer: Any) -> Request:
    return Request(peer, 3, 12, 7, None, memoryview(b"kkvvCORR" + words), 8)


@dataclass
class Answers:
    """What is remembered, by words."""

    answers: RememberedAnswers = field(default_factory=RememberedAnswers)

    def keep(self, words: bytes, answer: Buffer, true_at: int = 1) -> None:
        self.answers.keep(request(words, Listener("PLAINTEXT")), [answer], true_at)

    def find(
        self,
        words: bytes,
        true_at: int = 1,
        *,
        peer: Any = None,
        version: int = 12,
        correlation_id: int = 7,
    ) -> Pieces | None:
        asking: Any = peer or Listener("PLAINTEXT")
        frame = request(words, asking).frame
        return self.answers.find(asking, version, correlation_id, frame, true_at)


def test_an_answer_is_found_by_its_words_and_carries_the_new_correlation_id() -> None:
    answers = Answers()
    assert answers.find(b"a") is None
    answers.keep(b"a", bytearray(b"sizeCORRrest"))
    assert answers.find(b"a", correlation_id=0x01020304) == [b"size\x01\x02\x03\x04rest"]
    assert answers.find(b"b") is None, "other words"
    assert answers.find(b"a", version=11) is None, "another version"
    assert answers.find(b"a", peer=Listener("EXTERNAL")) is None, "another listener"
    assert answers.find(b"a", peer=Listener("PLAINTEXT", "librdkafka")) is None, "other software"
    assert answers.find(b"a", 2) is None, "another state of the image"
    answers.keep(b"b", bytearray(b"sizeCORRrest"), 2)
    assert answers.find(b"a", 2) is None, "what became untrue is gone"


def test_what_is_kept_is_bounded() -> None:
    answers = Answers()
    answers.keep(bytes(REQUEST_BYTES_MAX + 1), b"sizeCORR")
    assert answers.find(bytes(REQUEST_BYTES_MAX + 1)) is None
    answers.keep(b"large", bytes(BYTES_MAX))
    assert answers.find(b"large") is None
    third = bytes(BYTES_MAX // 3)
    for name in (b"1", b"2", b"3"):
        answers.keep(name, third)
    assert answers.find(b"1") is None, "there was no room for three"
    assert answers.find(b"3") is not None


class Bound(QuietLog):
    """Keeps what log lines are bound to."""

    def __init__(self) -> None:
        self.values: list[dict[str, Any]] = []

    def bind(self, **values: Any) -> Bound:
        self.values.append(values)
        return self


@pytest.mark.asyncio
@pytest.mark.parametrize("asked", [("one",), ("one", "two"), ("one", "two", "one")])
async def test_a_client_is_known_by_its_software_however_its_versions_are_answered(
    asked: tuple[str, ...],
) -> None:
    """A log line about the connection names it."""
    log = Bound()
    async with running_broker(log=log) as broker:
        for _ in range(3):
            async with Client(broker.bootstrap) as client:
                for software in asked:
                    await client.ask(ApiVersionsRequest(software, "1"), 4)
                assert client.streams is not None
                client.streams[1].write(b"GET / HTTP/1.1\r\n\r\n")
                assert await client.streams[0].read() == b""
            assert log.values[-1]["software"] == asked[-1]


@pytest.mark.asyncio
async def test_coordinators_are_told_while_their_topic_is_there() -> None:
    async with running_broker() as broker:
        wanted = FindCoordinatorRequest(coordinator_keys=["g"])
        for _ in range(3):
            (found,) = (await broker.ask(wanted, 4)).coordinators
            assert (found.error_code, found.node_id) == (ErrorCode.NONE, 1)
        wanted = FindCoordinatorRequest(key_type=9, coordinator_keys=["g"])
        for _ in range(2):
            (found,) = (await broker.ask(wanted, 4)).coordinators
            assert found.error_code == ErrorCode.INVALID_REQUEST


@pytest.mark.asyncio
async def test_metadata_is_told_as_it_is_after_every_change() -> None:
    async with running_broker({"auto.create.topics.enable": False}, topics={"t": 1}) as broker:
        everything = MetadataRequest(topics=None)
        one = MetadataRequest(topics=[MetadataRequestTopic(name="u")])
        for _ in range(2):
            assert [each.name for each in (await broker.ask(everything, 12)).topics] == ["t"]
            answer = (await broker.ask(one, 12)).topics[0]
            assert answer.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        broker.create("u", 2)
        for _ in range(2):
            assert [each.name for each in (await broker.ask(everything, 12)).topics] == ["t", "u"]
            assert len((await broker.ask(one, 12)).topics[0].partitions) == 2
        await broker.ask(DeleteTopicsRequest(topics=[DeleteTopicState("u")], timeout_ms=1000), 6)
        answer = (await broker.ask(one, 12)).topics[0]
        assert answer.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


@pytest.mark.asyncio
async def test_a_topic_is_created_however_often_it_was_asked_for() -> None:
    async with running_broker() as broker:
        one = MetadataRequest(topics=[MetadataRequestTopic(name="auto")])
        assert (await broker.ask(one, 12)).topics[0].error_code
        assert not (await broker.ask(one, 12)).topics[0].error_code
        await broker.ask(DeleteTopicsRequest(topics=[DeleteTopicState("auto")]), 6)
        assert (await broker.ask(one, 12)).topics[0].error_code
        assert not (await broker.ask(one, 12)).topics[0].error_code


@pytest.mark.asyncio
async def test_features_are_told_with_the_epoch_of_the_latest_change() -> None:
    async with running_broker() as broker:
        before = await broker.ask(ALL_FEATURES, 4)
        assert await broker.ask(ALL_FEATURES, 4) == before
        broker.create("t")
        after = await broker.ask(ALL_FEATURES, 4)
        assert after.finalized_features_epoch > before.finalized_features_epoch
