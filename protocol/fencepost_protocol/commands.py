"""Commands of the ``fencepost`` command line, which any package can add.

``fencepost`` finds commands by the entry-point group ``fencepost.commands``.
"""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, NamedTuple

INT32_MAX: Final = (1 << 31) - 1


class Command(NamedTuple):
    """A subcommand: its options, and a function that runs it and returns the exit code."""

    name: str
    help: str
    add_arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int]


class Parser(argparse.ArgumentParser):
    """argparse, whose errors show the usage of the subcommand and the name that was meant."""

    above: argparse.ArgumentParser | None = None
    """A parser whose options stand before this one's name."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **{"formatter_class": _wrapped_help, **options})

    def parse_known_args(  # type: ignore[override]  # of any namespace
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> tuple[Any, list[str]]:
        """Refuse what is unknown here, and not in the parser above, which has another usage."""
        found, unknown = super().parse_known_args(args, namespace)
        if unknown:
            self.error(self._explain(unknown[0]))
        return found, unknown

    def _explain(self, word: str) -> str:
        name = word.partition("=")[0]
        if not name.startswith("-"):
            return f"{word!r} is one argument too many"
        options = _options_of(self)
        if self.above is not None and name in _options_of(self.above):
            return f"{name} has to stand before {self.prog.rpartition(' ')[2]}"
        return f"there is no option {name}{did_you_mean(name, options)}"

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is None or value in action.choices:
            return
        there = [str(each) for each in action.choices]
        near = did_you_mean(str(value), there)
        near = f"{near} There" if near else "; there"
        raise argparse.ArgumentError(action, f"there is no {value!r}{near} are {', '.join(there)}")


def help_as_written(prog: str) -> argparse.HelpFormatter:
    """A ``formatter_class`` that keeps the lines of descriptions and epilogs."""
    return argparse.RawDescriptionHelpFormatter(prog, width=_help_width())


def _wrapped_help(prog: str) -> argparse.HelpFormatter:
    return argparse.HelpFormatter(prog, width=_help_width())


def _help_width() -> int:
    """The width that argparse finds by ``shutil``, which takes 2 ms to import."""
    columns = os.environ.get("COLUMNS", "")
    if columns.isdecimal() and int(columns):
        return int(columns) - 2
    try:
        return (os.get_terminal_size().columns or 80) - 2
    except OSError:
        return 80 - 2


def _options_of(parser: argparse.ArgumentParser) -> list[str]:
    return [
        option
        for action in parser._actions
        if action.help is not argparse.SUPPRESS
        for option in action.option_strings
        if option.startswith("--")
    ]


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """The end of a message about an unknown word: the known one that is nearest, if one is near."""
    import difflib

    by_letters = {each.lstrip("-"): each for each in known}
    near = difflib.get_close_matches(word.lstrip("-"), by_letters, 1)
    return f"; did you mean {by_letters[near[0]]}?" if near else ""


def number(what: str, most: int = INT32_MAX, least: int = 0) -> Callable[[str], int]:
    """An argparse type for a number within bounds."""

    def read(text: str) -> int:
        if not re.fullmatch(r"-?[0-9]{1,19}", text) or not least <= int(text) <= most:
            raise argparse.ArgumentTypeError(f"{text!r} is not {what}: {least} to {most}")
        return int(text)

    return read


def examples_of(epilog: str, start: str) -> str | None:
    """The examples of an epilog for one subcommand."""
    found: list[str] = []
    is_one = False
    for line in epilog.splitlines():
        if line.startswith("  fencepost "):
            is_one = f"{line} ".startswith(f"  {start} ")
        elif not line.startswith("   "):  # the rest of an example stands further right
            is_one = False
        if is_one:
            found.append(line)
    return "\n".join(["examples:", *found]) if found else None
