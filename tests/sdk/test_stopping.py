"""Whoever is told to stop, or is closed, ends: whatever it waits for, and in time that is known."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Awaitable, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest
from fencepost_client import (
    Consumer,
    ConsumerRecord,
    GroupMetadata,
    IllegalStateError,
    Producer,
    RequestTimedOutError,
    TopicPartition,
    Transaction,
    exactly_once,
)
from fencepost_client.clients import transaction as ends
from fencepost_client.clients.exactly_once import ExactlyOnce
from fencepost_client.producer.stages import Stage

from tests.sdk.harness.exactly_once import consumer_of, fill, in_and_out, outputs, process, upper_to
from tests.sdk.harness.groups import is_in_state, is_member, is_over
from tests.sdk.harness.producer import create
from tests.sdk.harness.rebalances import poll_until

pytestmark = pytest.mark.asyncio
PATIENCE_SECONDS = 60.0
HOUR_MS = 3_600_000
"""Nothing here may end by a time-out of its own."""


async def in_time(what: Awaitable[Any]) -> Any:
    async with asyncio.timeout(PATIENCE_SECONDS):
        return await what


async def has_ended(step: asyncio.Task[Any]) -> None:
    """The iteration has come to its end, and not to an error."""
    with pytest.raises(StopAsyncIteration):
        await in_time(step)


@asynccontextmanager
async def stoppable(
    bootstrap: str, topic: str, handler: Any, transactional_id: str = "", **options: Any
) -> AsyncIterator[ExactlyOnce]:
    """A loop that waits for an hour, unless it is stopped."""
    producer = Producer(
        bootstrap,
        transactional_id=transactional_id or topic,
        transaction_timeout_ms=60_000,
        linger_ms=0,
    )
    async with (
        consumer_of(bootstrap, topic) as consumer,
        exactly_once(
            consumer,
            producer,
            handler,
            poll_timeout_ms=HOUR_MS,
            rebalance_timeout_ms=HOUR_MS,
            **options,
        ) as loop,
    ):
        consumer.subscribe([topic])
        yield loop


def next_of(loop: ExactlyOnce) -> asyncio.Task[Any]:
    async def step() -> Any:
        return await anext(loop)

    return asyncio.create_task(step())


async def test_while_it_waits_for_records(bootstrap: str, topic: str) -> None:
    out = await in_and_out(bootstrap, topic, 1)
    await fill(bootstrap, topic, 2, 1)
    async with stoppable(bootstrap, topic, upper_to(out)) as loop:
        await anext(loop)
        step = next_of(loop)
        await asyncio.sleep(0)
        loop.stop()
        await has_ended(step)


async def test_while_another_member_keeps_the_group_waiting(bootstrap: str, topic: str) -> None:
    """A program that does not poll is a member for minutes; who stops is out of the group then."""
    out = await in_and_out(bootstrap, topic, 2)
    async with consumer_of(bootstrap, topic) as slow:
        slow.subscribe([topic])
        await poll_until(slow.assignment, slow)
        async with stoppable(bootstrap, topic, upper_to(out)) as loop:
            step = next_of(loop)
            await is_in_state(bootstrap, topic, "PreparingRebalance")
            assert not step.done()
            loop.stop()
            await has_ended(step)
        # The other one has all of it again, and at once: nobody has to be found dead.
        await in_time(slow.block_on_rebalance(HOUR_MS))
        assert len(slow.assignment()) == 2


async def test_while_offsets_are_part_of_another_transaction(bootstrap: str, topic: str) -> None:
    out = await in_and_out(bootstrap, topic, 1)
    wanted = await fill(bootstrap, topic, 4, 1)
    async with Producer(bootstrap, transactional_id=f"{topic}-other") as other:
        async with stoppable(bootstrap, topic, upper_to(out)) as loop:
            other.begin()
            await other.send_offsets({TopicPartition(topic, 0): 4}, GroupMetadata(topic))
            step = next_of(loop)
            await is_member(bootstrap, topic)
            loop.stop()
            await has_ended(step)
        await other.abort()
    async with stoppable(bootstrap, topic, upper_to(out)) as loop:
        await process(loop, 4)
    assert await outputs(bootstrap, out, 1) == wanted


async def test_while_the_cluster_does_not_answer() -> None:
    consumer = consumer_of("127.0.0.1:1", "g")
    loop = exactly_once(consumer, Producer("127.0.0.1:1", transactional_id="x"), upper_to("out"))
    step = next_of(loop)
    await asyncio.sleep(0)
    loop.stop()
    await has_ended(step)
    await loop.close()


async def test_a_transaction_that_is_open_is_committed(bootstrap: str, topic: str) -> None:
    out = await in_and_out(bootstrap, topic, 1)
    wanted = await fill(bootstrap, topic, 2, 1)

    async def handler(records: Sequence[ConsumerRecord], transaction: Transaction) -> None:
        loop.stop()
        await asyncio.sleep(0.01)
        await upper_to(out)(records, transaction)

    async with stoppable(bootstrap, topic, handler) as loop:
        assert [done.records[0].offset async for done in loop] == [0]
    assert await outputs(bootstrap, out, 1) == wanted


async def test_a_transaction_that_does_not_end_is_aborted(bootstrap: str, topic: str) -> None:
    out = await in_and_out(bootstrap, topic, 1)
    wanted = await fill(bootstrap, topic, 2, 1)
    begun = asyncio.Event()

    async def handler(records: Sequence[ConsumerRecord], transaction: Transaction) -> None:
        await upper_to(out)(records, transaction)
        begun.set()
        await asyncio.Event().wait()

    async with stoppable(bootstrap, topic, handler, stop_timeout_ms=50) as loop:
        step = next_of(loop)
        await in_time(begun.wait())
        loop.stop()
        await has_ended(step)
        await is_over(bootstrap, topic, committed=False)
    async with stoppable(bootstrap, topic, upper_to(out)) as loop:
        await process(loop, 2)
    assert await outputs(bootstrap, out, 1) == wanted


async def test_a_commit_that_nobody_answers_is_left_to_the_next_one(
    bootstrap: str, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = await in_and_out(bootstrap, topic, 1)
    wanted = await fill(bootstrap, topic, 2, 1)
    asked = asyncio.Event()

    async def unanswered(producer: Producer) -> None:
        manager = producer._manager
        assert manager is not None
        end = manager.end(commit=True)
        next(end)
        end.close()
        asked.set()
        raise RequestTimedOutError

    with monkeypatch.context() as patch:
        patch.setattr(Producer, "commit", unanswered)
        async with stoppable(bootstrap, topic, upper_to(out), stop_timeout_ms=50) as loop:
            step = next_of(loop)
            await in_time(asked.wait())
            loop.stop()
            await has_ended(step)
    async with stoppable(bootstrap, topic, upper_to(out)) as loop:
        await process(loop, 2)
    assert await outputs(bootstrap, out, 1) == wanted


async def test_an_abort_that_nobody_answers_is_left_to_the_coordinator(
    bootstrap: str, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def unanswered(_: Producer) -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr(Producer, "abort", unanswered)
    monkeypatch.setattr(ends, "LAST_ABORT_MS", 10)
    await create(bootstrap, topic, 1)
    producer = Producer(bootstrap, transactional_id=topic)
    await producer.start()
    producer.begin()
    with pytest.raises(RequestTimedOutError, match="it times out"):
        await in_time(producer.close())
    with pytest.raises(IllegalStateError, match="closed"):
        await producer.send(topic, b"")


async def test_an_abort_that_nobody_answers_is_waited_for_once(
    bootstrap: str, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The step, the loop's end and the producer's: together they take no longer than one."""
    await in_and_out(bootstrap, topic, 1)
    await fill(bootstrap, topic, 2, 1)
    begun, aborts = asyncio.Event(), 0

    async def unanswered(_: Producer) -> None:
        nonlocal aborts
        aborts += 1
        await asyncio.Event().wait()

    async def handler(records: Sequence[ConsumerRecord], transaction: Transaction) -> None:
        begun.set()
        await asyncio.Event().wait()

    monkeypatch.setattr(Producer, "abort", unanswered)
    monkeypatch.setattr(ends, "LAST_ABORT_MS", 10)

    async def stop_it() -> None:
        async with stoppable(bootstrap, topic, handler, stop_timeout_ms=10) as loop:
            step = next_of(loop)
            await in_time(begun.wait())
            loop.stop()
            await has_ended(step)

    with pytest.raises(RequestTimedOutError, match="it times out"):
        await stop_it()
    assert aborts == 1


async def test_one_that_was_given_up_says_nothing_of_the_next_transaction(
    bootstrap: str, topic: str
) -> None:
    await create(bootstrap, topic, 1)
    producer = Producer(bootstrap, transactional_id=topic)
    await producer.start()
    producer.begin()
    producer.is_abort_given_up = True
    await producer.abort()
    producer.begin()
    await in_time(producer.close())
    assert producer.stage is Stage.READY


async def test_what_the_handler_raised_is_told_though_the_abort_was_cut(
    bootstrap: str, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await in_and_out(bootstrap, topic, 1)
    await fill(bootstrap, topic, 2, 1)
    begun = asyncio.Event()

    async def unanswered(_: Producer) -> None:
        begun.set()
        await asyncio.Event().wait()

    async def handler(records: Sequence[ConsumerRecord], transaction: Transaction) -> None:
        raise ValueError("of its own")

    async with stoppable(bootstrap, topic, handler, stop_timeout_ms=10) as loop:
        with monkeypatch.context() as patch:
            patch.setattr(Producer, "abort", unanswered)
            step = next_of(loop)
            await in_time(begun.wait())
            loop.stop()
            with pytest.raises(ValueError, match="of its own"):
                await in_time(step)


async def test_a_block_that_raises_does_so_though_nobody_answers_the_last_abort(
    bootstrap: str, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await create(bootstrap, topic, 1)

    async def unanswered(_: Producer) -> None:
        await asyncio.Event().wait()

    async def fail() -> None:
        async with stoppable(bootstrap, topic, upper_to(topic)) as loop:
            await loop._start()
            loop._producer.begin()
            raise ValueError("of its own")

    monkeypatch.setattr(Producer, "abort", unanswered)
    monkeypatch.setattr(ends, "LAST_ABORT_MS", 10)
    with pytest.raises(ValueError, match="of its own") as raised:
        await in_time(fail())
    assert "could not be aborted" in raised.value.__notes__[0]


async def test_from_another_thread(bootstrap: str, topic: str) -> None:
    out = await in_and_out(bootstrap, topic, 1)
    async with stoppable(bootstrap, topic, upper_to(out)) as loop:
        step = next_of(loop)
        await is_member(bootstrap, topic)
        thread = threading.Thread(target=loop.stop)
        thread.start()
        await has_ended(step)
        thread.join()


# --- close, while another task waits ------------------------------------------------------------


async def test_who_waits_for_records_hears_of_the_end(bootstrap: str, topic: str) -> None:
    await create(bootstrap, topic, 1)
    consumer = Consumer(bootstrap)
    await consumer.start()
    consumer.assign([TopicPartition(topic, 0)])
    await consumer.getmany(timeout_ms=10)
    waiting = asyncio.create_task(consumer.getmany(timeout_ms=HOUR_MS))
    await asyncio.sleep(0)
    await in_time(consumer.close())
    with pytest.raises(IllegalStateError, match="closed"):
        await in_time(waiting)


async def test_who_waits_for_a_topic_hears_of_the_end(bootstrap: str, topic: str) -> None:
    producer = Producer(bootstrap, max_block_ms=HOUR_MS)
    await producer.start()
    waiting = asyncio.create_task(producer.send(f"{topic}-that-is-none"))
    await asyncio.sleep(0)
    await in_time(producer.close())
    with pytest.raises(IllegalStateError, match="closed"):
        await in_time(waiting)
