"""docs/reference/clients.md: tested clients, their versions and results.

    make clients-page

The tests leave their results in build/clients, a file for each client and kind of broker.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from tests.conformance.clients.clients import CLIENTS, CLIENTS_DIR
from tests.conformance.clients.harness import SCENARIOS, SET_UP, ScriptRun
from tests.conformance.clients.transforming import REBALANCES, WORKERS, scenario_of

_HEAD: Final = """\
<!-- Generated from a run by `make clients-page`. Do not edit. -->

# Tested clients

Each of these clients ran unmodified, in a script such as a user writes. A cell has the number of
checks that passed, and the total if the broker does not serve yet what the others need. A check
for which the client has no call is not counted, but listed below. [The
scenarios](../../tests/conformance/clients/scenarios.toml) list the checks; [the
findings](../../tests/conformance/clients/FINDINGS.md) describe what the clients do on the wire.

All clients run at the same time against one broker, which is restarted in between, and then killed
(kill -9). confluent-kafka also runs against a broker on plain asyncio, without uvloop. If a client
cannot read what it wrote (KafkaJS, without groups), the test reads it. Requests wait for markers
(`transaction.park.enable`), as by default.
"""
_TRANSFORM_HEAD: Final = """
## Exactly once across rebalances

Consume, transform, produce: workers of one group read a topic under load, and write to another in
transactions with their offsets. Meanwhile one worker is killed (kill -9) with an open transaction,
one is paused until others have its partitions and then continues, one joins and one leaves. No
record may be lost or written twice. [The steps](../../tests/conformance/clients/transforming.py)
are counted. A client that sends no generation with the offsets needs a transactional id for each
partition. [The same on three brokers](../proofs/clients-cluster.md) that are killed.
"""
RESULTS: Final = CLIENTS_DIR.parents[2] / "build" / "clients"
PAGE: Final = CLIENTS_DIR.parents[2] / "docs/reference/clients.md"


def keep(kind: str, runs: Mapping[tuple[str, str], ScriptRun]) -> None:
    """Leaves what the scripts reported to a broker of this kind."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    for client in {client for client, _ in runs}:
        checks = {
            scenario: [asdict(check) for check in run.checks.get(scenario, [])]
            for (name, scenario), run in runs.items()
            if name == client
        }
        version = CLIENTS[client].version()
        path = RESULTS / f"{kind}-{client}.json"
        before = _read(path) if path.exists() else {}
        if before.get("version") == version:  # what was not chosen this time stays
            checks = {**before["checks"], **checks}
        told = {"version": version, "checks": checks}
        path.write_text(json.dumps(told, indent=1), encoding="utf-8")


def page(results: Mapping[str, Any]) -> str:
    """The page for the results by client."""
    shown = [
        scenario
        for scenario in SCENARIOS
        if any(told["checks"].get(scenario) for told in results.values())
    ]
    lines = [
        _HEAD,
        f"| client | version | {' | '.join(shown)} |",
        f"|---|---|{'---|' * len(shown)}",
    ]
    for client, told in results.items():
        cells = [_cell(told["checks"].get(scenario, [])) for scenario in shown]
        lines.append(f"| {client} | {told['version']} | {' | '.join(cells)} |")
    lines += [_TRANSFORM_HEAD, *_transform_table(results)]
    lines += ["", "## Not tried, for want of a call", ""]
    for client, told in results.items():
        reasons: dict[str, list[str]] = {}
        for check in (check for checks in told["checks"].values() for check in checks):
            if check["unsupported"]:
                reasons.setdefault(check["detail"], []).append(check["name"])
        lines += [
            f"- {client}: {', '.join(dict.fromkeys(names))} ({reason})"
            for reason, names in reasons.items()
        ]
    return "\n".join([*lines, ""])


def _transform_table(results: Mapping[str, Any]) -> list[str]:
    lines = [f"| client | {' | '.join(REBALANCES)} | producers |", f"|---|{'---|' * 4}"]
    for client, worker in WORKERS.items():
        checks = results.get(client, {"checks": {}})["checks"]
        cells = [_cell(checks.get(scenario_of(kind), [])) for kind in REBALANCES]
        producers = "one for each partition" if worker.per_partition else "one for each worker"
        lines.append(f"| {client} | {' | '.join(cells)} | {producers} |")
    return lines


def _cell(checks: list[dict[str, Any]]) -> str:
    tried = [check for check in checks if not check["unsupported"] and check["name"] != SET_UP]
    passed = sum(check["ok"] for check in tried)
    if not tried:
        return "-"
    return f"{passed}" if passed == len(tried) else f"{passed} of {len(tried)}"


def main() -> int:
    paths = {client: RESULTS / f"fencepost-{client}.json" for client in CLIENTS}
    missing = [client for client, path in paths.items() if not path.exists()]
    if missing:
        sys.stderr.write(f"no results of {', '.join(missing)} in {RESULTS}: run 'make clients'\n")
        return 1
    PAGE.write_text(page({client: _read(path) for client, path in paths.items()}), encoding="utf-8")
    return 0


def _read(path: Path) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return told


if __name__ == "__main__":
    sys.exit(main())
