"""What can be checked of all pages without running them: links, command lines, imports, marks."""

from __future__ import annotations

import argparse
import ast
import re
import shlex
from collections.abc import Iterator
from importlib.metadata import entry_points
from pathlib import Path

from fencepost_broker.cli.main import GROUP, make_parser

from tests.docs.pages import GUIDES, PAGES, anchors, blocks, links, marks, name

LANGUAGES = {
    "console", "dockerfile", "go", "java", "js", "json", "mermaid", "properties", "python", "text",
    "toml", "yaml",
}  # fmt: skip
"""A block of another one might be a command or a program that no test runs."""
MARKS = {"not run", "stops at", "measured"}
NOT_OURS = re.compile(r"[{}…]|\.\.\.|<[A-Z]|\|\s*$")
COMMAND = re.compile(r"^\s*(?:\$ )?(?:.*\| *)?(fencepost [a-z-]+ .*)$")
STOPS = re.compile(r"\s(?:#|[<>|&]).*$")


def test_links_lead_somewhere() -> None:
    wrong = []
    seen = 0
    for page in PAGES:
        for target in links(page):
            seen += 1
            path, _, anchor = target.partition("#")
            linked = (page.parent / path) if path else page
            if not linked.is_file() or (
                anchor and linked.suffix == ".md" and anchor not in anchors(linked)
            ):
                wrong.append((name(page), target))
    assert seen > 300
    assert not wrong


def test_the_index_has_every_page() -> None:
    index = GUIDES[0].parent / "docs/README.md"
    linked = {(index.parent / target).resolve() for target in links(index)}
    assert set(GUIDES[1:]) <= linked


def commands(page: Path) -> Iterator[str]:
    """Those that no test runs."""
    for block in blocks(page):
        if block.language != "console" or (page in GUIDES and block.is_run):
            continue
        for line in block.text.replace("\\\n", " ").splitlines():
            found = COMMAND.match(line)
            if found and not NOT_OURS.search(STOPS.sub("", found[1])):
                yield STOPS.sub("", found[1])


def test_command_lines_are_accepted() -> None:
    parser = make_parser(entry.load() for entry in entry_points(group=GROUP))
    wrong = []
    seen = 0
    for page in PAGES:
        for command in commands(page):
            seen += 1
            try:
                parser.parse_args(shlex.split(command)[1:])
            except (SystemExit, argparse.ArgumentError) as error:
                wrong.append((name(page), command, str(error)))
    assert seen >= 10
    assert not wrong


def test_imports_of_ours_are_there() -> None:
    wrong = []
    seen = 0
    for page in PAGES:
        for block in blocks(page):
            if block.language != "python":
                continue
            for node in ast.walk(ast.parse(block.text)):
                if not isinstance(node, ast.ImportFrom) or not (node.module or "").startswith(
                    "fen"
                ):
                    continue
                seen += 1
                try:
                    exec(compile(ast.Module([node], []), str(page), "exec"), {})
                except ImportError as error:
                    wrong.append((name(page), ast.unparse(node), str(error)))
    assert seen > 20
    assert not wrong


def test_every_block_is_run_or_says_why_not() -> None:
    for page in GUIDES:
        found = list(blocks(page))
        for block in found:
            assert block.language in LANGUAGES, f"{name(page)}:{block.line}: {block.language!r}"
            if block.language == "console":
                assert block.text.startswith("$ "), f"{name(page)}:{block.line}: no command"
        named = marks(page)
        assert set(named) <= MARKS, name(page)
        used = sum(bool(block.not_run or block.stops_at) for block in found)
        assert used == len([each for each in named if each != "measured"]), (
            f"{name(page)}: a mark is not directly before a block"
        )
