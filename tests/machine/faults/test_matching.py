"""Which requests a rule is for."""

from __future__ import annotations

import struct
from typing import Any

import pytest
from fencepost_broker.config.sources.structs import StructError
from fencepost_broker.faults.compiled import RuleError, topic_test
from fencepost_protocol.apis import Message
from fencepost_protocol.generated.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from fencepost_protocol.generated.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from fencepost_protocol.generated.end_txn import EndTxnRequest
from fencepost_protocol.generated.fetch import FetchPartition, FetchRequest, FetchTopic
from fencepost_protocol.generated.find_coordinator import FindCoordinatorRequest
from fencepost_protocol.generated.heartbeat import HeartbeatRequest
from fencepost_protocol.generated.metadata import MetadataRequest, MetadataRequestTopic
from fencepost_protocol.generated.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from fencepost_protocol.records.writer import build_batch

from tests.machine.faults.harness import Rules

TOPIC_ID = struct.pack(">qq", 1, 2)


def produce(topic: str = "t", partition: int = 0, producer_id: int = -1, epoch: int = -1) -> Any:
    batch = bytes(build_batch(None, [b"x"], 1, producer_id=producer_id, producer_epoch=epoch))
    data = TopicProduceData(topic, partition_data=[PartitionProduceData(partition, batch)])
    return ProduceRequest(None, -1, 1, [data])


HEARTBEAT = HeartbeatRequest("g", 1, "m", "i")
END = EndTxnRequest("x", 5, 2, committed=True)


@pytest.mark.parametrize(
    ("match", "message", "version"),
    [
        ({}, HEARTBEAT, None),
        ({"api": "Heartbeat"}, HEARTBEAT, None),
        ({"api": "Heartbeat", "min_version": 2, "max_version": 3}, HEARTBEAT, 3),
        ({"client_id": "c"}, HEARTBEAT, None),
        ({"client_software": "librdkafka"}, HEARTBEAT, None),
        ({"user": "alice"}, HEARTBEAT, None),
        ({"address": "10.0.0.1"}, HEARTBEAT, None),
        ({"connection": "10.0.0.1:5000"}, HEARTBEAT, None),
        ({"listener": "PLAINTEXT"}, HEARTBEAT, None),
        ({"broker": 3}, HEARTBEAT, None),
        ({"group": "g", "member": "m"}, HEARTBEAT, None),
        ({"group": "g"}, FindCoordinatorRequest(coordinator_keys=["g"]), 6),
        ({"group": "g"}, FindCoordinatorRequest("g"), 3),
        ({"transactional_id": "x"}, FindCoordinatorRequest("x", 1), 3),
        ({"transactional_id": "x", "producer_id": 5, "producer_epoch": 2}, END, None),
        ({"topic": "t"}, produce(), 9),
        ({"topic": "t", "partition": 0}, produce(), 9),
        ({"partition": 0}, produce(), 9),
        ({"producer_id": 5, "producer_epoch": 2}, produce("t", 0, 5, 2), 9),
        ({"topic": "t"}, MetadataRequest([MetadataRequestTopic(name="t")]), 12),
        ({"topic": "t"}, MetadataRequest([MetadataRequestTopic(TOPIC_ID, None)]), 12),
        (
            {"topic": "t", "partition": 4, "transactional_id": "x"},
            AddPartitionsToTxnRequest(
                [AddPartitionsToTxnTransaction("x", topics=[AddPartitionsToTxnTopic("t", [4])])]
            ),
            5,
        ),
        ({"topic": "t"}, ConsumerGroupHeartbeatRequest(subscribed_topic_names=["t"]), None),
        ({"topic": "t"}, FetchRequest(session_id=9, session_epoch=2), 17),
        ({"topic": "t", "partition": 1}, FetchRequest(session_id=9, session_epoch=2), 12),
        ({"api": "Heartbeat", "where": ["generation_id == 1", "member_id ~ ^m"]}, HEARTBEAT, None),
    ],
)
def test_a_match_is_for_requests_that_have_all_of_it(
    match: dict[str, Any], message: Message, version: int | None
) -> None:
    rules = Rules()
    rules.states.names[TOPIC_ID] = "t"
    rules.states.sessions[9] = [(TOPIC_ID, 0), ("t", 1)]
    rules.add(name="it", match=match)
    if "topic" in match:
        assert topic_test(message.NAME, {match["topic"]}, rules.states)(message)
    assert rules.fired(message, version) == ["it"]


@pytest.mark.parametrize(
    ("match", "message", "version"),
    [
        ({"api": "EndTxn"}, HEARTBEAT, None),
        ({"api": "Heartbeat", "min_version": 4}, HEARTBEAT, 3),
        ({"api": "Heartbeat", "max_version": 2}, HEARTBEAT, 3),
        ({"client_id": "d"}, HEARTBEAT, None),
        ({"client_software": "java"}, HEARTBEAT, None),
        ({"user": "bob"}, HEARTBEAT, None),
        ({"address": "10.0.0.2"}, HEARTBEAT, None),
        ({"connection": "10.0.0.1:5001"}, HEARTBEAT, None),
        ({"listener": "SSL"}, HEARTBEAT, None),
        ({"broker": 4}, HEARTBEAT, None),
        ({"group": "h"}, HEARTBEAT, None),
        ({"group": "g", "member": "n"}, HEARTBEAT, None),
        ({"group": "x"}, FindCoordinatorRequest("x", 1), 3),
        ({"transactional_id": "y"}, END, None),
        ({"producer_id": 6}, END, None),
        ({"producer_epoch": 3}, produce("t", 0, 5, 2), 9),
        ({"topic": "u"}, produce(), 9),
        ({"topic": "t", "partition": 1}, produce(), 9),
        ({"topic": "t"}, HEARTBEAT, None),
        ({"topic": "t"}, FetchRequest(session_id=8, session_epoch=2), 12),
        ({"api": "Heartbeat", "where": ["generation_id == 1", "member_id == n"]}, HEARTBEAT, None),
    ],
)
def test_a_match_is_not_for_others(
    match: dict[str, Any], message: Message, version: int | None
) -> None:
    rules = Rules()
    rules.add(match=match)
    assert rules.fired(message, version) == []


@pytest.mark.parametrize(
    "message",
    [
        produce(),
        ProduceRequest(topic_data=[TopicProduceData(topic_id=TOPIC_ID)]),
        ProduceRequest(topic_data=[TopicProduceData(topic_id=bytes(15) + b"x")]),
        FetchRequest(topics=[FetchTopic("t")]),
        FetchRequest(topics=[FetchTopic(topic_id=TOPIC_ID)]),
        FetchRequest(session_id=9),
        FetchRequest(session_id=8),
        MetadataRequest(topics=None),
    ],
)
def test_requests_on_other_topics_are_excluded_by_their_topics_alone(message: Any) -> None:
    states = Rules().states
    states.names[TOPIC_ID] = "t"
    states.sessions[9] = [(TOPIC_ID, 0), ("t", 1), (bytes(16), 0)]
    assert not topic_test(message.NAME, {"u"}, states)(message)


def test_topics_are_looked_up_among_those_that_rules_name_now() -> None:
    rules = Rules()
    rules.add(name="a", match={"api": "Produce", "topic": "u"})
    test = topic_test(ProduceRequest.NAME, rules.all.topics(ProduceRequest.API_KEY), rules.states)
    assert not test(produce())
    rules.add(name="b", match={"topic": "t"})
    assert test(produce())
    rules.all.remove("b")
    assert not test(produce())


def test_whether_all_rules_for_an_api_name_topics() -> None:
    rules = Rules()
    key = ProduceRequest.API_KEY
    assert not rules.all.only_topics(key)
    rules.add(match={"topic": "u"})
    assert rules.all.only_topics(key)
    rules.add(name="all", match={"user": "bob"})
    assert not rules.all.only_topics(key)
    rules.all.remove("all")
    assert rules.all.only_topics(key)
    rules.all.clear()
    assert not rules.all.only_topics(key)


def test_a_partition_belongs_to_its_topic() -> None:
    rules = Rules()
    rules.add(match={"topic": "t", "partition": 1})
    partitions = {"t": 0, "u": 1}
    topics = [FetchTopic(name, partitions=[FetchPartition(number)])
              for name, number in partitions.items()]  # fmt: skip
    assert rules.fired(FetchRequest(topics=topics), 12) == []


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"match": {"api": "Produc"}}, "does not serve 'Produc'; did you mean Produce?"),
        ({"match": {"api": "Heartbeat", "topic": "t"}}, "topic: a Heartbeat request has none"),
        ({"match": {"api": "Heartbeat", "min_version": 40}}, "Heartbeat has versions 0 to 4"),
        ({"match": {"where": ["x == 1"]}}, "need an api"),
        ({"match": {"api": "Heartbeat", "where": ["grup_id == 1"]}}, "did you mean group_id?"),
        (
            {"match": {"grup": "g"}},
            "match: Object contains unknown field `grup`. Did you mean group?",
        ),
        (
            {"act": {"type": "drop-anser"}},
            "act.type: Invalid value 'drop-anser'. Did you mean drop-answer?",
        ),
        (
            {"act": {"type": "delay", "mss": 1, "ms": 1}},
            "act: Object contains unknown field `mss`. Did you mean ms?",
        ),
        ({"act": {"type": "delay"}}, "missing required field `ms`"),
        ({"act": {"type": "delay", "ms": -1}}, "Expected `int` >= 0"),
        ({"act": {"type": "error", "code": "NOT_LEADR"}}, "there is no error 'NOT_LEADR'"),
        ({"act": {"type": "change-answer", "set": {"x": 1}}}, "need an api"),
        (
            {
                "match": {"api": "Heartbeat"},
                "act": {"type": "change-answer", "set": {"eror_code": 1}},
            },
            "did you mean error_code?",
        ),
        (
            {
                "match": {"api": "Heartbeat"},
                "act": {"type": "change-answer", "set": {"error_code": 40000}},
            },
            "not a number from -32768 to 32767",
        ),
        (
            {"match": {"api": "SaslHandshake"}, "act": {"type": "throttle", "ms": 5}},
            "no ThrottleTimeMs",
        ),
        ({"after": "other"}, "after: there is no rule 'other'"),
        (
            {
                "act": {
                    "type": "run",
                    "operation": {"type": "crash-at-step", "step": "ofsets.after"},
                }
            },
            "there is no step ofsets.after: did you mean offsets.after?",
        ),
        ({"while": "transacton=Ongoing"}, "not transaction=STATE"),
        ({"while": "transaction=PrepareComit"}, "no state 'PrepareComit'; did you mean PrepareCom"),
        ({"while": "group:g=Ongoing"}, "a group has no state 'Ongoing'; it has Empty, Preparing"),
        ({"times": 0}, "Expected `int` >= 1"),
        ({"nam": "x"}, "Object contains unknown field `nam`. Did you mean name?"),
    ],
)
def test_a_rule_that_cannot_work_is_refused(given: dict[str, Any], told: str) -> None:
    rules = Rules()
    with pytest.raises((RuleError, StructError)) as caught:
        rules.add(**given)
    assert told in str(caught.value)
    assert rules.all.loaded == []
