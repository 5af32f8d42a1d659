"""A broker with a control port in the test's own loop, and requests to that."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
from fencepost_broker import Broker

from tests.support.broker import Client


class ControlClient:
    """Asks one control port."""

    def __init__(self, session: aiohttp.ClientSession, address: str) -> None:
        self.session = session
        self.address = address

    async def ask(
        self, method: str, path: str, body: Any = None, *, expect: int = 200, **options: Any
    ) -> Any:
        """Send a request, which must be answered with this status; returns the content."""
        if body is not None:
            options["json"] = body
        url = f"http://{self.address}{path}"
        async with self.session.request(method, url, **options) as answer:
            assert answer.status == expect, await answer.text()
            if answer.status == 204:
                assert await answer.read() == b""
                return None
            kind = "application/json" if expect < 400 else "application/problem+json"
            assert answer.content_type == kind
            content = await answer.json(content_type=None)
            if expect >= 400:
                assert content["status"] == expect
            return content


class Controlled(ControlClient):
    """A broker, and a client of its control port."""

    def __init__(self, session: aiohttp.ClientSession, broker: Broker) -> None:
        super().__init__(session, broker.control or "")
        self.broker = broker

    def client(self) -> Client:
        """A connection to the broker's listener."""
        return Client(self.broker.bootstrap)


@asynccontextmanager
async def controlled(**options: Any) -> AsyncIterator[Controlled]:
    """A broker with a control port at a free port of 127.0.0.1, unless the options say more."""
    given: dict[str, Any] = {"control": 0, "log_level": "error", **options}
    async with Broker(**given) as broker, aiohttp.ClientSession() as session:
        yield Controlled(session, broker)
