"""The description of the control port itself."""

from __future__ import annotations

from typing import Annotated, Any, Final

from fencepost_protocol import __version__
from fencepost_protocol.errors import ErrorCode, explain_error
from msgspec import Meta, Struct

from fencepost_broker.server.control.cluster import Cluster
from fencepost_broker.server.control.in_cluster import any_broker
from fencepost_broker.server.control.openapi import document
from fencepost_broker.server.control.routes import Asked, ControlContext, Route


class About(Struct, frozen=True):
    """What a control port controls."""

    kind: Annotated[str, Meta(description="broker, controller, cluster, proxy or recording")]
    version: Annotated[str, Meta(description="of Fencepost")]


def get_about(context: ControlContext) -> About:
    """Return what this control port controls."""
    return About(context.kind, __version__)


class ErrorMeaning(Struct, frozen=True):
    """An error of the protocol."""

    code: int
    name: str
    retriable: Annotated[bool, Meta(description="whether clients try again")]
    about: Annotated[str, Meta(description="what it means")]
    hint: Annotated[str, Meta(description="what to do")]


class Errors(Struct, frozen=True):
    """All errors of the protocol."""

    errors: list[ErrorMeaning]


def list_errors(context: ControlContext) -> Errors:
    """Return what each error means, and what to do."""
    del context
    told = [explain_error(each) for each in ErrorCode if each]
    return Errors(
        [ErrorMeaning(each.code, each.name, each.retriable, each.about, each.hint) for each in told]
    )


async def _errors_of_cluster(cluster: Cluster, route: Route, asked: Asked) -> Errors:
    del cluster, asked
    told: Errors = route.handler(None)
    return told


async def _about_cluster(cluster: Cluster, route: Route, asked: Asked) -> About:
    del cluster, route, asked
    return About("cluster", __version__)


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
    Route(
        "GET",
        "/v1/about",
        get_about,
        "what this control port controls: a broker, a controller, a cluster or a proxy",
        response=About,
        in_cluster=_about_cluster,
    ),
    Route(
        "GET",
        "/v1/errors",
        list_errors,
        "what each error of the protocol means, and what to do",
        response=Errors,
        in_cluster=_errors_of_cluster,
    ),
)
