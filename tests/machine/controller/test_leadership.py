"""ElectLeaders, over what brokers coming and going have made of the leaders."""

from __future__ import annotations

from typing import Any

import pytest
from fencepost_protocol.generated.elect_leaders import ElectLeadersRequest, TopicPartitions

from tests.machine.controller.cluster import Cluster, code_of, told
from tests.machine.controller.harness import led, place

PREFERRED, UNCLEAN = 0, 1


def not_needed(partition: int) -> tuple[str, str]:
    message = f"t-{partition} needs no election: broker 1 leads it"
    return "ELECTION_NOT_NEEDED", message


def elect(cluster: Cluster, kind: int, *partitions: int, topic: str = "t") -> Any:
    asked = [TopicPartitions(topic, list(partitions))] if partitions else None
    return cluster.ask(ElectLeadersRequest(kind, asked))


def results(response: Any) -> list[tuple[str, str | None]]:
    return [told(each) for each in response.replica_election_results[0].partition_result]


@pytest.fixture
def cluster() -> Cluster:
    """Partition 0 prefers broker 2 but is led by 1, partition 1 is led as it should be."""
    cluster = Cluster().up(1, 2)
    place(cluster, [2, 1], [1, 2])
    cluster.heartbeat(2, fence=True)
    cluster.heartbeat(2)
    return cluster


def in_sync(cluster: Cluster, *isr: int) -> None:
    """What AlterPartition will do: the replicas have caught up."""
    topic = cluster.image.topics.by_name["t"]
    for number, partition in topic.partitions.items():
        topic.partitions[number] = partition._replace(isr=isr)
    cluster.check = False


def test_the_preferred_one_leads_again(cluster: Cluster) -> None:
    in_sync(cluster, 1, 2)
    response = elect(cluster, PREFERRED, 0, 1)
    assert response.error_code == 0
    assert results(response) == [("NONE", None), not_needed(1)]
    assert led(cluster) == (2, 2, (1, 2))


def test_not_if_it_is_not_in_sync(cluster: Cluster) -> None:
    message = (
        "broker 2 is the preferred leader of t-0 but cannot lead: it is not up, or not in sync"
    )
    assert results(elect(cluster, PREFERRED, 0)) == [("PREFERRED_LEADER_NOT_AVAILABLE", message)]


def test_not_if_it_is_fenced(cluster: Cluster) -> None:
    in_sync(cluster, 1, 2)
    cluster.heartbeat(2, fence=True)
    assert results(elect(cluster, PREFERRED, 0))[0][0] == "PREFERRED_LEADER_NOT_AVAILABLE"


def test_all_partitions_name_only_what_happened(cluster: Cluster) -> None:
    in_sync(cluster, 1, 2)
    cluster.topic("u")
    response = elect(cluster, PREFERRED)
    told_of = {
        each.topic: [result.partition_id for result in each.partition_result]
        for each in response.replica_election_results
    }
    assert told_of == {"t": [0], "u": []}


def test_no_list_is_not_an_empty_list(cluster: Cluster) -> None:
    response = cluster.ask(ElectLeadersRequest(PREFERRED, []))
    assert response.replica_election_results == []


def test_one_partition_twice_is_elected_once(cluster: Cluster) -> None:
    in_sync(cluster, 1, 2)
    message = "t-0 needs no election: it was elected by this request"
    expected = [("NONE", None), ("ELECTION_NOT_NEEDED", message)]
    assert results(elect(cluster, PREFERRED, 0, 0)) == expected
    assert led(cluster) == (2, 2, (1, 2))


def test_an_unclean_election_only_where_nobody_leads(cluster: Cluster) -> None:
    assert results(elect(cluster, UNCLEAN, 0, 1)) == [not_needed(0), not_needed(1)]
    cluster.heartbeat(1, fence=True)
    assert led(cluster) == (-1, 2, ())
    assert results(elect(cluster, UNCLEAN, 0)) == [("NONE", None)]
    assert led(cluster) == (2, 3, (2,))
    partition = cluster.image.topics.partition("t", 0)
    assert partition is not None
    assert partition.leader_recovery_state == 1


def test_nobody_is_there(cluster: Cluster) -> None:
    cluster.heartbeat(1, fence=True)
    cluster.heartbeat(2, fence=True)
    assert results(elect(cluster, UNCLEAN, 0))[0][0] == "ELIGIBLE_LEADERS_NOT_AVAILABLE"
    assert results(elect(cluster, PREFERRED, 0))[0][0] == "PREFERRED_LEADER_NOT_AVAILABLE"


def test_unknown_ones(cluster: Cluster) -> None:
    for number in (7, -1):
        message = f"topic t has no partition {number}"
        answer = elect(cluster, PREFERRED, number)
        assert results(answer) == [("UNKNOWN_TOPIC_OR_PARTITION", message)]
    answer = elect(cluster, UNCLEAN, 0, topic="nope")
    assert results(answer) == [("UNKNOWN_TOPIC_OR_PARTITION", "there is no topic nope")]


def test_an_unknown_kind_of_election(cluster: Cluster) -> None:
    response = elect(cluster, 7, 0)
    assert code_of(response) == "INVALID_REQUEST"
    message = "the election type must be 0 (preferred) or 1 (unclean), not 7"
    assert results(response) == [("INVALID_REQUEST", message)]
