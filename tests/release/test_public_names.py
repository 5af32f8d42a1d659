"""The public names are those of public_names.txt, and what pages import is among them."""

from __future__ import annotations

import ast
import difflib

import pytest
from fencepost_broker.cli.machine import build_name

from tests.docs.pages import GUIDES, blocks
from tests.release.public_names import FILE, MODULES, public_names

NOT_PROMISED = {
    "fencepost_client.config.settings": "settings have Kafka's names, and these are promised",
    "fencepost_client.recordings": "the format of recordings is promised, not their classes",
    "fencepost_protocol.generated.end_txn": "messages follow Kafka's schemas",
    "fencepost_broker.server.proxy.proxy": "the command is promised",
}
"""Modules that pages use in an example."""


@pytest.mark.skipif(
    build_name() != "pure Python", reason="compiled constructors do not tell their parameters"
)
def test_public_names_change_only_where_somebody_says_so() -> None:
    changes = difflib.unified_diff(
        FILE.read_text(encoding="utf-8").splitlines(),
        list(dict.fromkeys(public_names())),
        "promised", "now", lineterm="", n=0,
    )  # fmt: skip
    assert not list(changes), "make public-names, if it is on purpose; CHANGELOG.md says it, too"


def test_a_module_that_pages_show_is_public() -> None:
    shown = {
        node.module
        for page in GUIDES
        for block in blocks(page)
        if block.language == "python"
        for node in ast.walk(ast.parse(block.text))
        if isinstance(node, ast.ImportFrom) and node.module is not None
    }
    ours = {each for each in shown if each.startswith(("fencepost_broker", "fencepost_client"))}
    ours |= {each for each in shown if each.startswith("fencepost_protocol")}
    assert len(ours) > 5
    assert ours - set(MODULES) == NOT_PROMISED.keys() & ours
