"""More and more groups, and members of a group, of both protocols."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from fencepost_protocol.apis import Message
from fencepost_protocol.generated.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatRequestTopicPartitions,
)
from fencepost_protocol.generated.find_coordinator import FindCoordinatorRequest
from fencepost_protocol.generated.heartbeat import HeartbeatRequest
from fencepost_protocol.generated.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from fencepost_protocol.generated.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from fencepost_protocol.generated.sync_group import SyncGroupRequest

from tests.bench.broker.growth import LONG_MS, Crowd, refuse_error, spread_out
from tests.bench.broker.measure import cpu_seconds
from tests.bench.broker.rows import Run
from tests.bench.broker.rows_raw import look
from tests.bench.broker.rows_state import wait_until_idle
from tests.bench.broker.wire import ANSWER_SECONDS, Wire, WrongAnswerError, refuse_later_than


class GroupsWithOffsets(Crowd):
    """Without members; each has an offset of one partition."""

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self.topic = run.topic()
        run.wire.ask(FindCoordinatorRequest("any", 0))

    def grow(self, count: int) -> None:
        new = [self._commit(number) for number in range(self.count, count)]
        for answer in self.wire.ask_all(new):
            refuse_error(answer.topics[0].partitions[0].error_code, "OffsetCommit")

    def cost(self) -> float:
        some = spread_out(range(self.count))
        return self.cpu_us([look(self.run, self._commit(number)) for number in some])

    def _commit(self, number: int) -> Message:
        partition = OffsetCommitRequestPartition(0, committed_offset=1)
        topic = OffsetCommitRequestTopic(self.topic, partitions=[partition])
        return OffsetCommitRequest(f"group-{number}", topics=[topic])


class Consumers:
    """Members of groups of the new protocol (KIP-848), and how to bring them to rest."""

    def __init__(self, wire: Wire, topic: str) -> None:
        self._wire = wire
        self._topic = topic
        self._epochs: dict[tuple[str, str], int] = {}

    def join(self, members: Sequence[tuple[str, str]]) -> None:
        """New ones, by group and member id; all have what they are to have when this returns."""
        asked = [joining(group, member, self._topic) for group, member in members]
        owned = {}
        for who, answer in zip(members, self._wire.ask_all(asked), strict=True):
            owned[who] = self._take(who, answer)
        end = time.monotonic() + ANSWER_SECONDS
        waiting = list(self._epochs)
        while waiting:
            refuse_later_than(end, "consumers do not come to rest")
            epochs = [self._epochs[who] for who in waiting]
            asked = [self._heartbeat(who, owned.get(who)) for who in waiting]
            for who, answer in zip(waiting, self._wire.ask_all(asked), strict=True):
                assigned = self._take(who, answer)
                owned[who] = owned.get(who) if assigned is None else assigned
            waiting = [
                who for who, epoch in zip(waiting, epochs, strict=True) if self._epochs[who] > epoch
            ]

    def heartbeats(self, members: Sequence[tuple[str, str]]) -> list[Message]:
        """Of members to whom nothing happens."""
        return [self._heartbeat(who, None) for who in members]

    def _take(self, who: tuple[str, str], answer: Any) -> Any:
        refuse_error(answer.error_code, f"the heartbeat of {who[1]} in {who[0]}")
        self._epochs[who] = answer.member_epoch
        if answer.assignment is None:
            return None
        return [
            ConsumerGroupHeartbeatRequestTopicPartitions(each.topic_id, each.partitions)
            for each in answer.assignment.topic_partitions
        ]

    def _heartbeat(self, who: tuple[str, str], owned: Any) -> Message:
        group, member = who
        return ConsumerGroupHeartbeatRequest(
            group, member, self._epochs[who], topic_partitions=owned
        )


def joining(group: str, member: str, topic: str) -> Message:
    """A consumer's first heartbeat."""
    return ConsumerGroupHeartbeatRequest(
        group,
        member,
        0,
        rebalance_timeout_ms=LONG_MS,
        subscribed_topic_names=[topic],
        topic_partitions=[],
    )


class ConsumerGroups(Crowd):
    """Each with one member that has one partition."""

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self.topic = run.topic()
        self.consumers = Consumers(run.wire, self.topic)
        self.members: list[tuple[str, str]] = []
        run.wire.ask(FindCoordinatorRequest("any", 0))

    def names(self, count: int) -> list[tuple[str, str]]:
        """Group and member of those that are to come."""
        return [(f"group-{number}", "member") for number in range(self.count, count)]

    def grow(self, count: int) -> None:
        new = self.names(count)
        self.consumers.join(new)
        self.members += new

    def cost(self) -> float:
        some = self.consumers.heartbeats(spread_out(self.members))
        return self.cpu_us([look(self.run, each) for each in some])


class ConsumerMembers(ConsumerGroups):
    """Of one group."""

    def names(self, count: int) -> list[tuple[str, str]]:
        return [("group", f"member-{number}") for number in range(self.count, count)]


class ConsumersComeAndGo(ConsumerMembers):
    """Of one group. The cost is that of a member that joins, and half of it one that leaves."""

    is_held = False

    def cost(self) -> float:
        pairs = max(2, self.run.count(100))
        begin = cpu_at_rest(self.run)
        for number in range(pairs):
            member = f"guest-{number}"
            answer = self.wire.ask(joining("group", member, self.topic))
            refuse_error(answer.error_code, "a consumer that joins")
            answer = self.wire.ask(ConsumerGroupHeartbeatRequest("group", member, -1))
            refuse_error(answer.error_code, "a consumer that leaves")
        return (cpu_at_rest(self.run) - begin) / pairs / 2 * 1e6


def cpu_at_rest(run: Run) -> float:
    """The broker's CPU time when it does nothing: only then is it exact."""
    wait_until_idle(run.peer.pid)
    return cpu_seconds(run.peer.pid)


# -- members of a classic group ------------------------------------------------------------------


class ClassicMembers(Crowd):
    """Of one group, on a connection each while they join."""

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self.group = ""
        self.generation = 0
        self.ids: list[str] = []
        run.wire.ask(FindCoordinatorRequest("any", 0))

    def grow(self, count: int) -> None:
        """A new group of so many."""
        self.group += "+"
        self.generation, self.ids = self.gather([self.group], count)
        self.held += count

    def gather(self, groups: Sequence[str], count: int) -> tuple[int, list[str]]:
        """In each group the first one joins, the others, the first one again, and all sync.

        Gives the generation and the members of the last group.
        """
        connections = [[self.wire.beside() for _ in range(count)] for _ in groups]
        again = []
        try:
            for group, (leader, *others) in zip(groups, connections, strict=True):
                first = leader.ask(joining_classic(group))
                for each in others:
                    each.send(joining_classic(group))
                again.append((leader, joining_classic(group, first.member_id)))
            wait_until_idle(self.run.peer.pid)  # all others have been taken note of
            for leader, rejoins in again:
                leader.send(rejoins)
            for group, members in zip(groups, connections, strict=True):
                generation, ids = synchronised(group, members)
        finally:
            for members in connections:
                for each in members:
                    each.close()
        return generation, ids

    def cost(self) -> float:
        heartbeats = [
            HeartbeatRequest(self.group, self.generation, member) for member in spread_out(self.ids)
        ]
        return self.cpu_us([look(self.run, each) for each in heartbeats])


def synchronised(group: str, members: Sequence[Wire]) -> tuple[int, list[str]]:
    """All members have their generation, and what they are to do in it."""
    joined = [each.receive(joining_classic(group)) for each in members]
    if len(joined[0].members) != len(members):
        raise WrongAnswerError(f"{len(joined[0].members)} of {len(members)} members joined")
    asked = [SyncGroupRequest(group, each.generation_id, each.member_id) for each in joined]
    for each, request in zip(members, asked, strict=True):
        each.send(request)
    for each, request in zip(members, asked, strict=True):
        refuse_error(each.receive(request).error_code, f"SyncGroup of {request.member_id}")
    return joined[0].generation_id, [each.member_id for each in joined]


class ClassicRebalance(ClassicMembers):
    """The cost is that of a member in it: connection, JoinGroup, SyncGroup."""

    is_held = False

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self.gather(["first"], 2)

    def grow(self, count: int) -> None:
        """Nothing that stays."""

    def cost(self) -> float:
        self.group += "+"
        groups = [f"{self.group}{number}" for number in range(max(1, 200 // self.count))]
        begin = cpu_at_rest(self.run)
        self.gather(groups, self.count)
        return (cpu_at_rest(self.run) - begin) / len(groups) / self.count * 1e6


def joining_classic(group: str, member: str = "") -> Message:
    """As version 3 joins, which needs no member id."""
    protocol = JoinGroupRequestProtocol("range", bytes(20))
    return JoinGroupRequest(
        group, LONG_MS, LONG_MS, member, protocol_type="consumer", protocols=[protocol]
    )
