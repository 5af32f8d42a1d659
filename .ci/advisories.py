"""Fails for a package with a known weakness whose remedy is old enough: `make advisories`.

    python .ci/advisories.py [--strict]

pip-audit asks PyPI about the packages of the single file and about those that installing Fencepost
brings along. docs/decisions/175 says which advisory fails; with `--strict`, each does, and so does
a service that does not answer.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.request import urlopen

from licences import installed_with_fencepost
from packaging.version import Version

LOCK = ".ci/binary/requirements.txt"
PATIENCE = timedelta(days=14)
"""How long a version that mends an advisory may be out before the build fails."""
ACCEPTED: dict[str, str] = {}
"""Advisories that do not concern us, each with the reason."""
SERVICE_SECONDS = 10.0
ALL_SECONDS = 60.0
Released = Callable[[str, str], datetime | None]


@dataclass(frozen=True)
class Advisory:
    """A known weakness of one version of a package."""

    package: str
    version: str
    name: str
    mended_in: str | None
    """The first later version without it."""


def main() -> int:
    """Ask, tell, and return the exit code."""
    strict = sys.argv[1:] == ["--strict"]
    locked = Path(__file__).parents[1].joinpath(LOCK).read_text(encoding="utf-8").split()
    installed = [
        f"{each.name}=={each.version}"
        for each in installed_with_fencepost()
        if each.name != "fencepost"
    ]
    failures = judge("the single file", locked, f"raise it in {LOCK}", strict)
    failures += judge("an installation", installed, "raise the range in pyproject.toml", strict)
    if failures:
        print(f"{failures} to mend, or to accept with a reason in .ci/advisories.py")
    return bool(failures)


def judge(what: str, pins: list[str], remedy: str, strict: bool) -> int:
    """Tell what is known about these packages, and return how much of it fails the build."""
    answer, failure = ask(pins)
    known, silent = read(answer)
    if not failure and len(silent) == len(pins):
        failure = "PyPI answered for none of them"
    if failure:
        print(f"packages of {what} are NOT CHECKED for known weaknesses: {failure}")
        return int(strict)
    fatal = 0
    for each in known:
        fails = is_fatal(each, strict, released, datetime.now(UTC))
        fatal += fails
        print(
            f"{each.package} {each.version} has {each.name}: {'FAILS' if fails else 'a warning'}; "
            + (f"{each.mended_in} mends it: {remedy}" if each.mended_in else "nothing mends it yet")
            + (f"; accepted: {ACCEPTED[each.name]}" if each.name in ACCEPTED else "")
        )
    checked = len(pins) - len(silent)
    print(f"{checked} packages of {what} checked, {len(known)} known weaknesses")
    if silent:
        print(f"not checked, since PyPI does not know them: {', '.join(silent)}")
    return fatal


def ask(pins: Iterable[str]) -> tuple[dict[str, Any], str]:
    """Return what pip-audit tells about these packages, and why there is no answer."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "requirements.txt")
        file.write_text("\n".join(pins) + "\n", encoding="utf-8")
        try:
            done = subprocess.run(
                [
                    sys.executable, "-m", "pip_audit", "--no-deps", "--disable-pip",
                    "--format", "json", "--progress-spinner", "off",
                    "--timeout", f"{SERVICE_SECONDS:.0f}", "--requirement", file,
                ],
                capture_output=True, text=True, timeout=ALL_SECONDS, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return {}, f"PyPI did not answer within {ALL_SECONDS:.0f} s"
    try:
        return json.loads(done.stdout), ""
    except ValueError:
        last = (done.stderr.strip().splitlines() or ["nothing"])[-1]
        return {}, f"pip-audit got no answer: {last}"


def read(answer: dict[str, Any]) -> tuple[list[Advisory], list[str]]:
    """Return the advisories in what pip-audit tells, and the packages it knows nothing about."""
    known, silent = [], []
    for package in answer.get("dependencies", []):
        if "skip_reason" in package:
            silent.append(package["name"])
        for each in package.get("vulns", ()):
            version = package["version"]
            later = [fix for fix in each["fix_versions"] if Version(fix) > Version(version)]
            mended_in = min(later, key=Version, default=None)
            known.append(Advisory(package["name"], version, each["id"], mended_in))
    return known, silent


def is_fatal(advisory: Advisory, strict: bool, released: Released, now: datetime) -> bool:
    """Whether the build fails for it."""
    if advisory.name in ACCEPTED:
        return False
    if strict:
        return True
    if advisory.mended_in is None:
        return False
    since = released(advisory.package, advisory.mended_in)
    return since is not None and now - since > PATIENCE


def released(package: str, version: str) -> datetime | None:
    """Return when PyPI got this version, or None if it does not say."""
    try:
        with urlopen(f"https://pypi.org/pypi/{package}/json", timeout=SERVICE_SECONDS) as answer:
            files = json.load(answer)["releases"][version]
        return min(datetime.fromisoformat(each["upload_time_iso_8601"]) for each in files)
    except (OSError, KeyError, ValueError):
        return None


if __name__ == "__main__":
    sys.exit(main())
