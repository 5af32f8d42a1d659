"""The pytest fixture ``fencepost``: a broker for a test, available wherever Fencepost is installed.

    @pytest.mark.fencepost(topics={"orders": 3})
    def test_orders(fencepost):
        producer = confluent_kafka.Producer({"bootstrap.servers": fencepost.bootstrap})

The mark has options of ``fencepost_broker.blocking.Broker``. The broker is imported when the first
test asks for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from fencepost_broker.blocking import Broker


def pytest_configure(config: pytest.Config) -> None:
    """Register the mark."""
    config.addinivalue_line(
        "markers",
        "fencepost(**options): options of the broker that the fixture `fencepost` starts, as"
        ' topics={"orders": 3}',
    )


@pytest.fixture
def fencepost(request: pytest.FixtureRequest) -> Iterator[Broker]:
    """A Kafka broker of this test's own, empty, in a thread; `fencepost.bootstrap` is its address.

    Its options are the mark's: `@pytest.mark.fencepost(topics={"orders": 3})`.
    """
    from fencepost_broker.blocking import Broker

    mark = request.node.get_closest_marker("fencepost")
    if mark is not None and mark.args:
        raise pytest.UsageError(
            f"{request.node.nodeid}: options of @pytest.mark.fencepost need names,"
            ' as topics={"orders": 3}'
        )
    with Broker(**(mark.kwargs if mark else {})) as broker:
        yield broker
