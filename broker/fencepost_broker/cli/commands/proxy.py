"""``fencepost proxy``: run a proxy in front of a cluster, in the foreground."""

from __future__ import annotations

import argparse
import os
import sys
from typing import TYPE_CHECKING, Final

from fencepost_protocol.commands import Command, help_as_written, number

from fencepost_broker.cli.commands.control_options import add_control_options, check_token_file
from fencepost_broker.cli.commands.parent import parent_descriptor
from fencepost_broker.cli.commands.readiness import (
    NotReadyError,
    announce,
    check_pid_file,
    forget_pid,
    written_descriptor,
)
from fencepost_broker.config.values.endpoints import PORT_MAX
from fencepost_broker.observability.logging import add_log_arguments, logs_from

if TYPE_CHECKING:
    from fencepost_broker.server.proxy.proxy import Proxy

DEFAULT_PORT: Final = 9092
EXIT_FAILED: Final = 1
EXIT_USAGE: Final = 2
EXIT_ADDRESS: Final = 3

DESCRIPTION: Final = """\
Run a proxy in front of a Kafka cluster. Clients reach all its brokers through the proxy, whatever
addresses the brokers advertise, and fault rules apply to their requests and answers.
"""
EPILOG: Final = """\
examples:
  fencepost proxy --upstream kafka-1.example:9092
  fencepost proxy --upstream localhost:9092 --port 19092 --faults plan.toml
  fencepost proxy --upstream localhost:9092 --port 19092 --control 19093
  fencepost proxy --upstream kafka.example:9093 --upstream-tls
Each broker has a port: the bootstrap port is --port, and brokers get the next ones as they become
known. Logins (SASL) pass through the proxy.
exit code: 0 stopped cleanly, 1 failed, 2 invalid options or rules, 3 cannot listen on an address
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = DESCRIPTION
    parser.epilog = EPILOG
    parser.formatter_class = help_as_written
    parser.set_defaults(recording=None)
    parser.add_argument(
        "--upstream", required=True, metavar="HOST:PORT[,...]",
        help="bootstrap servers of the cluster",
    )  # fmt: skip
    parser.add_argument("--host", default="127.0.0.1", help="the address to listen on (127.0.0.1)")
    parser.add_argument(
        "--port", type=number("a port", PORT_MAX), default=DEFAULT_PORT, metavar="N",
        help=f"the first port to listen on ({DEFAULT_PORT}; 0: free ports)",
    )  # fmt: skip
    parser.add_argument(
        "--advertised-host", metavar="HOST", help="the host that clients are told (--host)"
    )
    parser.add_argument("--faults", metavar="FILE", help="a TOML file of fault rules")
    add_control_options(parser)
    parser.add_argument("--tls-cert", metavar="FILE", help="use TLS with this certificate (PEM)")
    parser.add_argument("--tls-key", metavar="FILE", help="the certificate's private key (PEM)")
    parser.add_argument(
        "--upstream-tls", action="store_true", help="use TLS to the brokers of the cluster"
    )
    parser.add_argument(
        "--upstream-ca", metavar="FILE",
        help="with --upstream-tls: trust these authorities (PEM) in place of the system's",
    )  # fmt: skip
    parser.add_argument(
        "--exit-with-parent", action="store_true",
        help="stop when the parent process ends: a killed test runner leaves no proxy running",
    )  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print JSON when the proxy is ready")
    parser.add_argument(
        "--ready-fd", type=written_descriptor, metavar="N",
        help="write the same JSON line to this open file descriptor when ready, and close it",
    )  # fmt: skip
    parser.add_argument(
        "--pid-file", metavar="FILE", help="write the process id to FILE when the proxy is ready"
    )
    add_log_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Run a proxy until it is stopped, and return the exit code; with ``recording``, it records."""
    from fencepost_broker.config.errors import SettingsError
    from fencepost_broker.network.listeners import ListenError
    from fencepost_broker.server.running import run_loop, run_until_stopped

    try:
        until_closed = parent_descriptor() if options.exit_with_parent else None
        proxy = _proxy(options)
    except ValueError as error:
        return _fail(options, str(error), EXIT_USAGE)
    except OSError as error:
        return _fail(options, f"{options.recording}: {error.strerror}", EXIT_FAILED)
    try:
        return run_loop(run_until_stopped(proxy, lambda: _announce(options, proxy), until_closed))
    except SettingsError as error:
        return _fail(options, str(error), EXIT_USAGE)
    except ListenError as error:
        return _fail(options, str(error), EXIT_ADDRESS)
    except NotReadyError as error:
        return _fail(options, str(error), EXIT_FAILED)
    finally:
        forget_pid(options.pid_file)


def _proxy(options: argparse.Namespace) -> Proxy:
    from fencepost_broker.faults.plan import read_plan
    from fencepost_broker.server.clock import wall_ms
    from fencepost_broker.server.proxy.proxy import Proxy
    from fencepost_broker.server.proxy.tls import client_context, upstream_context

    if options.pid_file is not None:
        check_pid_file(options.pid_file)
    check_token_file(options)
    if (options.tls_cert is None) != (options.tls_key is None):
        raise ValueError("--tls-cert and --tls-key go together: give both or none")
    if options.upstream_ca is not None and not options.upstream_tls:
        raise ValueError("--upstream-ca needs --upstream-tls")
    to_clients = (
        None if options.tls_cert is None else client_context(options.tls_cert, options.tls_key)
    )
    proxy = Proxy(
        options.upstream,
        host=options.host,
        port=options.port,
        advertised_host=options.advertised_host,
        to_clients=to_clients,
        to_brokers=upstream_context(options.upstream_ca) if options.upstream_tls else None,
        control=options.control,
        control_token_file=options.control_token_file,
        record=options.recording,
        logs=logs_from(options, sys.stderr, wall_ms),
    )
    if options.faults is not None:
        proxy.add_rules(read_plan(options.faults))
    return proxy


def _announce(options: argparse.Namespace, proxy: Proxy) -> None:
    """Report that the proxy is ready, in each way that options ask for."""
    told = {
        "bootstrap": proxy.bootstrap,
        "upstream": options.upstream,
        "control": proxy.control,
        "faults": [each.name for each in proxy.fault_rules.loaded],
        "pid": os.getpid(),
    }
    rules = len(proxy.fault_rules.loaded)
    loaded = f", {rules} fault rules" if rules else ""
    line = f"ready at {proxy.bootstrap} (in front of {options.upstream}{loaded})"
    if proxy.control is not None:
        line += f"\nconsole and control port at http://{proxy.control}"
    announce(options, told, line)


def _fail(options: argparse.Namespace, reason: str, code: int) -> int:
    name = "proxy" if options.recording is None else "record"
    sys.stderr.write(f"fencepost {name}: {reason}\n")
    return code


COMMAND: Final = Command("proxy", "run a proxy in front of a cluster", add_arguments, run)
