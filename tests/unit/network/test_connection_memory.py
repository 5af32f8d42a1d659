"""A connection without requests holds little memory, since thousands of them may wait."""

from __future__ import annotations

import asyncio
import tracemalloc
from typing import Final

from fencepost_broker.network.connection import Connection
from fencepost_broker.network.receive_buffer import SharedBuffer

from tests.bench.inside import Inside

CONNECTIONS: Final = 500
BYTES_MAX: Final = 1_100
"""A ``__dict__`` adds 1,300 bytes, a deque 700."""


def test_an_idle_connection_is_small() -> None:
    async def measure() -> float:
        server, shared = Inside().server, SharedBuffer()
        tracemalloc.start()
        try:
            made = [Connection(server, shared, "PLAINTEXT") for _ in range(CONNECTIONS)]
            held, _ = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        return held / len(made)

    assert asyncio.run(measure()) < BYTES_MAX
