"""What a node tells of its cluster: once for each thing seen, many of the same in one line."""

from __future__ import annotations

from fencepost_broker.controller.channel.reachability import Reachability
from fencepost_broker.metadata.image.changes import BrokerChanged, Change, PartitionChanged
from fencepost_broker.metadata.image.model import Broker, Partition
from fencepost_broker.observability.cluster_events import NAMED_MAX, ClusterEvents

HERE, OTHER, THIRD = 1, 2, 3
NOBODY = -1


def partition(leader: int, epoch: int, number: int = 0) -> Partition:
    return Partition(
        partition_id=number, replicas=(HERE, OTHER), isr=(HERE, OTHER), leader=leader,
        leader_epoch=epoch, partition_epoch=epoch, directories=(bytes(16),) * 2,
    )  # fmt: skip


def moved(before: Partition, after: Partition) -> PartitionChanged:
    return PartitionChanged(bytes(16), "t", before, after)


def told(*changes: Change) -> list[tuple[str, str, str, bool]]:
    news = ClusterEvents(HERE)
    news.read(changes)
    return [(each.kind, each.text, each.partition, each.unexpected) for each in news.take()]


def test_leaders_that_change_are_told_where_there_is_a_replica() -> None:
    assert told(moved(partition(OTHER, 1), partition(HERE, 2))) == [
        ("leader-changed", "the leader is now this broker (before: broker 2)", "t-0", False)
    ]
    assert told(moved(partition(HERE, 1), partition(NOBODY, 2))) == [
        ("leader-changed", "the leader is now no broker (before: this broker)", "t-0", False)
    ]
    elsewhere = partition(OTHER, 2)._replace(replicas=(OTHER, THIRD))
    assert not told(moved(partition(THIRD, 1), elsewhere))
    assert not told(PartitionChanged(bytes(16), "t", None, partition(HERE, 0)))
    assert not told(moved(partition(HERE, 1), partition(HERE, 2))), "a new epoch, the same leader"


def test_many_of_the_same_are_one_line() -> None:
    news = ClusterEvents(HERE)
    count = 500
    for number in range(count):
        news.read((moved(partition(OTHER, 1, number), partition(HERE, 2, number)),))
    (event,) = news.take()
    assert event.partition == f"t-0, t-1, t-2, t-3, t-4 and {count - NAMED_MAX} more"
    assert not news.take(), "it was told"


def test_brokers_that_are_fenced_and_come_back() -> None:
    broker = Broker(OTHER, 7, bytes(16), (), (), fenced=False)
    fenced = broker._replace(fenced=True)
    (event,) = told(BrokerChanged(OTHER, broker, fenced))
    assert event == ("broker-fenced", "the controller has fenced broker 2", "", False)
    (event,) = told(BrokerChanged(HERE, broker._replace(broker_id=HERE), fenced))
    assert event == ("broker-fenced", "the controller has fenced this broker", "", True)
    (event,) = told(BrokerChanged(OTHER, fenced, broker))
    assert event[:2] == ("broker-unfenced", "broker 2 is unfenced")
    (event,) = told(BrokerChanged(OTHER, broker, None))
    assert event[0] == "broker-gone"
    assert not told(BrokerChanged(OTHER, None, fenced)), "it has registered"


def test_the_controller_says_whom_it_has_not_heard() -> None:
    broker = Broker(OTHER, 7, bytes(16), (), (), fenced=False)
    news = ClusterEvents(100)
    change = BrokerChanged(OTHER, broker, broker._replace(fenced=True))
    news.decided((change,), 9000, is_by_time=True)
    (event,) = news.take()
    assert (event.kind, event.unexpected) == ("broker-fenced", True)
    assert "9000 ms (broker.session.timeout.ms)" in event.text
    news.decided((change,), 9000, is_by_time=False)
    (event,) = news.take()
    assert not event.unexpected


def test_who_is_in_sync() -> None:
    news = ClusterEvents(HERE)
    news.in_sync("t-0", (1, 2, 3), (1,))
    news.in_sync("t-0", (1,), (1, 3))
    assert [(each.kind, each.text, each.partition) for each in news.take()] == [
        ("isr-shrunk", "brokers 2, 3 left the ISR", "t-0"),
        ("isr-grown", "broker 3 joined the ISR", "t-0"),
    ]


def test_the_controller_is_lost_once_and_back_when_all_connections_are() -> None:
    reachability = Reachability()
    assert reachability.reached(0, "ask") is None, "it was not lost"
    assert reachability.lost(1000, "ask")
    assert not reachability.lost(1100, "ask"), "the next try"
    assert not reachability.lost(1200, "follow")
    assert reachability.reached(5000, "ask") is None
    assert reachability.reached(6000, "follow") == 5000
    assert reachability.reached(6100, "follow") is None
    assert reachability.lost(7000, "follow")


def test_elections_of_leaders_that_may_lack_records_are_counted() -> None:
    alone = partition(HERE, 1)._replace(isr=(HERE,))
    events = ClusterEvents(HERE)

    def decided(before: Partition, leader: int) -> int:
        change = moved(before, before._replace(leader=leader, leader_epoch=2))
        events.decided((change,), session_ms=9_000, is_by_time=True)
        return events.unclean_elections

    assert decided(partition(HERE, 1), OTHER) == 0, "it was in sync"
    assert decided(alone._replace(eligible_leader_replicas=(OTHER,)), OTHER) == 0
    assert decided(alone, NOBODY) == 0
    assert decided(alone, HERE) == 0, "it was the leader before"
    assert decided(alone, OTHER) == 1
