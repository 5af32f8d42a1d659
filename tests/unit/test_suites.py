"""What `make suites` understands of the output of test programs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.conformance.suites import page
from tests.conformance.suites.application_suites import in_order
from tests.conformance.suites.outcomes import FAILED, PASSED, SKIPPED, of_go, of_junit, of_rust

GO = """\
=== RUN   TestOne
--- PASS: TestOne (0.00s)
=== RUN   TestTwo
=== RUN   TestTwo/first
=== RUN   TestTwo/second
--- FAIL: TestTwo (1.00s)
    --- PASS: TestTwo/first (0.50s)
    --- SKIP: TestTwo/second (0.50s)
=== RUN   TestThree
=== RUN   TestThree/first
--- FAIL: TestThree (1.00s)
    --- FAIL: TestThree/first (0.50s)
=== RUN   TestFour
panic: it ended here
"""
RUST = """\
     Running tests/client.rs (target/debug/deps/client-1)

running 3 tests
test connects ... ok
test fails ... FAILED
test panics - should panic ... ok

     Running tests/producer.rs (target/debug/deps/producer-1)

running 1 test
test writes ... ignored
     Running tests/ends.rs (target/debug/deps/ends-1)

running 2 tests
test one ... ok
error: test failed, to rerun pass `--test ends`
"""
JUNIT = """\
<testsuites><testsuite name="pytest">
<testcase classname="a.b" name="passes"/>
<testcase classname="a.b" name="fails"><failure message="no"/></testcase>
<testcase classname="a.b" name="cannot begin"><error message="no"/></testcase>
<testcase classname="a.b" name="skips"><skipped message="why"/></testcase>
</testsuite></testsuites>
"""


def test_go_tells_of_subtests_and_of_tests_that_did_not_end() -> None:
    assert of_go(GO) == {
        "TestOne": PASSED,
        "TestTwo": FAILED,  # by itself: its subtests have not failed
        "TestTwo/first": PASSED,
        "TestTwo/second": SKIPPED,
        "TestThree/first": FAILED,
        "TestFour": FAILED,
    }


def test_rust_tells_of_files_and_of_those_whose_tests_did_not_all_end() -> None:
    assert of_rust(RUST) == {
        "client::connects": PASSED,
        "client::fails": FAILED,
        "client::panics": PASSED,
        "producer::writes": SKIPPED,
        "ends::one": PASSED,
        "ends": FAILED,
    }


def test_a_junit_report(tmp_path: Path) -> None:
    report = tmp_path / "report.xml"
    assert of_junit(report) == {}
    report.write_text(JUNIT)
    assert of_junit(report) == {
        "a.b::passes": PASSED,
        "a.b::fails": FAILED,
        "a.b::cannot begin": FAILED,
        "a.b::skips": SKIPPED,
    }


def test_the_page_is_what_the_results_say() -> None:
    text, unexplained = page.page()
    assert page.PAGE.read_text(encoding="utf-8") == text
    assert unexplained == []


@pytest.mark.parametrize(
    ("orders", "is_so"),
    [
        ((1, 2, 101, 102, 201), True),
        ((1, 101, 1, 101, 201), True),  # repeated from an earlier one on
        ((1, 201), False),  # one is lost
        ((101,), False),  # so is the first one
        ((1, 101, 1, 201), False),  # repeated with a gap
    ],
)
def test_changes_of_a_row_are_in_order(orders: Sequence[int], is_so: bool) -> None:
    assert in_order([b'{"id":%d,"note":"order %d"}' % (n % 100, n) for n in orders]) is is_so
