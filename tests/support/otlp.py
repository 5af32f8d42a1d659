"""A receiver of OTLP in the test's own loop, which keeps what it is sent.

async with otlp_receiver() as receiver:
    ...  # something sends to receiver.url
    await until(lambda: receiver.metrics)
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


class OtlpReceiver:
    """What has arrived, and how the next requests are answered."""

    def __init__(self) -> None:
        self.url = ""
        self.status = 200
        """The status of the next answers; what comes with an error is not kept."""
        self.may_answer = asyncio.Event()
        """While it is not set, requests wait."""
        self.may_answer.set()
        self.requests: list[str] = []
        """The paths of all requests."""
        self.metrics: list[Any] = []
        """Each ``ResourceMetrics``."""
        self.traces: list[Any] = []
        """Each ``ResourceSpans``."""

    @property
    def spans(self) -> list[Any]:
        """All spans, in the order in which they came."""
        return [
            span
            for resource in self.traces
            for scope in resource.scope_spans
            for span in scope.spans
        ]

    async def take(self, request: web.Request) -> web.Response:
        """Take a message."""
        assert request.headers["Content-Type"] == "application/x-protobuf"
        self.requests.append(request.path)
        body = await request.read()  # without its gzip: aiohttp unpacks it
        await self.may_answer.wait()
        if self.status != 200:
            return web.Response(status=self.status)
        if request.path == "/v1/metrics":
            self.metrics += ExportMetricsServiceRequest.FromString(body).resource_metrics
        else:
            self.traces += ExportTraceServiceRequest.FromString(body).resource_spans
        return web.Response(content_type="application/x-protobuf")


@asynccontextmanager
async def otlp_receiver() -> AsyncIterator[OtlpReceiver]:
    """A receiver at a free port."""
    receiver = OtlpReceiver()
    app = web.Application(client_max_size=1 << 26)
    app.add_routes([web.post("/v1/{signal:metrics|traces}", receiver.take)])
    runner = web.AppRunner(app, shutdown_timeout=0)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    receiver.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield receiver
    finally:
        receiver.may_answer.set()
        await runner.cleanup()


def attributes_of(holder: Any) -> dict[str, Any]:
    """Return the attributes of a resource, a span, an event or a point."""
    return {each.key: _value(each.value) for each in holder.attributes}


def _value(value: Any) -> Any:
    which = value.WhichOneof("value")
    found = getattr(value, which)
    return [_value(each) for each in found.values] if which == "array_value" else found
