"""Reassignments: what is added has to be in sync before what is removed goes (KIP-455)."""

from __future__ import annotations

import random
from typing import Any

import pytest
from fencepost_broker.apis.topics.reassignments import reassignments_under_way
from fencepost_broker.metadata.image.model import Partition
from fencepost_protocol.generated.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from fencepost_protocol.generated.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsTopics,
)

from tests.machine.controller.cluster import Cluster, code_of
from tests.machine.controller.harness import led, partition, place, reassign
from tests.machine.controller.in_sync_harness import ask as ask_in_sync
from tests.machine.controller.in_sync_harness import proposal


@pytest.fixture
def cluster() -> Cluster:
    """Brokers 1 to 5; t-0 is on 1 and 2."""
    cluster = Cluster().up(1, 2, 3, 4, 5)
    place(cluster, [1, 2])
    return cluster


def moving(cluster: Cluster) -> tuple[tuple[int, ...], ...]:
    found = partition(cluster)
    return found.replicas, found.adding_replicas, found.removing_replicas


def catch_up(cluster: Cluster, *isr: int) -> str:
    return code_of(ask_in_sync(cluster, proposal(cluster, *isr)))


def test_the_added_come_before_the_removed_go(cluster: Cluster) -> None:
    assert reassign(cluster, [3, 4]) == "NONE"
    assert moving(cluster) == ((3, 4, 1, 2), (3, 4), (1, 2))
    assert led(cluster) == (1, 0, (1, 2))
    assert catch_up(cluster, 1, 2, 3) == "NONE"
    assert moving(cluster) == ((3, 4, 1, 2), (3, 4), (1, 2))
    assert catch_up(cluster, 1, 2, 3, 4) == "NEW_LEADER_ELECTED"
    assert moving(cluster) == ((3, 4), (), ())
    assert led(cluster) == (3, 1, (3, 4))


def test_a_leader_that_stays_leads_in_a_new_epoch(cluster: Cluster) -> None:
    assert reassign(cluster, [3, 1]) == "NONE"
    answer = ask_in_sync(cluster, proposal(cluster, 1, 2, 3))
    assert (code_of(answer), answer.leader_id, answer.leader_epoch) == ("NONE", 1, 1)
    assert answer.isr == [1, 3]
    assert led(cluster) == (1, 1, (1, 3))
    assert answer.partition_epoch == partition(cluster).partition_epoch


def test_what_is_only_removed_goes_at_once(cluster: Cluster) -> None:
    assert reassign(cluster, [2]) == "NONE"
    assert moving(cluster) == ((2,), (), ())
    assert led(cluster) == (2, 1, (2,))


def test_a_target_that_dies_is_waited_for(cluster: Cluster) -> None:
    assert reassign(cluster, [1, 3]) == "NONE"
    cluster.heartbeat(3, fence=True)
    assert catch_up(cluster, 1, 2, 3) == "INELIGIBLE_REPLICA"
    assert moving(cluster) == ((1, 3, 2), (3,), (2,))
    cluster.heartbeat(3)
    assert catch_up(cluster, 1, 2, 3) == "NONE"
    assert moving(cluster) == ((1, 3), (), ())


def test_another_target_takes_the_place_of_one_that_died(cluster: Cluster) -> None:
    assert reassign(cluster, [1, 3]) == "NONE"
    cluster.heartbeat(3, fence=True)
    assert reassign(cluster, [1, 4]) == "NONE"
    assert catch_up(cluster, 1, 2, 4) == "NONE"
    assert moving(cluster) == ((1, 4), (), ())
    assert led(cluster) == (1, 1, (1, 4))


def test_the_leader_dies_half_way(cluster: Cluster) -> None:
    assert reassign(cluster, [3, 4]) == "NONE"
    assert catch_up(cluster, 1, 2, 3) == "NONE"
    cluster.heartbeat(1, fence=True)
    assert led(cluster) == (3, 1, (2, 3))
    assert catch_up(cluster, 2, 3, 4) == "NONE"
    assert moving(cluster) == ((3, 4), (), ())


def test_called_off(cluster: Cluster) -> None:
    assert reassign(cluster, None) == "NO_REASSIGNMENT_IN_PROGRESS"
    assert reassign(cluster, [3, 4]) == "NONE"
    assert catch_up(cluster, 1, 2, 3) == "NONE"
    assert reassign(cluster, None) == "NONE"
    assert moving(cluster) == ((1, 2), (), ())
    assert led(cluster) == (1, 1, (1, 2))


@pytest.mark.parametrize("allowed", [False, True])
def test_called_off_where_only_the_added_have_all(cluster: Cluster, *, allowed: bool) -> None:
    place(cluster, [1], topic="u", unclean_leader_election_enable=str(allowed).lower())
    asked = [ReassignableTopic("u", [ReassignablePartition(0, [3, 4])])]
    cluster.ask(AlterPartitionReassignmentsRequest(1000, True, asked))
    request = proposal(cluster, 1, 3)
    request.topics[0].topic_id = cluster.image.topics.by_name["u"].topic_id
    request.topics[0].partitions[0].partition_epoch = partition(cluster, 0, "u").partition_epoch
    assert code_of(ask_in_sync(cluster, request)) == "NONE"
    cluster.heartbeat(1, fence=True)
    assert led(cluster, 0, "u") == (3, 1, (3,))
    asked[0].partitions[0].replicas = None
    response = cluster.ask(AlterPartitionReassignmentsRequest(1000, True, asked))
    told = response.responses[0].partitions[0]
    assert code_of(told) == ("NONE" if allowed else "INVALID_REPLICA_ASSIGNMENT")
    assert partition(cluster, 0, "u").replicas == ((1,) if allowed else (3, 4, 1))


@pytest.mark.parametrize(
    ("to", "code"),
    [
        ([], "INVALID_REPLICA_ASSIGNMENT"),
        ([1, 1], "INVALID_REPLICA_ASSIGNMENT"),
        ([1, 9], "INVALID_REPLICA_ASSIGNMENT"),
        ([1], "INVALID_REPLICATION_FACTOR"),
        ([1, 3], "NONE"),
    ],
)
def test_what_is_refused(cluster: Cluster, to: list[int], code: str) -> None:
    assert reassign(cluster, to, may_resize=False) == code


def test_where_it_is_already_nothing_is_written(cluster: Cluster) -> None:
    end = cluster.image.next_offset
    assert reassign(cluster, [1, 2]) == "NONE"
    assert cluster.image.next_offset == end


def listed(cluster: Cluster, *asked: tuple[str, list[int]]) -> list[Any]:
    topics = [ListPartitionReassignmentsTopics(*each) for each in asked] or None
    answer = reassignments_under_way(cluster.image, ListPartitionReassignmentsRequest(1000, topics))
    return [
        (topic.name, each.partition_index, each.replicas, each.adding_replicas,
         each.removing_replicas)
        for topic in answer.topics for each in topic.partitions
    ]  # fmt: skip


def test_what_is_under_way(cluster: Cluster) -> None:
    assert listed(cluster) == []
    reassign(cluster, [1, 3])
    found = [("t", 0, [1, 3, 2], [3], [2])]
    assert listed(cluster) == found
    assert listed(cluster, ("t", [0, 5]), ("nope", [0])) == found
    assert listed(cluster, ("t", [1])) == []


def holders(partition: Partition) -> set[int]:
    """Who has all that is acknowledged."""
    return {*partition.isr, *partition.eligible_leader_replicas}


@pytest.mark.parametrize("seed", range(20))
def test_whatever_happens_the_acknowledged_data_has_a_holder(seed: int) -> None:
    """Somebody who was in sync before each step is so after it: no step loses all who had it."""
    chance = random.Random(seed)
    cluster = Cluster().up(1, 2, 3, 4, 5)
    place(cluster, [1, 2, 3])
    for _ in range(60):
        before = partition(cluster)
        step = chance.randrange(4)
        if step == 0:
            to = chance.sample(range(1, 6), chance.randint(1, 3))
            reassign(cluster, None if chance.random() < 0.3 else to)
        elif step == 1 and before.leader >= 0:
            others = [each for each in before.replicas if each != before.leader]
            some = chance.sample(others, chance.randint(0, len(others)))
            catch_up(cluster, before.leader, *some)
        else:
            cluster.heartbeat(chance.randint(1, 5), fence=step == 2)
        after = partition(cluster)
        assert holders(after) <= set(after.replicas)
        assert after.leader == -1 or after.leader in after.isr
        assert set(after.adding_replicas) | set(after.removing_replicas) <= set(after.replicas)
        if step != 1:
            assert holders(before) & holders(after)
