"""``fencepost telemetry``: the metrics that clients have sent to a running broker (KIP-714)."""

from __future__ import annotations

import argparse
from typing import Any, Final

from fencepost_client.commands.output import write, write_json
from fencepost_protocol.commands import Command, help_as_written

from fencepost_broker.cli.control_client import (
    EXIT_CODES,
    add_control_arguments,
    run_at_control_port,
)
from fencepost_broker.server.control.client import ControlClient

EPILOG: Final = f"""\
examples:
  fencepost telemetry --control 127.0.0.1:9093
  fencepost telemetry --control 9093 --client my-app --json
A broker asks clients for metrics if it has the setting client.telemetry.enable=true and a resource
of the kind client-metrics:
  fencepost up --control 9093 -c client.telemetry.enable=true
  fencepost configs alter client-metrics all --set metrics=* --set interval.ms=1000
The values are those that each client sent last; reading them needs fencepost[otlp].
{EXIT_CODES}"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.epilog = EPILOG
    parser.formatter_class = help_as_written
    add_control_arguments(parser)
    parser.add_argument("--client", metavar="ID", help="only clients with this client id")
    parser.add_argument("--json", action="store_true", help="print a JSON array of clients")


def run(options: argparse.Namespace) -> int:
    """Print clients with their metrics, and return the exit code."""
    return run_at_control_port(options, lambda port: _show(port, options))


def _show(port: ControlClient, options: argparse.Namespace) -> None:
    clients = [
        each
        for each in port.ask("GET", "/v1/telemetry")["clients"]
        if options.client in (None, each["client_id"])
    ]
    if options.json:
        write_json(clients)
        return
    for client in clients:
        write(_line_of(client))
        if client["problem"]:
            write(f"  {client['problem']}")
        for metric in client["metrics"]:
            write(f"  {_metric(metric)}")


def _line_of(client: dict[str, Any]) -> str:
    software = f"{client['software_name']} {client['software_version']}".strip()
    asked = ", ".join(client["requested_metrics"]) or "nothing"
    return (
        f"{client['client_id'] or '-'} ({software or 'unknown software'}) {client['address']}:"
        f" asked for {asked} every {client['push_interval_ms']} ms; sent {client['pushes']} times,"
        f" {client['bytes']} bytes"
    )


def _metric(metric: dict[str, Any]) -> str:
    labels = ",".join(f"{name}={value}" for name, value in metric["labels"].items())
    count = "" if metric["count"] is None else f" ({metric['count']} times)"
    return f"{metric['name']}{{{labels}}} {metric['value']}{count}"


COMMAND: Final = Command(
    "telemetry", "show the metrics that clients have sent to a running broker", add_arguments, run
)
