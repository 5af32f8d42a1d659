"""Metrics for Prometheus."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from fencepost_client.prometheus import CONTENT_TYPE

from fencepost_broker.server.control.routes import ControlContext, Route

if TYPE_CHECKING:
    from fencepost_broker.server.metrics.reading import Reading


async def get_metrics(context: ControlContext) -> str:
    """Return the metrics of this process in Prometheus's text format."""
    from fencepost_broker.server.metrics.reading import read_figures

    return await asyncio.to_thread(_text_of, read_figures(context.process))


def _text_of(readings: Sequence[Reading]) -> str:
    """Write the text, in a thread: this takes longer than the reading, and so does the import."""
    from fencepost_broker.server.metrics.text import text_of

    return text_of(readings)


ROUTES: Final = (
    Route(
        "GET",
        "/metrics",
        get_metrics,
        "metrics in Prometheus's text format, under the names of Kafka's",
        response=str,
        content_type=CONTENT_TYPE,
    ),
)
