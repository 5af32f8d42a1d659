"""Metrics in Prometheus's text format."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from fencepost_client.metrics import ApiMetrics, RequestMetrics

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
"""The content type of the HTTP response."""
_BOUNDS_MS: Final = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 30_000)
_ESCAPES: Final = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})


def prometheus_text(clients: Mapping[str, RequestMetrics]) -> str:
    """The metrics of clients, as the body of an HTTP response for Prometheus.

        metrics = RequestMetrics()
        async with Producer("localhost:9092", metrics=metrics) as producer:
            ...
        body = prometheus_text({"billing": metrics})

    The keys are the values of the label ``client``. ``fencepost_client_request_seconds`` counts
    requests that were answered, ``fencepost_client_requests_failed_total`` those that were not,
    both by API.
    """
    return "".join(f"{line}\n" for line in _lines(clients))


def _lines(clients: Mapping[str, RequestMetrics]) -> Iterator[str]:
    families: tuple[tuple[str, str, str, Callable[[str, str, ApiMetrics], Iterator[str]]], ...] = (
        (
            "fencepost_client_request_seconds",
            "histogram",
            "Time from the sending of a request to its answer.",
            _times,
        ),
        (
            "fencepost_client_requests_failed_total",
            "counter",
            "Requests that got no answer.",
            lambda name, labels, api: iter([f"{name}{{{labels}}} {api.failed}"]),
        ),
    )
    for name, kind, about, samples in families:
        yield f"# HELP {name} {about}"
        yield f"# TYPE {name} {kind}"
        for client, metrics in clients.items():
            for api_key, api in sorted(metrics.apis.items()):
                labels = f'client="{client.translate(_ESCAPES)}",api="{api_key.name.lower()}"'
                yield from samples(name, labels, api)


def _times(name: str, labels: str, api: ApiMetrics) -> Iterator[str]:
    times_us = api.times_us
    for bound_ms in _BOUNDS_MS:
        count = times_us.count_up_to(bound_ms * 1_000)
        yield f'{name}_bucket{{{labels},le="{bound_ms / 1_000:g}"}} {count}'
    yield f'{name}_bucket{{{labels},le="+Inf"}} {times_us.count}'
    yield f"{name}_sum{{{labels}}} {times_us.total / 1_000_000:.6f}"
    yield f"{name}_count{{{labels}}} {times_us.count}"
