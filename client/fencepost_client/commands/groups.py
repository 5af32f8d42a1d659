"""``fencepost groups``: groups of a running cluster, ours or Apache Kafka's."""

from __future__ import annotations

import argparse
from typing import Final

from fencepost_protocol.commands import Command, number

from fencepost_client.commands.options import subcommands

DESCRIPTION: Final = """\
Show groups of a running cluster, their members, offsets and lag; change and delete offsets.
"""
EPILOG: Final = """\
examples:
  fencepost groups list --state Empty
  fencepost groups list --type streams
  fencepost groups describe billing
  fencepost groups members billing
  fencepost groups reset-offsets billing --topic orders --to-earliest --execute
  fencepost groups delete-offsets billing --topic orders
  fencepost groups remove-members billing --instance pod-1
  fencepost groups delete billing
exit code: 0 told or done, 1 it cannot be, 2 the arguments make no sense, 130 interrupted
"""
_INT64_MAX: Final = (1 << 63) - 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of all of them."""
    add = subcommands(parser, "groups", DESCRIPTION, EPILOG)
    listing = add("list", "list groups, all or those that match each filter")
    listing.add_argument(
        "--state", action="append", default=[], metavar="NAME",
        help="Stable, Empty and so on; repeat it for several",
    )  # fmt: skip
    listing.add_argument(
        "--type",
        action="append",
        default=[],
        metavar="NAME",
        help="classic, consumer, share or streams",
    )
    describing = add("describe", "show a group's offsets, its lag and its assignments")
    describing.add_argument("group", metavar="GROUP")
    members = add("members", "show the members of a group")
    members.add_argument("group", metavar="GROUP")
    deleting = add("delete", "delete groups without members, and their offsets")
    deleting.add_argument("groups", nargs="+", metavar="GROUP")
    resetting = add("reset-offsets", "set the offsets of a group without members")
    resetting.add_argument("group", metavar="GROUP")
    resetting.add_argument("--topic", required=True, metavar="NAME")
    resetting.add_argument(
        "--partition", type=number("a partition"), action="append", default=[], metavar="N",
        help="repeat it for several (all)",
    )  # fmt: skip
    to = resetting.add_mutually_exclusive_group(required=True)
    to.add_argument("--to-earliest", action="store_true")
    to.add_argument("--to-latest", action="store_true")
    to.add_argument("--to-offset", type=number("an offset", _INT64_MAX), metavar="OFFSET")
    to.add_argument(
        "--to-time", type=number("milliseconds", _INT64_MAX), metavar="MS",
        help="the first record at or after a time, in ms since 1970",
    )  # fmt: skip
    to.add_argument(
        "--shift-by", type=number("offsets", _INT64_MAX, -_INT64_MAX), metavar="N",
        help="relative to the committed offset; may be negative",
    )  # fmt: skip
    resetting.add_argument(
        "--execute", action="store_true", help="apply the change instead of only showing it"
    )
    dropping = add("delete-offsets", "delete the offsets of a group in topics it does not read")
    dropping.add_argument("group", metavar="GROUP")
    dropping.add_argument(
        "--topic", action="append", required=True, metavar="NAME", help="repeat it for several"
    )
    removing = add("remove-members", "remove members from a group; running ones join again")
    removing.add_argument("group", metavar="GROUP")
    removing.add_argument("--member", action="append", default=[], metavar="ID")
    removing.add_argument(
        "--instance", action="append", default=[], metavar="ID", help="a static member"
    )
    removing.add_argument("--all", action="store_true", help="all of them")


def run(options: argparse.Namespace) -> int:
    """Ask, and tell; gives the exit code."""
    # Imported here: the help needs neither sockets nor messages.
    from fencepost_client.commands.group_actions import ACTIONS
    from fencepost_client.commands.runner import run_subcommand

    return run_subcommand(ACTIONS, options)


COMMAND: Final = Command(
    "groups", "list and describe groups of a running cluster, reset their offsets", add_arguments,
    run,
)  # fmt: skip
