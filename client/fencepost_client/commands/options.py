"""Options of all commands of the client. Printing help imports nothing else."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Final

from fencepost_protocol.commands import examples_of, help_as_written

from fencepost_client.commands.formats import unescape

DEFAULT_BOOTSTRAP: Final = "127.0.0.1:9092"
DEFAULT_TIMEOUT_S: Final = 30.0


def subcommands(
    parser: argparse.ArgumentParser, name: str, description: str, epilog: str
) -> Callable[[str, str], argparse.ArgumentParser]:
    """Prepare a parser; gives what adds a subcommand. Common options may stand on either side."""
    _describe(parser, name, description, epilog)
    _add_common(parser, with_defaults=True)
    commands = parser.add_subparsers(dest="subcommand", required=True)

    def add(word: str, help_: str) -> argparse.ArgumentParser:
        made: argparse.ArgumentParser = commands.add_parser(
            word, help=help_, description=f"{help_[0].upper()}{help_[1:]}.",
            epilog=examples_of(epilog, f"fencepost {name} {word}"),
            formatter_class=help_as_written,
        )  # fmt: skip
        _add_common(made, with_defaults=False)
        return made

    return add


def new_file(text: str) -> Path:
    """An argparse type for a file to be written: what takes long must not find out at its end."""
    path = Path(text)
    if path.is_dir():
        raise argparse.ArgumentTypeError(f"{text} is a folder")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise argparse.ArgumentTypeError(f"{text} cannot be written")
    return path


def _add_common(parser: argparse.ArgumentParser, *, with_defaults: bool) -> None:
    _add_cluster(parser, "-b", "try so long", with_defaults=with_defaults)
    default = False if with_defaults else argparse.SUPPRESS
    parser.add_argument("--json", action="store_true", default=default, help="write JSON")


def add_client(
    parser: argparse.ArgumentParser,
    name: str,
    description: str,
    epilog: str,
    patience: str = "how long to wait for a broker that does not answer",
) -> None:
    """Prepare the parser of a command without subcommands: what it connects to, and how."""
    _describe(parser, name, description, epilog)
    parser.set_defaults(subcommand=None)
    _add_cluster(parser, "-b", patience, with_defaults=True)


def _describe(parser: argparse.ArgumentParser, name: str, description: str, epilog: str) -> None:
    parser.description = description
    parser.epilog = epilog
    parser.formatter_class = help_as_written
    parser.set_defaults(command_name=name, property_behind=[])


def _add_cluster(
    parser: argparse.ArgumentParser, name: str, patience: str, *, with_defaults: bool
) -> None:
    """Which cluster, and how to get in: ``client_config`` reads these."""
    default = None if with_defaults else argparse.SUPPRESS
    parser.add_argument(
        *dict.fromkeys((name, "--bootstrap", "--bootstrap-server")), dest="bootstrap",
        metavar="HOST:PORT[,…]", default=default,
        help=f"one broker or several ({DEFAULT_BOOTSTRAP})",
    )  # fmt: skip
    parser.add_argument(
        "--timeout", type=seconds, default=default, metavar="SECONDS",
        help=f"{patience} ({DEFAULT_TIMEOUT_S:g})",
    )  # fmt: skip
    parser.add_argument(
        "-F", "--command-config", default=default, metavar="FILE",
        help="a properties file with settings of the client, as for Kafka's tools",
    )  # fmt: skip
    # A list after the subcommand would take the place of the one before it.
    parser.add_argument(
        "-X", "--property", dest="property" if with_defaults else "property_behind", type=pair,
        action="append", default=[], metavar="NAME=VALUE",
        help="a setting of the client by Kafka's name (security.protocol=SSL)",
    )  # fmt: skip


def seconds(text: str) -> float:
    """Reads how long."""
    if not re.fullmatch(r"[0-9]{1,6}(\.[0-9]{1,6})?", text) or not float(text):
        raise argparse.ArgumentTypeError(f"{text!r}: use a number of seconds above 0")
    return float(text)


def pair(text: str) -> tuple[str, str]:
    """``NAME=VALUE``."""
    name, sign, value = text.partition("=")
    if not sign or not name:
        raise argparse.ArgumentTypeError(f"{text!r}: use NAME=VALUE")
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
        raise argparse.ArgumentTypeError(f"{text!r}: use NAME=VALUE")
    return name, os.fsencode(value) if sign else None


def beginning(text: str) -> tuple[str, int]:
    """Where to begin, as kcat has it, or in Kafka's words: what the number is, and the number."""
    text = {"earliest": "beginning", "latest": "end"}.get(text, text)
    if text in {"beginning", "end"}:
        return text, 0
    found = re.fullmatch(r"(-|s@)?([0-9]{1,18})", text)
    if not found:
        raise argparse.ArgumentTypeError(f"{text!r}: use beginning, end, OFFSET, -N or s@TIME")
    return {None: "offset", "-": "before", "s@": "time"}[found[1]], int(found[2])
