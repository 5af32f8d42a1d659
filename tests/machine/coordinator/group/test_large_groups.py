"""Groups with hundreds of members: a join and a heartbeat cost what they change."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from fencepost_broker.coordinator.group.share.assignor import assign
from fencepost_broker.coordinator.group.share.commands import SharesInitialized
from fencepost_protocol.apis import Message
from fencepost_protocol.generated.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from fencepost_protocol.generated.share_group_heartbeat import ShareGroupHeartbeatRequest

from tests.machine.coordinator.group.partition import Partition
from tests.support.bytecodes import bytecodes

FEW, MANY = 30, 300
LARGEST_GROWTH = 1.1


class Group:
    """A group that gets its assignment at the first member's join, and no other in this time.

    Unless it may have one at any time.
    """

    class Unchecked(Partition):
        def check(self) -> None:
            """Replaying the whole log after each join would take most of the time."""

    def __init__(self, kind: str, **settings: Any) -> None:
        self.is_shared = kind == "share"
        self.size = 0
        self.partition = self.Unchecked(
            group_consumer_max_size=MANY + 1, group_share_max_size=MANY, **settings
        )

    def _asked(self, number: int, epoch: int, topics: list[str] | None) -> Message:
        if self.is_shared:
            return ShareGroupHeartbeatRequest("g", f"m{number}", epoch, None, topics)
        request = ConsumerGroupHeartbeatRequest("g", f"m{number}", epoch)
        if topics is not None:
            request.rebalance_timeout_ms, request.topic_partitions = 1000, []
            request.subscribed_topic_names = topics
        return request

    def grow(self, size: int) -> int:
        """What the last join costs."""
        cost = 0
        while self.size < size:
            self.size += 1
            join = self._asked(self.size, 0, ["t"])
            if self.size == size:
                cost = bytecodes(lambda: self.partition.ask(join))  # noqa: B023
            else:
                self.partition.ask(join)
            if self.size == 1 and self.is_shared:
                topics = self.partition.topics
                done = {topics.ids["t"]: range(topics.counts["t"])}
                self.partition.submit(SharesInitialized("g", done, {}))
        return cost

    def beat(self) -> int:
        """What the first member's heartbeat costs when nothing has changed since the last one."""
        epoch = self.partition.group("g").members["m1"].member_epoch
        for _ in range(2):
            self.partition.ask(self._asked(1, epoch, None))
        return bytecodes(lambda: self.partition.ask(self._asked(1, epoch, None)))

    def come_and_go(self) -> int:
        """What it costs that one more member joins and leaves, with an assignment each time."""
        guest = self.size + 1

        def once() -> None:
            self.partition.ask(self._asked(guest, 0, ["t"]))
            self.partition.ask(self._asked(guest, -1, None))

        once()
        return bytecodes(once)


counted_on_3_11 = pytest.mark.skipif(
    sys.version_info[:2] != (3, 11), reason="later versions do not tell a tracer of each bytecode"
)


@counted_on_3_11
@pytest.mark.parametrize("kind", ["consumer", "share"])
def test_joins_and_heartbeats_cost_the_same_in_a_large_group(kind: str) -> None:
    group = Group(kind)
    join, beat = group.grow(FEW), group.beat()
    assert group.grow(MANY) < LARGEST_GROWTH * join
    assert group.beat() < LARGEST_GROWTH * beat


@counted_on_3_11
@pytest.mark.parametrize("partitions", [4, FEW, MANY + 1])
def test_an_assignment_of_a_consumer_group_costs_what_changes(partitions: int) -> None:
    """Most members have no partition, or some members have one more, or each has some."""
    group = Group("consumer", group_consumer_assignment_interval_ms=0)
    group.partition.create_topic("t", partitions)
    group.grow(FEW)
    few = group.come_and_go()
    group.grow(MANY)
    assert group.come_and_go() < LARGEST_GROWTH * few


def test_an_assignment_of_a_share_group_grows_with_the_group() -> None:
    def cost(size: int) -> int:
        topics = {f"m{number}": [b"t" * 16] for number in range(size)}
        return bytecodes(lambda: assign(topics, {}, {b"t" * 16: range(size)}))

    assert cost(8 * FEW) < 1.2 * 8 * cost(FEW)
