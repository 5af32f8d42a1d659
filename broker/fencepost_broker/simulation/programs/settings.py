"""What all built-in programs have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from fencepost_broker.config import Value

FAULTS_S: Final = 20.0
"""How long faults happen in a run of a built-in program."""
INTENSITY: Final = 0.5
_SETTINGS: Final[Mapping[str, Value]] = {
    "broker.session.timeout.ms": 3000,
    "broker.heartbeat.interval.ms": 300,
    "replica.fetch.backoff.ms": 100,
}


def settings_for(brokers: int) -> dict[str, Value]:
    """Return the settings with which so many brokers lose nothing that they acknowledge."""
    min_isr = min(2, brokers)
    return {
        **_SETTINGS,
        "min.insync.replicas": min_isr,
        "transaction.state.log.min.isr": min_isr,
        "share.coordinator.state.topic.min.isr": min_isr,
        # A single broker that answers before it has synced may lose that without power.
        "fsync": "always" if brokers == 1 else "interval",
    }
