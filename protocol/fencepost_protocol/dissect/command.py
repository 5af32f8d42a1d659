"""``fencepost dissect``: shows every byte of a message, a capture or a log file by name."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from fencepost_protocol.commands import Command, help_as_written
from fencepost_protocol.dissect.filters import add_filters
from fencepost_protocol.dissect.usage import UsageError

if TYPE_CHECKING:
    from fencepost_protocol.dissect.inputs import Item

OK: Final = 0
BROKEN: Final = 1
USAGE: Final = 2

DESCRIPTION: Final = """\
Show every byte of Kafka's protocol by name, type and value: request and response frames, bare
messages, record batches, packet captures, log files. What is read is told by its content or its
name; where that is not enough, an option says it.
"""
EPILOG: Final = """\
examples:
  fencepost dissect 00000010001a0003000000070003636c6900...   a request frame in hex
  fencepost dissect --response EndTxn:3 answer.bin            a response: only the request knows
  fencepost dissect --message TransactionLogValue:1 '01 ...'  a record's value
  fencepost dissect capture.pcapng                            requests with their responses
  fencepost dissect capture.pcapng --summary --topic orders   a line for each message
  fencepost dissect data/__transaction_state-7/00000000000000000000.log
exit code: 0 all could be read, 1 something is broken, 2 the arguments make no sense
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's options."""
    parser.description = DESCRIPTION
    parser.epilog = EPILOG
    parser.formatter_class = help_as_written
    parser.add_argument(
        "input",
        nargs="*",
        help="a file, or hex digits (white space and # comments allowed); else standard input",
    )
    kind = parser.add_mutually_exclusive_group()
    kind.add_argument("--request", action="store_true", help="request frames")
    kind.add_argument("--response", metavar="API:VERSION", help="response frames, as EndTxn:3")
    kind.add_argument("--message", metavar="NAME:VERSION", help="a message without frame or header")
    kind.add_argument("--records", action="store_true", help="record batches")
    parser.add_argument("--summary", action="store_true", help="a line for each message or batch")
    parser.add_argument("--full", action="store_true", help="all elements of long arrays")
    parser.add_argument("--json", action="store_true", help="write JSON, in which all elements are")
    parser.add_argument("--explain", action="store_true", help="add what each field is for")
    colour = parser.add_mutually_exclusive_group()
    colour.add_argument("--color", action="store_true", dest="colour", default=None, help="colours")
    colour.add_argument("--no-color", action="store_false", dest="colour", help="no colours")
    add_filters(
        parser, "exchanges about this topic; of batches and log files: whose records they are"
    )


def run(options: argparse.Namespace) -> int:
    """Run the command; returns the exit code."""
    from fencepost_protocol.dissect.inputs import read_items

    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="backslashreplace")
    code = OK
    try:
        for item in _written(read_items(options), options):
            if item.is_broken:
                code = BROKEN
        sys.stdout.flush()
    except UsageError as error:
        sys.stderr.write(f"fencepost dissect: {error}\n")
        return USAGE
    except BrokenPipeError:
        # Whoever was reading has seen enough; Python's last flush must not complain either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return code


def _written(items: Iterator[Item], options: argparse.Namespace) -> Iterator[Item]:
    """Print each item and yield it."""
    from fencepost_protocol.dissect.render import Style, json_text, printable, text_lines

    style = Style(_colour(options.colour), options.explain, is_full=options.full)
    write = sys.stdout.write
    count = 0
    for item in items:
        if options.json:
            write("[\n" if not count else ",\n")
            if options.summary:
                about = {"summary": item.summary.text, "topics": sorted(item.summary.topics)}
                write(json_text(None, style, item.facts | about))
            else:
                write(json_text(item.tree, style, item.facts))
        elif options.summary:
            write(_summary_line(item) + "\n")
        else:
            if item.title:
                write("\n" if count else "")
                write(style.bold(printable(item.title)) + "\n")
            for line in text_lines(item.tree, style) if item.tree is not None else ():
                write(line + "\n")
        count += 1
        yield item
    if options.json:
        write("\n]\n" if count else "[]\n")
    elif not count:
        write("nothing to show\n" if _is_filtered(options) else "nothing to dissect: no bytes\n")


def _summary_line(item: Item) -> str:
    from fencepost_protocol.dissect.render import printable
    from fencepost_protocol.dissect.summary import size_text

    tree = item.tree
    words = [printable(item.title)]
    if tree is not None:
        words = [words[0] or tree.type, item.summary.text, f"({size_text(tree.length)})"]
    return " ".join(filter(None, words))


def _is_filtered(options: argparse.Namespace) -> bool:
    return bool(options.api or options.client or options.topic or options.transactional_id)


def _colour(wanted: bool | None) -> bool:
    if wanted is not None:
        return wanted
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return _is_terminal()


def _is_terminal() -> bool:
    return sys.stdout.isatty()


def main(arguments: list[str] | None = None) -> int:
    """The command line of ``python -m fencepost_protocol.dissect``."""
    parser = argparse.ArgumentParser(prog="fencepost dissect")
    add_arguments(parser)
    return run(parser.parse_args(arguments))


COMMAND: Final = Command(
    name="dissect",
    help="show every byte of a frame, a message, a capture or a log file by name",
    add_arguments=add_arguments,
    run=run,
)
