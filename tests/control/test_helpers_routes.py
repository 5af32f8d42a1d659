"""The helpers for Go, Node and Java ask for routes that the control port has."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pytest
from fencepost_broker.server.control.table import ROUTES

HELPERS: Final = Path(__file__).parents[2] / "integrations"
SOURCES: Final = (
    "go/fencepost.go",
    "node/fencepost.mjs",
    "java/src/main/java/fencepost/junit/Fencepost.java",
)
_CALL: Final = re.compile(r'[Rr]equest\("([A-Z]+)", (.*)')
_TEXT: Final = re.compile(r'["`](/[^"`]*)["`]')
_PARAMETER: Final = re.compile(r"\$\{[^}]*\}|%[sd]|\{[a-z_]+\}")


def asked_for(source: str) -> set[tuple[str, str]]:
    """The routes that a helper asks for, with {} for each parameter."""
    found = set()
    for method, expression in _CALL.findall(source):
        path = "{}".join(_TEXT.findall(expression))  # what stands between texts is a parameter
        path += "{}" if path.endswith("/") else ""
        if path:
            found.add((method, _PARAMETER.sub("{}", path).partition("?")[0]))
    return found


@pytest.mark.parametrize("path", SOURCES)
def test_helpers_ask_for_routes_that_there_are(path: str) -> None:
    asked = asked_for((HELPERS / path).read_text(encoding="utf-8"))
    assert len(asked) > 10
    assert asked <= {(each.method, _PARAMETER.sub("{}", each.path)) for each in ROUTES}
