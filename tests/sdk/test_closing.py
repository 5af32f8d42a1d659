"""Whatever happens while a client closes: no task, no socket and no warning is left."""

from __future__ import annotations

import asyncio
import gc
import itertools
import warnings
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import pytest
from fencepost_broker import Broker
from fencepost_client import (
    Admin,
    Consumer,
    DeliveryTimedOutError,
    KafkaError,
    NoBrokerError,
    Producer,
    RequestTimedOutError,
)

from tests.sdk.harness.cancellation import cancelled_after
from tests.sdk.harness.producer import create

pytestmark = pytest.mark.asyncio
SHORT: Final[Any] = {"request_timeout_ms": 200}
"""A broker that is gone is not waited for."""
PRODUCERS_SHORT: Final[Any] = {"delivery_timeout_ms": 300, "max_block_ms": 300, **SHORT}
TURNS: Final = (*range(7), 9, 12, 20, 60)
PATIENCE_TURNS: Final = 2000
GROUPS: Final = itertools.count()
"""A member that could not leave is waited for by the others of its group, and not the subject."""


async def in_time(step: Callable[[], Awaitable[object]]) -> None:
    """Do it within the short times, which a busy machine may need more than once for."""
    while True:
        with suppress(RequestTimedOutError, DeliveryTimedOutError, NoBrokerError):
            await step()
            return


async def producer(bootstrap: str, topic: str, *, is_short: bool) -> Any:
    """With a record under way."""
    made = Producer(bootstrap, linger_ms=0, **(PRODUCERS_SHORT if is_short else {}))
    await in_time(made.start)
    await in_time(lambda: made.send_and_wait(topic, b"1"))
    await made.send(topic, b"2")
    return made


async def transactional(bootstrap: str, topic: str, *, is_short: bool) -> Any:
    """With a transaction that is open."""
    options = PRODUCERS_SHORT if is_short else {}
    made = Producer(bootstrap, transactional_id=topic, **options)
    await in_time(made.start)
    made.begin()
    await made.send(topic, b"1")
    return made


async def consumer(bootstrap: str, topic: str, *, is_short: bool, **options: Any) -> Any:
    if is_short:
        options |= {"default_api_timeout_ms": 300, **SHORT}
    made = Consumer(
        bootstrap, group_id=f"{topic}-{next(GROUPS)}", auto_offset_reset="earliest",
        heartbeat_interval_ms=20,
        **options,
    )  # fmt: skip
    await in_time(made.start)
    made.subscribe([topic])
    await made.getmany(timeout_ms=20)
    return made


async def member(bootstrap: str, topic: str, *, is_short: bool) -> Any:
    return await consumer(bootstrap, topic, is_short=is_short, group_protocol="consumer")


async def admin(bootstrap: str, topic: str, *, is_short: bool) -> Any:
    made = Admin(bootstrap, **({"default_api_timeout_ms": 300, **SHORT} if is_short else {}))
    await in_time(made.start)
    await made.describe_topics([topic])
    return made


Open = Callable[..., Awaitable[Any]]
KINDS: Final[dict[str, Open]] = {
    each.__name__: each for each in (producer, transactional, consumer, member, admin)
}


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> Open:
    return KINDS[request.param]


def open_sockets() -> int:
    count = 0
    for each in Path("/proc/self/fd").iterdir():
        with suppress(OSError):
            count += str(each.readlink()).startswith("socket:")
    return count


async def nothing_is_left(sockets: int, tasks: int) -> None:
    """Return when all is gone; the last turns of what was cancelled may be to come."""
    for _ in range(PATIENCE_TURNS):
        if open_sockets() <= sockets and len(asyncio.all_tasks()) <= tasks:
            break
        await asyncio.sleep(0.001)
    assert len(asyncio.all_tasks()) <= tasks
    assert open_sockets() <= sockets, "the broker's ends are counted, too"
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        gc.collect()
    assert not told, [str(each.message) for each in told]


@pytest.mark.slow
@pytest.mark.long_on_kafka
async def test_a_close_that_is_cancelled(bootstrap: str, topic: str, kind: Open) -> None:
    await create(bootstrap, topic)
    for turns in TURNS:
        sockets, tasks = open_sockets(), len(asyncio.all_tasks())
        client = await kind(bootstrap, topic, is_short=False)
        with suppress(KafkaError):
            await cancelled_after(turns, asyncio.create_task(client.close()))
        with suppress(KafkaError):
            await client.close()
        await nothing_is_left(sockets, tasks)


@pytest.mark.ours_alone("the broker vanishes between two turns of the loop")
@pytest.mark.parametrize("turns", [0, 1, 3, 8])
async def test_a_broker_that_vanishes_while_a_client_closes(
    monkeypatch: pytest.MonkeyPatch, topic: str, kind: Open, turns: int
) -> None:
    monkeypatch.setattr("fencepost_client.clients.consumer.CLOSE_COMMIT_MS", 50)
    monkeypatch.setattr("fencepost_client.clients.classic_membership.LEAVE_TIMEOUT_MS", 50)
    sockets, tasks = open_sockets(), len(asyncio.all_tasks())
    async with Broker(topics={topic: 1}) as broker:
        client = await kind(broker.bootstrap, topic, is_short=True)
        closing = asyncio.create_task(client.close())
        for _ in range(turns):
            await asyncio.sleep(0)
    with suppress(KafkaError):
        async with asyncio.timeout(60):
            await closing
    await client.close()
    await nothing_is_left(sockets, tasks)
