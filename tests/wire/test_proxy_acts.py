"""Every act in a proxy: what the broker gets, and what the client gets."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from fencepost_broker.config.sources.structs import convert
from fencepost_broker.faults.rule import ACTS, Rule
from fencepost_protocol.framing import encode_request, encode_response
from fencepost_protocol.generated.heartbeat import HeartbeatRequest, HeartbeatResponse

from tests.support.waiting import until
from tests.wire.proxy_harness import Wire, played

pytestmark = pytest.mark.asyncio

BEAT = HeartbeatRequest("g", 1, "m")
VERSION = 4
LATE_MS = 100


def beat(number: int, group: str = "g") -> bytes:
    return bytes(encode_request(HeartbeatRequest(group, 1, "m"), VERSION, number, "by-hand"))


def answer(number: int, code: int = 25, throttle_ms: int = 0) -> bytes:
    return bytes(encode_response(HeartbeatResponse(throttle_ms, code), VERSION, number))


CASES: dict[str, tuple[dict[str, Any], list[bytes], bytes]] = {
    # the act's fields, what the broker gets, what the client gets
    "error": ({"code": "REBALANCE_IN_PROGRESS"}, [beat(2)], answer(1, 27) + answer(2)),
    "change-request": ({"set": {"groupId": "x"}}, [beat(1, "x"), beat(2)], answer(1) + answer(2)),
    "change-answer": ({"set": {"errorCode": 27}}, [beat(1), beat(2)], answer(1, 27) + answer(2)),
    "delay": ({"ms": 1, "spread_ms": 1}, [beat(1), beat(2)], answer(1) + answer(2)),
    "drop-request": ({}, [], b""),
    "drop-answer": ({}, [beat(1)], b""),
    "repeat-answer": ({}, [beat(1), beat(2)], 2 * answer(1) + answer(2)),
    "reorder-answer": ({}, [beat(1), beat(2)], answer(2) + answer(1)),
    "disconnect": ({}, [beat(1)], answer(1)),
    "cut-answer": ({"bytes": 9}, [beat(1)], answer(1)[:9]),
    "slow-answer": (
        {"bytes_per_s": 10_000, "piece_bytes": 5},
        [beat(1), beat(2)],
        answer(1) + answer(2),
    ),
    "slow-close": ({"ms": 1}, [beat(1), beat(2)], answer(1) + answer(2)),
    "throttle": ({"ms": 3}, [beat(1), beat(2)], answer(1, throttle_ms=3) + answer(2)),
}
CLOSES = ("drop-request", "drop-answer", "disconnect", "cut-answer")
ELSEWHERE = ("hold", "blackhole", "corrupt-request", "corrupt-answer", "run")


async def test_all_acts_are_tried() -> None:
    assert {str(act.__struct_config__.tag) for act in ACTS} == {*CASES, *ELSEWHERE}


def rule(name: str, **fields: Any) -> Rule:
    act = {"type": name, **fields}
    made: Rule = convert({"act": act, "match": {"api": "Heartbeat"}, "times": 1}, Rule)
    return made


async def answering(broker: Wire, seen: list[bytes]) -> None:
    """Answer heartbeats until the connection is closed."""
    try:
        while True:
            frame = await broker.frame()
            seen.append(frame)
            broker.send(answer(int.from_bytes(frame[8:12])))
    except (asyncio.IncompleteReadError, ConnectionError):
        return


@pytest.mark.parametrize("name", CASES)
async def test_an_act(name: str) -> None:
    fields, wanted, returned = CASES[name]
    async with played() as this:
        client, broker = await this.connect()
        fault = this.proxy.faults.add(rule(name, **fields))
        seen: list[bytes] = []
        playing = asyncio.create_task(answering(broker, seen))
        client.send(beat(1) + beat(2))
        if name in CLOSES:
            assert await client.reader.read() == returned
            await playing
        else:
            assert await client.reader.readexactly(len(returned)) == returned
            client.send(beat(3))
            assert await client.reader.readexactly(len(answer(3))) == answer(3)
            wanted = [*wanted, beat(3)]
        assert (fault.fired, seen) == (1, wanted)
        client.writer.close()
        await playing


async def test_the_broker_s_close_is_told_late() -> None:
    async with played() as this:
        client, broker = await this.connect()
        this.proxy.faults.add(rule("slow-close", ms=LATE_MS))
        client.send(beat(1))
        await broker.frame()
        began = asyncio.get_running_loop().time()
        broker.writer.close()
        assert await client.reader.read() == b""
        waited_ms = (asyncio.get_running_loop().time() - began) * 1000
        assert round(waited_ms) >= LATE_MS  # the loop of uvloop counts whole milliseconds


@pytest.mark.parametrize("act", ["hold", "blackhole"])
async def test_what_is_held_goes_on_when_its_rule_is_removed(act: str) -> None:
    async with played() as this:
        client, broker = await this.connect()
        fault = this.proxy.faults.add(rule(act))
        seen: list[bytes] = []
        playing = asyncio.create_task(answering(broker, seen))
        client.send(beat(1) + beat(2))
        await until(lambda: fault.held)
        assert seen == []
        fault.remove()
        returned = answer(1) + answer(2)
        assert await client.reader.readexactly(len(returned)) == returned
        client.writer.close()
        await playing


async def test_a_client_that_goes_away_is_not_held_any_more() -> None:
    async with played() as this:
        client, broker = await this.connect()
        fault = this.proxy.faults.hold(api="Heartbeat")
        client.send(beat(1))
        await until(lambda: fault.held)
        broker.writer.close()
        await until(lambda: not fault.held)


@pytest.mark.parametrize("what", ["request", "answer"])
async def test_a_bit_is_flipped_after_the_header(what: str) -> None:
    async with played() as this:
        client, broker = await this.connect()
        this.proxy.faults.add(rule(f"corrupt-{what}"))
        client.send(beat(1))
        arrived = await broker.frame()
        broker.send(answer(1))
        returned = await client.frame()
        changed, sent = (arrived, beat(1)) if what == "request" else (returned, answer(1))
        flipped = int.from_bytes(changed) ^ int.from_bytes(sent)
        assert len(changed) == len(sent)
        assert flipped.bit_count() == 1
        assert changed[:8] == sent[:8]


@pytest.mark.parametrize("is_begun", [False, True])
async def test_an_earlier_answer_is_not_overtaken(is_begun: bool) -> None:
    async with played() as this:
        client, broker = await this.connect()
        fault = this.proxy.faults.error("REBALANCE_IN_PROGRESS", api="Heartbeat", skip=1, times=1)
        client.send(beat(1))
        assert await broker.frame() == beat(1)
        if is_begun:
            broker.send(answer(1)[:9])
            assert await client.reader.readexactly(9) == answer(1)[:9]
        client.send(beat(2) + beat(3))
        await fault.wait_until_fired()
        if not is_begun:
            broker.send(answer(1)[:9])  # a part of it is not the whole
            assert await client.reader.readexactly(9) == answer(1)[:9]
        broker.send(answer(1)[9:])
        returned = answer(1)[9:] + answer(2, 27)
        assert await client.reader.readexactly(len(returned)) == returned
        assert await broker.frame() == beat(3)


async def test_a_request_that_cannot_be_read_is_left_to_the_broker() -> None:
    async with played() as this:
        client, broker = await this.connect()
        fault = this.proxy.faults.drop_request(api="Heartbeat")
        broken = (len(beat(1)) - 4 - 8).to_bytes(4) + beat(1)[4:-8]
        client.send(broken)
        assert await broker.frame() == broken
        assert fault.fired == 0
