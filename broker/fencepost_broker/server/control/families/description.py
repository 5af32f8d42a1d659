"""The description of the control port itself."""

from __future__ import annotations

from typing import Any, Final

from fencepost_broker.server.control.in_cluster import any_broker
from fencepost_broker.server.control.openapi import document
from fencepost_broker.server.control.routes import ControlContext, Route


def get_description(context: ControlContext) -> dict[str, Any]:
    """Return the OpenAPI document."""
    return document(context.routes)


ROUTES: Final = (
    Route(
        "GET",
        "/openapi.json",
        get_description,
        "this description, as OpenAPI 3.1",
        response=dict[str, Any],
        in_cluster=any_broker,
    ),
)
