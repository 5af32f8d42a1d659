"""All routes of the control port: those of each family, in order."""

from __future__ import annotations

from typing import Final

from fencepost_broker.server.control.families import (
    brokers,
    clock,
    description,
    disk_faults,
    faults,
    group_history,
    groups,
    live,
    markers,
    metrics,
    operations,
    processes,
    records,
    scenarios,
    snapshots,
    telemetry,
    topics,
    transactions,
    values,
)
from fencepost_broker.server.control.routes import Route

ROUTES: Final[tuple[Route, ...]] = (
    *description.ROUTES,
    *brokers.ROUTES,
    *processes.ROUTES,
    *clock.ROUTES,
    *topics.ROUTES,
    *records.ROUTES,
    *values.ROUTES,
    *transactions.ROUTES,
    *markers.ROUTES,
    *operations.ROUTES,
    *faults.ROUTES,
    *disk_faults.ROUTES,
    *snapshots.ROUTES,
    *scenarios.ROUTES,
    *groups.ROUTES,
    *group_history.ROUTES,
    *live.ROUTES,
    *metrics.ROUTES,
    *telemetry.ROUTES,
)
