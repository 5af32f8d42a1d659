"""What the commands over the SDK have in common: their options. Help needs nothing heavier."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Callable

from fencepost_client.commands.formats import unescape


def add_common(parser: argparse.ArgumentParser, *, with_defaults: bool) -> None:
    """Options that may stand before or behind the subcommand."""

    def default(value: object) -> object:
        return value if with_defaults else argparse.SUPPRESS

    parser.add_argument(
        "--bootstrap", "--bootstrap-server", dest="bootstrap", metavar="HOST:PORT[,…]",
        default=default("127.0.0.1:9092"), help="a broker, or several (127.0.0.1:9092)",
    )  # fmt: skip
    parser.add_argument("--json", action="store_true", default=default(False), help="write JSON")
    parser.add_argument(
        "--timeout", type=_seconds, default=default(30.0), metavar="SECONDS",
        help="try so long (30)",
    )  # fmt: skip


def subcommands(
    parser: argparse.ArgumentParser, name: str, description: str, epilog: str
) -> Callable[[str, str], argparse.ArgumentParser]:
    """Prepare a parser; gives what adds a subcommand."""
    parser.description = description
    parser.epilog = epilog
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.set_defaults(command_name=name)
    add_common(parser, with_defaults=True)
    commands = parser.add_subparsers(dest="subcommand", metavar="WHAT", required=True)

    def add(word: str, help_: str) -> argparse.ArgumentParser:
        made: argparse.ArgumentParser = commands.add_parser(
            word, help=help_, description=f"{help_[0].upper()}{help_[1:]}."
        )
        add_common(made, with_defaults=False)
        return made

    return add


def add_client(parser: argparse.ArgumentParser, name: str, description: str, epilog: str) -> None:
    """Prepare the parser of a command without subcommands: what it connects to, and how."""
    parser.description = description
    parser.epilog = epilog
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.set_defaults(command_name=name, subcommand=None)
    parser.add_argument(
        "-b", "--bootstrap", "--bootstrap-server", dest="bootstrap", metavar="HOST:PORT[,…]",
        default="127.0.0.1:9092", help="a broker, or several (127.0.0.1:9092)",
    )  # fmt: skip
    parser.add_argument(
        "--timeout", type=_seconds, default=30.0, metavar="SECONDS",
        help="wait so long for a broker that does not answer (30)",
    )  # fmt: skip
    parser.add_argument(
        "-X", "--property", type=pair, action="append", default=[], metavar="NAME=VALUE",
        help="a setting of the client by Kafka's name (security.protocol=SSL)",
    )  # fmt: skip


def _seconds(text: str) -> float:
    if not re.fullmatch(r"[0-9]{1,6}(\.[0-9]{1,6})?", text) or not float(text):
        raise argparse.ArgumentTypeError(f"{text!r}: a number of seconds above 0 is wanted")
    return float(text)


def number(what: str, most: int = (1 << 31) - 1, least: int = 0) -> Callable[[str], int]:
    """Reads a number that is within bounds."""

    def read(text: str) -> int:
        if not re.fullmatch(r"-?[0-9]{1,19}", text) or not least <= int(text) <= most:
            raise argparse.ArgumentTypeError(f"{text!r} is not {what}: {least} to {most}")
        return int(text)

    return read


def pair(text: str) -> tuple[str, str]:
    """``NAME=VALUE``."""
    name, sign, value = text.partition("=")
    if not sign or not name:
        raise argparse.ArgumentTypeError(f"{text!r}: NAME=VALUE is wanted")
    return name, value


def escaped(text: str) -> bytes:
    r"""A separator, in which ``\t`` is a tab; an empty one would be everywhere."""
    try:
        found = unescape(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    if not found:
        raise argparse.ArgumentTypeError("it cannot be empty")
    return found


def header(text: str) -> tuple[str, bytes | None]:
    """``NAME=VALUE``, or ``NAME`` for one whose value is null."""
    name, sign, value = text.partition("=")
    if not name or not name.isprintable():
        raise argparse.ArgumentTypeError(f"{text!r}: NAME=VALUE is wanted")
    return name, os.fsencode(value) if sign else None


def beginning(text: str) -> tuple[str, int]:
    """Where to begin, as kcat has it: what the number is, and the number."""
    if text in {"beginning", "end"}:
        return text, 0
    found = re.fullmatch(r"(-|s@)?([0-9]{1,18})", text)
    if not found:
        raise argparse.ArgumentTypeError(
            f"{text!r}: beginning, end, OFFSET, -N or s@TIME is wanted"
        )
    return {None: "offset", "-": "before", "s@": "time"}[found[1]], int(found[2])
