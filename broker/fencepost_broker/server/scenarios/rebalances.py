"""Rebalances that stop a group: too many of them, and one that does not end."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from typing import Final

from fencepost_protocol.generated.describe_groups import DescribeGroupsRequest

from fencepost_broker.server.scenarios.members import AT_ONCE, GROUP, SESSION_MS, Member
from fencepost_broker.server.scenarios.scenario import AnyBroker, Facts, Scenario, Tell
from fencepost_broker.server.scenarios.wire import GROUPS, Connection

_MEMBERS: Final = 3
_DESCRIBE: Final = 3
"""Version of DescribeGroups."""
_BOTH, _FIRST, _SECOND, _NOTHING = b"partitions 0 and 1", b"partition 0", b"partition 1", b""
"""Shares, which no broker reads."""


async def _join_with(members: list[Member], new: Member | None = None) -> None:
    """Let all join again, with a new member if there is one."""
    joining = asyncio.ensure_future(new.join()) if new is not None else None
    for each in members:
        await each.until_rebalance()
    await asyncio.gather(*(each.join() for each in members))
    if joining is not None and new is not None:
        await joining
        members.append(new)


async def _storm(broker: AnyBroker, tell: Tell) -> Facts:
    async with AsyncExitStack() as stack:

        async def new_member() -> Member:
            return Member(await stack.enter_async_context(Connection(broker)))

        first = await new_member()
        await first.connection.produce(b"order")
        await first.connection.find_coordinator(GROUP, GROUPS)
        members: list[Member] = []
        for number in range(_MEMBERS):
            await _join_with(members, await new_member() if number else first)
            await asyncio.gather(*(each.sync() for each in members))
        before = members[-1].generation
        tell(f"A group has {_MEMBERS} members and generation {before}. Each is restarted once.")
        late = ""
        for _ in range(_MEMBERS):
            await members.pop(0).leave()
            await _join_with(members)
            await asyncio.gather(*(each.sync() for each in members))
            behind = members[0].generation
            await _join_with(members, await new_member())
            await asyncio.gather(*(each.sync() for each in members))
            now, members[0].generation = members[0].generation, behind
            late = await members[0].commit(1)
            members[0].generation = now
        after = members[0].generation
        tell(f"All members had to join again {after - before} times: generation {after}.")
        tell(f"A member that commits what it read before a rebalance gets {late}.")
        return {
            "rebalances": after - before,
            "late_commit": late,
            "heartbeat": await members[0].heartbeat(),
        }


async def _stuck(broker: AnyBroker, tell: Tell) -> Facts:
    async with Connection(broker) as one, Connection(broker) as two:
        await one.produce(b"order")
        await one.find_coordinator(GROUP, GROUPS)
        old, new = (Member(each, protocol="cooperative-sticky") for each in (one, two))
        await old.join()
        await old.sync({old.id: _BOTH})
        tell("A member with the cooperative protocol reads both partitions.")
        members = [old]
        await _join_with(members, new)
        given = {old.id: _FIRST, new.id: _NOTHING}
        _, share = await asyncio.gather(old.sync(given), new.sync())
        tell("Another one joins. It gets nothing yet: the first one has to give up partition 1.")
        beats = set()
        for _ in range(12):
            broker.clock.advance(seconds=SESSION_MS / 2000)
            beats |= {await old.heartbeat(), await new.heartbeat()}
        described = await one.ask(DescribeGroupsRequest([GROUP]), _DESCRIBE)
        state = str(described.groups[0].group_state)
        tell(
            "The first one hangs in its revocation callback, and its heartbeats go on: after a"
            f" minute the group is {state}, and no member reads partition 1."
        )
        again = asyncio.ensure_future(old.join())
        await new.until_rebalance()
        await asyncio.gather(again, new.join())
        given = {old.id: _FIRST, new.id: _SECOND}
        _, last = await asyncio.gather(old.sync(given), new.sync())
        tell("The callback returns, the first one joins again, and the new one gets partition 1.")
        return {
            "share_of_the_new": share.decode(),
            "heartbeats": ", ".join(sorted(beats)),
            "state": state,
            "share_at_last": last.decode(),
        }


STORM: Final = Scenario(
    name="rebalance-storm",
    summary="A rolling restart rebalances a group again and again",
    seen="Throughput falls to nothing during a deployment; commits fail with ILLEGAL_GENERATION or"
    " REBALANCE_IN_PROGRESS, and records are processed twice.",
    clients="Consumers of classic groups with an eager assignor, in all languages: each member that"
    " leaves or joins stops all of them.",
    remedy="group.instance.id, so that a restart is no rebalance (KIP-345); cooperative rebalancing"
    " (KIP-429); the consumer protocol, in which the broker assigns (KIP-848).",
    kip="KIP-848",
    settings=AT_ONCE,
    run=_storm,
)
STUCK: Final = Scenario(
    name="stuck-cooperative-rebalance",
    summary="A member does not give up a partition that another one waits for",
    seen="A new member has no partitions, or one of them is read by no member, though the group is"
    " Stable and no client has an error.",
    clients="Consumers with the cooperative-sticky assignor (Java from 2.4, librdkafka from 1.6),"
    " if a member hangs in a rebalance callback or between two polls.",
    remedy="Short callbacks and a small max.poll.interval.ms, after which the client leaves. With"
    " the consumer protocol, the broker expels a member that does not revoke in time.",
    kip="KIP-848",
    topics=("orders:2",),
    settings=AT_ONCE,
    run=_stuck,
)
