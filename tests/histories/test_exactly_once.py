"""Consume, transform, produce: each source record has one output, and its offset with it."""

from __future__ import annotations

import pytest
from fencepost_client.histories import Kind, Report, Transform

from tests.histories.writing import (
    Line,
    committed_offset,
    end,
    judged,
    kinds,
    poll,
    reader,
    send,
)

IN, OUT = "orders-0", "invoices-0"
SOURCE = send("w", IN, 0, "1", "2")
READ = poll("c", IN, (0, "1"), (1, "2"), transaction="t")
OUTPUT = send("p", OUT, 0, "invoice-1", "invoice-2", transaction="t")
OFFSETS = committed_offset("p", IN, 2, transaction="t")
COMMIT = end("commit", "p", "t")
SEEN = poll("r", OUT, (0, "invoice-1"), (1, "invoice-2"))


def exactly_once(*lines: Line) -> Report:
    transform = Transform("orders", "invoices", "invoice-(.*)")
    return judged(reader("c"), reader("r"), *lines, transform=transform)


def test_it_held() -> None:
    report = exactly_once(SOURCE, READ, OUTPUT, OFFSETS, COMMIT, SEEN)
    assert report.findings() == []
    assert report.notes == []


def test_offsets_without_their_output() -> None:
    early = committed_offset("p", IN, 2)
    aborted = [OUTPUT, end("abort", "p", "t")]
    assert kinds(exactly_once(SOURCE, READ, early, *aborted)) == {"offsets-without-output"}
    assert exactly_once(SOURCE, READ, OUTPUT, OFFSETS, end("abort", "p", "t")).holds


def test_an_output_that_nobody_can_see_is_none() -> None:
    """Its offsets are committed outside of the transaction, which is aborted."""
    report = exactly_once(SOURCE, OUTPUT, committed_offset("p", IN, 1), end("abort", "p", "t"))
    assert report.tallies[Kind.OFFSETS_WITHOUT_OUTPUT].unexpected == 1
    assert report.notes == ["1 records of orders were not processed yet"]


def test_output_without_its_offsets() -> None:
    behind = committed_offset("p", IN, 1, transaction="t")
    report = exactly_once(SOURCE, READ, OUTPUT, behind, COMMIT, SEEN)
    assert kinds(report) == {"output-without-offsets"}
    assert "'2' in orders-0 at offset 1 has its output, and its group committed 1" in str(report)
    assert exactly_once(SOURCE, READ, OUTPUT, COMMIT, SEEN).holds, "no offsets are kept in Kafka"


def test_two_outputs() -> None:
    again = [send("p", OUT, 3, "invoice-2", transaction="u"), end("commit", "p", "u")]
    report = exactly_once(SOURCE, READ, OUTPUT, OFFSETS, COMMIT, *again)
    assert kinds(report) == {"double-output"}


def test_an_output_of_nothing() -> None:
    more = [send("p", OUT, 3, "invoice-3", transaction="u"), end("commit", "p", "u")]
    report = exactly_once(SOURCE, READ, OUTPUT, OFFSETS, COMMIT, *more)
    assert kinds(report) == {"output-without-source"}


def test_a_target_that_names_nothing_is_told() -> None:
    more = [send("p", OUT, 3, "summary", transaction="u"), end("commit", "p", "u")]
    report = exactly_once(SOURCE, READ, OUTPUT, OFFSETS, COMMIT, *more)
    assert report.holds
    assert "'summary', name no source record" in report.notes[0]


@pytest.mark.parametrize("names", ["(", "no group"])
def test_an_expression_that_cannot_name_anything(names: str) -> None:
    with pytest.raises(ValueError, match=r"regular expression|no group"):
        Transform("orders", "invoices", names)
