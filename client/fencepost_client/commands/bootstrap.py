"""The cluster of a command: its settings, and a check that a broker answers."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from fencepost_client.commands.errors import NotDoneError, UsageError
from fencepost_client.commands.options import DEFAULT_BOOTSTRAP, DEFAULT_TIMEOUT_S
from fencepost_client.commands.text import reason
from fencepost_client.config.kafka_names import (
    ADMIN_NAMES,
    COMMON_NAMES,
    CONSUMER_NAMES,
    PRODUCER_NAMES,
    Names,
    from_kafka_names,
    read_properties,
)
from fencepost_client.errors import ConfigError, NetworkError
from fencepost_client.network.client_settings import read_bootstrap
from fencepost_client.network.connector import Connector
from fencepost_client.network.link import Link
from fencepost_client.network.security import SecuritySettings, read_security
from fencepost_client.requests.connection import Connection

_CLIENT_ID = "fencepost-command"
_ALL_NAMES = ADMIN_NAMES.keys() | CONSUMER_NAMES.keys() | PRODUCER_NAMES.keys()


def client_config(
    options: argparse.Namespace, names: Names, timeouts: Iterable[str]
) -> dict[str, Any]:
    """Settings by Kafka's names, from -X, from options and from a file, in this order of priority.

    ``timeouts`` are the settings that ``--timeout`` sets. ``options`` gets defaults.
    """
    config: dict[str, Any] = {"bootstrap.servers": DEFAULT_BOOTSTRAP}
    config |= dict.fromkeys(timeouts, int(DEFAULT_TIMEOUT_S * 1000))
    config |= _of_file(options.command_config, names)
    if options.timeout is not None:
        config |= dict.fromkeys(timeouts, int(options.timeout * 1000))
    if options.bootstrap is not None:
        config["bootstrap.servers"] = options.bootstrap
    config |= dict([*options.property, *options.property_behind])
    options.bootstrap = config["bootstrap.servers"]
    options.timeout = options.timeout or DEFAULT_TIMEOUT_S
    return config


def _of_file(path: str | None, names: Names) -> dict[str, str]:
    """The settings of a file for this client; the file may have settings of other clients."""
    if path is None:
        return {}
    try:
        found = read_properties(Path(path).read_text(encoding="utf-8"))
        unknown = {name: value for name, value in found.items() if name not in _ALL_NAMES}
        from_kafka_names({"bootstrap.servers": DEFAULT_BOOTSTRAP, **unknown}, names)
    except (OSError, ValueError, ConfigError) as error:
        raise UsageError(f"--command-config {path}: {reason(error)}") from error
    return {name: value for name, value in found.items() if name in names}


async def check_that_a_broker_answers(config: Mapping[str, Any], timeout_s: float) -> None:
    """Raise an error at once if no broker answers, instead of retrying until the timeout."""
    common = {name: value for name, value in config.items() if name in COMMON_NAMES}
    settings = from_kafka_names(common, COMMON_NAMES)
    of_security = SecuritySettings.__annotations__
    security = read_security(**{k: v for k, v in settings.items() if k in of_security})
    loop = asyncio.get_running_loop()

    def link_to(peer: str) -> Link:
        return Link(Connection(peer, _CLIENT_ID, security.login), loop, lambda _: None)

    opened: list[Link] = []
    connector = Connector(security, int(timeout_s * 1000), link_to, opened.append)
    failures = []
    try:
        for host, port in read_bootstrap(settings["bootstrap_servers"]):
            try:
                await connector.connect(host, port)
            except NetworkError as error:
                failures.append(error.message)
            else:
                return
    finally:
        for link in opened:
            link.close()
            await link.closed
    reason = "; ".join(failures)
    if opened:
        protocol = config.get("security.protocol", "PLAINTEXT")
        reason += f" (is it a broker's listener, and one of security.protocol {protocol}?)"
    raise NotDoneError(reason)
