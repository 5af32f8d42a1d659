"""``exactly_once`` killed at every request and cancelled at every await: no loss, no double."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

import pytest
from fencepost_client import Consumer, NetworkError, Producer, TopicPartition, exactly_once
from fencepost_client.clients.exactly_once import ExactlyOnce
from fencepost_client.network.link import Link, forward_reply

from tests.sdk.harness.exactly_once import consumer_of, fill, in_and_out, outputs, running, upper_to
from tests.sdk.harness.groups import is_over

pytestmark = pytest.mark.asyncio


class Kill:
    """Ends both clients at a request, before it leaves or before it is answered.

    It is the first of an API, or the n-th of all.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.api = ""
        self.count_down = 0
        self.leaves = False
        self.dead = asyncio.Event()
        self.unanswered: list[asyncio.Future[Any]] = []
        send = Link.send

        def dying(link: Link, request: Any, version: int, *limits: int) -> Any:
            name = type(request).__name__
            # Heartbeats and metadata are by the clock; nothing depends on them.
            if not name.startswith(("Heartbeat", "Metadata", "Fetch")) and not self.dead.is_set():
                self.count_down -= 1
                if self.count_down == 0 or name == f"{self.api}Request":
                    if self.leaves:
                        send(link, request, version, *limits).cancel()
                    self.dead.set()
            if self.dead.is_set():
                unanswered = asyncio.get_running_loop().create_future()
                self.unanswered.append(unanswered)
                return unanswered
            return send(link, request, version, *limits)

        def dying_for(link: Link, handler: Any, *request: Any) -> None:
            dying(link, *request).add_done_callback(partial(forward_reply, handler))

        monkeypatch.setattr(Link, "send", dying)
        monkeypatch.setattr(Link, "send_for", dying_for)

    def forget(self) -> None:
        """The sockets are closed: what was asked fails, for a program that cannot say any more."""
        for future in self.unanswered:
            if not future.done():
                future.set_exception(NetworkError())
                future.exception()
        self.unanswered.clear()


async def crash_or_finish(bootstrap: str, topic: str, kill: Kill, count: int) -> bool:
    """One life of the process; whether it came to the end of its input."""
    consumer = consumer_of(bootstrap, topic, group_instance_id="machine")
    producer = Producer(bootstrap, transactional_id=topic, linger_ms=0)
    kill.dead.clear()

    async def live() -> None:
        # First, so that what the last life has left open is aborted, and not waited for.
        await producer.start()
        await consumer.start()
        consumer.subscribe([topic])
        loop = exactly_once(consumer, producer, upper_to(f"{topic}-out"), poll_timeout_ms=50)
        await consumer_has_read(topic, consumer, loop, count)

    life = asyncio.create_task(live())
    death = asyncio.create_task(kill.dead.wait())
    await asyncio.wait([life, death], return_when=asyncio.FIRST_COMPLETED)
    died = kill.dead.is_set()
    # As kill -9: the sockets close, nothing more is said to anybody.
    kill.dead.set()
    for client, stop in (
        (consumer._client, consumer._fetch_loop),
        (producer._client, producer._sender_loop),
    ):
        if client is not None:
            await client.close()
        if stop is not None:
            stop.stop()
    kill.forget()
    for task in (life, death):
        task.cancel()
    await asyncio.wait([life, death])
    if died:
        assert life.cancelled() or life.exception()
    else:
        await life
    return not died


async def consumer_has_read(topic: str, consumer: Consumer, loop: ExactlyOnce, count: int) -> None:
    """Go on until everything is committed, by whichever life."""
    where = [TopicPartition(topic, 0), TopicPartition(topic, 1)]
    while True:
        committed = await consumer.committed(where)
        if sum(each.offset for each in committed.values()) >= count:
            return
        await anext(loop)


STEPS = (
    "FindCoordinator", "InitProducerId", "JoinGroup", "SyncGroup", "OffsetFetch", "ListOffsets",
    "Produce", "TxnOffsetCommit", "EndTxn",
)  # fmt: skip


@pytest.mark.parametrize("leaves", [False, True], ids=["before", "behind"])
async def test_killed_at_every_request_and_started_again(
    bootstrap: str, topic: str, monkeypatch: pytest.MonkeyPatch, leaves: bool
) -> None:
    kill = Kill(monkeypatch)
    kill.leaves = leaves
    out = await in_and_out(bootstrap, topic, 2)
    wanted = await fill(bootstrap, topic, 20)
    for api in STEPS:
        kill.api = api
        assert not await crash_or_finish(bootstrap, topic, kill, len(wanted)), f"no {api}"
    kill.api = ""
    for count_down in range(1, 100):
        kill.count_down = count_down
        if await crash_or_finish(bootstrap, topic, kill, len(wanted)):
            break
    kill.count_down = 0
    kill.dead.clear()
    assert await outputs(bootstrap, out) == wanted


TURNS = (*range(30), 40, 60, *range(30), 40, 60, *range(30), 100)
"""Turns of the loop before each cancellation: it starts, and then it works."""


async def test_cancelled_at_every_await_and_called_again(bootstrap: str, topic: str) -> None:
    out = await in_and_out(bootstrap, topic, 2)
    wanted = await fill(bootstrap, topic, 120)
    async with running(
        bootstrap,
        topic,
        upper_to(out),
        topic,
        max_poll_records=2,
        group_instance_id="machine",
    ) as loop:
        done = 0
        turns = iter(TURNS)
        while done < len(wanted):
            step = asyncio.ensure_future(anext(loop))
            after = next(turns, None)
            if after is not None:
                for _ in range(after):
                    await asyncio.sleep(0)
                step.cancel()
            try:
                done += len((await step).records)
            except asyncio.CancelledError:
                continue
        await is_over(bootstrap, topic)
    assert await outputs(bootstrap, out) == wanted
