"""``fencepost scenario``: make a failure happen that Kafka's users meet."""

from __future__ import annotations

import argparse
import asyncio
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

from fencepost_client.commands.output import write, write_json
from fencepost_protocol.commands import Command

if TYPE_CHECKING:
    from fencepost_broker.server.scenarios.scenario import Outcome, Scenario

EPILOG: Final = """\
examples:
  fencepost scenario list
  fencepost scenario explain late-end-txn
  fencepost scenario run late-end-txn --json
exit code: 0 done, 2 invalid arguments, 130 interrupted
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.epilog = EPILOG
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument(
        "action", choices=("list", "explain", "run"),
        help="list all, explain one, or run one in a broker of its own",
    )  # fmt: skip
    parser.add_argument("name", nargs="?", metavar="NAME", help="name of the scenario")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(options: argparse.Namespace) -> int:
    """List, explain or run, and return the exit code."""
    from fencepost_broker.server.scenarios import SCENARIOS

    if options.action == "list":
        if options.name is not None:
            return _wrong("list takes no NAME")
        _list(list(SCENARIOS.values()), as_json=options.json)
        return 0
    if options.name not in SCENARIOS:
        given = "say which" if options.name is None else f"there is no scenario {options.name!r}"
        return _wrong(f"{given}; there are {', '.join(SCENARIOS)}")
    scenario = SCENARIOS[options.name]
    if options.action == "explain":
        _explain(scenario, as_json=options.json)
    else:
        _tell(asyncio.run(_run(scenario)), as_json=options.json)
    return 0


def _wrong(what: str) -> int:
    sys.stderr.write(f"fencepost scenario: {what}\n")
    return 2


async def _run(scenario: Scenario) -> Outcome:
    from fencepost_broker.server.scenarios.scenario import play

    async with scenario.broker() as broker:
        return await play(scenario, broker)


def _described(scenario: Scenario) -> dict[str, Any]:
    return {
        "name": scenario.name,
        "summary": scenario.summary,
        "seen": scenario.seen,
        "clients": scenario.clients,
        "remedy": scenario.remedy,
        "kip": scenario.kip,
        "issues": list(scenario.issues),
    }


def _list(scenarios: list[Scenario], *, as_json: bool) -> None:
    if as_json:
        write_json([_described(each) for each in scenarios])
        return
    width = max(len(each.name) for each in scenarios)
    for each in scenarios:
        write(f"{each.name:{width}}  {each.summary}")


def _explain(scenario: Scenario, *, as_json: bool) -> None:
    if as_json:
        write_json(_described(scenario))
        return
    write(f"{scenario.name}: {scenario.summary}")
    write(f"  what a user sees  {scenario.seen}")
    write(f"  which clients     {scenario.clients}")
    write(f"  remedy            {scenario.remedy}")
    if scenario.kip:
        write(f"  KIP               {scenario.kip}")
    if scenario.issues:
        write(f"  reported in       {', '.join(scenario.issues)}")


def _tell(outcome: Outcome, *, as_json: bool) -> None:
    if as_json:
        write_json(asdict(outcome))
        return
    for number, line in enumerate(outcome.timeline, 1):
        write(f"{number}. {line}")
    write("")
    width = max(map(len, outcome.facts))
    for name, fact in outcome.facts.items():
        write(f"{name:{width}}  {fact}")


COMMAND: Final = Command(
    "scenario", "make a failure happen that users of Kafka meet", add_arguments, run
)
