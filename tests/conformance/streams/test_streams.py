"""A Kafka Streams application counts words, exactly once, whatever is killed meanwhile.

`make streams` has the long form, the upgrade from task producers to thread producers, and Apache
Kafka as the measure of all this.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import pytest

from tests.conformance.clients.clients import ClientUnavailableError
from tests.conformance.streams.application import NEWEST
from tests.conformance.streams.trials import (
    BROKER_SETTINGS,
    CAPPED,
    Trial,
    refused,
    restarts,
    trial,
)

pytestmark = [pytest.mark.conformance, pytest.mark.slow]


@contextmanager
def trial_here(settings: Mapping[str, str] = BROKER_SETTINGS) -> Iterator[Trial]:
    """A trial, unless something that it needs is not installed."""
    try:
        with trial("fencepost", settings) as run:
            yield run
    except ClientUnavailableError as error:
        pytest.skip(f"Kafka Streams is not here: {error}")


def test_counts_are_exact_through_crashes_and_restarts() -> None:
    with trial_here() as run:
        restarts(run)
    print(run.numbers)
    assert not run.wrong
    assert run.numbers["counts"] == run.numbers["words"] > 0
    # Where a kill met work under way, there is more: whether it did is chance.
    assert run.numbers["uncommitted"] >= run.numbers["counts"]


def test_what_the_broker_does_not_speak_is_refused() -> None:
    with trial_here(CAPPED) as run:
        first, second = run.instances
        said = refused(run, first, NEWEST)
        assert "UnsupportedVersionException" in said
        assert "group metadata commit" in said, "a thread's producer tells its generation"
        # Streams groups (KIP-1071) are not served: ask for one, and hear it at once.
        said = refused(run, second, NEWEST, group_protocol="streams")
        assert "UnsupportedVersionException" in said
        assert "STREAMS group protocol" in said
