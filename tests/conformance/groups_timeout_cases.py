"""Scripts for both group coordinators in which time passes: ours is moved, Kafka's is waited for.

What passes between two requests of a script that belong together must be much less than a timeout,
also on a busy machine where Kafka has just begun. Long ones cost nothing: the last case takes a
minute, and all are waited for at the same time.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fencepost_protocol.generated.consumer_group_describe import ConsumerGroupDescribeRequest
from fencepost_protocol.generated.describe_groups import DescribeGroupsRequest
from fencepost_protocol.generated.heartbeat import HeartbeatRequest
from fencepost_protocol.generated.join_group import JoinGroupRequest
from fencepost_protocol.generated.list_groups import ListGroupsRequest

from tests.conformance.groups_cases import beat, commit, fetch, first_beat, join, sync
from tests.conformance.groups_peer import Case, Side

SESSION_MS = 16_000
LATER_MS = 24_000
"""A session is over by then."""
CHECK_INTERVAL_MS = 10_000
"""Each such while a coordinator drops groups that are empty, also one whose members have not joined
yet: it counts from when Kafka has its coordinators, so that all of a group is there before."""


def timed(
    group: str, member: str = "", instance: str | None = None, *,
    session_ms: int = SESSION_MS, rebalance_ms: int = 60_000,
) -> JoinGroupRequest:  # fmt: skip
    request = join(group, member, instance, session_ms=session_ms)
    request.rebalance_timeout_ms = rebalance_ms
    return request


def member(side: Side, group: str, name: str, **timeouts: Any) -> str:
    """An id of a member that has not joined yet."""
    return side.calls(side.ask(timed(group, **timeouts)).member_id, name)


def stable(side: Side, group: str, instance: str | None = None, **timeouts: Any) -> str:
    """A group of one member, in its first generation."""
    if instance is None:
        first = member(side, group, "first", **timeouts)
        side.ask(timed(group, first, **timeouts))
    else:
        answer = side.ask(timed(group, "", instance, **timeouts))
        first = side.calls(answer.member_id, "first")
    assert not side.ask(sync(group, first, 1, {first: b"all"}, instance)).error_code
    return first


def until_rebalancing(side: Side, group: str, first: str) -> int:
    """Until the request of the other member has come in."""
    while not (code := side.ask(HeartbeatRequest(group, 1, first)).error_code):
        pass
    return int(code)


def session_of_the_only_member(side: Side, group: str) -> Iterator[Any]:
    first = stable(side, group)
    yield side.ask(commit(group, 1, first), 9)
    side.wait(LATER_MS)
    yield side.ask(DescribeGroupsRequest([group]))
    yield side.ask(HeartbeatRequest(group, 1, first))
    yield side.ask(sync(group, first, 1))
    yield side.ask(commit(group, 1, first), 9)
    yield side.ask(timed(group, first))
    yield side.ask(fetch(group), 9)


def heartbeats_and_commits_are_signs_of_life(side: Side, group: str) -> Iterator[Any]:
    first = stable(side, group)
    for _ in range(2):
        side.wait(9600)
        yield side.ask(HeartbeatRequest(group, 1, first))
        side.wait(9600)
        yield side.ask(commit(group, 1, first), 9)
    yield side.ask(DescribeGroupsRequest([group]))


def an_id_that_nobody_uses(side: Side, group: str) -> Iterator[Any]:
    # Kafka removes empty groups every CHECK_INTERVAL_MS, perhaps before it is asked for this one.
    for _ in range(3):
        pending = member(side, group, "pending")
        described = side.ask(DescribeGroupsRequest([group]))
        if described.groups[0].group_state != "Dead":
            break
    yield described
    side.wait(LATER_MS)
    yield side.ask(DescribeGroupsRequest([group]))
    yield side.ask(timed(group, pending))


def rebalance_without_one_who_lives(side: Side, group: str) -> Iterator[Any]:
    """It sends heartbeats, and does not join within the rebalance timeout."""
    first = stable(side, group, session_ms=120_000, rebalance_ms=SESSION_MS)
    second = member(side, group, "second", session_ms=120_000, rebalance_ms=SESSION_MS)
    waiting = side.begin(timed(group, second, session_ms=120_000, rebalance_ms=SESSION_MS), 9)
    yield until_rebalancing(side, group, first)
    side.wait(LATER_MS)
    yield side.finish(waiting)
    yield side.ask(HeartbeatRequest(group, 1, first))
    yield side.ask(HeartbeatRequest(group, 2, second))
    yield side.ask(timed(group, first))
    yield side.ask(DescribeGroupsRequest([group]))


def rebalance_without_one_who_is_silent(side: Side, group: str) -> Iterator[Any]:
    """Its session ends before the rebalance timeout."""
    first = stable(side, group)
    second = member(side, group, "second", session_ms=120_000)
    waiting = side.begin(timed(group, second, session_ms=120_000), 9)
    yield until_rebalancing(side, group, first)
    side.wait(LATER_MS)
    yield side.finish(waiting)
    yield side.ask(HeartbeatRequest(group, 1, first))
    yield side.ask(DescribeGroupsRequest([group]))


def a_leader_that_assigns_nothing(side: Side, group: str) -> Iterator[Any]:
    """Whoever has not synced within the rebalance timeout is out, and the others join anew."""
    timeouts: dict[str, Any] = {"session_ms": 120_000, "rebalance_ms": SESSION_MS}
    first = stable(side, group, **timeouts)
    second = member(side, group, "second", **timeouts)
    waiting = side.begin(timed(group, second, **timeouts), 9)
    until_rebalancing(side, group, first)
    yield side.ask(timed(group, first, **timeouts))
    yield side.finish(waiting)
    follower = side.begin(sync(group, second, 2), 5)
    side.wait(LATER_MS)
    yield side.finish(follower)
    yield side.ask(HeartbeatRequest(group, 2, first))
    yield side.ask(HeartbeatRequest(group, 2, second))
    yield side.ask(DescribeGroupsRequest([group]))
    yield side.ask(timed(group, second, **timeouts))


def a_join_whose_connection_goes(side: Side, group: str) -> Iterator[Any]:
    first = stable(side, group, session_ms=120_000)
    lost = member(side, group, "lost")
    waiting = side.begin(timed(group, lost), 9)
    yield until_rebalancing(side, group, first)
    side.forget(waiting)
    yield side.ask(timed(group, first, session_ms=120_000))
    yield side.ask(sync(group, first, 2, {first: b"1", lost: b"2"}))
    yield side.ask(DescribeGroupsRequest([group]))
    yield side.ask(sync(group, lost, 2))
    side.wait(LATER_MS)
    yield side.ask(DescribeGroupsRequest([group]))
    yield side.ask(HeartbeatRequest(group, 2, lost))
    yield side.ask(HeartbeatRequest(group, 2, first))


def a_sync_whose_connection_goes(side: Side, group: str) -> Iterator[Any]:
    first = stable(side, group, session_ms=120_000)
    lost = member(side, group, "lost")
    waiting = side.begin(timed(group, lost), 9)
    until_rebalancing(side, group, first)
    yield side.ask(timed(group, first, session_ms=120_000))
    yield side.finish(waiting)
    side.forget(side.begin(sync(group, lost, 2), 5))
    yield side.ask(sync(group, first, 2, {first: b"1", lost: b"2"}))
    yield side.ask(HeartbeatRequest(group, 2, lost))
    side.wait(LATER_MS)
    yield side.ask(DescribeGroupsRequest([group]))
    yield side.ask(HeartbeatRequest(group, 2, first))


def a_static_member_that_comes_back_in_time(side: Side, group: str) -> Iterator[Any]:
    stable(side, group, "i")
    side.wait(8000)
    again = side.ask(timed(group, "", "i"))
    second = side.calls(again.member_id, "second")
    yield again
    side.wait(9600)
    yield side.ask(HeartbeatRequest(group, 1, second, "i"))
    side.wait(LATER_MS)
    yield side.ask(HeartbeatRequest(group, 1, second, "i"))
    yield side.ask(DescribeGroupsRequest([group]))


def session_of_a_consumer(side: Side, group: str) -> Iterator[Any]:
    """KIP-848; the group's setting is the session timeout."""
    yield side.ask(first_beat(group, "a", "t"))
    side.wait(9600)
    yield side.ask(beat(group, "a", 2))
    side.wait(9600)
    yield side.ask(ConsumerGroupDescribeRequest([group]))
    side.wait(LATER_MS)
    yield side.ask(ConsumerGroupDescribeRequest([group]))
    yield side.ask(beat(group, "a", 2))
    yield side.ask(commit(group, 2, "a"), 9)
    yield side.ask(first_beat(group, "a", "t"))


def a_consumer_that_keeps_what_it_has_to_give(side: Side, group: str) -> Iterator[Any]:
    """It lives, and has not revoked its partitions within its rebalance timeout."""
    topic = side.topic_ids["t"]
    yield side.ask(first_beat(group, "a", "t", rebalance_timeout_ms=20_000))
    yield side.ask(first_beat(group, "b", "t"))
    everything = {topic: [0, 1, 2, 3]}
    yield side.ask(beat(group, "a", 2, everything))
    for _ in range(3):
        side.wait(8000)
        side.ask(beat(group, "b", 3, {}))
        side.ask(beat(group, "a", 2, everything))
    yield side.ask(beat(group, "a", 2, everything))
    yield side.ask(beat(group, "b", 3, {}))
    yield side.ask(ConsumerGroupDescribeRequest([group]))


def a_static_consumer_that_went_for_a_while(side: Side, group: str) -> Iterator[Any]:
    yield side.ask(first_beat(group, "a", "t", instance_id="i"))
    yield side.ask(beat(group, "a", -2, instance_id="i"))
    side.wait(8000)
    yield side.ask(first_beat(group, "b", "t", instance_id="i"))
    yield side.ask(beat(group, "b", -2, instance_id="i"))
    side.wait(LATER_MS)
    yield side.ask(ConsumerGroupDescribeRequest([group]))
    yield side.ask(first_beat(group, "c", "t", instance_id="i"))


def second_group_of(group: str) -> str:
    """The other group of a case that has two."""
    return f"{group}-with-a-member"


def old_offsets(side: Side, group: str) -> Iterator[Any]:
    """Of a group without members, a minute and a bit later: it is gone with them."""
    kept = second_group_of(group)
    yield side.ask(commit(group), 9)
    first = stable(side, kept, session_ms=300_000)
    yield side.ask(commit(kept, 1, first), 9)
    yield side.ask(commit(kept, 1, first, topic="u"), 9)
    side.wait(73_000)
    yield side.ask(fetch(group), 9)
    yield side.ask(DescribeGroupsRequest([group]))
    yield side.ask(fetch(kept), 9)
    rows = side.ask(ListGroupsRequest())
    yield sorted(each.group_id for each in rows.groups if each.group_id.startswith(group))


TIMEOUT_CASES: tuple[Case, ...] = (
    session_of_the_only_member,
    heartbeats_and_commits_are_signs_of_life,
    an_id_that_nobody_uses,
    rebalance_without_one_who_lives,
    rebalance_without_one_who_is_silent,
    a_leader_that_assigns_nothing,
    a_join_whose_connection_goes,
    a_sync_whose_connection_goes,
    a_static_member_that_comes_back_in_time,
    session_of_a_consumer,
    a_consumer_that_keeps_what_it_has_to_give,
    a_static_consumer_that_went_for_a_while,
    old_offsets,
)
