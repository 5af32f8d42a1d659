"""Brokers of every kind that the sink has to work with, and a sink's settings on them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.pipeline.sink.brokers import BROKERS, Running, started


@pytest.fixture(scope="module", params=BROKERS)
def cluster(request: pytest.FixtureRequest) -> Iterator[Running]:
    """A broker of ours and Apache Kafka, each with transaction version 1 and 2."""
    # Of the coordinator's look at timed-out transactions.
    interval = {"transaction.abort.timed.out.transaction.cleanup.interval.ms": "100"}
    with started(request.param, **interval) as running:
        yield running


@pytest.fixture
def topic(request: pytest.FixtureRequest) -> str:
    """A topic name of this test's own."""
    return "".join(c if c.isalnum() else "-" for c in request.node.name)[:200]
