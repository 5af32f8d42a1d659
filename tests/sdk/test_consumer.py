"""The consumer against real brokers: alone, in a group, behind transactions."""

from __future__ import annotations

import asyncio
import gc

import pytest
from fencepost_client import (
    AbortableTransactionError,
    Admin,
    CommitFailedError,
    ConfigError,
    Consumer,
    IllegalStateError,
    LogTruncatedError,
    OffsetAndMetadata,
    OffsetOutOfRangeError,
    Producer,
    RequestTimedOutError,
    TopicPartition,
)
from fencepost_protocol.generated.fetch import FetchRequest

from tests.sdk.harness.consumer import LONG_MS, create, numbers, produce, read
from tests.sdk.harness.sent import requests_sent
from tests.support.restarting import Restarting

pytestmark = pytest.mark.asyncio


async def test_assigned_partitions_are_read_from_where_one_wants(
    bootstrap: str, topic: str
) -> None:
    (where,) = await create(bootstrap, topic)
    await produce(bootstrap, topic, *numbers(0, 10))
    async with Consumer(bootstrap, auto_offset_reset="earliest") as consumer:
        consumer.assign([where])
        assert await read(consumer, 10) == numbers(0, 10)
        assert await consumer.position(where) == 10
        consumer.seek(where, 7)
        assert await read(consumer, 3) == numbers(7, 10)
        consumer.seek_to_beginning()
        assert await read(consumer, 2) == numbers(0, 2)
        consumer.seek_to_end(where)
        assert await consumer.position(where) == 10
        assert await consumer.getmany(timeout_ms=50) == []
        assert await consumer.beginning_offsets([where]) == {where: 0}
        assert await consumer.end_offsets([where]) == {where: 10}
        assert await consumer.offsets_for_times({where: 0}) == {where: 0}
        assert await consumer.offsets_for_times({where: 1 << 60}) == {where: -1}


async def test_many_records_are_made_without_a_garbage_collection(
    bootstrap: str, topic: str
) -> None:
    (where,) = await create(bootstrap, topic)
    async with Producer(bootstrap) as producer:
        await (await producer.send_many(topic, [b"x"] * 5_000))
    begun: list[str] = []

    def note(phase: str, info: dict[str, int]) -> None:
        del info
        if phase == "start":
            begun.append(phase)

    async with Consumer(bootstrap, auto_offset_reset="earliest") as consumer:
        consumer.assign([where])
        assert await consumer.getmany(timeout_ms=LONG_MS, max_records=1)
        gc.callbacks.append(note)
        try:
            found = await consumer.getmany(timeout_ms=LONG_MS, max_records=4_000)
        finally:
            gc.callbacks.remove(note)
        assert not begun
        assert len(found) == 4_000
        assert gc.isenabled()
        gc.disable()
        try:
            assert await consumer.getmany(timeout_ms=LONG_MS)
            assert not gc.isenabled()
        finally:
            gc.enable()


async def test_a_paused_partition_waits(bootstrap: str, topic: str) -> None:
    zero, one = await create(bootstrap, topic, 2)
    await produce(bootstrap, topic, b"zero", partition=0)
    await produce(bootstrap, topic, b"one", partition=1)
    async with Consumer(bootstrap, auto_offset_reset="earliest") as consumer:
        consumer.assign([zero, one])
        consumer.pause(zero)
        assert await read(consumer, 1) == [b"one"]
        assert await consumer.getmany(timeout_ms=50) == []
        consumer.resume(zero)
        assert await read(consumer, 1) == [b"zero"]


async def test_only_what_is_committed_is_seen(bootstrap: str, topic: str) -> None:
    (where,) = await create(bootstrap, topic)
    options = {"isolation_level": "read_committed", "auto_offset_reset": "earliest"}
    async with (
        Producer(bootstrap, transactional_id=topic) as producer,
        Consumer(bootstrap, **options) as consumer,  # type: ignore[arg-type]
    ):
        consumer.assign([where])
        with pytest.raises(ZeroDivisionError):  # noqa: PT012
            async with producer.transaction() as transaction:
                await transaction.send(topic, b"aborted")
                await producer.flush()
                raise ZeroDivisionError
        async with producer.transaction() as transaction:
            await transaction.send(topic, b"committed")
            await producer.flush()
            assert await consumer.getmany(timeout_ms=50) == []
        assert await read(consumer, 1) == [b"committed"]
        assert await consumer.getmany(timeout_ms=50) == []
        assert (await consumer.end_offsets([where]))[where] == await consumer.position(where)


async def test_a_group_goes_on_where_it_committed(bootstrap: str, topic: str) -> None:
    (where,) = await create(bootstrap, topic)
    await produce(bootstrap, topic, *numbers(0, 10))
    for start in (0, 4):
        async with Consumer(
            bootstrap, group_id=topic, auto_offset_reset="earliest", enable_auto_commit=False
        ) as consumer:
            consumer.subscribe([topic])
            assert await read(consumer, 4) == numbers(start, start + 4)
            await consumer.commit()
            assert (await consumer.committed([where]))[where].offset == start + 4
            assert await read(consumer, 1)
    async with Admin(bootstrap) as admin:
        assert (await admin.list_group_offsets(topic, [where]))[where].offset == 8


async def test_iterating_commits_what_was_given_and_no_more(bootstrap: str, topic: str) -> None:
    await create(bootstrap, topic)
    await produce(bootstrap, topic, *numbers(0, 10))
    for expected in (numbers(0, 4), numbers(4, 10)):
        async with Consumer(bootstrap, group_id=topic, auto_offset_reset="earliest") as consumer:
            consumer.subscribe([topic])
            found = []
            async for record in consumer:
                found.append(record.value)
                if len(found) == len(expected):
                    break
            assert found == expected


async def test_an_exception_commits_nothing_of_itself(bootstrap: str, topic: str) -> None:
    await create(bootstrap, topic)
    await produce(bootstrap, topic, *numbers(0, 2))
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):  # noqa: PT012
            async with Consumer(
                bootstrap, group_id=topic, auto_offset_reset="earliest"
            ) as consumer:
                consumer.subscribe([topic])
                assert await read(consumer, 2) == numbers(0, 2)
                raise ZeroDivisionError


async def test_two_members_share_and_one_takes_over(bootstrap: str, topic: str) -> None:
    partitions = await create(bootstrap, topic, 4)
    options = {"group_id": topic, "auto_offset_reset": "earliest", "heartbeat_interval_ms": 50}
    async with Consumer(bootstrap, **options) as stays:  # type: ignore[arg-type]
        stays.subscribe([topic])
        await stays.block_on_rebalance(LONG_MS)
        assert stays.assignment() == set(partitions)
        async with Consumer(bootstrap, **options) as goes:  # type: ignore[arg-type]
            goes.subscribe([topic])
            joins = asyncio.create_task(goes.block_on_rebalance(LONG_MS))
            while len(stays.assignment()) != 2:
                await stays.getmany(timeout_ms=50)
            await joins
            assert stays.assignment() | goes.assignment() == set(partitions)
            assert not stays.assignment() & goes.assignment()
        while stays.assignment() != set(partitions):
            await stays.getmany(timeout_ms=50)
        for number in range(4):
            await produce(bootstrap, topic, b"%d" % number, partition=number)
        assert sorted(await read(stays, 4)) == numbers(0, 4)  # type: ignore[type-var]


async def test_an_application_that_stands_still_loses_its_part(bootstrap: str, topic: str) -> None:
    partitions = await create(bootstrap, topic, 2)
    options = {"group_id": topic, "auto_offset_reset": "earliest", "heartbeat_interval_ms": 20}
    async with (
        Consumer(bootstrap, max_poll_interval_ms=200, **options) as stands,  # type: ignore[arg-type]
        Consumer(bootstrap, **options) as goes_on,  # type: ignore[arg-type]
    ):
        stands.subscribe([topic])
        await stands.block_on_rebalance(LONG_MS)
        assert stands.group_metadata().member_id
        goes_on.subscribe([topic])
        # Joining waits until the other one is out, which does nothing about it itself.
        await goes_on.block_on_rebalance(LONG_MS)
        assert goes_on.assignment() == set(partitions)
        assert stands.group_metadata().member_id == ""


async def test_consume_transform_produce_with_fencing(bootstrap: str, topic: str) -> None:
    """A member that the group has gone on without cannot commit in a transaction (KIP-447)."""
    (where,) = await create(bootstrap, topic)
    await create(bootstrap, topic + "-out")
    await produce(bootstrap, topic, b"1")
    options = {
        "group_id": topic,
        "auto_offset_reset": "earliest",
        "enable_auto_commit": False,
        "isolation_level": "read_committed",
        "heartbeat_interval_ms": 50,
    }
    async with (
        Consumer(bootstrap, **options) as zombie,  # type: ignore[arg-type]
        Producer(bootstrap, transactional_id=topic) as producer,
    ):
        zombie.subscribe([topic])
        assert await read(zombie, 1) == [b"1"]
        stale = zombie.group_metadata()
        async with Consumer(bootstrap, **options) as other:  # type: ignore[arg-type]
            other.subscribe([topic])
            joins = asyncio.create_task(other.block_on_rebalance(LONG_MS))
            while not joins.done():
                await zombie.getmany(timeout_ms=50)
            with pytest.raises(CommitFailedError):  # noqa: PT012
                async with producer.transaction() as transaction:
                    await transaction.send(topic + "-out", b"one")
                    await transaction.send_offsets({where: 1}, stale)
            async with producer.transaction() as transaction:
                await transaction.send(topic + "-out", b"one")
                await transaction.send_offsets({where: 1}, other.group_metadata())
            assert (await other.committed([where]))[where].offset == 1


async def test_a_log_that_ends_before_what_was_read_is_noticed(bootstrap: str, topic: str) -> None:
    """A position beyond the end of its leader epoch is what a cut off log looks like."""
    (where,) = await create(bootstrap, topic)
    await produce(bootstrap, topic, *numbers(0, 10))
    async with Consumer(bootstrap, auto_offset_reset="none", group_id=topic) as consumer:
        consumer.assign([where])
        consumer.seek(where, OffsetAndMetadata(4, leader_epoch=0))
        assert await read(consumer, 3) == numbers(4, 7)
        await consumer.commit()
        assert (await consumer.committed([where]))[where] == OffsetAndMetadata(7, "", 0)
        consumer.seek(where, OffsetAndMetadata(15, leader_epoch=0))
        for _ in range(2):
            with pytest.raises(LogTruncatedError) as caught:
                await consumer.getmany(timeout_ms=LONG_MS)
            assert (caught.value.end_offset, caught.value.epoch) == (10, 0)
        consumer.seek(TopicPartition(*caught.value.where), 9)
        assert await read(consumer, 1) == [b"9"]
    async with Consumer(bootstrap, auto_offset_reset="earliest") as consumer:
        consumer.assign([where])
        consumer.seek(where, OffsetAndMetadata(15, leader_epoch=0))
        while consumer.positions()[where] != 10:  # where the logs part, not the beginning
            assert await consumer.getmany(timeout_ms=50) == []
        await produce(bootstrap, topic, b"10")
        assert await read(consumer, 1) == [b"10"]


async def test_fetches_go_on_in_a_session(
    bootstrap: str, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent = requests_sent(monkeypatch, FetchRequest)
    zero, one = await create(bootstrap, topic, 2)
    async with Consumer(bootstrap, auto_offset_reset="earliest", fetch_max_wait_ms=10) as consumer:
        consumer.assign([zero, one])
        for number in range(5):
            await produce(bootstrap, topic, b"%d" % number, partition=number % 2)
            assert await read(consumer, 1) == [b"%d" % number]
    *_, (last, version), (end, _) = sent
    assert last.session_id == end.session_id != 0
    assert last.session_epoch >= 4, "no answer ended it"
    assert version >= 13, "topics have ids in it"


async def test_a_topic_that_is_deleted_and_made_again(bootstrap: str, topic: str) -> None:
    (where,) = await create(bootstrap, topic)
    await produce(bootstrap, topic, *numbers(0, 5))
    async with Consumer(bootstrap, auto_offset_reset="earliest") as consumer:
        consumer.assign([where])
        assert await read(consumer, 5) == numbers(0, 5)
        async with Admin(bootstrap) as admin:
            await admin.delete_topics([topic])
            while topic in await admin.list_topics():
                await consumer.getmany(timeout_ms=20)
        await create(bootstrap, topic)
        await produce(bootstrap, topic, b"new")
        assert await read(consumer, 1) == [b"new"]


async def test_topics_by_a_regular_expression(bootstrap: str, topic: str) -> None:
    """In a classic group the client looks for them, again and again."""
    (first,) = await create(bootstrap, f"{topic}-1")
    await create(bootstrap, f"not-{topic}")
    async with Consumer(
        bootstrap, group_id=topic, auto_offset_reset="earliest", metadata_max_age_ms=100
    ) as consumer:
        with pytest.raises(ConfigError, match="not a regular expression"):
            consumer.subscribe(regex="(")
        consumer.subscribe(regex=f"{topic}-[0-9]+")
        while consumer.assignment() != {first}:
            await consumer.getmany(timeout_ms=50)
        (second,) = await create(bootstrap, f"{topic}-2")
        while consumer.assignment() != {first, second}:
            await consumer.getmany(timeout_ms=50)
        await produce(bootstrap, f"{topic}-2", b"new")
        assert await read(consumer, 1) == [b"new"]
        consumer.subscribe([f"{topic}-1"])
        while consumer.assignment() != {first}:
            await consumer.getmany(timeout_ms=50)


async def test_lag_is_what_is_behind_the_position(bootstrap: str, topic: str) -> None:
    zero, one = await create(bootstrap, topic, 2)
    await produce(bootstrap, topic, *numbers(0, 10))
    async with Consumer(bootstrap, auto_offset_reset="earliest", client_rack="here") as consumer:
        consumer.assign([zero, one])
        assert consumer.lag() == {}
        assert await read(consumer, 4) == numbers(0, 4)
        assert consumer.lag()[zero] == 6
        async for record in consumer:
            assert consumer.lag()[zero] == 10 - record.offset - 1
            if record.offset == 9:
                break
        while consumer.lag() != {zero: 0, one: 0}:
            await consumer.getmany(timeout_ms=50)


async def test_calls_that_cannot_be_say_why(bootstrap: str, topic: str) -> None:
    (where,) = await create(bootstrap, topic)
    with pytest.raises(ConfigError, match="auto_offset_reset"):
        Consumer(bootstrap, auto_offset_reset="sometimes")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match=r"mean group\.id"):
        Consumer.from_config({"bootstrap.servers": bootstrap, "groupid": "g"})
    with pytest.raises(IllegalStateError, match="not started"):
        await Consumer(bootstrap).getmany()
    async with Consumer(bootstrap) as consumer:
        with pytest.raises(IllegalStateError, match="group_id"):
            consumer.subscribe([topic])
        with pytest.raises(IllegalStateError, match="group_id"):
            await consumer.commit({where: 1})
        with pytest.raises(IllegalStateError, match="not assigned"):
            consumer.seek(where, 0)
    async with Consumer(bootstrap, group_id=topic, auto_offset_reset="none") as consumer:
        consumer.assign([where])
        with pytest.raises(OffsetOutOfRangeError, match="no committed offset"):
            await consumer.getmany(timeout_ms=LONG_MS)
        with pytest.raises(IllegalStateError, match="unsubscribe before subscribe"):
            consumer.subscribe([topic])
    with pytest.raises(AbortableTransactionError):  # noqa: PT012
        async with Consumer(bootstrap, auto_offset_reset="none") as consumer:
            consumer.assign([where])
            await consumer.getmany(timeout_ms=LONG_MS)


async def test_a_cancelled_wait_harms_nobody(bootstrap: str, topic: str) -> None:
    (where,) = await create(bootstrap, topic)
    async with Consumer(bootstrap, auto_offset_reset="earliest") as consumer:
        consumer.assign([where])
        for turns in (1, 5, 50):
            waiting = asyncio.create_task(consumer.getmany(timeout_ms=LONG_MS))
            for _ in range(turns):
                await asyncio.sleep(0)
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
        await produce(bootstrap, topic, b"after")
        assert await read(consumer, 1) == [b"after"]


async def test_a_broker_that_goes_away_and_comes_back(restarting: Restarting, topic: str) -> None:
    (where,) = await create(restarting.bootstrap, topic)
    consumer = Consumer(restarting.bootstrap, auto_offset_reset="earliest", group_id=topic)
    await consumer.start()
    consumer.subscribe([topic])
    await produce(restarting.bootstrap, topic, b"before")
    assert await read(consumer, 1) == [b"before"]
    await restarting.stop()
    await restarting.start()
    await produce(restarting.bootstrap, topic, b"after")
    assert await read(consumer, 1) == [b"after"]
    assert await consumer.position(where) == 2
    await consumer.close()


async def test_closing_does_not_wait_for_a_broker_that_is_gone(
    restarting: Restarting, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fencepost_client.clients.consumer.CLOSE_COMMIT_MS", 50)
    monkeypatch.setattr("fencepost_client.clients.classic_membership.LEAVE_TIMEOUT_MS", 50)
    await create(restarting.bootstrap, topic)
    consumer = Consumer(restarting.bootstrap, auto_offset_reset="earliest", group_id=topic)
    await consumer.start()
    consumer.subscribe([topic])
    await produce(restarting.bootstrap, topic, b"1")
    assert await read(consumer, 1) == [b"1"]
    await restarting.stop()
    with pytest.raises(RequestTimedOutError, match="while closing"):
        await consumer.close()
