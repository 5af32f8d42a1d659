"""Clients above their quota: told for how long, and muted as long (KIP-13, KIP-219)."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
from fencepost_broker.apis.served import Served, Step
from fencepost_broker.config import Value
from fencepost_broker.network import serving, throttling
from fencepost_broker.network.quota_manager import QuotaManager
from fencepost_broker.network.throttling import quota_step
from fencepost_broker.server.clock import StateClock
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.framing import encode_request
from fencepost_protocol.generated.api_versions import ApiVersionsRequest
from fencepost_protocol.generated.index import ApiKey

from tests.support.broker import Client, log_in, running_broker
from tests.support.secure_kafka import PASSWORD, plain_module
from tests.support.waiting import until
from tests.wire.quota_harness import CONSUMED, PRODUCED, fetch, limit, produce

if TYPE_CHECKING:
    pass

pytestmark = pytest.mark.asyncio


def records_of(answer: Any) -> int:
    return sum(len(each.records or b"") for topic in answer.responses for each in topic.partitions)


@pytest.mark.parametrize("version", [3, 8, 9, 12])
async def test_a_produce_is_done_and_the_connection_muted(version: int) -> None:
    clock = StateClock(manual=True)
    async with running_broker(topics={"t": 1}, clock=clock) as broker:
        await limit(broker, PRODUCED, 1000)
        answer = await broker.ask(produce(5000), version)
        assert answer.throttle_time_ms == 0
        answer = await broker.ask(produce(15_000), version)
        assert not answer.responses[0].partition_responses[0].error_code
        assert broker.server.table.by_name["t"].partitions[0].log.log_end_offset == 2
        told_ms = answer.throttle_time_ms
        assert 10_000 <= told_ms < 11_000
        muted = asyncio.ensure_future(broker.ask(ApiVersionsRequest(), 0))
        await until(lambda: broker.process.socket_server.parked_count == 1)
        clock.advance(ms=told_ms - 1)
        await asyncio.sleep(0)
        assert not muted.done()
        clock.advance(ms=1)
        assert not (await muted).error_code
        assert broker.process.socket_server.parked_count == 0


async def test_acks_0_has_no_answer_and_is_muted_too() -> None:
    clock = StateClock(manual=True)
    async with running_broker(topics={"t": 1}, clock=clock) as broker:
        await limit(broker, PRODUCED, 1000)
        _, writer = await asyncio.open_connection(broker.host, broker.port)
        writer.write(encode_request(produce(15_000, acks=0), 9, 1, "test"))
        await until(lambda: broker.process.socket_server.parked_count == 1)
        clock.advance(seconds=60)
        assert broker.process.socket_server.parked_count == 0
        writer.close()
        await writer.wait_closed()


async def test_each_user_has_a_rate() -> None:
    """One's own, else that of all users; a user with a client id has yet another."""
    settings: dict[str, Value] = {
        "listener.security.protocol.map": "PLAINTEXT:SASL_PLAINTEXT",
        "sasl.enabled.mechanisms": ("PLAIN",),
        "plain.sasl.jaas.config": plain_module("alice", "bob", "carol"),
    }
    clock = StateClock(manual=True)

    async def waits_ms(user: str, bootstrap: str) -> int:
        async with Client(bootstrap) as client:
            await log_in(client, user, PASSWORD)
            return int((await client.ask(produce(25_000), 9)).throttle_time_ms)

    async with running_broker(settings, topics={"t": 1}, clock=clock) as broker:
        bootstrap = broker.server.addresses[0].bootstrap
        await log_in(broker, "carol", PASSWORD)
        await limit(broker, PRODUCED, 1000, ("user", "alice"))
        assert await waits_ms("bob", bootstrap) == 0
        alone_ms = await waits_ms("alice", bootstrap)
        assert 10_000 <= alone_ms < 20_000
        await limit(broker, PRODUCED, 500, ("user", None))
        assert await waits_ms("bob", bootstrap) > 2 * alone_ms
        await limit(broker, PRODUCED, 1e6, ("user", "bob"), ("client-id", "test"))
        assert await waits_ms("bob", bootstrap) == 0
        assert await waits_ms("alice", bootstrap) > alone_ms, "it goes on where it was"


async def test_time_that_runs_unmutes() -> None:
    async with running_broker(topics={"t": 1}) as broker:
        await limit(broker, PRODUCED, 100_000)
        answer = await broker.ask(produce(1_005_000), 9)
        assert 0 < answer.throttle_time_ms < 1000
        assert not (await broker.ask(ApiVersionsRequest(), 0)).error_code


@pytest.mark.parametrize("version", [4, 11, 13, 17])
async def test_a_fetch_gets_nothing_and_later_all(version: int) -> None:
    clock = StateClock(manual=True)
    async with running_broker(topics={"t": 1}, clock=clock) as broker:
        await broker.ask(produce(8000), 9)
        await limit(broker, CONSUMED, 1000)
        answer = await broker.ask(fetch(broker), version)
        assert (answer.throttle_time_ms, records_of(answer) > 8000) == (0, True)
        answer = await broker.ask(fetch(broker), version)
        assert 5_000 < answer.throttle_time_ms < 8_000
        assert (answer.error_code, answer.session_id, answer.responses) == (0, 0, [])
        assert broker.process.socket_server.parked_count == 1
        clock.advance(seconds=20)
        answer = await broker.ask(fetch(broker), version)
        assert (answer.throttle_time_ms, records_of(answer) > 8000) == (0, True)


async def test_a_session_that_was_not_told_of_is_none() -> None:
    clock = StateClock(manual=True)
    async with running_broker(topics={"t": 1}, clock=clock) as broker:
        await broker.ask(produce(8000), 9)
        await limit(broker, CONSUMED, 1000)
        begun = await broker.ask(fetch(broker, session_epoch=0), 13)
        assert begun.session_id
        again = await broker.ask(fetch(broker, session_epoch=0), 13)
        assert (again.throttle_time_ms > 0, again.session_id) == (True, 0)
        assert len(broker.server.context.fetch_sessions) == 1
        clock.advance(seconds=20)
        more = fetch(broker, session_id=begun.session_id, session_epoch=1)
        answer = await broker.ask(more, 13)
        assert (answer.session_id, records_of(answer) > 8000) == (begun.session_id, True)
        await broker.ask(produce(100), 9)
        more.session_epoch = 2
        answer = await broker.ask(more, 13)
        assert answer.throttle_time_ms > 0
        assert (answer.session_id, answer.responses) == (begun.session_id, [])
        # What stood in the answer that was not sent is still news.
        clock.advance(seconds=20)
        more.session_epoch = 3
        more.topics[0].partitions[0].fetch_offset = 2
        answer = await broker.ask(more, 13)
        assert (answer.throttle_time_ms, records_of(answer)) == (0, 0)
        assert answer.responses[0].partitions[0].high_watermark == 2
        more.session_epoch = 4
        assert (await broker.ask(more, 13)).responses == []


@pytest.mark.parametrize("version", [7, 13])
async def test_an_error_of_a_session_is_told_to_who_is_throttled(version: int) -> None:
    """Or a client goes on with a session that is none, for as long as it is throttled."""
    clock = StateClock(manual=True)
    async with running_broker(topics={"t": 1}, clock=clock) as broker:
        await broker.ask(produce(8000), 9)
        await limit(broker, CONSUMED, 1000)
        await broker.ask(fetch(broker), version)
        unknown = fetch(broker, session_id=77, session_epoch=1)
        while not (answer := await broker.ask(unknown, version)).throttle_time_ms:
            assert answer.error_code == ErrorCode.FETCH_SESSION_ID_NOT_FOUND
        assert answer.error_code == ErrorCode.FETCH_SESSION_ID_NOT_FOUND


async def test_a_muted_connection_is_closed_when_nothing_is_heard_of_it() -> None:
    """Its client may be gone without a word, and muted it may be for days."""
    async with running_broker(topics={"t": 1}, clock=StateClock(manual=True)) as broker:
        await limit(broker, PRODUCED, 1)
        async with Client(f"{broker.host}:{broker.port}") as client:
            assert (await client.ask(produce(15_000), 9)).throttle_time_ms
            server = broker.process.socket_server
            assert server.parked_count == 1
            server.reap()
            assert server.parked_count == 1, "it was heard in this period"
            server.reap()
            await until(lambda: server.parked_count == 0)
            assert broker.server.quotas.muted.deadline_ms() is None


async def test_one_answer_is_never_more_than_the_windows_allow() -> None:
    clock = StateClock(manual=True)
    async with running_broker(topics={"t": 1}, clock=clock) as broker:
        for _ in range(5):
            await broker.ask(produce(3000), 9)
        await limit(broker, CONSUMED, 1000)
        answer = await broker.ask(fetch(broker), 13)
        assert (answer.throttle_time_ms < 100, records_of(answer)) == (True, 0)  # for its header
        clock.advance(ms=answer.throttle_time_ms)
        answer = await broker.ask(fetch(broker), 13)
        assert (answer.throttle_time_ms, records_of(answer)) == (0, 10_000)


async def test_a_fetch_that_waited_is_charged_when_it_is_answered() -> None:
    clock = StateClock(manual=True)
    async with (
        running_broker(topics={"t": 1}, clock=clock) as broker,
        Client(f"{broker.host}:{broker.port}") as other,
    ):
        await limit(broker, CONSUMED, 1000)
        for muted in (False, True):
            end = broker.server.table.by_name["t"].partitions[0].log.log_end_offset
            request = fetch(broker, max_wait_ms=600_000)
            request.topics[0].partitions[0].fetch_offset = end
            waiting = asyncio.ensure_future(broker.ask(request, 13))
            await until(lambda: broker.process.socket_server.parked_count == 1)
            await other.ask(produce(9000), 9)
            answer = await waiting
            assert (answer.throttle_time_ms > 0) is muted
            assert broker.process.socket_server.parked_count == int(muted)


async def test_without_quotas_nothing_stands_in_the_way(monkeypatch: pytest.MonkeyPatch) -> None:
    steps: list[ApiKey] = []

    def step_for(api: Served, manager: QuotaManager) -> Step | None:
        step = quota_step(api, manager)
        if step is not None:
            steps.append(api.key)
        return step

    monkeypatch.setattr(throttling, "quota_step", step_for)
    async with running_broker(topics={"t": 1}) as broker:
        assert not steps
        await limit(broker, PRODUCED, 1000)
        assert steps == [ApiKey.PRODUCE]
        steps.clear()
        await limit(broker, PRODUCED, None)
        assert not steps


async def test_a_broker_that_stops_answers_what_waits_behind_the_muted() -> None:
    """And does so at once: nobody moves the clock for them any more."""
    async with running_broker(topics={"t": 1}, clock=StateClock(manual=True)) as broker:
        await limit(broker, PRODUCED, 1)
        reader, writer = await asyncio.open_connection(broker.host, broker.port)
        for number in (1, 2):
            writer.write(encode_request(produce(15_000), 9, number, "test"))
        await until(lambda: broker.process.socket_server.parked_count == 1)
        serving.finish(broker.process.socket_server)
        assert broker.process.socket_server.parked_count == 0
        for number in (1, 2):
            frame = await reader.readexactly(int.from_bytes(await reader.readexactly(4), "big"))
            assert int.from_bytes(frame[:4], "big") == number
        assert await reader.read() == b""
        writer.close()
