"""RE2 behind the group coordinator's port."""

from __future__ import annotations

import pytest

pytest.importorskip("re2", reason="google-re2 is not installed: make setup")

from fencepost_broker.metadata.re2_patterns import Re2Patterns

NAMES = ["orders", "orders-eu", "ORDERS", "o.rders", "bücher"]


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("orders", {"orders"}),
        ("orders.*", {"orders", "orders-eu"}),
        ("(?i)orders", {"orders", "ORDERS"}),
        (r"o\.rders|b.cher", {"o.rders", "bücher"}),
        ("order", set()),
        ("", set()),
    ],
)
def test_the_whole_name_has_to_match(pattern: str, expected: set[str]) -> None:
    patterns = Re2Patterns()
    assert patterns.problem(pattern) is None
    assert patterns.matching(pattern, NAMES) == expected


@pytest.mark.parametrize(
    "pattern", ["(", "a**", "(?=a)", r"(a)\1", r"a\C", r"\\\C", "(a{1000}){1000}", "\ud800"]
)
def test_what_is_no_expression_of_re2(pattern: str) -> None:
    patterns = Re2Patterns()
    assert patterns.problem(pattern)
    assert patterns.matching(pattern, NAMES) == frozenset()


def test_time_is_linear() -> None:
    """A backtracking engine would not come back from this one."""
    assert Re2Patterns().matching("(a*)*b", ["a" * 249]) == frozenset()
