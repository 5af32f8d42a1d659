"""What the test programs of different languages say about their tests."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Final, TypeAlias

PASSED: Final = "passed"
FAILED: Final = "failed"
SKIPPED: Final = "skipped"
Outcomes: TypeAlias = dict[str, str]
"""By the name of the test."""

_RUST: Final = {"ok": PASSED, "FAILED": FAILED, "ignored": SKIPPED}
_GO: Final = {"PASS": PASSED, "FAIL": FAILED, "SKIP": SKIPPED}


def of_go(printed: str) -> Outcomes:
    """`go test -v`. Subtests are counted instead of their test; one that did not end has failed."""
    found = dict.fromkeys(re.findall(r"^=== RUN +(\S+)", printed, re.MULTILINE), FAILED)
    for word, name in re.findall(r"^ *--- (PASS|FAIL|SKIP): (\S+) \(", printed, re.MULTILINE):
        found[name] = _GO[word]
    above = {name.rpartition("/")[0] for name in found}
    failed_below = {name.rpartition("/")[0] for name, each in found.items() if each == FAILED}
    return {
        name: each
        for name, each in found.items()
        if name not in above or (each == FAILED and name not in failed_below)
    }


def of_rust(printed: str) -> Outcomes:
    """`cargo test`. A test is named with the file that it is in.

    Where a file's tests did not all end, the file has failed.
    """
    found: Outcomes = {}
    for file, text in re.findall(
        r"^ *Running tests/(\S+)\.rs (.*?)(?=^ *Running |\Z)",
        printed,
        re.MULTILINE | re.DOTALL,
    ):
        tests = re.findall(r"^test (\S+)(?: - should panic)? \.\.\. (\w+)", text, re.MULTILINE)
        told = {f"{file}::{name}": _RUST[word] for name, word in tests if word in _RUST}
        count = re.search(r"^running (\d+) tests?$", text, re.MULTILINE)
        if count is None or len(told) < int(count[1]):
            told[file] = FAILED
        found |= told
    return found


def of_junit(path: Path) -> Outcomes:
    """A JUnit report, as pytest and node write it."""
    found: Outcomes = {}
    if not path.exists():
        return found
    for case in ET.parse(path).getroot().iter("testcase"):
        name = "::".join(filter(None, (case.get("classname"), case.get("name"))))
        if case.find("failure") is not None or case.find("error") is not None:
            found[name] = FAILED
        else:
            found[name] = SKIPPED if case.find("skipped") is not None else PASSED
    return found
