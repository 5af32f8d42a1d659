"""A broker's link to its controller: the timer of its requests, the pauses in its work."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest
from fencepost_broker.config import Settings
from fencepost_broker.server.links import controller_link
from fencepost_broker.server.links.controller_link import ControllerLink, in_turns
from fencepost_broker.simulation.loop import SimLoop
from fencepost_protocol.generated.allocate_producer_ids import AllocateProducerIdsRequest

from tests.support.exact_loop import ExactLoop

SETTINGS = {
    "process.roles": "broker",
    "controller.listener.names": "CONTROLLER",
    "controller.quorum.bootstrap.servers": "127.0.0.1:1",
}


@pytest.mark.parametrize("begin", [0.0, 1.0, 2.0])
def test_a_request_is_given_up_by_one_timer(begin: float, monkeypatch: pytest.MonkeyPatch) -> None:
    loop = ExactLoop(begin)
    with monkeypatch.context() as patched:
        patched.setattr(asyncio, "get_running_loop", lambda: loop)
        link = ControllerLink(Settings().with_overrides(SETTINGS), lambda _: None, None)
    answers: list[Any] = []
    for limit_ms in range(1, 200):
        link.ask_within(limit_ms, AllocateProducerIdsRequest(1, 1), answers.append)
    assert loop.run(most=1000) <= 200
    assert answers == [None] * 199


def test_what_is_due_is_heard_in_one_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    """Heartbeats take several turns of the loop: a timer, the task that it wakes, an answer."""
    monkeypatch.setattr(controller_link, "TURN_S", 0)

    async def program() -> int:
        async def heartbeat() -> None:
            for _ in range(5):
                await asyncio.sleep(0)

        beating = asyncio.ensure_future(heartbeat())
        taken = 0

        def steps() -> Iterator[None]:
            nonlocal taken
            while not beating.done():
                taken += 1
                yield

        await in_turns(steps())
        return taken

    loop = SimLoop(Random(1))
    try:
        assert loop.run_until_complete(program()) == 1
    finally:
        loop.close()
