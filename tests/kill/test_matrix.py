"""The matrix of Kafka's transactions system test, two forms of it; ``make matrix`` runs all."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conformance.clients.clients import ClientUnavailableError
from tests.kill.matrix.forms import FORMS, Form, Result, Size, Verdict, judge
from tests.kill.matrix.programs import JAVA, SDK
from tests.kill.matrix.run import run_form

SMALL = Size(messages=5_000, records=100, broker_session_ms=2_000, member_session_ms=2_000)


def assert_exact(result: Result) -> None:
    print(result)
    assert result.is_exact, result
    assert result.in_time > 0, "there was nothing left to copy when the first bounce came"
    assert result.committed >= SMALL.messages // SMALL.records


@pytest.mark.slow
def test_brokers_are_killed_and_each_number_is_copied_once(tmp_path: Path) -> None:
    form = Form(is_hard=True, target="brokers", checks_order=False, as_member=True)
    assert_exact(run_form(form, SDK, SMALL, tmp_path))


@pytest.mark.slow
@pytest.mark.conformance
def test_brokers_are_restarted_under_copiers_in_java(tmp_path: Path) -> None:
    form = Form(is_hard=False, target="brokers", checks_order=True, as_member=False)
    try:
        result = run_form(form, JAVA, SMALL, tmp_path)
    except ClientUnavailableError as error:
        pytest.skip(str(error))
    assert_exact(result)


# --- the judge itself -------------------------------------------------------------------------

SOURCE = {0: [0, 2, 4], 1: [1, 3, 5]}


@pytest.mark.parametrize(
    ("found", "verdict"),
    [
        ({0: [0, 2, 4], 1: [1, 3, 5], 2: []}, Verdict(0, 0, 0)),
        ({0: [0, 4], 1: [1, 3, 5]}, Verdict(lost=1, duplicated=0, out_of_order=0)),
        ({0: [0, 2, 2, 4], 1: [1, 3, 5]}, Verdict(lost=0, duplicated=1, out_of_order=0)),
        ({0: [0, 2, 4], 1: [1, 3, 5, 4]}, Verdict(lost=0, duplicated=1, out_of_order=1)),
        ({0: [2, 0, 4], 1: [1, 3, 5]}, Verdict(lost=0, duplicated=0, out_of_order=1)),
        ({0: [0, 2, 4], 1: [1, 3, 5, 7]}, Verdict(0, 0, 0, strange=1)),
        ({}, Verdict(lost=6, duplicated=0, out_of_order=0)),
    ],
)
def test_what_is_wrong_is_noticed(found: dict[int, list[int]], verdict: Verdict) -> None:
    assert judge(SOURCE, found) == verdict


def test_both_readers_have_to_have_found_everything() -> None:
    result = Result(FORMS[0], SDK, 6, verdicts={"along": Verdict(0, 0, 0)})
    assert not result.is_exact
    result.verdicts["afterwards"] = Verdict(1, 0, 0)
    assert not result.is_exact
    result.verdicts["afterwards"] = Verdict(0, 0, 0)
    assert result.is_exact
