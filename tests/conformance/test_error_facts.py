"""`schemas/errors.json` says about every error code what Apache Kafka's exceptions say."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from tests.conformance.golden_peer import ErrorFact, GoldenPeer, PeerUnavailableError

pytestmark = pytest.mark.conformance

ErrorRow: TypeAlias = dict[str, Any]

ERRORS_FILE = Path(__file__).parents[2] / "schemas" / "errors.json"
ROWS: list[ErrorRow] = json.loads(ERRORS_FILE.read_text())["errors"]

# The kinds of KIP-1050 that have a class of exceptions in Kafka, a subclass before its superclass.
# They settle the kind of the errors below them. Where none is among an exception's ancestors, it is
# left to our judgement whether the error is fatal, abortable or recoverable.
KIND_OF_EXCEPTION = {
    "RefreshRetriableException": "refresh",
    "RetriableException": "retriable",
    "TransactionAbortableException": "abortable",
    "ApplicationRecoverableException": "application-recoverable",
    "InvalidConfigurationException": "fatal",
}
KINDS_FOR_RETRIABLE_ONLY = {"refresh", "retriable"}


@pytest.fixture(scope="module")
def apache() -> Iterator[dict[int, ErrorFact]]:
    try:
        with GoldenPeer() as peer:
            yield {error.code: error for error in peer.errors()}
    except PeerUnavailableError as error:
        pytest.skip(str(error))


def test_codes_are_those_of_apache_kafka(apache: dict[int, ErrorFact]) -> None:
    codes = [row["code"] for row in ROWS]
    assert len(codes) == len(set(codes)), "a code stands twice"
    assert sorted(codes) == sorted(apache)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["name"])
def test_an_error_is_as_in_apache_kafka(row: ErrorRow, apache: dict[int, ErrorFact]) -> None:
    assert disagreements(row, apache[row["code"]]) == []


def disagreements(row: ErrorRow, apache: ErrorFact) -> list[str]:
    retriable = apache.is_a("RetriableException")
    expected = {"name": apache.name, "retriable": retriable}
    kind = settled_kind(apache)
    if kind is not None:
        expected["kind"] = kind
    found = [
        f"{fact} is {row[fact]}, in Apache Kafka {value}"
        for fact, value in expected.items()
        if row[fact] != value
    ]
    if row["kind"] in KINDS_FOR_RETRIABLE_ONLY and not retriable:
        found.append(f"kind is {row['kind']}; {apache.exception} is no RetriableException")
    return found


def settled_kind(apache: ErrorFact) -> str | None:
    if apache.exception is None:
        return "none"
    for exception, kind in KIND_OF_EXCEPTION.items():
        if apache.is_a(exception):
            return kind
    return None


RETRIABLE = ErrorFact(6, "NOT_LEADER", "NotLeaderException", frozenset({"RetriableException"}))
UNSETTLED = ErrorFact(6, "NOT_LEADER", "NotLeaderException", frozenset({"ApiException"}))
ROW = {"code": 6, "name": "NOT_LEADER", "retriable": True, "kind": "retriable"}


def test_agreement_is_seen() -> None:
    assert disagreements(ROW, RETRIABLE) == []
    assert disagreements({**ROW, "retriable": False, "kind": "fatal"}, UNSETTLED) == []


@pytest.mark.parametrize("fact", [{"name": "LEADER"}, {"retriable": False}, {"kind": "refresh"}])
def test_a_broken_fact_is_seen(fact: ErrorRow) -> None:
    assert len(disagreements({**ROW, **fact}, RETRIABLE)) == 1


def test_a_kind_for_retriable_errors_alone_is_seen() -> None:
    assert len(disagreements({**ROW, "retriable": False}, UNSETTLED)) == 1
