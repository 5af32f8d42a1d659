"""Calls a client's script and takes what it reports.

What the scripts are asked for, and how they answer, stands in `scenarios.toml`.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from fencepost_protocol.exceptions import RemoteProtocolError

from tests.conformance.clients import read_back
from tests.conformance.clients.brokers import READING_IN_A_GROUP, missing_apis
from tests.conformance.clients.clients import CLIENTS_DIR, Client

REPOSITORY_DIR = CLIENTS_DIR.parents[2]

# Bounds for giving up. The scripts give up single waits themselves, after 30 s each.
SCRIPT_SECONDS = 300.0

# The check that a script reports when a scenario ends between its checks.
SET_UP: Final = "set-up"

# For each scenario its checks, each with what it expects.
SCENARIOS: Final[Mapping[str, Mapping[str, str]]] = tomllib.loads(
    (CLIENTS_DIR / "scenarios.toml").read_text(encoding="utf-8")
)


@dataclass(frozen=True, slots=True)
class Check:
    """What a script reported of one check."""

    name: str
    ok: bool
    detail: str = ""
    unsupported: bool = False


@dataclass(slots=True)
class ScriptRun:
    """One call of a script: what it reported by scenario, and how it ended."""

    client: str
    checks: dict[str, list[Check]] = field(default_factory=dict)
    wrote: list[tuple[str, str, Mapping[str, Any]]] = field(default_factory=list)
    noise: list[str] = field(default_factory=list)
    ending: str = ""
    stderr: str = ""

    def compare(self, scenario: str, name: str, difference: str | None) -> None:
        """Makes a check fail whose records are not there as the script wrote them."""
        if difference is not None:
            checks = self.checks.setdefault(scenario, [])
            checks[:] = [check for check in checks if check.name != name]
            checks.append(Check(name, ok=False, detail=difference))

    def unsupported(self, scenario: str) -> list[Check]:
        return [check for check in self.checks.get(scenario, []) if check.unsupported]

    def failures(self, scenario: str, unserved: Collection[str] = ()) -> list[str]:
        """What is wrong with a scenario: failed checks, and those that are not reported.

        Checks for which the broker serves no API may end as they like, and the scenario with them:
        all others have to be reported.
        """
        unserved = {*unserved, SET_UP} if unserved else unserved
        reported = [one for one in self.checks.get(scenario, []) if one.name not in unserved]
        failures = [f"{check.name}: {check.detail}" for check in reported if not check.ok]
        wanted = [name for name in SCENARIOS[scenario] if name not in unserved]
        names = [check.name for check in reported]
        failures += [f"{name}: not reported" for name in wanted if name not in names]
        surplus = [name for name in names if name not in wanted and name != SET_UP]
        failures += [f"{name}: there is no such check in scenarios.toml" for name in surplus]
        failures += [f"{name}: reported twice" for name in set(names) if names.count(name) > 1]
        if failures:
            failures.append(f"the script {self.ending}")
            failures += self.noise
        return failures


def missing_for(client: Client, bootstrap: str, scenario: str) -> list[str]:
    """The APIs that the client needs for the scenario and the broker does not serve."""
    missing = missing_apis(bootstrap, scenario)
    if scenario == "transactions" and client.reads_in_groups:
        missing += missing_apis(bootstrap, READING_IN_A_GROUP)
    return missing


def missing_by_check(bootstrap: str, scenario: str) -> dict[str, list[str]]:
    """Checks of a scenario that need more than the scenario does, with what is not served."""
    missing = {name: missing_apis(bootstrap, f"{scenario}: {name}") for name in SCENARIOS[scenario]}
    return {name: apis for name, apis in missing.items() if apis}


def run(client: Client, bootstrap: str, prefix: str, scenarios: Sequence[str]) -> ScriptRun:
    """Calls the client's script for these scenarios."""
    command = [*client.prepare(), bootstrap, *scenarios, f"--prefix={prefix}"]
    if client.reads_in_groups and missing_apis(bootstrap, READING_IN_A_GROUP):
        command.append("--without-groups")
    with tempfile.TemporaryFile() as stderr, tempfile.TemporaryFile() as stdout:
        process = subprocess.Popen(
            command,
            cwd=REPOSITORY_DIR,
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            start_new_session=True,
        )
        try:
            ending = f"ended with {process.wait(SCRIPT_SECONDS)}"
        except subprocess.TimeoutExpired:
            ending = f"did not end within {SCRIPT_SECONDS:.0f} s"
        finally:
            _end_with_children(process)
        stdout.seek(0)
        stderr.seek(0)
        said = stderr.read()[-6000:].decode(errors="replace")
        result = ScriptRun(client.name, ending=ending, stderr=said)
        for line in stdout.read().decode(errors="replace").splitlines():
            _take_line(result, line)
    for scenario, check, wrote in result.wrote:
        result.compare(scenario, check, _difference(bootstrap, wrote))
    return result


def _take_line(result: ScriptRun, line: str) -> None:
    try:
        report = json.loads(line)
        if "wrote" in report:
            result.wrote.append((report["scenario"], report["check"], report["wrote"]))
            return
        check = Check(
            report["check"], report["ok"], report["detail"], report.get("unsupported", False)
        )
        result.checks.setdefault(report["scenario"], []).append(check)
    except (ValueError, TypeError, KeyError):
        result.noise.append(f"on its standard output: {line[:500]}")


def _difference(bootstrap: str, wrote: Mapping[str, Any]) -> str | None:
    try:
        return read_back.difference(bootstrap, wrote)
    except (OSError, ValueError, LookupError, RemoteProtocolError) as error:
        return f"{type(error).__name__} while it was read back: {error}"


def _end_with_children(process: subprocess.Popen[bytes]) -> None:
    """Ends a script that still runs, and what it started (the session is its own)."""
    if sys.platform == "win32":
        process.kill()
    else:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    process.wait()
