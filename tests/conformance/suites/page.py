"""docs/proofs/suites.md, written from the results in build/suites."""

from __future__ import annotations

import datetime
import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Final

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
test that has them. sarama has five brokers behind Toxiproxy instead of three.
[The modules beside this table](../../tests/conformance/suites/table.py) say how each suite is
fetched and run.
"""
_APPLICATIONS: Final = """\

## Applications

An application of each framework reads 2,000 orders, and writes an invoice for each (MirrorMaker 2
copies them, and Kafka Connect reads them from a file). It is killed (SIGKILL) after 200 invoices or
more, and started again. Then each order must have its invoice, and where the framework promises
exactly once, none may have two for a reader of committed records.
"""
_NOT_RUN: Final = """
## Not run

- aiokafka, KafkaJS, @platformatic/kafka: what PyPI and npm have holds no integration tests.
- sarama against Apache Kafka, five brokers in Java: there is no result yet.
- sarama's tests with Java clients: they run them in containers of their own.
- rskafka's tests with Java clients and with a SOCKS5 proxy: they need a JVM in their process, and a
  proxy.
- the unit tests of rskafka and rust-rdkafka, which need no broker.
- kafka-python's tests of logins and TLS: they start brokers of their own.
- Redpanda Connect: the Go module proxy has no version of it.
- Debezium: its databases refuse to run as root, which the user of a network of its own is.
- franz-go's kgo runs with a fifth of its records (100,000), since other work shares the machine.
"""
RESULTS: Final = REPOSITORY_DIR / "build" / "suites"
PAGE: Final = REPOSITORY_DIR / "docs" / "proofs" / "suites.md"


def result_path(suite: str, kind: str) -> Path:
    return RESULTS / f"{re.sub(r'[^a-z0-9]+', '-', suite.lower())}-{kind}.json"


def keep(suite: Suite, kind: str, outcomes: Outcomes, seconds: float) -> None:
    """Leaves what a run came to."""
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    told = {"version": suite.version, "day": today, "seconds": seconds, "outcomes": outcomes}
    result_path(suite.name, kind).write_text(json.dumps(told, indent=1), encoding="utf-8")


def write() -> list[str]:
    """Writes the page. Gives what fails on our broker only, and is not explained."""
    results = {suite: dict(_results(suite)) for suite in SUITES}
    known = tomllib.loads((SUITES_DIR / "known.toml").read_text(encoding="utf-8")).get("test", [])
    tried = {suite: told for suite, told in results.items() if told}
    unexplained: list[str] = []
    notes: list[str] = []
    suites: list[str] = []
    applications: list[str] = []
    for suite, told in tried.items():
        count = max(len(each["outcomes"]) for each in told.values())
        cells = " | ".join(_cell(told.get(kind)) for kind in NAMES)
        reasons, missing = _reasons(suite, told, known)
        unexplained += missing
        table = applications if suite in application_suites.SUITES else suites
        table.append(
            f"| {suite.name} | {suite.version} | {count} | {cells} |"
            f" {'see below' if reasons else ''} |"
        )
        notes += [f"\n## {suite.name}\n", *reasons] if reasons else []
    lines = [_HEAD, _heading("suite"), *suites]
    if applications:
        lines += [_APPLICATIONS, _heading("application"), *applications]
    days = sorted({each["day"] for told in tried.values() for each in told.values()})
    if days:
        lines.append(f"\nRun on {' to '.join(dict.fromkeys((days[0], days[-1])))}.")
    PAGE.write_text("\n".join([*lines, *notes, _NOT_RUN]), encoding="utf-8")
    return unexplained


def _heading(first: str) -> str:
    names = " | ".join(NAMES.values())
    return f"| {first} | version | tests | {names} | why |\n|---|---|---:|{'---|' * len(NAMES)}---|"


def _results(suite: Suite) -> Iterator[tuple[str, Any]]:
    for kind in suite.places:
        path = result_path(suite.name, kind)
        if path.exists():
            told = json.loads(path.read_text(encoding="utf-8"))
            if told["version"] == suite.version:
                yield kind, told


def _cell(told: Any) -> str:
    if told is None:
        return "-"
    outcomes = list(told["outcomes"].values())
    tried = len(outcomes) - outcomes.count(SKIPPED)
    passed = outcomes.count(PASSED)
    number = f"{passed}" if passed == tried else f"{passed} of {tried}"
    return f"{number} ({told['seconds']:.0f} s)"


def _reasons(
    suite: Suite, told: Mapping[str, Any], known: list[dict[str, Any]]
) -> tuple[list[str], list[str]]:
    """A line for each reason with its tests, and the failures without one."""
    lines: dict[str, list[str]] = {}
    missing = []
    for wanted in (FAILED, SKIPPED):
        where: dict[str, list[str]] = {}
        for kind, each in told.items():
            for name, outcome in each["outcomes"].items():
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
