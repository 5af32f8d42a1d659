"""Settings that all clients have: addresses, timeouts, security."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from fencepost_client.config.kafka_names import COMMON_NAMES, from_kafka_names
from fencepost_client.config.settings import COMMON, check_settings
from fencepost_client.errors import ConfigError
from fencepost_client.metrics import RequestMetrics
from fencepost_client.network.security import Security, SecuritySettings, read_security
from fencepost_client.requests.backoff import Chance

Address: TypeAlias = tuple[str, int]
_PORT_MAX: Final = 65_535


@dataclass(slots=True)
class ClientSettings:
    """The settings that all clients have."""

    bootstrap: Sequence[Address]
    client_id: str = "fencepost"
    request_timeout_ms: int = 30_000
    api_timeout_ms: int = 60_000
    retry_backoff_ms: int = 100
    retry_backoff_max_ms: int = 1_000
    reconnect_backoff_ms: int = 50
    reconnect_backoff_max_ms: int = 1_000
    connect_timeout_ms: int = 10_000
    metadata_max_age_ms: int = 300_000
    security: Security = field(default_factory=Security)
    metrics: RequestMetrics | None = None
    chance: Chance = field(default_factory=lambda: random.Random().random)  # noqa: S311

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> ClientSettings:
        """Read settings by Kafka's names."""
        given = from_kafka_names(config, COMMON_NAMES)
        check_settings("a client", COMMON, given)
        login = {
            name: given.pop(name) for name in SecuritySettings.__annotations__ if name in given
        }
        bootstrap = read_bootstrap(given.pop("bootstrap_servers"))
        return cls(bootstrap, security=read_security(**login), **given)


def read_bootstrap(servers: str | Sequence[str]) -> list[Address]:
    """Read ``"host:port,host:port"`` or a list of addresses; the default port is 9092."""
    found = []
    for server in servers.split(",") if isinstance(servers, str) else servers:
        host, colon, port = server.strip().rpartition(":")
        if not colon or "]" in port:
            host, port = server.strip(), "9092"
        if not host.strip("[]") or not port.isdecimal() or not 0 < int(port) <= _PORT_MAX:
            raise ConfigError(f"{server!r:.300} is not an address: write host:port")
        found.append((host.strip("[]"), int(port)))
    if not found:
        raise ConfigError("bootstrap_servers is empty: write host:port")
    return found
