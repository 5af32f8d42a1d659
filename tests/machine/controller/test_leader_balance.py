"""Leadership goes back to the preferred replica by itself; unclean elections come later, too."""

from __future__ import annotations

import pytest
from fencepost_broker.controller.ports import ControllerSettings
from fencepost_protocol.generated.delete_topics import DeleteTopicsRequest
from fencepost_protocol.generated.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)

from tests.machine.controller.cluster import CLUSTER_ID, NODE_ID, Cluster
from tests.machine.controller.harness import led, place
from tests.machine.controller.in_sync_harness import ask, proposal

INTERVAL_MS = 1000
SESSION_MS = 1 << 40


def balanced(interval_ms: int | None = INTERVAL_MS) -> Cluster:
    """Broker 2 is preferred for t-0 and t-1, was away, and is back; broker 1 leads both."""
    settings = ControllerSettings(
        NODE_ID, CLUSTER_ID, broker_session_timeout_ms=SESSION_MS,
        leader_imbalance_check_interval_ms=interval_ms,
        unclean_leader_election_interval_ms=INTERVAL_MS,
    )  # fmt: skip
    cluster = Cluster(settings).up(1, 2, 3)
    place(cluster, [2, 1], [2, 1], [1, 2])
    cluster.heartbeat(2, fence=True)
    cluster.heartbeat(2)
    assert [led(cluster, number)[0] for number in range(3)] == [1, 1, 1]
    return cluster


def in_sync_again(cluster: Cluster) -> None:
    assert not ask(cluster, proposal(cluster, 2, 1)).error_code


def test_leadership_goes_back_when_the_preferred_replica_is_in_sync() -> None:
    cluster = balanced()
    in_sync_again(cluster)
    cluster.advance(INTERVAL_MS - 1)
    assert led(cluster)[0] == 1
    cluster.advance(1)
    assert led(cluster)[0] == 2
    assert led(cluster, 1)[0] == 1, "it is not in sync there"


def test_it_is_looked_again_and_again_while_there_is_anything_to_do() -> None:
    cluster = balanced()
    cluster.advance(10 * INTERVAL_MS)
    assert led(cluster)[0] == 1
    in_sync_again(cluster)
    cluster.advance(INTERVAL_MS)
    assert led(cluster)[0] == 2


@pytest.mark.parametrize("by_ms", [-1_000_000, 1_000_000])
def test_a_check_comes_as_soon_as_before_when_the_clock_is_set(by_ms: int) -> None:
    cluster = balanced()
    in_sync_again(cluster)
    cluster.now_ms += by_ms
    cluster.controller.jumped(by_ms)
    cluster.advance(INTERVAL_MS - 1)
    assert led(cluster)[0] == 1
    cluster.advance(1)
    assert led(cluster)[0] == 2


def test_nothing_is_due_where_all_is_as_it_should_be() -> None:
    cluster = balanced()
    cluster.heartbeat(1)
    cluster.heartbeat(2)
    in_sync_again(cluster)
    cluster.advance(INTERVAL_MS)
    place(cluster, [3, 2], topic="u")
    end = cluster.image.next_offset
    cluster.advance(5 * INTERVAL_MS)
    assert cluster.image.next_offset == end


@pytest.mark.parametrize("restart", [False, True])
def test_a_controller_that_starts_knows_of_it(*, restart: bool) -> None:
    cluster = balanced()
    in_sync_again(cluster)
    if restart:
        cluster = cluster.restarted()
        cluster.heartbeat(2)
    cluster.advance(INTERVAL_MS)
    assert led(cluster)[0] == 2


def test_switched_off() -> None:
    cluster = balanced(None)
    in_sync_again(cluster)
    cluster.advance(100 * INTERVAL_MS)
    assert led(cluster)[0] == 1


def test_topics_that_are_gone_are_forgotten() -> None:
    cluster = balanced()
    cluster.ask(DeleteTopicsRequest(topic_names=["t"]))
    cluster.advance(5 * INTERVAL_MS)
    assert cluster.controller.deadline() == SESSION_MS, "no election is due, only sessions end"


# -- unclean elections -----------------------------------------------------------------------------


def without_leader() -> Cluster:
    """Broker 2 was the last in sync of u-0, and is away; broker 1 is up and lacks records."""
    cluster = balanced(None)
    in_sync_again(cluster)
    place(cluster, [2, 1], topic="u")
    cluster.heartbeat(1, fence=True)
    cluster.heartbeat(2, fence=True)
    cluster.heartbeat(1)
    assert led(cluster, topic="u")[::2] == (-1, ())
    return cluster


def allow(cluster: Cluster, topic: str) -> None:
    allowed = AlterableConfig("unclean.leader.election.enable", 0, "true")
    cluster.ask(IncrementalAlterConfigsRequest([AlterConfigsResource(2, topic, [allowed])]))


def test_a_topic_that_allows_it_afterwards_gets_an_unclean_election() -> None:
    cluster = without_leader()
    cluster.advance(5 * INTERVAL_MS)
    assert led(cluster, topic="u")[::2] == (-1, ()), "nobody has allowed it"
    allow(cluster, "u")
    assert led(cluster, topic="u")[::2] == (-1, ()), "not at once, as in Kafka"
    cluster.advance(INTERVAL_MS)
    assert led(cluster, topic="u")[::2] == (1, (1,))
    assert cluster.image.topics.by_name["u"].partitions[0].leader_recovery_state == 1


def test_without_a_replica_that_is_up_there_is_no_unclean_election() -> None:
    cluster = without_leader()
    allow(cluster, "u")
    cluster.heartbeat(1, fence=True)
    cluster.advance(2 * INTERVAL_MS)
    assert led(cluster, topic="u")[::2] == (-1, ())
