"""Metrics sent to StatsD by UDP, with broker and labels as tags (``name:1|g|#broker:0,topic:t``).

A counter is sent as its growth since the last time, as StatsD wants it. Nothing waits for the
receiver: what does not arrive is lost.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Final

import asyncio_dgram

from fencepost_broker.config.values.endpoints import parse_control_address
from fencepost_broker.server.metrics.reading import Reading, read_figures

if TYPE_CHECKING:
    from fencepost_broker.server.process import BrokerProcess

INTERVAL_S: Final = 10
DATAGRAM_BYTES_MAX: Final = 1_432
"""So much fits into a packet of Ethernet."""
_NOT_IN_TAGS: Final = re.compile(r"[|,:#\s]")


class Growth:
    """Makes lines of a broker's figures; remembers counters."""

    def __init__(self, node_id: int) -> None:
        self._broker = {"broker": str(node_id)}
        self._last: dict[str, float] = {}

    def lines(self, readings: Iterable[Reading]) -> Iterator[str]:
        """Yield a line for each time series; none for a counter that has not grown."""
        for figure, samples in readings:
            for labels, value in samples:
                tags = ",".join(
                    f"{name}:{_NOT_IN_TAGS.sub('_', text)}"
                    for name, text in (self._broker | labels).items()
                )
                end = f"|#{tags}"
                if figure.kind == "counter":
                    series = figure.name + end
                    grown = value - self._last.get(series, 0)
                    self._last[series] = value
                    if grown > 0:
                        yield f"{figure.name}:{grown:.15g}|c{end}"
                    continue
                if value < 0:  # with a sign, it would be added to the value before
                    yield f"{figure.name}:0|g{end}"
                yield f"{figure.name}:{value:.15g}|g{end}"


def datagrams(lines: Iterable[str]) -> Iterator[bytes]:
    """Put as many lines into each datagram as it holds; a longer line has one of its own."""
    held = b""
    for line in lines:
        encoded = line.encode()
        if held and len(held) + 1 + len(encoded) > DATAGRAM_BYTES_MAX:
            yield held
            held = b""
        held += b"\n" + encoded if held else encoded
    if held:
        yield held


class StatsdSender:
    """Sends the metrics of a broker again and again."""

    def __init__(self, process: BrokerProcess, address: str) -> None:
        self._process = process
        self._address = parse_control_address(address)
        self._growth = Growth(process.server.identity.node_id)
        self._sending = asyncio.get_running_loop().create_task(self._send())

    def stop(self) -> None:
        """Send no more."""
        self._sending.cancel()

    async def _send(self) -> None:
        while True:
            with suppress(OSError, asyncio_dgram.TransportClosed):  # there may be a receiver later
                await self._send_once()
            await asyncio.sleep(INTERVAL_S)

    async def _send_once(self) -> None:
        stream = await asyncio_dgram.connect(self._address)
        try:
            for each in datagrams(self._growth.lines(read_figures(self._process))):
                await stream.send(each)
        finally:
            stream.close()
