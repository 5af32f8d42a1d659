"""All routes of the control port: those of each family, in order."""

from __future__ import annotations

from typing import Final

from fencepost_broker.server.control.families import (
    brokers,
    clock,
    description,
    faults,
    groups,
    live,
    markers,
    topics,
    transactions,
)
from fencepost_broker.server.control.routes import Route

ROUTES: Final[tuple[Route, ...]] = (
    *description.ROUTES,
    *brokers.ROUTES,
    *clock.ROUTES,
    *topics.ROUTES,
    *transactions.ROUTES,
    *markers.ROUTES,
    *faults.ROUTES,
    *groups.ROUTES,
    *live.ROUTES,
)
