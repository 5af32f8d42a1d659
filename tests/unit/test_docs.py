"""What can be checked of the documents by running it: links, command lines, imports."""

from __future__ import annotations

import argparse
import ast
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from fencepost_broker.cli import main as cli

ROOT = Path(__file__).parents[2]
DOCS = sorted(
    [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/**/*.md")],
)
NOT_OURS = re.compile(r"[{}…]|\.\.\.|<[A-Z]|\|\s*$")
LINK = re.compile(r"\]\(([^)\s]+)\)")
COMMAND = re.compile(r"^\s*(?:\$ )?(?:.*\| *)?(fencepost [a-z-]+ .*)$")
STOPS = re.compile(r"\s(?:#|[<>|&]).*$")


def anchors(text: str) -> set[str]:
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {
        re.sub(r"[^\w\- ]", "", heading.lower().replace("`", "")).strip().replace(" ", "-")
        for heading in headings
    }


@pytest.mark.parametrize("page", DOCS, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    wrong = []
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        if "://" in target or target.startswith("mailto:"):
            continue
        name, _, anchor = target.partition("#")
        path = (page.parent / name) if name else page
        if not path.exists() or (
            anchor
            and path.suffix == ".md"
            and anchor not in anchors(path.read_text(encoding="utf-8"))
        ):
            wrong.append(target)
    assert not wrong


def blocks(text: str) -> Iterator[tuple[str, str]]:
    """The language and the text of each fenced or indented block of code."""
    for language, block in re.findall(r"^```(\w*)\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        yield language, block
    rest = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    for block in re.findall(r"(?:^    .*\n)+", rest, re.MULTILINE):
        yield "", block


def commands(page: Path) -> Iterator[str]:
    for language, block in blocks(page.read_text(encoding="utf-8")):
        if language in {"python", "json", "mermaid"}:
            continue
        for line in block.replace("\\\n", " ").splitlines():
            found = COMMAND.match(line)
            if found and not NOT_OURS.search(STOPS.sub("", found[1])):
                yield STOPS.sub("", found[1])


def test_command_lines_are_taken() -> None:
    parser = cli.make_parser(cli._wanted([]))
    wrong = []
    seen = 0
    for page in DOCS:
        if page.name in {"CHANGELOG.md", "plan.md"}:
            continue  # of former versions, or to come
        for command in commands(page):
            seen += 1
            try:
                parser.parse_args(shlex.split(command)[1:])
            except (SystemExit, argparse.ArgumentError) as error:
                wrong.append((page.name, command, str(error)))
    assert seen > 50
    assert not wrong


def test_imports_of_ours_are_there() -> None:
    wrong = []
    seen = 0
    for page in DOCS:
        for language, block in blocks(page.read_text(encoding="utf-8")):
            if language != "python":
                continue
            for line in re.findall(r"^from fencepost_\S+ import .*$", block, re.MULTILINE):
                seen += 1
                [statement] = ast.parse(line).body
                try:
                    exec(compile(ast.Module([statement], []), str(page), "exec"), {})
                except ImportError as error:
                    wrong.append((page.name, line, str(error)))
    assert seen > 20
    assert not wrong
