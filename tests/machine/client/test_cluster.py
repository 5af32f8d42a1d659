"""The picture of the cluster: what is asked when, and which answer counts."""

from __future__ import annotations

import pytest
from fencepost_client.metadata.cluster import DESERTED_MAX, Cluster, Leader, Node, is_legal_name
from fencepost_client.requests.backoff import Backoff
from fencepost_client.types import TopicPartition
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.metadata import (
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)


def cluster() -> Cluster:
    return Cluster(Backoff(lambda: 0.5), max_age_ms=1000)


def answer(leader: int, epoch: int, *, code: int = 0, topic_id: int = 1) -> MetadataResponse:
    partition = MetadataResponsePartition(0, 0, leader, epoch)
    topic = MetadataResponseTopic(
        code, "t", bytes([topic_id] * 16), partitions=[] if code else [partition]
    )
    brokers = [MetadataResponseBroker(1, "a", 10), MetadataResponseBroker(2, "b", 20)]
    return MetadataResponse(brokers=brokers, topics=[topic])


def test_a_new_topic_is_asked_for_at_once_and_then_by_age() -> None:
    known = cluster()
    known.want("t", 5)
    assert known.deadline() == 5
    assert [topic.name for topic in known.request().topics or []] == ["t"]
    known.answered(answer(1, 0), 10)
    assert known.leader("t", 0) == 1
    assert known.deadline() == 1010
    known.want("t", 20)
    assert known.deadline() == 1010
    known.want("u", 20)
    assert known.deadline() == 20


def test_an_older_answer_does_not_bring_back_an_old_leader() -> None:
    known = cluster()
    known.answered(answer(2, 5), 0)
    known.answered(answer(1, 4), 0)
    assert known.topics["t"].leaders[0] == Leader(2, 5)
    known.answered(answer(1, 0, topic_id=9), 0)
    assert known.topics["t"].leaders[0] == Leader(1, 0), "another topic of the same name"


def test_an_election_is_waited_for_with_a_growing_pause() -> None:
    known = cluster()
    pauses = []
    for _ in range(3):
        known.answered(answer(-1, 3), 0)
        pauses.append(known.deadline())
    assert pauses == [100, 200, 400]
    assert known.leader("t", 0) is None
    known.answered(answer(1, 4), 0)
    assert known.deadline() == 1000


def test_a_topic_that_is_not_there_yet_is_asked_for_again() -> None:
    known = cluster()
    known.answered(answer(1, 0, code=ErrorCode.UNKNOWN_TOPIC_OR_PARTITION), 0)
    assert known.deadline() == 100
    assert known.topics["t"].partition_count == 0


def test_a_hint_that_it_is_out_of_date_comes_before_its_age() -> None:
    known = cluster()
    known.answered(answer(1, 0), 0)
    known.refresh(50)
    assert known.deadline() == 150
    known.refresh(60)
    assert known.deadline() == 150, "a second hint does not put it off"


@pytest.mark.parametrize(
    ("name", "is_legal"),
    [
        ("orders", True), ("a.b_c-1", True), ("x" * 249, True), ("x" * 250, False), ("", False),
        (".", False), ("..", False), ("a b", False), ("\ud800", False), ("é", False),
        ("a\n", False),
    ],
)  # fmt: skip
def test_names_that_no_topic_can_have_are_known(name: str, is_legal: bool) -> None:
    assert is_legal_name(name) == is_legal


def test_a_leader_without_an_address_is_none() -> None:
    known = cluster()
    known.answered(answer(7, 0), 0)
    assert known.leader("t", 0) is None


def test_a_leader_that_another_answer_names_counts_if_it_is_newer() -> None:
    made = cluster()
    made.want("t", 0)
    made.answered(answer(1, 5), 0)
    where, elsewhere = TopicPartition("t", 0), TopicPartition("u", 0)
    for old in (Leader(2, 5), Leader(2, 4), Leader(9, 6)):  # 9 has no address
        assert made.take_leaders({where: old, elsewhere: Leader(2, 6)}, []) == set()
        assert made.leader("t", 0) == 1
    assert made.take_leaders({where: Leader(3, 6)}, [Node(3, "c", 30)]) == {where}
    assert made.leader("t", 0) == 3
    made.answered(answer(1, 5), 1)
    assert made.leader_epoch("t", 0) == 6


def test_where_no_broker_is_any_more_is_remembered_until_one_is_there() -> None:
    known = cluster()
    known.answered(answer(1, 0), 0)
    assert not known.deserted
    assert not known.leads_nothing("a", 10)
    assert known.leads_nothing("b", 20)
    other = answer(2, 1)
    del other.brokers[0]
    known.answered(other, 0)
    assert set(known.deserted) == {("a", 10)}
    assert known.leads_nothing("a", 10)
    # An answer without brokers says nothing of them; who is named there ends it.
    other.brokers = []
    known.answered(other, 0)
    assert set(known.deserted) == {("a", 10)}
    known.take_leaders({}, [Node(7, "a", 10)])
    assert not known.deserted


def test_of_addresses_that_change_all_the_time_the_last_are_remembered() -> None:
    known = cluster()
    for port in range(DESERTED_MAX + 5):
        brokers = [MetadataResponseBroker(1, "a", port), MetadataResponseBroker(2, "b", 1)]
        known.answered(MetadataResponse(brokers=brokers), port)
    assert len(known.deserted) == DESERTED_MAX
    assert list(known.deserted)[:: DESERTED_MAX - 1] == [("a", 4), ("a", DESERTED_MAX + 3)]
