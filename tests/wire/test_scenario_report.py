"""``fencepost scenario run NAME --report FILE``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from fencepost_broker.cli.main import main
from fencepost_broker.cli.scenario_report import scenario_page
from fencepost_broker.server.scenarios import SCENARIOS
from fencepost_broker.server.scenarios.scenario import Outcome


def test_the_report_has_each_step_each_fact_and_what_it_means(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "late.html"
    assert main(["scenario", "run", "late-end-txn", "--json", "--report", str(out)]) == 0
    told = json.loads(capsys.readouterr().out)
    page = out.read_text(encoding="utf-8")
    assert page.count('<rect class="node"') == len(told["timeline"])
    for name, fact in told["facts"].items():
        assert f"<td>{name}</td>" in page
        assert str(fact) in page
    assert "fencepost scenario run late-end-txn" in page
    assert "KIP-890" in page


def test_issues_are_links_and_names_with_markup_are_text() -> None:
    scenario = SCENARIOS["late-end-txn"]
    page = scenario_page(scenario, Outcome(scenario.name, ["<b>"], {"<i>": "<u>"}))
    assert not [tag for tag in ("<b>", "<i>", "<u>") if tag in page]
    linked = {issue for each in SCENARIOS.values() for issue in each.issues}
    pages = "".join(scenario_page(each, Outcome("", [], {})) for each in SCENARIOS.values())
    for issue in linked:
        assert f"{issue.rpartition('#')[2]}" in pages
    assert 'href="https://issues.apache.org/jira/browse/KAFKA-7190"' in pages
    assert 'href="https://github.com/confluentinc/librdkafka/issues/3928"' in pages


def test_a_report_needs_a_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["scenario", "list", "--report", str(tmp_path / "a.html")]) == 2
    assert "--report is for run" in capsys.readouterr().err
