"""The structure is as `make structure` counted it last, or better."""

from __future__ import annotations

import pytest

from tests import structure

PRIVATE_LOOKS_MAX = 42
"""Less is better: ask `stats()`, a trace or the records instead."""
ENTRIES_MAX = 27


@pytest.fixture(scope="module")
def graph() -> dict[str, set[str]]:
    return structure.imports(structure.modules())


def test_no_modules_import_each_other(graph: dict[str, set[str]]) -> None:
    assert structure.circles(graph) == []


def test_arrows_between_rooms_go_down(graph: dict[str, set[str]]) -> None:
    assert structure.upward(structure.arrows(graph)) == []


def test_a_circle_and_an_arrow_up_are_seen() -> None:
    graph = {
        "fencepost_broker.apis.a": {"fencepost_broker.storage.b"},
        "fencepost_broker.storage.b": {"fencepost_broker.apis.a"},
    }
    assert structure.circles(graph) == [set(graph)]
    assert structure.upward(structure.arrows(graph)) == [("storage", "apis")]


def test_a_room_can_be_looked_over() -> None:
    assert max(structure.entries().values()) <= ENTRIES_MAX


def test_nothing_stands_for_something_else_by_getattr() -> None:
    assert structure.proxies() == []


def test_tests_look_into_privates_no_more_than_before() -> None:
    assert structure.private_looks() <= PRIVATE_LOOKS_MAX


def test_a_named_tuples_own_methods_are_public() -> None:
    code = "broker|_replace(fenced=True); log|_fields; os|_exit(0); made|_makes; each|_process.node"
    found = structure.PRIVATE.findall(code.replace("|", "."))
    assert [each.partition(".")[2] for each in found] == ["_makes", "_process"]
