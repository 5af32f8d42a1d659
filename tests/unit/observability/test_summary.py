"""One line for a message: whose topics and partitions, what size, which error."""

from __future__ import annotations

import json

import pytest
from fencepost_broker.observability.tap import lines
from fencepost_broker.observability.tap.datagrams import Event, EventKind
from fencepost_broker.observability.tap.summary import summary_of as told_by
from fencepost_broker.observability.tap.summary import tree_of
from fencepost_protocol.apis import Message
from fencepost_protocol.dissect.filters import FOLLOWED_MAX, Following
from fencepost_protocol.dissect.render import Style
from fencepost_protocol.dissect.summary import Summary, size_text, topic_ids_in
from fencepost_protocol.framing import api_key_of, encode_request, encode_response
from fencepost_protocol.generated.api_versions import ApiVersion, ApiVersionsResponse
from fencepost_protocol.generated.create_topics import CreatableTopic, CreateTopicsRequest
from fencepost_protocol.generated.delete_topics import DeleteTopicsRequest
from fencepost_protocol.generated.end_txn import EndTxnRequest, EndTxnResponse
from fencepost_protocol.generated.fetch import (
    FetchableTopicResponse,
    FetchResponse,
    PartitionData,
)
from fencepost_protocol.generated.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
    TopicProduceResponse,
)
from fencepost_protocol.records.writer import build_batch

from tests.support.tap import event

TOPIC_ID = bytes(range(16))


def asked(message: Message, version: int, frame_bytes: int | None = None) -> Event:
    frame = bytes(encode_request(message, version, 7, "shop"))[4:]
    return event(
        EventKind.REQUEST, api_key=api_key_of(message), version=version, size=len(frame),
        frame=frame[:frame_bytes],
    )  # fmt: skip


def told(message: Message, version: int) -> Event:
    frame = bytes(encode_response(message, version, 7))[4:]
    return event(
        EventKind.RESPONSE, api_key=api_key_of(message), version=version, size=len(frame),
        frame=frame, elapsed_us=1234,
    )  # fmt: skip


def summary_of(it: Event, names: dict[bytes, str] | None = None) -> Summary:
    tree = tree_of(it, records=False)
    assert tree is not None
    return told_by(it, tree, names or {})


def produce(partitions: int, size: int = 5) -> ProduceRequest:
    records = bytes(build_batch(None, [bytes(size)], 1000))
    entries = [PartitionProduceData(number, records) for number in range(partitions)]
    return ProduceRequest("txn1", -1, 5000, [TopicProduceData("orders", partition_data=entries)])


def test_topics_partitions_and_sizes() -> None:
    summary = summary_of(asked(produce(2, 2000), 9))
    assert summary.text == "transactional_id=txn1 acks=-1 orders[0 2.1 kB, 1 2.1 kB]"
    assert summary.topics == {"orders"}
    assert summary.transactional_ids == {"txn1"}


def test_what_is_more_is_counted() -> None:
    assert summary_of(asked(produce(20), 9)).text.endswith("5 73 B, … 14 more]")


def test_a_cut_frame_tells_what_there_is() -> None:
    it = asked(produce(2, 2000), 9, frame_bytes=200)
    assert summary_of(it).text == "transactional_id=txn1 acks=-1 orders[0 2.1 kB]"
    line = lines.text_of(it, summary_of(it), Style())
    assert line.endswith("(4.2 kB, cut at 200 B)")


def test_a_frame_that_is_broken_says_where() -> None:
    it = asked(EndTxnRequest("txn1", 5, 0, True), 3)
    broken = event(
        EventKind.REQUEST, api_key=26, version=3, size=len(it.frame) - 3, frame=it.frame[:-3]
    )
    assert "BROKEN: producer_epoch" in summary_of(broken).text


def test_errors_by_name() -> None:
    answer = PartitionProduceResponse(1, 3, error_message="there is none")
    response = ProduceResponse(responses=[TopicProduceResponse("orders", b"", [answer])])
    text = summary_of(told(response, 9)).text
    assert text.startswith("orders[1 UNKNOWN_TOPIC_OR_PARTITION")
    assert text.endswith("error_message=there is none]")
    assert summary_of(told(EndTxnResponse(error_code=90), 3)).text == "PRODUCER_FENCED"
    assert summary_of(told(EndTxnResponse(error_code=999), 3)).text == "error 999"


def test_topics_by_their_ids() -> None:
    data = PartitionData(3, 0, 9, 9, 0, records=b"")
    response = FetchResponse(responses=[FetchableTopicResponse("", TOPIC_ID, [data])])
    it = told(response, 13)
    tree = tree_of(it, records=False)
    assert tree is not None
    assert topic_ids_in(tree) == {TOPIC_ID}
    named = summary_of(it, {TOPIC_ID: "orders"})
    assert named.text == "orders[3 high_watermark=9 0 B]"
    assert named.topics == {"orders"}
    assert summary_of(it).text.startswith("AAECAwQFBgcICQoLDA0ODw[3 ")


@pytest.mark.parametrize(
    ("message", "version", "text", "topics"),
    [
        (DeleteTopicsRequest(topic_names=["a", "b"]), 5, "topic_names=[a, b]", {"a", "b"}),
        (
            CreateTopicsRequest(topics=[CreatableTopic("a", 3, 1)], validate_only=True), 5,
            "a num_partitions=3 replication_factor=1 validate_only=true", {"a"},
        ),
        (
            EndTxnRequest("x", 0, 0, False), 3,
            "transactional_id=x producer_id=0 producer_epoch=0 committed=false", set(),
        ),
    ],
)  # fmt: skip
def test_other_requests(message: Message, version: int, text: str, topics: set[str]) -> None:
    summary = summary_of(asked(message, version))
    assert summary.text == text
    assert summary.topics == topics


def test_versions_are_only_counted() -> None:
    response = ApiVersionsResponse(api_keys=[ApiVersion(key, 0, 3) for key in range(5)])
    assert summary_of(told(response, 3)).text == "5 api_keys"


def test_what_a_client_names_cannot_command_a_terminal() -> None:
    it = asked(EndTxnRequest("x\x1b[2J\ny", 0, 0, True), 3)
    line = lines.text_of(it, summary_of(it), Style())
    assert "\x1b" not in line
    assert "\n" not in line
    assert "x\\x1b[2J\\ny" in line


def test_an_api_that_nobody_knows() -> None:
    it = event(
        EventKind.REQUEST,
        api_key=999,
        version=1,
        size=11,
        frame=bytes.fromhex("03e70001 00000007 ffff 00"),
    )
    assert "999" in lines.text_of(it, summary_of(it), Style())


@pytest.mark.parametrize(
    ("size", "text"),
    [(0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (999_949, "999.9 kB"), (999_950, "1.0 MB"),
     (5 * 10**9, "5.0 GB")],
)  # fmt: skip
def test_sizes(size: int, text: str) -> None:
    assert size_text(size) == text


def test_lines_of_other_events() -> None:
    for kind, reason, text in (
        (EventKind.OPENED, "", "connected"),
        (EventKind.DROPPED, "too many", "DROPPED by the broker too many"),
        (EventKind.CLOSED, "reset", "closed reset"),
        (EventKind.PARKED, "", "= EndTxn v3 waits"),
        (EventKind.RESPONSE, "", "< EndTxn v3 has no response"),
    ):
        it = event(kind, reason=reason)
        line = lines.text_of(it, Summary(), Style())
        assert line.endswith(f"#1 127.0.0.1:5000 shop (librdkafka 2.6.0) {text}")


def test_json_is_one_line_of_all_there_is() -> None:
    it = told(EndTxnResponse(error_code=90), 3)
    tree = tree_of(it, records=True)
    text = lines.object_of(it, summary_of(it), tree, with_hex=True)
    assert "\n" not in text
    made = json.loads(text)
    assert made["time"] == "2023-11-14T22:13:20.000000Z"
    assert (made["api"], made["version"], made["elapsed_us"]) == ("EndTxn", 3, 1234)
    assert made["summary"] == "PRODUCER_FENCED"
    assert bytes.fromhex(made["frame"]) == it.frame
    assert made["tree"]["children"]


# -- following ----------------------------------------------------------------------------------


def passes(following: Following, it: Event, summary: Summary) -> bool:
    exchange = (it.connection, it.correlation_id) if it.api_key >= 0 else None
    return following.wants(exchange, summary, is_response=it.kind is EventKind.RESPONSE)


def about(*topics: str) -> Summary:
    return Summary(topics=set(topics))


def test_without_wishes_everything_is_shown() -> None:
    assert passes(Following([], []), event(EventKind.OPENED, api_key=-1), Summary())


def test_an_exchange_is_followed_to_its_response() -> None:
    following = Following(["orders"], ["txn1"])
    assert passes(following, event(correlation_id=1), Summary(transactional_ids={"txn1"}))
    assert passes(following, event(EventKind.PARKED, correlation_id=1), Summary())
    assert not passes(
        following, event(EventKind.RESPONSE, correlation_id=1, connection=2), Summary()
    )
    assert passes(following, event(EventKind.RESPONSE, correlation_id=1), Summary())
    assert not passes(following, event(correlation_id=1), about("other")), "its number used again"
    assert passes(following, event(EventKind.RESPONSE, correlation_id=2), about("orders"))
    assert not passes(following, event(EventKind.CLOSED, api_key=-1), Summary())


def test_what_is_followed_is_bounded() -> None:
    following = Following(["orders"], [])
    for number in range(FOLLOWED_MAX + 1):
        passes(following, event(connection=number), about("orders"))
    assert not passes(following, event(EventKind.RESPONSE, connection=0), Summary())
    assert passes(following, event(EventKind.RESPONSE, connection=1), Summary())
