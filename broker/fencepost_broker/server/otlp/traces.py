"""Spans, sent to a receiver of OTLP. What it does not take waits, up to a bound."""

from __future__ import annotations

import asyncio
import gzip
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans, Span

from fencepost_broker.server.otlp.resource import SCOPE, resource_of
from fencepost_broker.server.otlp.spans import Spans

if TYPE_CHECKING:
    from fencepost_broker.observability.logging import Logger
    from fencepost_broker.server.control.watching import WatchedBroker
    from fencepost_broker.server.otlp.receiver import Receiver

WAITING_MAX: Final = 4_096
"""So many spans wait; after that, the oldest ones are lost."""
TOGETHER_MAX: Final = 512
"""So many spans are in one message."""
INTERVAL_S: Final = 1.0
LATER_S: Final = 5.0
"""How long a receiver that failed is left alone."""
CLOSING_S: Final = 2.0
"""How long a broker that stops waits until its last spans are taken."""
_PATH: Final = "v1/traces"


class TracesSender:
    """Sends the spans of a broker, until it is closed."""

    def __init__(self, watched: WatchedBroker, receiver: Receiver, log: Logger) -> None:
        self._resource = resource_of(watched.node_id)
        self._receiver = receiver
        self._log = log
        self._waiting: deque[Span] = deque()
        self.lost = 0
        """How many spans were not sent."""
        self._closing = asyncio.Event()
        self._spans = Spans(watched, self._put, log)
        self._sending = asyncio.get_running_loop().create_task(self._send())

    async def close(self) -> None:
        """Make no more spans, and send what waits, if the receiver takes it soon."""
        self._spans.close()
        self._closing.set()
        await asyncio.wait({self._sending}, timeout=CLOSING_S)
        self._sending.cancel()

    def _put(self, span: Span) -> None:
        if len(self._waiting) >= WAITING_MAX:
            self._waiting.popleft()
            self._lose(1)
        self._waiting.append(span)

    def _lose(self, count: int) -> None:
        if count and not self.lost:
            self._log.warning("spans are lost: the OTLP receiver does not take them")
        self.lost += count

    async def _send(self) -> None:
        """Send again and again; at the end, once more."""
        while True:
            is_last = self._closing.is_set()
            pause = INTERVAL_S if await self._send_waiting() else LATER_S
            if is_last:
                return
            with suppress(TimeoutError):
                await asyncio.wait_for(self._closing.wait(), pause)

    async def _send_waiting(self) -> bool:
        """Send what waits now; returns whether the receiver has taken all of it."""
        for _ in range(-(-len(self._waiting) // TOGETHER_MAX)):
            count = min(TOGETHER_MAX, len(self._waiting))
            batch = [self._waiting.popleft() for _ in range(count)]
            content = await asyncio.to_thread(self._encoded, batch)
            outcome = await self._receiver.post(_PATH, content)
            if outcome == "refused":
                self._lose(len(batch))
            elif outcome == "later":
                room = min(len(batch), WAITING_MAX - len(self._waiting))
                self._lose(len(batch) - room)
                self._waiting.extendleft(reversed(batch[len(batch) - room :]))
            if outcome != "taken":
                return False
        return True

    def _encoded(self, spans: Sequence[Span]) -> bytes:
        resource = ResourceSpans(
            resource=self._resource, scope_spans=[ScopeSpans(scope=SCOPE, spans=spans)]
        )
        message = ExportTraceServiceRequest(resource_spans=[resource])
        return gzip.compress(message.SerializeToString(), 1)
