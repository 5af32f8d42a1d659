"""The report of a scenario that has happened, as one HTML file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape
from typing import Final

from fencepost_client.report_page import (
    Html,
    Status,
    figure,
    how,
    link,
    make_page,
    outcome,
    table,
)
from fencepost_client.report_pictures import steps

from fencepost_broker.server.scenarios.scenario import Outcome, Scenario

_ISSUE: Final = re.compile(r"([\w.-]+/[\w.-]+)#(\d+)")


def scenario_page(scenario: Scenario, outcome_: Outcome) -> str:
    """The whole page as text."""
    return make_page(f"Scenario: {scenario.name}", "\n".join(_body(scenario, outcome_)))


def _body(scenario: Scenario, happened: Outcome) -> Iterator[str]:
    yield f"<h1>{escape(scenario.name)}</h1>"
    yield outcome([Status(f"{scenario.summary}.", "none")])
    yield figure(
        f"What happened, in order: {len(happened.timeline)} steps.",
        steps(happened.timeline, f"What happened in {scenario.name}"),
    )
    yield "<h2>What was seen</h2>"
    yield table(("what", "result"), ((name, str(fact)) for name, fact in happened.facts.items()))
    yield "<h2>What it means</h2>"
    meaning: list[tuple[str, str]] = [
        ("what a user sees", scenario.seen),
        ("which clients", scenario.clients),
        ("remedy", scenario.remedy),
    ]
    if scenario.kip:
        meaning.append(("KIP", scenario.kip))
    if scenario.issues:
        meaning.append(("reported in", Html(", ".join(map(_issue, scenario.issues)))))
    yield table(("question", "answer"), meaning)
    yield from how(
        [
            "The failure was made to happen at a running broker or cluster, by real requests. "
            "Results are what the clients were answered and what the broker held afterwards: "
            "offsets, errors by Kafka's names, states. The scenario fails if it does not happen.",
        ],
        f"fencepost scenario run {scenario.name}",
    )


def _issue(name: str) -> str:
    if found := _ISSUE.fullmatch(name):
        return link(name, f"https://github.com/{found[1]}/issues/{found[2]}")
    return link(name, f"https://issues.apache.org/jira/browse/{name}")
