"""The timer of a broker's requests to its controller."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from fencepost_broker.config import Settings
from fencepost_broker.server.links.controller_link import ControllerLink
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
