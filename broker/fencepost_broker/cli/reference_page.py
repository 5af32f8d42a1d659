"""``python -m fencepost_broker.cli.reference_page [--check]``: docs/reference/cli.md."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, Final

from fencepost_protocol.codegen.page import write_or_check

from fencepost_broker.cli.main import EPILOG, GROUP, make_parser

PAGE: Final = Path(__file__).resolve().parents[3] / "docs/reference/cli.md"


def page() -> str:
    """Return the text of the page."""
    commands = sorted(entry_points(group=GROUP), key=lambda entry: entry.name)
    parser = make_parser(entry.load() for entry in commands)
    lines = [
        "<!-- Generated from the command line by `make docs`. Do not edit. -->",
        "",
        "# The command line",
        "",
        "`fencepost COMMAND --help` prints this in a terminal.",
        "",
        *_epilog(EPILOG),
    ]
    for name, command in _subcommands(parser):
        lines += _command(command, f"fencepost {name}", 2)
    return "\n".join(lines)


def _command(parser: argparse.ArgumentParser, name: str, level: int) -> Iterator[str]:
    yield from (f"{'#' * level} {name}", "", _text(parser.description), "")
    subcommands = _subcommands(parser)
    arguments = [each for each in parser._actions if _is_shown(each)]
    if arguments:
        yield from ("| argument | meaning |", "|---|---|")
        for action in arguments:
            yield f"| {_spelling(action)} | {_help(action)} |"
        yield ""
    if parser.epilog:
        yield from _epilog(parser.epilog)
    for each, subparser in subcommands:
        yield from _command(subparser, f"{name} {each}", level + 1)


def _subcommands(parser: argparse.ArgumentParser) -> list[tuple[str, argparse.ArgumentParser]]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            return sorted(action.choices.items())
    return []


def _is_shown(action: argparse.Action) -> bool:
    return not (
        action.help == argparse.SUPPRESS
        or isinstance(action, argparse._SubParsersAction | argparse._HelpAction)
    )


def _spelling(action: argparse.Action) -> str:
    value = action.metavar or (
        "{" + ",".join(map(str, action.choices)) + "}" if action.choices else action.dest.upper()
    )
    value = " ".join(value) if isinstance(value, tuple) else value
    if not action.option_strings:
        return f"`{_cell(value)}`"
    suffix = "" if action.nargs == 0 else f" {value}"
    return ", ".join(f"`{_cell(each + suffix)}`" for each in action.option_strings)


def _help(action: argparse.Action) -> str:
    facts: dict[str, Any] = {**vars(action), "prog": "fencepost"}
    return _text((action.help or "") % facts)


def _epilog(text: str) -> Iterator[str]:
    """Give the examples as a block of code, and the rest as paragraphs."""
    examples, _, rest = text.partition("examples:\n") if "examples:\n" in text else ("", "", text)
    if examples:
        yield from (_text(examples), "")
    lines = rest.splitlines()
    shown = [line for line in lines if line.startswith("  ")]
    if shown:
        yield from ("```text", *(line[2:] for line in shown), "```", "")
    words = " ".join(line for line in lines if not line.startswith("  "))
    if words.strip():
        yield from (_text(words[0].upper() + words[1:]), "")


def _text(text: str | None) -> str:
    return _cell(re.sub(r"\s+", " ", text or "").strip())


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*")


def main() -> int:
    """Write the page, or check that it is up to date."""
    return write_or_check(PAGE, page(), "docs/reference/cli.md is out of date")


if __name__ == "__main__":
    raise SystemExit(main())
