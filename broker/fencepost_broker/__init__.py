"""The broker, and the `fencepost` command that all parts share.

In a test or any other Python program:

    async with fencepost_broker.Broker(topics={"orders": 3}) as broker:
        ...  # clients connect to broker.bootstrap

Without an event loop the same: ``fencepost_broker.blocking.Broker``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fencepost_broker.config import Settings, SettingsError
    from fencepost_broker.coordinator.runtime.marker_sender import Hold
    from fencepost_broker.network.listeners import ListenError
    from fencepost_broker.observability.explained import (
        ExplainedClient,
        ExplainedPartition,
        ExplainedTransaction,
        LsoHolder,
        MissingMarker,
        WaitingRequest,
    )
    from fencepost_broker.observability.tap.client import TapClient
    from fencepost_broker.ports import Address
    from fencepost_broker.server.attached import attach
    from fencepost_broker.server.clock import StateClock
    from fencepost_broker.server.control.client import ControlError
    from fencepost_broker.server.crash import crash_at
    from fencepost_broker.server.embedded.broker import Broker
    from fencepost_broker.server.embedded.cluster import Cluster, ClusterSnapshot
    from fencepost_broker.server.embedded.snapshot import Snapshot
    from fencepost_broker.server.embedded.snapshot_file import SnapshotError
    from fencepost_broker.server.embedded.wanted_topics import TopicRefusedError
    from fencepost_broker.server.errors import BrokerFailedError
    from fencepost_broker.storage.disk.faults import (
        DiskFull,
        FailingRead,
        FailingSync,
        FlippedBit,
        ReadOnlyDisk,
        SlowDisk,
        TornWrite,
    )
    from fencepost_broker.storage.log import StorageError

_EXPLAINED = "fencepost_broker.observability.explained"
_FAULTS = "fencepost_broker.storage.disk.faults"
_HOMES = {
    "Address": "fencepost_broker.ports",
    "Broker": "fencepost_broker.server.embedded.broker",
    "Cluster": "fencepost_broker.server.embedded.cluster",
    "ClusterSnapshot": "fencepost_broker.server.embedded.cluster",
    "BrokerFailedError": "fencepost_broker.server.errors",
    "ControlError": "fencepost_broker.server.control.client",
    "DiskFull": _FAULTS,
    "ExplainedClient": _EXPLAINED,
    "ExplainedPartition": _EXPLAINED,
    "ExplainedTransaction": _EXPLAINED,
    "FailingRead": _FAULTS,
    "FailingSync": _FAULTS,
    "FlippedBit": _FAULTS,
    "Hold": "fencepost_broker.coordinator.runtime.marker_sender",
    "ListenError": "fencepost_broker.network.listeners",
    "LsoHolder": _EXPLAINED,
    "MissingMarker": _EXPLAINED,
    "ReadOnlyDisk": _FAULTS,
    "Settings": "fencepost_broker.config",
    "SettingsError": "fencepost_broker.config",
    "SlowDisk": _FAULTS,
    "Snapshot": "fencepost_broker.server.embedded.snapshot",
    "SnapshotError": "fencepost_broker.server.embedded.snapshot_file",
    "StateClock": "fencepost_broker.server.clock",
    "StorageError": "fencepost_broker.storage.log",
    "TapClient": "fencepost_broker.observability.tap.client",
    "TopicRefusedError": "fencepost_broker.server.embedded.wanted_topics",
    "TornWrite": _FAULTS,
    "WaitingRequest": _EXPLAINED,
    "attach": "fencepost_broker.server.attached",
    "crash_at": "fencepost_broker.server.crash",
}
"""Imported on first use (PEP 562): the command line and the pipeline need no broker."""

__all__ = [
    "Address",
    "Broker",
    "BrokerFailedError",
    "Cluster",
    "ClusterSnapshot",
    "ControlError",
    "DiskFull",
    "ExplainedClient",
    "ExplainedPartition",
    "ExplainedTransaction",
    "FailingRead",
    "FailingSync",
    "FlippedBit",
    "Hold",
    "ListenError",
    "LsoHolder",
    "MissingMarker",
    "ReadOnlyDisk",
    "Settings",
    "SettingsError",
    "SlowDisk",
    "Snapshot",
    "SnapshotError",
    "StateClock",
    "StorageError",
    "TapClient",
    "TopicRefusedError",
    "TornWrite",
    "WaitingRequest",
    "attach",
    "crash_at",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(globals() | dict.fromkeys(__all__))
