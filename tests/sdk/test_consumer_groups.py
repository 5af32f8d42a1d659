"""Groups of the new protocol (KIP-848), where the broker decides who reads what."""

from __future__ import annotations

from typing import Any

import pytest
from fencepost_broker import Broker
from fencepost_client import (
    Admin,
    ConfigError,
    Consumer,
    FatalError,
    NewTopic,
    Producer,
    TopicPartition,
)
from fencepost_client.config.settings import GroupProtocol

from tests.sdk.conftest import QUICK
from tests.sdk.harness.rebalances import PARTITIONS, Heard, create, poll_until
from tests.support.waiting import asked_until

pytestmark = pytest.mark.asyncio
LONG_MS = 30_000


def member(bootstrap: str, group: str, **options: Any) -> Consumer:
    return Consumer(
        bootstrap,
        group_id=group,
        group_protocol="consumer",
        auto_offset_reset="earliest",
        **options,
    )


async def test_members_share_and_keep_what_does_not_move(bootstrap: str, topic: str) -> None:
    everything = await create(bootstrap, topic)
    heard = Heard()
    async with (
        Producer(bootstrap) as producer,
        member(bootstrap, topic, enable_auto_commit=False) as stays,
    ):
        for where in everything:
            await producer.send(topic, b"x", partition=where.partition)
        await producer.flush()
        heard.subscribe(stays, topic)
        found = 0
        while found < PARTITIONS:
            found += len(await stays.getmany(timeout_ms=LONG_MS))
        async with member(bootstrap, topic) as other:
            other.subscribe([topic])
            await poll_until(lambda: len(other.assignment()) == 2, stays, other)
            gone = other.assignment()
            assert stays.assignment() == everything - gone
            # Nothing was committed: what stays goes on at its position.
            for where in stays.assignment():
                assert await stays.position(where) == 1
            await stays.commit()
            committed = await stays.committed(stays.assignment())
            assert {where: offset.offset for where, offset in committed.items()} == dict.fromkeys(
                stays.assignment(), 1
            )
        await poll_until(lambda: stays.assignment() == everything, stays)
    assert [event for event in heard.events if event[1]] == [
        ("assigned", everything),
        ("revoked", gone),
        ("assigned", gone),
        ("revoked", everything),
    ]


async def test_a_regular_expression_is_resolved_by_the_broker(bootstrap: str, topic: str) -> None:
    everything = await create(bootstrap, topic)
    async with member(bootstrap, topic) as consumer:
        consumer.subscribe(regex=f"{topic}.*")
        await poll_until(lambda: consumer.assignment() == everything, consumer)
        with pytest.raises(ConfigError, match="topics or a regex"):
            consumer.subscribe([topic], regex="t.*")
        consumer.subscribe(regex="(")
        with pytest.raises(FatalError, match="INVALID_REGULAR_EXPRESSION"):
            await poll_until(lambda: False, consumer)


async def test_a_text_is_no_list_of_topics(bootstrap: str, topic: str) -> None:
    async with member(bootstrap, topic) as consumer:
        with pytest.raises(TypeError, match="is one item where several are taken"):
            consumer.subscribe(topic)


async def test_an_offset_that_no_record_can_have_is_refused(bootstrap: str, topic: str) -> None:
    where, *_ = await create(bootstrap, topic)
    async with member(bootstrap, topic) as consumer:
        consumer.assign([where])
        for wrong in (-1, "x", 1.5):
            with pytest.raises((TypeError, ValueError), match="the offset is"):
                consumer.seek(where, wrong)  # type: ignore[arg-type]
            with pytest.raises((TypeError, ValueError), match="the offset is"):
                await consumer.commit({where: wrong})  # type: ignore[dict-item]


async def test_an_assignor_of_the_broker_can_be_chosen(bootstrap: str, topic: str) -> None:
    everything = await create(bootstrap, topic)
    async with member(bootstrap, topic, group_remote_assignor="range") as consumer:
        consumer.subscribe([topic])
        await poll_until(lambda: consumer.assignment() == everything, consumer)
    async with member(bootstrap, topic, group_remote_assignor="best") as consumer:
        consumer.subscribe([topic])
        with pytest.raises(FatalError, match="UNSUPPORTED_ASSIGNOR"):
            await consumer.block_on_rebalance(LONG_MS)


async def test_a_static_member_comes_back_to_what_it_had(bootstrap: str, topic: str) -> None:
    await create(bootstrap, topic)
    async with member(bootstrap, topic) as stays:
        stays.subscribe([topic])
        had = set()
        for _ in range(2):
            async with member(bootstrap, topic, group_instance_id="i") as comes_back:
                comes_back.subscribe([topic])
                await poll_until(lambda: len(stays.assignment()) == 2, stays, comes_back)
                await poll_until(comes_back.assignment, stays, comes_back)
                had.add(frozenset(comes_back.assignment()))
                assert len(stays.assignment()) == 2
        assert len(had) == 1


async def test_who_stands_still_is_out_of_the_group(bootstrap: str, topic: str) -> None:
    everything = await create(bootstrap, topic)
    heard = Heard()
    async with member(bootstrap, topic, max_poll_interval_ms=300) as stands:
        heard.subscribe(stands, topic)
        await poll_until(lambda: stands.assignment() == everything, stands)
        async with member(bootstrap, topic) as goes_on:
            goes_on.subscribe([topic])
            await poll_until(lambda: goes_on.assignment() == everything, goes_on)
            await stands.block_on_rebalance(LONG_MS)
            assert ("lost", everything) in heard.events
            await poll_until(lambda: len(stands.assignment()) == 2, stands, goes_on)


async def test_commits_in_a_transaction_go_by_the_members_epoch(bootstrap: str, topic: str) -> None:
    everything = await create(bootstrap, topic)
    where = min(everything)
    async with Admin(bootstrap) as admin:
        await admin.create_topics([NewTopic(f"{topic}-out", 1, 1)])
    async with (
        member(bootstrap, topic) as consumer,
        Producer(bootstrap, transactional_id=topic) as producer,
    ):
        consumer.subscribe([topic])
        await poll_until(lambda: consumer.assignment() == everything, consumer)
        async with producer.transaction() as transaction:
            await transaction.send(f"{topic}-out", b"1")
            await transaction.send_offsets({where: 7}, consumer.group_metadata())

        async def is_committed() -> bool:
            return (await consumer.committed([where])).get(where) is not None

        await asked_until(is_committed)
        assert (await consumer.committed([where]))[where].offset == 7


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
@pytest.mark.ours_alone("the session ends by the state clock, which a test can move")
async def test_a_member_whose_session_ended_gives_up_and_joins_again(
    protocol: GroupProtocol,
) -> None:
    heard = Heard()
    async with Broker(topics={"t": PARTITIONS}, settings=QUICK) as broker:
        everything = {TopicPartition("t", number) for number in range(PARTITIONS)}
        async with Consumer(
            broker.bootstrap, group_id="g", group_protocol=protocol, heartbeat_interval_ms=50
        ) as consumer:
            heard.subscribe(consumer, "t")
            await poll_until(lambda: consumer.assignment() == everything, consumer)
            broker.clock.advance(minutes=5)
            await poll_until(lambda: ("lost", everything) in heard.events, consumer)
            await poll_until(lambda: consumer.assignment() == everything, consumer)
    assert [event for event in heard.events if event[1]] == [
        ("assigned", everything),
        ("lost", everything),
        ("assigned", everything),
        ("revoked", everything),
    ]
