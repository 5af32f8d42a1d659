"""Requests take no more bytecodes than docs/bench/inside.md says: speed is not lost unseen."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections import Counter
from enum import EnumType
from typing import Any, Final

import pytest

from tests.bench.inside import CASES, PAGE, Inside, count
from tests.bench.proxy import PAGE as PROXY_PAGE
from tests.bench.replication import PAGE as REPLICATION_PAGE

ROOM: Final = 1.03
RULES_ROOM: Final = 1.03
OTHER_PARTITIONS: Final = 2_000
PARTITIONS_ROOM: Final = 1.01
MEASURED_ON: Final = (3, 11)

counted_on_3_11 = pytest.mark.skipif(
    sys.version_info[:2] != MEASURED_ON or os.environ.get("FENCEPOST_TEST_COMPILED") == "1",
    reason="each version of Python has bytecodes of its own, and compiled functions have none",
)


def _on_the_page() -> dict[str, int]:
    """Read the column of bytecodes."""
    rows = [line.split("|") for line in PAGE.read_text(encoding="utf-8").splitlines()]
    return {
        row[1].strip(): int(row[3].replace(",", ""))
        for row in rows
        if len(row) > 3 and row[1].strip() in CASES
    }


@counted_on_3_11
def test_requests_take_no_more_bytecodes_than_the_page_says() -> None:
    # In a process of its own: pytest adds bytecodes to the assertions of packages with a plugin.
    command = [sys.executable, "-m", "tests.bench.inside", "--count"]
    counted = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    page = _on_the_page()
    assert counted.keys() == page.keys()
    changed = {
        name: f"{page[name]:,} on the page, now {now:,.0f}"
        for name, now in counted.items()
        if not 1 / ROOM <= now / page[name] <= ROOM
    }
    assert not changed, f"`make bench-inside` renews {PAGE}, with a reason in the commit"


@counted_on_3_11
@pytest.mark.parametrize("name", ["produce-100b", "fetch-16k", "transaction"])
def test_no_member_of_an_enum_is_found_by_its_class(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Until Python 3.12 that takes as long as 16 bytecodes, and is one.
    found: Counter[str] = Counter()

    def look_up(kind: type, member: str) -> Any:
        found[f"{type.__getattribute__(kind, '__name__')}.{member}"] += 1
        return type.__getattribute__(kind, member)

    async def run() -> None:
        times, make = CASES[name]
        step = make(Inside())
        for _ in range(times):
            await step()
        monkeypatch.setattr(EnumType, "__getattribute__", look_up)
        await step()
        monkeypatch.undo()

    asyncio.run(run())
    assert not found, "name it in a constant of the module"


@pytest.mark.parametrize("name", ["metadata", "produce-100b", "fetch-16k"])
def test_other_partitions_add_no_bytecodes(name: str) -> None:
    alone = asyncio.run(count(name)).all_bytecodes
    among_others = asyncio.run(count(name, OTHER_PARTITIONS)).all_bytecodes
    assert among_others <= alone * PARTITIONS_ROOM


@counted_on_3_11
def test_a_thousand_rules_on_other_topics_add_few_bytecodes() -> None:
    command = [sys.executable, "-m", "tests.bench.faults", "--count"]
    counted = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    more = {name: with_rules / bare for name, (bare, with_rules) in counted.items()}
    assert more
    assert all(1 < each < RULES_ROOM for each in more.values()), more


@counted_on_3_11
def test_a_proxy_takes_no_more_bytecodes_than_the_page_says() -> None:
    command = [sys.executable, "-m", "tests.bench.proxy_inside", "--count"]
    counted = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    rows = [line.split("|") for line in PROXY_PAGE.read_text(encoding="utf-8").splitlines()]
    columns_of_inside = 5
    page = {
        row[1].strip(): int(row[3].replace(",", ""))
        for row in rows
        if len(row) == columns_of_inside and row[1].strip() in counted
    }
    assert page.keys() == counted.keys()
    changed = {
        name: f"{page[name]:,} on the page, now {now:,}"
        for name, now in counted.items()
        if not 1 / ROOM <= now / page[name] <= ROOM
    }
    assert not changed, f"`make bench-proxy` renews {PROXY_PAGE}, with a reason in the commit"


@counted_on_3_11
def test_replication_takes_no_more_than_the_page_says() -> None:
    command = [sys.executable, "-m", "tests.bench.replication", "--count"]
    counted = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    rows = [line.split("|") for line in REPLICATION_PAGE.read_text(encoding="utf-8").splitlines()]
    page = {
        row[1].strip(): float(row[2].replace(",", ""))
        for row in rows
        if len(row) > 2 and row[1].strip() in counted
    }
    assert page.keys() == counted.keys()
    changed = {
        what: f"{page[what]:,} on the page, now {now:,}"
        for what, now in counted.items()
        if not 1 / ROOM <= now / page[what] <= ROOM
    }
    assert not changed, f"`make bench-replication` renews {REPLICATION_PAGE}"
