"""Metrics for Prometheus."""

from __future__ import annotations

from typing import Final

from fencepost_client.prometheus import CONTENT_TYPE

from fencepost_broker.server.control.routes import ControlContext, Route


def get_metrics(context: ControlContext) -> str:
    """Return the metrics of this process in Prometheus's text format."""
    from fencepost_broker.server.metrics.text import metrics_text

    return metrics_text(context.process)


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
