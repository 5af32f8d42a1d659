"""``exactly_once``: through rebalances, failures and crashes, each input makes one output."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from fencepost_client import (
    ConfigError,
    Consumer,
    ConsumerRecord,
    GroupMetadata,
    IllegalStateError,
    OffsetAndMetadata,
    Producer,
    ProducerFencedError,
    RequestTimedOutError,
    TopicPartition,
    Transaction,
    TransactionAbortedError,
    exactly_once,
)
from fencepost_client.producer.stages import Stage

from tests.sdk.harness.exactly_once import (
    consumer_of,
    fill,
    in_and_out,
    outputs,
    process,
    running,
    upper_to,
)
from tests.sdk.harness.groups import is_member
from tests.sdk.harness.producer import create
from tests.support.waiting import until

pytestmark = pytest.mark.asyncio


async def test_each_step_is_a_committed_transaction(bootstrap: str, topic: str) -> None:
    out = f"{topic}-out"
    await create(bootstrap, topic, 2)
    await create(bootstrap, out, 2)
    wanted = await fill(bootstrap, topic, 10)
    async with running(bootstrap, topic, upper_to(out), topic) as loop:
        done = await process(loop, 10)
        assert len(done) >= 3
        assert loop.aborted == 0
        assert all(len(each.records) <= 4 for each in done)
    assert await outputs(bootstrap, out) == wanted
    async with consumer_of(bootstrap, topic) as consumer:
        where = [TopicPartition(topic, 0), TopicPartition(topic, 1)]
        committed = await consumer.committed(where)
    assert {each: committed[each].offset for each in where} == dict.fromkeys(where, 5)


async def test_a_handler_that_raises_gets_the_same_records_again(
    bootstrap: str, topic: str
) -> None:
    out = f"{topic}-out"
    await create(bootstrap, topic)
    await create(bootstrap, out)
    wanted = await fill(bootstrap, topic, 6, partitions=1)
    seen: list[list[bytes | None]] = []

    async def handler(records: Sequence[ConsumerRecord], transaction: Transaction) -> None:
        seen.append([record.value for record in records])
        await upper_to(out)(records, transaction)
        if len(seen) == 2:
            raise ZeroDivisionError

    async with running(bootstrap, topic, handler, topic) as loop:
        await anext(loop)
        with pytest.raises(ZeroDivisionError):
            await anext(loop)
        await anext(loop)
    assert seen[1] == seen[2] == [b"n004", b"n005"]
    assert await outputs(bootstrap, out, 1) == wanted


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
async def test_two_share_the_work_through_rebalances(
    bootstrap: str, topic: str, protocol: str
) -> None:
    """A member comes and goes again in the middle; each of them has a transaction open then."""
    out = f"{topic}-out"
    await create(bootstrap, topic, 2)
    await create(bootstrap, out, 2)
    wanted = await fill(bootstrap, topic, 40)
    processed = 0

    async def handler(records: Sequence[ConsumerRecord], transaction: Transaction) -> None:
        await upper_to(out)(records, transaction)
        await asyncio.sleep(0.01)

    async def work(transactional_id: str, enough: int) -> None:
        nonlocal processed
        async with running(
            bootstrap, topic, handler, transactional_id, max_poll_records=2, group_protocol=protocol
        ) as loop:
            mine = 0
            while processed < len(wanted) and mine < enough:
                ahead = asyncio.ensure_future(anext(loop))
                while not ahead.done() and processed < len(wanted):
                    await asyncio.wait([ahead], timeout=0.05)
                if not ahead.done():
                    ahead.cancel()
                    await asyncio.wait([ahead])
                    return
                processed += len(ahead.result().records)
                mine += len(ahead.result().records)

    first = asyncio.create_task(work(f"{topic}-1", 1000))
    await until(lambda: processed >= 4)
    async with asyncio.timeout(120):
        await work(f"{topic}-2", 4)
        await first
    assert await outputs(bootstrap, out) == wanted


async def test_a_commit_whose_answer_is_lost_is_settled_before_anything_else(
    bootstrap: str, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = await in_and_out(bootstrap, topic, 1)
    wanted = await fill(bootstrap, topic, 6, 1)
    async with running(bootstrap, topic, upper_to(out), topic) as loop:
        commit = Producer.commit
        calls = []

        async def times_out(producer: Producer) -> None:
            calls.append(producer)
            if len(calls) == 1:
                assert producer._manager is not None
                await producer.flush()  # as commit does before it ends the transaction
                asked = producer._manager.end(commit=True)
                next(asked)
                asked.close()
                raise RequestTimedOutError
            await commit(producer)

        monkeypatch.setattr(Producer, "commit", times_out)
        await process(loop, 6)
        assert loop.aborted == 0
        assert len(calls) == 3
    assert await outputs(bootstrap, out, 1) == wanted


async def test_offsets_that_are_pending_are_waited_for(bootstrap: str, topic: str) -> None:
    """Another producer has offsets of the group in an open transaction: nobody reads past it."""
    out = await in_and_out(bootstrap, topic, 1)
    await fill(bootstrap, topic, 6, 1)
    async with (
        Producer(bootstrap, transactional_id=f"{topic}-other") as other,
        running(bootstrap, topic, upper_to(out), topic) as loop,
    ):
        other.begin()
        await other.send_offsets({TopicPartition(topic, 0): 4}, GroupMetadata(topic))
        step = asyncio.ensure_future(anext(loop))
        await is_member(bootstrap, topic)
        assert not step.done()
        await other.commit()
        assert [record.value for record in (await step).records] == [b"n004", b"n005"]


async def test_a_fenced_producer_is_the_end(bootstrap: str, topic: str) -> None:
    out = await in_and_out(bootstrap, topic, 1)
    wanted = await fill(bootstrap, topic, 6, 1)
    async with running(bootstrap, topic, upper_to(out), topic) as old:
        await anext(old)
        async with Producer(bootstrap, transactional_id=topic):
            pass
        with pytest.raises(ProducerFencedError):
            await anext(old)
    async with running(bootstrap, topic, upper_to(out), topic) as new:
        await process(new, 2)
    assert await outputs(bootstrap, out, 1) == wanted


async def test_an_attempt_that_fails_is_made_again_but_not_for_ever(
    bootstrap: str, topic: str
) -> None:
    out = await in_and_out(bootstrap, topic, 1)
    wanted = await fill(bootstrap, topic, 4, 1)
    failures = iter([TransactionAbortedError(), RequestTimedOutError()])

    async def handler(records: Sequence[ConsumerRecord], transaction: Transaction) -> None:
        await upper_to(out)(records, transaction)
        for error in failures:
            raise error

    async with running(bootstrap, topic, handler, topic) as loop:
        await process(loop, 4)
        assert loop.aborted == 2

    async def hopeless(records: Sequence[ConsumerRecord], transaction: Transaction) -> None:
        raise TransactionAbortedError

    await fill(bootstrap, topic, 1, 1)
    async with consumer_of(bootstrap, topic) as consumer:
        consumer.subscribe([topic])
        producer = Producer(bootstrap, transactional_id=topic)
        async with exactly_once(consumer, producer, hopeless, attempts_max=2) as loop:
            with pytest.raises(TransactionAbortedError):
                await anext(loop)
    assert await outputs(bootstrap, out, 1) == wanted


async def test_stop_and_close(bootstrap: str, topic: str) -> None:
    out = await in_and_out(bootstrap, topic, 1)
    await fill(bootstrap, topic, 4, 1)
    async with consumer_of(bootstrap, topic) as consumer:
        consumer.subscribe([topic])
        producer = Producer(bootstrap, transactional_id=topic)
        loop = exactly_once(consumer, producer, upper_to(out))
        async for done in loop:
            assert len(done.records) == 4
            loop.stop()
        assert producer.transaction_timeout_ms == 10_000
        await loop.close()
        with pytest.raises(IllegalStateError, match="closed"):
            await producer.send(out, b"")
    # What is open is aborted, and a producer of the caller's own stays.
    async with (
        Producer(bootstrap, transactional_id=f"{topic}-y") as mine,
        consumer_of(bootstrap, f"{topic}-h") as consumer,
    ):
        loop = exactly_once(consumer, mine, upper_to(out))
        mine.begin()
        await loop.close()
        assert mine.stage is Stage.READY
        assert mine.transaction_timeout_ms == 60_000


async def test_settings_that_would_lose_or_double() -> None:
    producer = Producer("localhost:1", transactional_id="x")
    for wrong in ({"enable_auto_commit": True}, {"isolation_level": "read_uncommitted"}):
        settings: Any = {"enable_auto_commit": False, "isolation_level": "read_committed", **wrong}
        consumer = Consumer("localhost:1", group_id="g", **settings)
        with pytest.raises(ConfigError, match=next(iter(wrong))):
            exactly_once(consumer, producer, upper_to("out"))
    with pytest.raises(IllegalStateError, match="transactional_id"):
        exactly_once(consumer_of("localhost:1", "g"), Producer("localhost:1"), upper_to("out"))


class Stranger:
    """A consumer that is not ours: it has the partition to itself, and reads as others do."""

    def __init__(self, bootstrap: str, topic: str) -> None:
        self.asked: list[str] = []
        self._generation_id = 1
        self._group_id = topic
        self._where = TopicPartition(topic, 0)
        self._position = 0
        self._inner = Consumer(
            bootstrap, group_id=topic, isolation_level="read_committed", enable_auto_commit=False
        )

    async def start(self) -> None:
        await self._inner.start()
        self._inner.assign([self._where])
        self._inner.seek(self._where, 0)

    async def close(self) -> None:
        await self._inner.close()

    def rebalance(self) -> None:
        self._generation_id += 1

    def generation_id(self) -> int:
        return self._generation_id

    def group_metadata(self) -> GroupMetadata:
        return GroupMetadata(self._group_id)

    def assignment(self) -> set[TopicPartition]:
        return {self._where}

    def seek(self, partition: TopicPartition, offset: int) -> None:
        self.asked.append(f"seek {offset}")
        self._inner.seek(partition, offset)

    async def block_on_rebalance(self, timeout_ms: int) -> None:
        self.asked.append("block")

    async def fetch_offsets(
        self, all_partitions: bool
    ) -> Mapping[TopicPartition, OffsetAndMetadata]:
        assert all_partitions
        self.asked.append("fetch")
        return await self._inner.committed([self._where])

    async def getmany(self, *, timeout_ms: int) -> Sequence[ConsumerRecord]:
        return await self._inner.getmany(timeout_ms=timeout_ms, max_records=2)


async def test_a_consumer_that_is_not_ours(bootstrap: str, topic: str) -> None:
    out = await in_and_out(bootstrap, topic, 1)
    wanted = await fill(bootstrap, topic, 6, 1)
    stranger = Stranger(bootstrap, topic)
    await stranger.start()
    producer = Producer(bootstrap, transactional_id=topic)
    async with exactly_once(stranger, producer, upper_to(out)) as loop:
        await anext(loop)
        assert stranger.asked == ["block", "fetch"]
        stranger.rebalance()
        await anext(loop)
        # What was read behind the rebalance goes back, and the committed offset decides.
        assert stranger.asked[2:] == ["block", "fetch", "seek 2", "seek 2"]
        await anext(loop)
    await stranger.close()
    assert await outputs(bootstrap, out, 1) == wanted
