"""docs/proofs/suites.md, written from results.json: what the last run of each suite came to."""

from __future__ import annotations

import datetime
import json
import tomllib
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any, Final, TypedDict

from tests.conformance.suites import application_suites
from tests.conformance.suites.outcomes import FAILED, PASSED, SKIPPED, Outcomes
from tests.conformance.suites.places import NAMES
from tests.conformance.suites.running import REPOSITORY_DIR, SUITES_DIR, Suite
from tests.conformance.suites.table import SUITES

_HEAD: Final = """\
<!-- Generated from a run by `make suites`. Do not edit. -->

# Test suites of other projects

`make suites` fetches the tests of these projects from package registries, in the versions of the
table, and runs them unchanged against one broker, against a cluster of three, and against Apache
Kafka 4.3.1. Cells have the number of tests that passed, of those that were not skipped, and the
seconds of the run on two shared cores. A dash: not run there. Subtests are counted instead of the
test that has them; tests that skip themselves are named below. sarama has five brokers behind
Toxiproxy instead of three. On three brokers, kgo's tests run one after another: TestShareGroupETL
has a time limit of its own, 240 s. Where 18 other programs wanted the two cores, it took 33 s by
itself, and 38 s with three brokers of Apache Kafka. Where 30 wanted them, it took 111 s beside two
other tests, while each broker either ran or waited for a core.
[The modules beside this table](../../tests/conformance/suites/table.py) say how each suite is
fetched and run.
"""
_APPLICATIONS: Final = """\

## Applications

An application of each framework reads 2,000 orders, and writes an invoice for each (MirrorMaker 2
copies them, Kafka Connect reads them from a file, and Debezium's embedded engine reads changes of
100 rows from PostgreSQL 15, and writes none of those that are rolled back). It is killed (SIGKILL)
after 200 invoices or more, and started again. Then each order must have its invoice. Where the
framework promises exactly once, none may have two for a reader of committed records. Debezium may
write a change again, but must write the changes of each row in order.
"""
_NOT_RUN: Final = """
## Not run

- aiokafka, KafkaJS, @platformatic/kafka: what PyPI and npm have holds no integration tests.
- Redpanda Connect: the Go module proxy has no version of it.
"""
PAGE: Final = REPOSITORY_DIR / "docs" / "proofs" / "suites.md"
_RESULTS: Final = SUITES_DIR / "results.json"


class Result(TypedDict):
    """What a run came to. Names of tests that passed are not kept: there are a thousand."""

    version: str
    day: str
    seconds: int
    passed: int
    others: Outcomes


def keep(suite: Suite, kind: str, outcomes: Outcomes, seconds: float) -> None:
    """Puts a run into the results, in place of the last one of that suite there."""
    results = json.loads(_RESULTS.read_text(encoding="utf-8"))
    others = {name: each for name, each in sorted(outcomes.items()) if each != PASSED}
    results.setdefault(suite.name, {})[kind] = Result(
        version=suite.version,
        day=datetime.datetime.now(datetime.UTC).date().isoformat(),
        seconds=round(seconds),
        passed=len(outcomes) - len(others),
        others=others,
    )
    _RESULTS.write_text(json.dumps(results, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def write() -> list[str]:
    """Writes the page. Gives what fails on our broker only, and is not explained."""
    text, unexplained = page()
    PAGE.write_text(text, encoding="utf-8")
    return unexplained


def page() -> tuple[str, list[str]]:
    """The page's text, and what fails on our broker only, and is not explained."""
    kept = json.loads(_RESULTS.read_text(encoding="utf-8"))
    results = {suite: dict(_of_this_version(suite, kept.get(suite.name, {}))) for suite in SUITES}
    known = tomllib.loads((SUITES_DIR / "known.toml").read_text(encoding="utf-8")).get("test", [])
    tried = {suite: told for suite, told in results.items() if told}
    unexplained: list[str] = []
    notes: list[str] = []
    suites: list[str] = []
    applications: list[str] = []
    for suite, told in tried.items():
        count = max(each["passed"] + len(each["others"]) for each in told.values())
        cells = " | ".join(_cell(told.get(kind)) for kind in NAMES)
        reasons, missing = _reasons(suite, told, known)
        unexplained += missing
        end = "see below" if reasons else ""
        if suite in application_suites.SUITES:
            applications.append(f"| {suite.name} | {suite.version} | {count} | {cells} | {end} |")
        else:
            suites.append(
                f"| {suite.name} | {suite.version} | {count} | {suite.left_out} | {cells} | {end} |"
            )
        notes += [f"\n## {suite.name}\n", *reasons] if reasons else []
    lines = [_HEAD, _heading("suite", "left out"), *suites]
    if applications:
        lines += [_APPLICATIONS, _heading("application"), *applications]
    days = sorted({each["day"] for told in tried.values() for each in told.values()})
    if days:
        lines.append(f"\nRun on {' to '.join(dict.fromkeys((days[0], days[-1])))}.")
    return "\n".join([*lines, *notes, _NOT_RUN]), unexplained


def _heading(first: str, *more: str) -> str:
    names = [first, "version", "tests", *more, *NAMES.values(), "why"]
    return f"| {' | '.join(names)} |\n|---|---|---:|{'---|' * (len(names) - 3)}"


def _of_this_version(suite: Suite, kept: Mapping[str, Result]) -> Iterator[tuple[str, Result]]:
    for kind in suite.places:
        if kind in kept and kept[kind]["version"] == suite.version:
            yield kind, kept[kind]


def _cell(told: Result | None) -> str:
    if told is None:
        return "-"
    passed = told["passed"]
    tried = passed + list(told["others"].values()).count(FAILED)
    number = f"{passed}" if passed == tried else f"{passed} of {tried}"
    return f"{number} ({told['seconds']} s)"


def _reasons(
    suite: Suite, told: Mapping[str, Result], known: list[dict[str, Any]]
) -> tuple[list[str], list[str]]:
    """A line for each reason with its tests, and the failures without one."""
    lines: dict[str, list[str]] = {}
    missing = []
    for wanted in (FAILED, SKIPPED):
        where: dict[str, list[str]] = {}
        for kind, each in told.items():
            for name, outcome in each["others"].items():
                if outcome == wanted:
                    where.setdefault(name, []).append(kind)
        for name, kinds in where.items():
            reason = _reason(suite, name, kinds, known)
            if reason is None and wanted == FAILED and "kafka" not in kinds:
                missing.append(f"{suite.name}: {name} on {', '.join(NAMES[one] for one in kinds)}")
            said = f"{wanted} on {', '.join(NAMES[one] for one in kinds)}"
            text = f"{said}: {reason}" if reason else said
            lines.setdefault(text, []).append(f"`{name}`")
    return [f"- {', '.join(names)}: {text}." for text, names in lines.items()], missing


def _reason(suite: Suite, name: str, kinds: list[str], known: list[dict[str, Any]]) -> str | None:
    for each in known:
        if (
            fnmatchcase(suite.name, each["suite"])
            and fnmatchcase(name, each["test"])
            and set(kinds) <= set(each.get("on", NAMES))
        ):
            return str(each["why"])
    return None
