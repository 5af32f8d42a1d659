"""A Kafka Streams application counts words, exactly once, whatever is killed meanwhile.

`make streams` has the long form, the upgrade from task producers to thread producers, and Apache
Kafka as the measure of all this.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

import pytest

from tests.conformance.clients.clients import ClientUnavailableError
from tests.conformance.streams.application import NEWEST
from tests.conformance.streams.trials import (
    BROKER_SETTINGS,
    CAPPED,
    Trial,
    kills_with_the_streams_protocol,
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


@pytest.mark.parametrize("trial_of", [restarts, kills_with_the_streams_protocol])
def test_counts_are_exact_through_crashes_and_restarts(
    trial_of: Callable[[Trial], None],
) -> None:
    with trial_here() as run:
        trial_of(run)
    print(run.numbers)
    assert not run.wrong
    assert run.numbers["counts"] == run.numbers["words"] > 0
    # Where a kill met work under way, there is more: whether it did is chance.
    assert run.numbers["uncommitted"] >= run.numbers["counts"]


def test_what_the_broker_does_not_speak_is_refused() -> None:
    with trial_here(CAPPED) as run:
        said = refused(run, run.instances[0], NEWEST)
        assert "UnsupportedVersionException" in said
        assert "group metadata commit" in said, "a thread's producer tells its generation"
