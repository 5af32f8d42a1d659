"""kill -9 in each transaction state, once; ``make kill-transactions`` runs as many as you like."""

from __future__ import annotations

from collections import Counter

import pytest
from fencepost_broker.cli.machine import build_name

from tests.conformance.clients.clients import ClientUnavailableError
from tests.kill.attempts import Attempts, Outcome
from tests.kill.transaction_results import STATES
from tests.kill.transaction_rounds import (
    ANY_MOMENT,
    POINTS_PER_ROUND,
    deck,
    librdkafka_command,
    run_round,
)

POINTS = deck("ci", all_whens=False)
needs_pure_python = pytest.mark.skipif(
    build_name() != "pure Python", reason="compiled code goes past the functions that kill it"
)


@pytest.mark.slow
@needs_pure_python
@pytest.mark.parametrize("first", range(0, len(POINTS), POINTS_PER_ROUND))
def test_transactions_are_whole_whenever_the_broker_dies(first: int) -> None:
    points = POINTS[first : first + POINTS_PER_ROUND]
    loads_slowly = first == 0
    # Where every step waits for the disk, others come in between.
    settings = ["fsync=always"] if first == POINTS_PER_ROUND else []
    result = run_round(f"ci/{first}", points, loads_slowly=loads_slowly, settings=settings)
    print(result)
    assert not loads_slowly or result.heard_loading > 0
    assert result.points == points
    assert result.committed > 0
    assert result.sent_again > 0
    assert result.zombies > 0
    assert result.states.keys() >= {state for state in STATES if state != "Dead"}
    assert "Dead" in result.states or not any("Dead" in point for point in points)


@pytest.mark.slow
@pytest.mark.conformance
@needs_pure_python
def test_an_application_with_librdkafka_is_none_the_wiser() -> None:
    try:
        command = librdkafka_command()
    except ClientUnavailableError as error:
        pytest.skip(str(error))
    result = run_round("ci/librdkafka", ["after PrepareCommit", ANY_MOMENT], command)
    print(result)
    assert result.by_librdkafka > 0


# --- the judge itself -------------------------------------------------------------------------


def tried(*outcomes: Outcome) -> Attempts:
    """Attempts of three records each, in two partitions, one behind the other."""
    attempts = Attempts("a")
    for number, outcome in enumerate(outcomes):
        attempts.begin(3 * number, 3 * number + 3, [0, 1]).outcome = outcome
    return attempts


def seen(attempts: Attempts, *numbers: int) -> dict[int, list[bytes]]:
    return {
        partition: [value for each in numbers for value in attempts.all[each].output[partition]]
        for partition in (0, 1)
    }


def test_what_was_told_is_found() -> None:
    attempts = tried(Outcome.COMMITTED, Outcome.COMMIT_SENT)
    attempts.verify(seen(attempts, 0), 3)
    attempts.verify(seen(attempts, 0, 1), 6)
    assert Counter(each.outcome for each in attempts.all.values()).total() == 2


def test_what_was_committed_and_is_not_there_is_noticed() -> None:
    attempts = tried(Outcome.COMMITTED)
    with pytest.raises(AssertionError, match="is lost"):
        attempts.verify({}, 0)


@pytest.mark.parametrize("outcome", [Outcome.ABORTED, Outcome.OPEN])
def test_what_was_not_committed_and_is_there_is_noticed(outcome: Outcome) -> None:
    attempts = tried(outcome)
    with pytest.raises(AssertionError, match="is visible"):
        attempts.verify(seen(attempts, 0), 3)


def test_half_a_transaction_is_noticed() -> None:
    attempts = tried(Outcome.COMMIT_SENT)
    for visible in ({0: seen(attempts, 0)[0]}, {0: [], 1: seen(attempts, 0)[1]}):
        with pytest.raises(AssertionError, match="is visible as"):
            attempts.verify(visible, 3)
    twice = seen(attempts, 0, 0)
    with pytest.raises(AssertionError, match="is visible as"):
        attempts.verify(twice, 3)


def test_output_without_its_offset_and_the_reverse_are_noticed() -> None:
    attempts = tried(Outcome.COMMIT_SENT, Outcome.COMMIT_SENT)
    with pytest.raises(AssertionError, match="the group's offset is 0"):
        attempts.verify(seen(attempts, 0), 0)
    with pytest.raises(AssertionError, match="the group's offset is 6"):
        attempts.verify(seen(attempts, 0), 6)
    with pytest.raises(AssertionError, match="follows that for -1"):
        attempts.verify(seen(attempts, 1), 6)
