"""Settings by Kafka's names, and properties files."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any, Final, TypeAlias

from fencepost_protocol.records.compression import Compression

from fencepost_client.config.settings import (
    ADMIN,
    COMMON,
    CONSUMER,
    PRODUCER,
    SHARE_CONSUMER,
    Setting,
    Settings,
)
from fencepost_client.errors import ConfigError

Names: TypeAlias = Mapping[str, Setting]


def _by_name(settings: Settings) -> Names:
    return {each.name: each for each in settings.values() if each.name}


COMMON_NAMES: Final = _by_name(COMMON)
PRODUCER_NAMES: Final = _by_name(PRODUCER)
ADMIN_NAMES: Final = _by_name(ADMIN)
CONSUMER_NAMES: Final = _by_name(CONSUMER)
SHARE_CONSUMER_NAMES: Final = _by_name(SHARE_CONSUMER)


def read_acks(value: int | str) -> int:
    """The value of ``acks`` in requests."""
    return -1 if value == "all" else int(value)


def read_compression(value: str) -> Compression:
    """The compression with a name."""
    PRODUCER["compression"].check(value)
    return Compression[value.upper()]


def from_kafka_names(config: Mapping[str, Any], names: Names) -> dict[str, Any]:
    """Turn settings by Kafka's names into keyword arguments; strings are parsed."""
    found: dict[str, Any] = {}
    for name, value in config.items():
        setting = names.get(name)
        if setting is None:
            near = difflib.get_close_matches(name, names, 1)
            hint = f"; did you mean {near[0]}?" if near else ""
            raise ConfigError(f"{name!r:.200} is not a setting of this client{hint}")
        try:
            found[setting.keyword] = setting.read(value) if isinstance(value, str) else value
        except ValueError as error:
            raise ConfigError(f"{name} cannot be {value!r:.200}: {error}") from error
    if "bootstrap_servers" not in found:
        raise ConfigError("bootstrap.servers is missing: write host:port")
    return found


def read_properties(text: str) -> dict[str, str]:
    """Read ``name=value`` lines of a properties file; a ``ValueError`` names an invalid line.

    Continued lines are errors, and Java's escapes have no effect. No setting needs either.
    """
    found = {}
    for number, line in enumerate(text.splitlines(), 1):
        line = line.strip()
        if not line or line[0] in "#!":
            continue
        at = min((place for sign in "=:" if (place := line.find(sign)) >= 0), default=-1)
        if at < 1:
            raise ValueError(f"line {number}: expected name=value, got {line!r:.100}")
        if line.endswith("\\"):
            raise ValueError(f"line {number}: continued lines are not supported: write one line")
        found[line[:at].strip()] = line[at + 1 :].strip()
    return found
