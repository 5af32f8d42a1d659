"""A Fetch of many thousand partitions is read some at a time, and waits like any other."""

from __future__ import annotations

import asyncio
import gc
from typing import Any

import pytest
from fencepost_broker.apis.fetch.sessions import OF_ONE_MAX
from fencepost_broker.network.large_requests import fetch
from fencepost_broker.network.large_requests.runner import LargeRequests
from fencepost_protocol.framing import encode_request, read_response_head
from fencepost_protocol.generated.fetch import (
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
)
from fencepost_protocol.generated.index import ApiKey

from tests.support.broker import RunningBroker, running_broker
from tests.support.waiting import until

pytestmark = pytest.mark.asyncio

VERSION = 11
TOPIC = "t" * 240
COUNT = 1_000
"""Each partition is named with the whole topic: some more than 256 KB."""


@pytest.fixture(autouse=True)
def some_a_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetch, "TURN_NS", 0)
    monkeypatch.setattr(fetch, "AGAIN_MS", 1)


def large(*, count: int = COUNT, unknown: int = 0, **more: Any) -> bytearray:
    entries = [FetchPartition(n, partition_max_bytes=1 << 20) for n in range(count)]
    entries[:unknown] = [FetchPartition(COUNT + n) for n in range(unknown)]
    given = {"max_wait_ms": 60_000, "min_bytes": 1, "session_epoch": -1, **more}
    topics = [FetchTopic(TOPIC, partitions=[each]) for each in entries]
    request = FetchRequest(topics=topics, **given)
    return encode_request(request, VERSION, 1, "c")


class Asking:
    """A connection that a large Fetch was sent by."""

    async def send(self, broker: RunningBroker, frame: bytearray) -> Asking:
        self._reader, self.writer = await asyncio.open_connection(broker.host, broker.port)
        self.writer.write(frame)
        return self

    async def answer(self) -> FetchResponse:
        size = int.from_bytes(await self._reader.readexactly(4), "big")
        frame = memoryview(await self._reader.readexactly(size))
        body = read_response_head(frame, ApiKey.FETCH, VERSION)[1]
        self.writer.close()
        return FetchResponse.decode(frame, VERSION, body)[0]


async def until_it_waits(broker: RunningBroker) -> None:
    """Garbage is collected again then."""
    partitions = broker.server.table.by_name[TOPIC].partitions
    await until(lambda: all(each.waiters for each in partitions) and gc.isenabled())


async def test_the_answer_is_that_of_one_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    async with running_broker(topics={TOPIC: COUNT}) as broker:
        for number in range(40):
            await broker.produce(TOPIC, number, b"v" * 1_000)
        frame = large(unknown=3, max_bytes=20_000)
        in_parts = await (await Asking().send(broker, frame)).answer()
        monkeypatch.setattr(LargeRequests, "takes", lambda *_: False)
        assert await (await Asking().send(broker, frame)).answer() == in_parts
    entries = in_parts.responses[0].partitions
    assert len(entries) == COUNT
    assert {each.error_code for each in entries} == {0, 3}
    assert 18 <= sum(bool(each.records) for each in entries) <= 20


async def test_it_wakes_when_something_is_appended() -> None:
    async with running_broker(topics={TOPIC: COUNT}) as broker:
        asking = await Asking().send(broker, large())
        await until_it_waits(broker)
        await broker.produce(TOPIC, 1, b"v")
        answer = await asking.answer()
        assert [bool(each.records) for each in answer.responses[0].partitions[:2]] == [False, True]
        assert not any(each.waiters for each in broker.server.table.by_name[TOPIC].partitions)
        assert broker.process.socket_server.parked_count == 0


async def test_what_is_not_enough_leaves_when_its_time_is_over() -> None:
    async with running_broker(topics={TOPIC: COUNT}) as broker:
        asking = await Asking().send(broker, large(max_wait_ms=50, min_bytes=1 << 20))
        await broker.produce(TOPIC, 1, b"v")
        answer = await asking.answer()
        assert any(each.records for each in answer.responses[0].partitions)
        assert not any(each.waiters for each in broker.server.table.by_name[TOPIC].partitions)


async def test_so_many_partitions_get_no_session() -> None:
    async with running_broker(topics={TOPIC: COUNT}) as broker:
        frame = large(count=OF_ONE_MAX + 1, session_epoch=0)
        answer = await (await Asking().send(broker, frame)).answer()
        assert (answer.error_code, answer.session_id) == (0, 0)
        assert len(answer.responses[0].partitions) == OF_ONE_MAX + 1
        frame = large(session_epoch=4, session_id=7)
        assert (await (await Asking().send(broker, frame)).answer()).error_code == 70


async def test_nothing_is_left_of_a_client_that_goes() -> None:
    async with running_broker(topics={TOPIC: COUNT}) as broker:
        asking = await Asking().send(broker, large())
        await until_it_waits(broker)
        asking.writer.transport.abort()
        partitions = broker.server.table.by_name[TOPIC].partitions
        await until(lambda: not any(each.waiters for each in partitions))
        assert await broker.produce(TOPIC, 0, b"v") == 0
        assert broker.process.socket_server.parked_count == 0


async def test_a_broker_that_stops_answers_with_what_there_is() -> None:
    async with running_broker(topics={TOPIC: COUNT}) as broker:
        asking = await Asking().send(broker, large())
        await until_it_waits(broker)
        stopping = asyncio.ensure_future(broker.process.stop())
        answer = await asking.answer()
        assert len(answer.responses[0].partitions) == COUNT
        assert await stopping
        broker.process.stop = lambda: asyncio.sleep(0)  # type: ignore[method-assign,assignment,return-value]
