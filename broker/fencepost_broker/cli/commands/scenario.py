"""``fencepost scenario``: make a failure happen that Kafka's users meet."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Callable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

from fencepost_client.commands.options import new_file
from fencepost_client.commands.output import write, write_json
from fencepost_protocol.commands import Command, help_as_written, number

from fencepost_broker.cli.control_client import run_at_control_port
from fencepost_broker.config.values.endpoints import (
    PORT_MAX,
    check_control_address,
    parse_control_address,
)

if TYPE_CHECKING:
    from fencepost_broker.server.control.client import ControlClient
    from fencepost_broker.server.embedded.broker import Broker
    from fencepost_broker.server.embedded.cluster import Cluster
    from fencepost_broker.server.scenarios.scenario import Outcome, Scenario

EPILOG: Final = """\
examples:
  fencepost scenario list
  fencepost scenario explain late-end-txn
  fencepost scenario run late-end-txn --json
  fencepost scenario run late-end-txn --report late.html
  fencepost scenario run late-end-txn --port 9092 --control 9093     and keep its broker running
  fencepost scenario run late-end-txn --control 127.0.0.1:9093       at a broker that runs
exit code: 0 done, 1 it cannot happen at the broker that runs, 2 invalid arguments, 3 cannot listen
on the address, 130 interrupted
"""
EXIT_REFUSED: Final = 1
EXIT_ADDRESS: Final = 3


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.epilog = EPILOG
    parser.formatter_class = help_as_written
    parser.add_argument(
        "action", choices=("list", "explain", "run"),
        help="list all, explain one, or run one in a broker or a cluster of its own",
    )  # fmt: skip
    parser.add_argument("name", nargs="?", metavar="NAME", help="name of the scenario")
    parser.add_argument(
        "--port", type=number("a port", PORT_MAX), metavar="N",
        help="with run: leave the broker running at this port (0: a free one) until it is stopped;"
        " the brokers of a cluster have the next ones",
    )  # fmt: skip
    parser.add_argument(
        "--control", metavar="[HOST:]PORT",
        help="with run: the control port of the broker or the cluster to run it at; with --port:"
        " open the control port there, HTTP and JSON (0: a free one)",
    )  # fmt: skip
    parser.add_argument(
        "--control-token-file", metavar="FILE", help="a file with the control port's token"
    )
    parser.add_argument("--json", action="store_true", help="print JSON; with --port, one line")
    parser.add_argument(
        "--report", type=new_file, metavar="FILE",
        help="with run: write what happened and what was seen as one HTML file",
    )  # fmt: skip


def run(options: argparse.Namespace) -> int:
    """List, explain or run, and return the exit code."""
    from fencepost_broker.server.scenarios import SCENARIOS

    for name in ("port", "report"):
        if getattr(options, name) is not None and options.action != "run":
            return _wrong(f"--{name} is for run")
    if options.control is not None:
        if options.action != "run":
            return _wrong("--control is for run")
        if wrong := check_control_address(options.control):
            return _wrong(f"--control {wrong}")
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
    elif options.port is not None:
        return _serve(scenario, options)
    elif options.control is not None:
        return _run_at(scenario, options)
    else:
        _conclude(scenario, asyncio.run(_run(scenario)), options)
    return 0


def _wrong(what: str) -> int:
    sys.stderr.write(f"fencepost scenario: {what}\n")
    return 2


async def _run(scenario: Scenario) -> Outcome:
    from fencepost_broker.server.scenarios.places import broker_for, cluster_for
    from fencepost_broker.server.scenarios.scenario import play

    async with cluster_for(scenario) if scenario.brokers else broker_for(scenario) as place:
        return await play(scenario, place)


def _run_at(scenario: Scenario, options: argparse.Namespace) -> int:
    """Make a scenario happen at the broker or the cluster of a control port."""
    from fencepost_broker.server.attached import attach_to
    from fencepost_broker.server.scenarios.running import CannotHappenError, play_at

    def at(port: ControlClient) -> None:
        _conclude(scenario, asyncio.run(play_at(scenario, attach_to(port))), options)

    options.control = parse_control_address(options.control)
    try:
        return run_at_control_port(options, at)
    except CannotHappenError as error:
        sys.stderr.write(f"fencepost scenario: {error}\n")
        return EXIT_REFUSED


class _Played:
    """A broker or a cluster whose start ends when a scenario has happened in it."""

    outcome: Outcome
    on_failure: Callable[[str], None]

    def __init__(self, scenario: Scenario, place: Broker | Cluster) -> None:
        self._scenario = scenario
        self._place = place

    async def start(self) -> None:
        from fencepost_broker.server.embedded.broker import Broker
        from fencepost_broker.server.scenarios.scenario import play

        if isinstance(self._place, Broker):
            self._place.on_failure = self.on_failure
        await self._place.start()
        try:
            self.outcome = await play(self._scenario, self._place)
        except BaseException:
            await self._place.stop()
            raise

    async def stop(self) -> bool:
        return await self._place.stop() is not False


def _serve(scenario: Scenario, options: argparse.Namespace) -> int:
    """Make a scenario happen, and serve clients until the broker or the cluster is stopped."""
    from fencepost_broker.network.listeners import ListenError
    from fencepost_broker.server.embedded.broker import Broker
    from fencepost_broker.server.embedded.cluster import Cluster
    from fencepost_broker.server.running import run_loop, run_until_stopped

    make = Cluster if scenario.brokers else Broker
    place = make(
        **scenario.options, port=options.port, control=options.control,
        control_token_file=options.control_token_file,
    )  # fmt: skip
    played = _Played(scenario, place)

    def ready() -> None:
        control = place.control
        if options.json:
            _report(scenario, played.outcome, options)
            at = {"bootstrap": place.bootstrap, "control": control}
            write(json.dumps(at | asdict(played.outcome)))
        else:
            _conclude(scenario, played.outcome, options)
            write(f"\nready at {place.bootstrap}, until it is stopped")
            if control is not None:
                write(f"console and control port at http://{control}")
        sys.stdout.flush()

    try:
        return run_loop(run_until_stopped(played, ready))
    except ListenError as error:
        sys.stderr.write(f"fencepost scenario: {error}\n")
        return EXIT_ADDRESS


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


def _conclude(scenario: Scenario, outcome: Outcome, options: argparse.Namespace) -> None:
    _tell(outcome, as_json=options.json)
    _report(scenario, outcome, options)


def _report(scenario: Scenario, outcome: Outcome, options: argparse.Namespace) -> None:
    if options.report is not None:
        from fencepost_broker.cli.scenario_report import scenario_page

        options.report.write_text(scenario_page(scenario, outcome), encoding="utf-8")
        if not options.json:
            write(f"report: {options.report}")


def _tell(outcome: Outcome, *, as_json: bool) -> None:
    if as_json:
        write_json(asdict(outcome))
        return
    for place, line in enumerate(outcome.timeline, 1):
        write(f"{place}. {line}")
    write("")
    width = max(map(len, outcome.facts))
    for name, fact in outcome.facts.items():
        write(f"{name:{width}}  {fact}")


COMMAND: Final = Command(
    "scenario", "make a failure happen that users of Kafka meet", add_arguments, run
)
