"""``fencepost fault``: add, list and remove the fault rules of a running broker."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any, Final

from fencepost_client.commands.output import write, write_json
from fencepost_protocol.commands import Command, Parser, help_as_written, number

from fencepost_broker.cli.control_client import (
    EXIT_CODES,
    add_control_arguments,
    add_example,
    run_at_control_port,
)
from fencepost_broker.cli.struct_options import add_option, given
from fencepost_broker.server.control.client import ControlClient, path_of

EPILOG: Final = f"""\
examples:
  fencepost fault add --control 9093 --name lost --api Produce --times 1 drop-answer
  fencepost fault add --control 9093 --api Fetch --topic orders error --code NOT_LEADER_OR_FOLLOWER
  fencepost fault add --control 9093 --client-id app delay --ms 500
  fencepost fault list --control 9093 --json
  fencepost fault wait lost --control 9093           until it has fired
  fencepost fault log lost --control 9093            the requests that it fired on
  fencepost fault remove lost --control 9093
`fencepost fault add --help` lists what a rule may match, and what may happen.
{EXIT_CODES}"""
_TIMES_MAX: Final = 1 << 53
_WAIT_S_MAX: Final = 60


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the subcommands."""
    parser.epilog = EPILOG
    parser.formatter_class = help_as_written
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    _add_add(actions.add_parser("add", help="add a rule", allow_abbrev=False))
    for name, told in (
        ("list", "list the rules, and how often they have fired"),
        ("clear", "remove all rules; what they hold goes on"),
    ):
        _add_common(actions.add_parser(name, help=told))
    for name, told in (
        ("remove", "remove a rule; what it holds goes on"),
        ("release", "let what a rule holds go on; the rule stays"),
        ("log", "show the last requests that a rule fired on"),
        ("wait", "wait until a rule has fired"),
    ):
        named = actions.add_parser(name, help=told)
        named.add_argument("name", metavar="NAME", help="the rule")
        _add_common(named)
        if name == "wait":
            named.add_argument(
                "--times", type=number("a number of times", _TIMES_MAX, 1), default=1, metavar="N",
                help="how often it is to have fired (1)",
            )  # fmt: skip
            named.add_argument(
                "--timeout-s", type=number("a number of seconds", _WAIT_S_MAX), default=10,
                metavar="N", help="how long to wait (10)",
            )  # fmt: skip
    load = actions.add_parser("load", help="add the rules of a TOML file, all or none")
    load.add_argument("file", metavar="FILE", help="a file with [[fault]] tables")
    _add_common(load)


def _add_common(parser: argparse.ArgumentParser) -> None:
    add_control_arguments(parser)
    parser.add_argument("--json", action="store_true", help="print JSON")
    add_example(parser)


def _add_add(parser: argparse.ArgumentParser) -> None:
    from msgspec.structs import fields

    from fencepost_broker.faults.rule import ACTS, Match, Rule

    _add_common(parser)
    beginning = f"{parser.prog} --control HOST:PORT"
    which = parser.add_argument_group("which requests (all of them, if nothing is given)")
    for field in fields(Match):
        add_option(which, field, "match")
    often = parser.add_argument_group("how often, and when")
    for field in fields(Rule):
        if field.name not in ("act", "match"):
            add_option(often, field, "rule")
    acts = parser.add_subparsers(
        dest="act", metavar="ACT", required=True, title="what happens to them"
    )
    for act in ACTS:
        told = (act.__doc__ or "").strip().split("\n")[0]
        one = acts.add_parser(
            str(act.__struct_config__.tag), help=told, description=told, allow_abbrev=False
        )
        if isinstance(one, Parser):
            one.above = parser
        for field in fields(act):
            add_option(one, field, "act", required=field.required)
        add_example(one, f"{beginning} {act.__struct_config__.tag}")
    add_example(parser)


def run(options: argparse.Namespace) -> int:
    """Carry out one action, and return the exit code."""
    rules = None
    if options.action == "load":
        from fencepost_broker.faults.compiled import RuleError
        from fencepost_broker.faults.plan import read_plan
        from fencepost_broker.faults.rule import as_json

        try:
            rules = json.loads(as_json(read_plan(options.file)))
        except RuleError as error:
            sys.stderr.write(f"fencepost fault: {error}\n")
            return 2
    return run_at_control_port(options, lambda port: _act(port, options, rules))


def _act(port: ControlClient, options: argparse.Namespace, rules: Any) -> None:
    action = options.action
    if action == "add":
        _tell([port.ask("POST", "/v1/faults", rule_of(options))], options, one=True)
    elif action == "load":
        _tell(port.ask("POST", "/v1/fault-plans", {"fault": rules})["faults"], options)
    elif action == "list":
        _tell(port.ask("GET", "/v1/faults")["faults"], options)
    elif action == "clear":
        port.ask("DELETE", "/v1/faults")
    elif action == "remove":
        port.ask("DELETE", path_of("faults", options.name))
    elif action == "release":
        told = port.ask("POST", path_of("faults", options.name, "release"), {})
        write_json(told) if options.json else write(f"released {told['released']}")
    elif action == "wait":
        path = path_of("faults", options.name, "fired")
        timeout_ms = options.timeout_s * 1000
        told = port.ask("GET", path, times=options.times, timeout_ms=timeout_ms)
        _tell([told], options, one=True)
    else:
        told = port.ask("GET", path_of("faults", options.name, "requests"))["requests"]
        if options.json:
            write_json(told)
            return
        for each in told:
            who = f"{each['connection']} {each['client_id'] or '-'}"
            write(f"{who} {each['api']} v{each['version']} {json.dumps(each['request'])}")


def rule_of(options: argparse.Namespace) -> dict[str, Any]:
    """Return the rule that options of ``fencepost fault add`` describe."""
    act = given(options, "act")
    if "set" in act:
        act["set"] = dict(act["set"])
    return {
        **given(options, "rule"),
        "match": given(options, "match"),
        "act": {"type": options.act, **act},
    }


def _tell(faults: list[dict[str, Any]], options: argparse.Namespace, *, one: bool = False) -> None:
    if options.json:
        write_json(faults[0] if one else faults)
        return
    from msgspec import convert

    from fencepost_broker.faults.rule import Status

    for each in faults:
        write(convert(each, Status).told)


COMMAND: Final = Command(
    "fault", "add, list and remove the fault rules of a running broker", add_arguments, run
)
