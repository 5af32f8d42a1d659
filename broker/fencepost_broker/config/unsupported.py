"""Settings that Apache Kafka removed by 4.0; they are refused by name."""

from __future__ import annotations

from typing import Final

_GONE: Final = (
    "host.name",
    "port",
    "advertised.host.name",
    "advertised.port",
    "log.message.format.version",
    "inter.broker.protocol.version",
    "log.message.downconversion.enable",
    "log.message.timestamp.difference.max.ms",
    "reserved.broker.max.id",
    "broker.id.generation.enable",
    "control.plane.listener.name",
    "controlled.shutdown.max.retries",
    "delegation.token.master.key",
    "offsets.commit.required.acks",
    "password.encoder.",
    "zookeeper.",
)
"""Names, and prefixes that end in a dot."""


def reason_to_refuse(name: str) -> str | None:
    """Return why a setting that Kafka had is refused, or ``None`` for other names."""
    for key in _GONE:
        if name == key or (key.endswith(".") and name.startswith(key)):
            return "Kafka removed this setting in 4.0: remove it here, too"
    return None
