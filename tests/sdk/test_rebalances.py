"""What members of a group hear of rebalances, and what they keep through them."""

from __future__ import annotations

import asyncio

import pytest
from fencepost_client import (
    Admin,
    CommitFailedError,
    FencedInstanceIdError,
    IllegalStateError,
    Producer,
    TopicPartition,
)

from tests.sdk.harness.rebalances import LONG_MS, PARTITIONS, Heard, create, member, poll_until
from tests.support.waiting import until

pytestmark = pytest.mark.asyncio

NONE: set[TopicPartition] = set()


async def test_everything_is_given_up_and_comes_back(bootstrap: str, topic: str) -> None:
    everything = await create(bootstrap, topic)
    heard = Heard()
    async with member(bootstrap, topic) as stays, member(bootstrap, topic) as other:
        heard.subscribe(stays, topic)
        await stays.block_on_rebalance(LONG_MS)
        assert heard.events == [("assigned", everything)]
        other.subscribe([topic])
        await poll_until(lambda: len(other.assignment()) == 2, stays, other)
        await poll_until(lambda: len(heard.events) == 3, stays)
        assert heard.events[1:] == [("revoked", everything), ("assigned", stays.assignment())]
        assert stays.assignment() == everything - other.assignment()
        await other.unsubscribe()
        assert other.assignment() == NONE
        await poll_until(lambda: stays.assignment() == everything, stays)
    assert heard.events[-1] == ("revoked", everything)


async def test_who_unsubscribes_does_not_wait_for_the_group(bootstrap: str, topic: str) -> None:
    """Nor does who asked it for records meanwhile, and neither of them joins again."""
    everything = await create(bootstrap, topic)
    async with member(bootstrap, topic) as stays, member(bootstrap, topic) as other:
        stays.subscribe([topic])
        await stays.block_on_rebalance(LONG_MS)
        other.subscribe([topic])
        reading = asyncio.create_task(other.getmany(timeout_ms=LONG_MS))
        await until(lambda: bool(other.group_metadata().member_id))  # it joins after that
        assert other.group_metadata().generation_id < 0, "nobody else asks for records"
        await other.unsubscribe()
        assert not reading.done(), "it may come to records yet, by another subscription"
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)
        assert other.group_metadata().member_id == ""
        await poll_until(lambda: stays.assignment() == everything, stays)
        # It may come back, as any other.
        other.subscribe([topic])
        await poll_until(lambda: len(other.assignment()) == 2, stays, other)


async def test_a_cooperative_member_reads_on_and_gives_up_what_moves(
    bootstrap: str, topic: str
) -> None:
    everything = await create(bootstrap, topic)
    heard, other_heard = Heard(), Heard()
    options = {"enable_auto_commit": False}
    async with (
        Producer(bootstrap) as producer,
        member(bootstrap, topic, "cooperative-sticky", **options) as stays,
        member(bootstrap, topic, "cooperative-sticky", **options) as other,
    ):
        for where in everything:
            await producer.send(topic, b"before", partition=where.partition)
        await producer.flush()
        heard.subscribe(stays, topic)
        found = 0
        while found < PARTITIONS:
            found += len(await stays.getmany(timeout_ms=LONG_MS))
        other_heard.subscribe(other, topic)
        await poll_until(lambda: len(other.assignment()) == 2, stays, other)
        gone = other.assignment()
        await poll_until(lambda: heard.events[-1][0] == "assigned", stays)
        assert stays.assignment() == everything - gone
        assert [event for event in heard.events if event[1]] == [
            ("assigned", everything),
            ("revoked", gone),
        ]
        assert [event for event in other_heard.events if event[1]] == [("assigned", gone)]
        # Nothing was committed: what stays goes on at its position, what moved begins anew.
        for where in stays.assignment():
            assert await stays.position(where) == 1
        await stays.commit()


async def test_a_rolling_change_from_range_to_cooperative_sticky(
    bootstrap: str, topic: str
) -> None:
    """First all members can do both, then one after the other range is taken out (KIP-429)."""
    everything = await create(bootstrap, topic)
    both = ("range", "cooperative-sticky")
    async with (
        member(bootstrap, topic, "cooperative-sticky") as changed,
        member(bootstrap, topic, *both) as next_one,
    ):
        async with member(bootstrap, topic, *both) as goes:
            for consumer in (goes, next_one):
                consumer.subscribe([topic])
            await poll_until(lambda: len(goes.assignment()) == 2, goes, next_one)
        changed.subscribe([topic])

        def have_all() -> bool:
            # Who was there may have it alone first, if it hears sooner that the other one has left.
            mine, others = changed.assignment(), next_one.assignment()
            return len(mine) == len(others) == 2 and mine | others == everything

        await poll_until(have_all, changed, next_one)


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
async def test_a_commit_while_others_join(bootstrap: str, topic: str, protocol: str) -> None:
    """The generation may change under it; what is kept can be committed all the same."""
    await create(bootstrap, topic)
    options = {"group_protocol": protocol}
    async with (
        member(
            bootstrap, topic, "cooperative-sticky", enable_auto_commit=False, **options
        ) as stays,
        member(bootstrap, topic, "cooperative-sticky", **options) as other,
    ):
        stays.subscribe([topic])
        await poll_until(stays.assignment, stays)
        other.subscribe([topic])
        joining = asyncio.create_task(
            poll_until(lambda: len(other.assignment()) == 2, stays, other)
        )
        commits = 0
        while not joining.done():
            mine = min(stays.assignment())
            try:
                await stays.commit({mine: commits})
            except CommitFailedError:
                assert mine not in stays.assignment()
            commits += 1
        await joining
        mine = min(stays.assignment())
        await stays.commit({mine: commits})
        assert (await stays.committed([mine]))[mine].offset == commits


async def test_what_the_group_took_meanwhile_is_lost(bootstrap: str, topic: str) -> None:
    everything = await create(bootstrap, topic)
    heard = Heard()
    async with member(bootstrap, topic, max_poll_interval_ms=200) as stands:
        heard.subscribe(stands, topic)
        await stands.block_on_rebalance(LONG_MS)
        await until(lambda: not stands.group_metadata().member_id)
        with pytest.raises(CommitFailedError):
            await stands.commit(dict.fromkeys(everything, 7))
        # To wait for the group in one call may take longer than the interval.
        await poll_until(lambda: len(heard.events) > 2, stands)
        assert heard.events == [
            ("assigned", everything),
            ("lost", everything),
            ("assigned", everything),
        ]


async def test_a_listener_that_fails_is_heard_of_and_does_not_stop_the_group(
    bootstrap: str, topic: str
) -> None:
    everything = await create(bootstrap, topic)

    async def asks(_: object) -> None:
        await consumer.getmany()

    async with member(bootstrap, topic) as consumer:
        consumer.subscribe([topic], on_assigned=asks)
        with pytest.raises(IllegalStateError, match="rebalance listener cannot"):
            await consumer.block_on_rebalance(LONG_MS)
        assert consumer.assignment() == everything
        await consumer.block_on_rebalance(LONG_MS)


async def test_topics_that_grow_are_shared_again(bootstrap: str, topic: str) -> None:
    everything = await create(bootstrap, topic)
    options = {"metadata_max_age_ms": 100}
    async with (
        Admin(bootstrap) as admin,
        member(bootstrap, topic, **options) as one,
        member(bootstrap, topic, **options) as two,
    ):
        one.subscribe([topic])
        two.subscribe([topic])
        await poll_until(lambda: one.assignment() | two.assignment() == everything, one, two)
        await admin.create_partitions({topic: PARTITIONS + 2})
        everything |= {TopicPartition(topic, PARTITIONS + number) for number in range(2)}
        await poll_until(lambda: one.assignment() | two.assignment() == everything, one, two)
        assert not one.assignment() & two.assignment()


async def test_a_static_member_that_starts_again_disturbs_nobody(
    bootstrap: str, topic: str
) -> None:
    """Whether it leads (the first one does) or not; KIP-345, KIP-814."""
    everything = await create(bootstrap, topic)

    running = [member(bootstrap, topic, group_instance_id=name) for name in ("1", "2")]
    first, second = running
    try:
        for consumer in running:
            await consumer.start()
            consumer.subscribe([topic])
        await first.block_on_rebalance(LONG_MS)
        await poll_until(lambda: len(first.assignment()) == 2 == len(second.assignment()), *running)
        before = {name: running[name].assignment() for name in (0, 1)}
        generation_id = first.group_metadata().generation_id
        for name in (0, 1):
            await running[name].close()
            again = running[name] = member(bootstrap, topic, group_instance_id=str(name + 1))
            await again.start()
            again.subscribe([topic])
            await poll_until(again.assignment, *running)
            assert again.assignment() == before[name]
            assert again.group_metadata().generation_id == generation_id
        assert running[0].assignment() | running[1].assignment() == everything
        # Two at a time are one too many: the first hears that it was replaced.
        async with member(bootstrap, topic, group_instance_id="1") as twin:
            twin.subscribe([topic])
            await poll_until(twin.assignment, twin, running[1])
            with pytest.raises(FencedInstanceIdError):
                await poll_until(lambda: False, running[0])
    finally:
        for consumer in running:
            await consumer.close()
