"""Answers that the broker keeps as bytes: true as long as the image is, and never longer."""

from __future__ import annotations

from typing import Any

import pytest
from fencepost_broker.apis.remembered import BYTES_MAX, REQUEST_BYTES_MAX, RememberedAnswers
from fencepost_broker.apis.request import Request
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.api_versions import ApiVersionsRequest
from fencepost_protocol.generated.delete_topics import DeleteTopicsRequest, DeleteTopicState
from fencepost_protocol.generated.metadata import MetadataRequest, MetadataRequestTopic

from tests.support.broker import running_broker

ALL_FEATURES = ApiVersionsRequest("client", "1")


class Listener:
    """A connection, as far as a remembered answer cares."""

    def __init__(self, listener: str) -> None:
        self.listener = listener


def request(body: bytes, listener: str = "PLAINTEXT", correlation_id: int = 7) -> Request:
    peer: Any = Listener(listener)
    return Request(peer, 3, 12, correlation_id, None, memoryview(body), 0)


def test_an_answer_is_found_by_its_words_and_carries_the_new_correlation_id() -> None:
    answers = RememberedAnswers()
    assert answers.find(request(b"a"), 1) is None
    answers.keep(request(b"a"), [bytearray(b"sizeCORRrest")])
    assert answers.find(request(b"a", correlation_id=0x01020304), 1) == [
        b"size\x01\x02\x03\x04rest"
    ]
    assert answers.find(request(b"b"), 1) is None, "other words"
    assert answers.find(request(b"a", "EXTERNAL"), 1) is None, "another listener"
    assert answers.find(request(b"a"), 2) is None, "another state of the image"
    assert answers.find(request(b"a"), 1) is None, "what was forgotten stays so"


def test_what_is_kept_is_bounded() -> None:
    answers = RememberedAnswers()
    answers.find(request(b""), 1)
    answers.keep(request(bytes(REQUEST_BYTES_MAX + 1)), [b"sizeCORR"])
    assert answers.find(request(bytes(REQUEST_BYTES_MAX + 1)), 1) is None
    answers.keep(request(b"large"), [bytes(BYTES_MAX)])
    assert answers.find(request(b"large"), 1) is None
    third = bytes(BYTES_MAX // 3)
    for name in (b"1", b"2", b"3"):
        answers.keep(request(name), [third])
    assert answers.find(request(b"1"), 1) is None, "there was no room for three"
    assert answers.find(request(b"3"), 1) is not None


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
