"""AlterPartition: who counts as in sync, as leaders propose it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from fencepost_protocol.generated.alter_partition import (
    AlterPartitionRequest,
    AlterPartitionRequestPartitionData,
    AlterPartitionRequestTopicData,
    BrokerState,
)

from tests.machine.controller.cluster import Cluster, code_of
from tests.machine.controller.test_brokers import led, partition, place


@pytest.fixture
def cluster() -> Cluster:
    """Broker 1 leads t-0 alone in sync; 2 and 3 have replicas and are up again."""
    cluster = Cluster().up(1, 2, 3)
    place(cluster, [1, 2, 3])
    for broker_id in (2, 3):
        cluster.heartbeat(broker_id, fence=True)
        cluster.heartbeat(broker_id)
    assert led(cluster) == (1, 0, (1,))
    return cluster


def proposal(cluster: Cluster, *isr: int, **changes: Any) -> AlterPartitionRequest:
    """What the leader of t-0 asks for, unless something is changed about it."""
    now = partition(cluster)
    brokers = cluster.image.cluster.brokers
    asked = AlterPartitionRequestPartitionData(
        0,
        now.leader_epoch,
        [],
        [BrokerState(each, brokers[each].epoch if each in brokers else -1) for each in isr],
        0,
        now.partition_epoch,
    )
    topic = AlterPartitionRequestTopicData(
        cluster.image.topics.by_name["t"].topic_id, [replace(asked, **changes)]
    )
    return AlterPartitionRequest(now.leader, brokers[now.leader].epoch, [topic])


def ask(cluster: Cluster, request: AlterPartitionRequest) -> Any:
    response = cluster.ask(request)
    assert code_of(response) == "NONE"
    (topic,) = response.topics
    (answer,) = topic.partitions
    return answer


def test_replicas_that_caught_up_are_in_sync(cluster: Cluster) -> None:
    before = partition(cluster).partition_epoch
    answer = ask(cluster, proposal(cluster, 1, 3))
    told = answer.leader_id, answer.leader_epoch, answer.isr, answer.partition_epoch
    assert (code_of(answer), *told) == ("NONE", 1, 0, [1, 3], before + 1)
    assert led(cluster) == (1, 0, (1, 3))
    assert partition(cluster).partition_epoch == before + 1


def test_what_is_so_already_writes_nothing(cluster: Cluster) -> None:
    end, before = cluster.image.next_offset, partition(cluster).partition_epoch
    assert ask(cluster, proposal(cluster, 1)).partition_epoch == before
    assert cluster.image.next_offset == end


def test_brokers_without_epochs_in_version_2(cluster: Cluster) -> None:
    request = proposal(cluster, new_isr=[1, 2], new_isr_with_epochs=[])
    assert code_of(ask(cluster, request)) == "NONE"
    assert led(cluster) == (1, 0, (1, 2))


@pytest.mark.parametrize(
    ("isr", "changes", "code"),
    [
        ((1, 2), {"leader_epoch": 1}, "NOT_CONTROLLER"),
        ((1, 2), {"leader_epoch": -1}, "FENCED_LEADER_EPOCH"),
        ((1, 2), {"partition_epoch": 99}, "NOT_CONTROLLER"),
        ((1, 2), {"partition_epoch": -1}, "INVALID_UPDATE_VERSION"),
        ((1, 2), {"partition_index": 5}, "UNKNOWN_TOPIC_OR_PARTITION"),
        ((1, 2, 2), {}, "INVALID_REQUEST"),
        ((2, 3), {}, "INVALID_REQUEST"),
        ((1, 9), {}, "INVALID_REQUEST"),
        ((), {}, "INVALID_REQUEST"),
        ((1,), {"leader_recovery_state": 1}, "INVALID_REQUEST"),
        ((1,), {"leader_recovery_state": 7}, "INVALID_REQUEST"),
    ],
)
def test_what_cannot_be(
    cluster: Cluster, isr: tuple[int, ...], changes: dict[str, Any], code: str
) -> None:
    end = cluster.image.next_offset
    assert code_of(ask(cluster, proposal(cluster, *isr, **changes))) == code
    assert cluster.image.next_offset == end


def test_an_unknown_topic(cluster: Cluster) -> None:
    request = proposal(cluster, 1, 2)
    request.topics[0].topic_id = b"x" * 16
    assert code_of(ask(cluster, request)) == "UNKNOWN_TOPIC_ID"


def test_whoever_does_not_lead_may_not_propose(cluster: Cluster) -> None:
    request = proposal(cluster, 1, 2)
    request.broker_id, request.broker_epoch = 2, cluster.image.cluster.brokers[2].epoch
    assert code_of(ask(cluster, request)) == "INVALID_REQUEST"


def test_an_earlier_incarnation_of_the_leader_is_stale(cluster: Cluster) -> None:
    request = proposal(cluster, 1, 2)
    request.broker_epoch -= 1
    assert code_of(cluster.ask(request)) == "STALE_BROKER_EPOCH"


def test_a_fenced_broker_is_not_in_sync(cluster: Cluster) -> None:
    cluster.heartbeat(2, fence=True)
    assert code_of(ask(cluster, proposal(cluster, 1, 2))) == "INELIGIBLE_REPLICA"


def test_a_broker_that_was_restarted_is_another_one(cluster: Cluster) -> None:
    request = proposal(cluster, 1, 2)
    cluster.heartbeat(2, fence=True)
    cluster.advance(10_000)
    cluster.register(2, incarnation=1)
    cluster.heartbeat(2)
    assert code_of(ask(cluster, request)) == "INELIGIBLE_REPLICA"
    assert code_of(ask(cluster, proposal(cluster, 1, 2))) == "NONE"


def test_an_uncleanly_elected_leader_says_that_it_has_recovered() -> None:
    cluster = Cluster().up(1, 2)
    place(cluster, [2, 1], unclean_leader_election_enable="true")
    cluster.heartbeat(1, fence=True)
    cluster.heartbeat(2, fence=True)
    cluster.heartbeat(1)
    assert (led(cluster)[0], partition(cluster).leader_recovery_state) == (1, 1)
    assert code_of(ask(cluster, proposal(cluster, 1, leader_recovery_state=1))) == "NONE"
    cluster.heartbeat(2)
    both = proposal(cluster, 1, 2, leader_recovery_state=1)
    assert code_of(ask(cluster, both)) == "INVALID_REQUEST"
    assert code_of(ask(cluster, proposal(cluster, 1))) == "NONE"
    assert partition(cluster).leader_recovery_state == 0
    assert code_of(ask(cluster, proposal(cluster, 1, 2))) == "NONE"
