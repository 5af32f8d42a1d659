"""Eligible leader replicas (KIP-966): who may lead though not in sync, since nothing was committed.

Answers and records are compared with Apache Kafka's in `tests/conformance/replica_cases.py`; here
is what they are for.
"""

from __future__ import annotations

import random

import pytest
from fencepost_broker.controller.machine import HeartbeatReceived
from fencepost_broker.metadata.features import ELIGIBLE_LEADERS
from fencepost_protocol.generated.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from fencepost_protocol.generated.update_features import FeatureUpdateKey, UpdateFeaturesRequest

from tests.machine.controller.cluster import Cluster, code_of
from tests.machine.controller.harness import led, partition, place, reassign
from tests.machine.controller.in_sync_harness import ask as ask_in_sync
from tests.machine.controller.in_sync_harness import proposal

TOPIC, BROKER = 2, 4
SET, DELETE = 0, 1


def three(**configs: str) -> Cluster:
    """A partition of brokers 1, 2 and 3, two of which have to be in sync."""
    cluster = Cluster().up(1, 2, 3)
    place(cluster, [1, 2, 3], **{"min_insync_replicas": "2", **configs})
    return cluster


def eligible(cluster: Cluster) -> tuple[int, ...]:
    return partition(cluster).eligible_leader_replicas


def killed(cluster: Cluster, broker_id: int) -> None:
    """Its session is over; what it had not flushed is gone."""
    cluster.heartbeat(broker_id, fence=True)


def back(cluster: Cluster, broker_id: int, *, incarnation: int, in_order: bool) -> None:
    epoch = cluster.image.cluster.brokers[broker_id].epoch
    cluster.controller.apply_soft(HeartbeatReceived(broker_id, None))  # its session is over
    cluster.register(broker_id, incarnation, previous_epoch=epoch if in_order else -1)
    cluster.heartbeat(broker_id)


def set_min_insync(cluster: Cluster, kind: int, name: str, value: str | None) -> str:
    operation = DELETE if value is None else SET
    change = AlterableConfig("min.insync.replicas", operation, value)
    resource = AlterConfigsResource(kind, name, [change])
    answer = cluster.ask(IncrementalAlterConfigsRequest([resource]))
    return code_of(answer.responses[0])


def turn(cluster: Cluster, level: int) -> str:
    update = FeatureUpdateKey(ELIGIBLE_LEADERS, level, upgrade_type=1 if level else 2)
    return code_of(cluster.ask(UpdateFeaturesRequest(60_000, [update])))


def test_enough_in_sync_and_nobody_else_may_lead() -> None:
    cluster = three()
    killed(cluster, 1)
    assert (led(cluster)[0], partition(cluster).isr, eligible(cluster)) == (2, (2, 3), ())


def test_who_leaves_when_too_few_are_left_may_lead() -> None:
    cluster = three()
    killed(cluster, 1)
    killed(cluster, 2)
    assert (led(cluster)[0], partition(cluster).isr, eligible(cluster)) == (3, (3,), (2,))
    killed(cluster, 3)
    assert (led(cluster)[0], partition(cluster).isr, eligible(cluster)) == (-1, (), (2, 3))
    cluster.heartbeat(1)
    assert led(cluster)[0] == -1, "it left before, and lacks what was committed since"
    cluster.heartbeat(2)
    assert (led(cluster)[0], partition(cluster).isr, eligible(cluster)) == (2, (2,), (3,))
    assert partition(cluster).leader_recovery_state == 0, "nothing is lost"


def test_enough_are_in_sync_again() -> None:
    cluster = three()
    killed(cluster, 1)
    killed(cluster, 2)
    cluster.heartbeat(2)
    ask_in_sync(cluster, proposal(cluster, 3, 2))
    assert (partition(cluster).isr, eligible(cluster)) == ((3, 2), ())


def test_who_comes_back_from_a_kill_may_not_lead() -> None:
    cluster = three()
    for each in (1, 2, 3):
        killed(cluster, each)
    back(cluster, 2, incarnation=1, in_order=False)
    assert (led(cluster)[0], eligible(cluster)) == (-1, (3,))
    cluster.heartbeat(3)
    assert (led(cluster)[0], partition(cluster).isr) == (3, (3,))


def test_who_stopped_in_order_may() -> None:
    cluster = three()
    for each in (1, 2, 3):
        killed(cluster, each)
    back(cluster, 2, incarnation=1, in_order=True)
    assert (led(cluster)[0], eligible(cluster)) == (2, (3,))


def test_when_all_were_killed_who_led_last_leads_again() -> None:
    cluster = three()
    for each in (1, 2, 3):
        killed(cluster, each)
    assert partition(cluster).last_known_elr == (3,)
    back(cluster, 2, incarnation=1, in_order=False)
    assert (led(cluster)[0], eligible(cluster)) == (-1, (3,))
    back(cluster, 3, incarnation=1, in_order=False)
    assert (led(cluster)[0], partition(cluster).isr, eligible(cluster)) == (3, (3,), ())
    assert partition(cluster).last_known_elr == ()
    assert partition(cluster).leader_recovery_state == 1, "something may be lost"


def test_another_number_is_judged_anew() -> None:
    cluster = three()
    killed(cluster, 1)
    killed(cluster, 2)
    epoch = partition(cluster).partition_epoch
    assert set_min_insync(cluster, TOPIC, "t", "1") == "NONE"
    assert eligible(cluster) == ()
    assert partition(cluster).partition_epoch == epoch + 1


def test_another_number_takes_nobody_away_who_is_waited_for() -> None:
    """Nothing can have been committed since."""
    cluster = three()
    for each in (1, 2, 3):
        killed(cluster, each)
    assert set_min_insync(cluster, BROKER, "", "2") == "NONE"
    assert set_min_insync(cluster, TOPIC, "t", "1") == "NONE"
    assert eligible(cluster) == (2, 3)
    cluster.heartbeat(2)
    assert led(cluster)[0] == 2


def test_who_is_no_replica_any_more_may_not_lead_when_it_is_one_again() -> None:
    cluster = Cluster().up(1, 2, 3, 4)
    place(cluster, [1, 2], min_insync_replicas="2")
    killed(cluster, 2)
    reassign(cluster, [1, 2, 3, 4])
    ask_in_sync(cluster, proposal(cluster, 1, 3))
    reassign(cluster, None)  # 3 deletes what it has
    assert 3 not in eligible(cluster)
    reassign(cluster, [1, 2, 3])
    killed(cluster, 1)
    assert led(cluster)[0] == -1


def test_partitions_of_other_sizes_are_judged_by_their_own() -> None:
    cluster = Cluster().up(1, 2)
    place(cluster, [1, 2], [1, 2], min_insync_replicas="2")
    reassign(cluster, [1])  # the first one, by which Kafka judges all of them
    killed(cluster, 2)
    other = cluster.image.topics.by_name["t"].partitions[1]
    assert (other.isr, other.eligible_leader_replicas) == ((1,), (2,))


def test_turned_off_nobody_is_eligible() -> None:
    cluster = three()
    killed(cluster, 1)
    killed(cluster, 2)
    assert turn(cluster, 0) == "NONE"
    set_min_insync(cluster, TOPIC, "t", "1")
    cluster.heartbeat(2)
    killed(cluster, 3)
    assert (led(cluster)[0], partition(cluster).isr) == (-1, (3,))
    assert turn(cluster, 1) == "NONE"
    assert eligible(cluster) == ()


def test_it_stays_on_while_somebody_is_waited_for_that_is_not_in_sync() -> None:
    cluster = three()
    for each in (1, 2, 3):
        killed(cluster, each)
    assert turn(cluster, 0) == "INVALID_UPDATE_VERSION"


def test_turned_on_while_nobody_leads_the_last_in_sync_leads_again() -> None:
    cluster = Cluster(levels={ELIGIBLE_LEADERS: 0}).up(1, 2)
    place(cluster, [2, 1])
    killed(cluster, 1)
    killed(cluster, 2)
    assert turn(cluster, 1) == "NONE"
    back(cluster, 2, incarnation=1, in_order=False)
    assert (led(cluster)[0], partition(cluster).isr) == (2, (2,))


def test_the_number_is_one_for_all_brokers() -> None:
    cluster = three()
    assert set_min_insync(cluster, BROKER, "1", "2") == "INVALID_CONFIG"
    assert set_min_insync(cluster, BROKER, "", None) == "INVALID_CONFIG"
    assert set_min_insync(cluster, BROKER, "", "2") == "NONE"


def test_where_it_is_turned_on_the_number_becomes_one() -> None:
    cluster = Cluster(levels={ELIGIBLE_LEADERS: 0}).up(1)
    assert set_min_insync(cluster, BROKER, "1", "2") == "NONE"
    assert turn(cluster, 1) == "NONE"
    assert cluster.image.configs.of(BROKER, "1") == {}
    assert cluster.image.configs.of(BROKER, "") == {"min.insync.replicas": "1"}


@pytest.mark.parametrize("seed", range(30))
def test_whoever_leads_cleanly_has_all_that_was_committed(seed: int) -> None:
    """Records are counted, not kept: a kill takes away what a replica had, a stop does not."""
    chance = random.Random(seed)
    cluster = three()
    committed, has = 0, dict.fromkeys((1, 2, 3), 0)
    for step in range(80):
        before = partition(cluster)
        broker_id = chance.randint(1, 3)
        match chance.randrange(5):
            case 0:
                cluster.heartbeat(broker_id, fence=True)
            case 1:
                cluster.heartbeat(broker_id)
            case 2 if cluster.image.cluster.brokers[broker_id].fenced:
                in_order = chance.random() < 0.5
                if not in_order:
                    has[broker_id] = 0
                back(cluster, broker_id, incarnation=1 + step, in_order=in_order)
            case 3 if before.leader > 0 and len(before.isr) >= 2:
                committed += 1
                has.update(dict.fromkeys(before.isr, committed))
            case 4 if before.leader > 0:
                up = [each for each in (1, 2, 3) if not cluster.image.cluster.brokers[each].fenced]
                caught_up = dict.fromkeys((before.leader, *chance.sample(up, len(up) // 2)))
                has.update(dict.fromkeys(caught_up, has[before.leader]))
                ask_in_sync(cluster, proposal(cluster, *caught_up))
        after = partition(cluster)
        if after.leader > 0 and after.leader_epoch > before.leader_epoch:
            if after.leader_recovery_state:
                committed = has[after.leader]  # told: what was lost is known to be lost
            assert has[after.leader] == committed, f"step {step}: {before} became {after}"
