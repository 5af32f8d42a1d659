"""``python -m fencepost_broker.server.scenarios.page [--check]``: docs/reference/scenarios.md."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

from fencepost_protocol.codegen.page import write_or_check

from fencepost_broker.server.scenarios import SCENARIOS

FOR_CONSOLE: Final = Path(__file__).resolve().parents[4] / "console/public/scenarios.json"
PAGE: Final = Path(__file__).resolve().parents[4] / "docs/reference/scenarios.md"


def page() -> str:
    """Return the text of the page."""
    lines = [
        "<!-- Generated from fencepost_broker.server.scenarios by `make docs`. Do not edit. -->",
        "",
        "# Scenarios",
        "",
        "`fencepost scenario run NAME` starts a broker or a cluster in memory, makes the failure",
        "happen, and prints what happened and what was seen. With `--port` and `--control`, what",
        "it started keeps running for clients and HTTP. With `--control` alone, it happens at the",
        "broker or the cluster that has this control port, if that is new and as the scenario",
        "needs it; `POST /v1/scenarios/NAME/run` does the same by HTTP.",
        "`--report FILE` [writes](../how-to/share-a-report.md) what happened as an HTML file.",
        "[In pytest](../how-to/test-with-pytest.md), a mark names the scenario:",
        "`@pytest.mark.fencepost(scenario=NAME)`.",
    ]
    for each in SCENARIOS.values():
        settings = [f"`{name}={value}`" for name, value in each.settings.items()]
        lines += [
            "",
            f"## {each.name}",
            "",
            f"{each.summary}.",
            "",
            f"- What a user sees: {each.seen}",
            f"- Which clients: {each.clients}",
            f"- Remedy: {each.remedy}",
        ]
        lines += [
            f"- KIP: {each.kip or 'none'}",
            f"- Reported in: {', '.join(each.issues) or 'no report is known to us'}",
        ]
        if each.brokers:
            lines.append(f"- Cluster: {each.brokers} brokers")
        if settings:
            lines.append(f"- Settings of the broker: {', '.join(settings)}")
        if each.users:
            users = (f"`{name}`, password `{password}`" for name, password in each.users.items())
            lines.append(f"- Users: {'; '.join(users)}")
        lines.append(f"- Topics: {', '.join(f'`{topic}`' for topic in each.topics)}")
    return "\n".join(lines) + "\n"


def for_console() -> str:
    """Return what the console shows of scenarios."""
    fields = ("name", "summary", "seen", "clients", "remedy", "kip", "brokers", "own_broker")
    told = [{name: getattr(each, name) for name in fields} for each in SCENARIOS.values()]
    return json.dumps(told, indent=1, ensure_ascii=False) + "\n"


def main() -> int:
    """Write the page and the console's file, or check that they are up to date."""
    failed = write_or_check(PAGE, page(), "docs/reference/scenarios.md is out of date")
    return failed or write_or_check(FOR_CONSOLE, for_console(), f"{FOR_CONSOLE} is out of date")


if __name__ == "__main__":
    raise SystemExit(main())
