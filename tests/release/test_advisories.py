"""Which known weaknesses of packages fail the build, and what is told when nobody answers."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

CI = Path(__file__).parents[2] / ".ci"
NOW = datetime(2026, 3, 1, tzinfo=UTC)


@pytest.fixture
def advisories(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(CI))
    return importlib.import_module("advisories")


def out_since(days: int) -> Callable[[str, str], datetime]:
    return lambda package, version: NOW - timedelta(days=days)


def test_an_advisory_fails_when_its_remedy_is_old_enough(advisories: Any) -> None:
    mended = advisories.Advisory("package", "1.0", "PYSEC-1", "1.1")
    unmended = advisories.Advisory("package", "1.0", "PYSEC-2", None)
    assert advisories.is_fatal(mended, False, out_since(days=15), NOW)
    assert not advisories.is_fatal(mended, False, out_since(days=1), NOW)
    assert not advisories.is_fatal(mended, False, lambda package, version: None, NOW)
    assert not advisories.is_fatal(unmended, False, out_since(days=15), NOW)


def test_a_release_has_none_but_those_accepted(
    advisories: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    fresh = advisories.Advisory("package", "1.0", "PYSEC-1", "1.1")
    assert advisories.is_fatal(fresh, True, out_since(days=1), NOW)
    monkeypatch.setitem(advisories.ACCEPTED, "PYSEC-1", "only on Windows")
    assert not advisories.is_fatal(fresh, True, out_since(days=99), NOW)


def test_the_first_later_version_is_the_remedy(advisories: Any) -> None:
    package = {
        "name": "p",
        "version": "2.9",
        "vulns": [{"id": "A", "fix_versions": ["1.9", "2.10"]}],
    }
    known, silent = advisories.read({"dependencies": [package, {"name": "q", "skip_reason": "?"}]})
    assert [each.mended_in for each in known] == ["2.10"]
    assert silent == ["q"]


WITHOUT_ANSWER = "raise SystemExit('Failed to resolve pypi.org')"
KNOWS_NONE = """
import json, sys
names = [line.partition("==")[0] for line in open(sys.argv[-1])]
print(json.dumps({"dependencies": [{"name": each, "skip_reason": "404"} for each in names]}))
"""
KNOWS_AIOHTTP = f"""
import json
print(json.dumps({
    json.dumps(
        {
            "dependencies": [
                {
                    "name": "aiohttp",
                    "version": "3.9",
                    "vulns": [{"id": "PYSEC-7", "fix_versions": []}],
                },
            ]
        }
    )
}))
"""


@pytest.mark.parametrize(
    ("pip_audit", "said"),
    [
        (
            WITHOUT_ANSWER,
            "NOT CHECKED for known weaknesses: pip-audit got no answer: Failed to res",
        ),
        (KNOWS_NONE, "NOT CHECKED for known weaknesses: PyPI answered for none of them"),
        (KNOWS_AIOHTTP, "nothing mends it yet"),
    ],
    ids=["no answer", "unknown packages", "no remedy"],
)
def test_what_nobody_can_mend_does_not_fail(pip_audit: str, said: str, tmp_path: Path) -> None:
    tmp_path.joinpath("pip_audit.py").write_text(pip_audit)
    for options, code in (([], 0), (["--strict"], 1)):
        told = subprocess.run(
            [sys.executable, CI / "advisories.py", *options],
            capture_output=True, text=True, timeout=120, check=False,
            env=os.environ | {"PYTHONPATH": str(tmp_path)},
        )  # fmt: skip
        assert told.returncode == code, told.stderr
        assert said in told.stdout
