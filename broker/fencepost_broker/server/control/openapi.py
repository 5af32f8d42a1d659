"""The OpenAPI 3.1 document of the control port, made from its routes and their types."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from http import HTTPStatus
from typing import Any, Final

import msgspec

from fencepost_broker.server.control.problems import CONTENT_TYPE, Problem
from fencepost_broker.server.control.routes import JSON, Route

ERRORS: Final = (
    HTTPStatus.BAD_REQUEST,
    HTTPStatus.UNAUTHORIZED,
    HTTPStatus.FORBIDDEN,
    HTTPStatus.MISDIRECTED_REQUEST,
    HTTPStatus.INTERNAL_SERVER_ERROR,
)
"""The errors that every route may have."""
ERRORS_OF_BODIES: Final = (
    HTTPStatus.REQUEST_TIMEOUT,
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
)
_REFS: Final = "#/components/schemas/{name}"
_STREAM: Final = "text/event-stream"


def document(routes: Iterable[Route]) -> dict[str, Any]:
    """Return the document."""
    routes = list(routes)
    shown = [route.response for route in routes if route.response is not None]
    bodies = [route.request for route in routes if route.has_body and not route.names_in_path]
    schemas, components = msgspec.json.schema_components(
        [Problem, *shown, *bodies], ref_template=_REFS
    )
    schema_of = dict(zip(map(repr, [Problem, *shown, *bodies]), schemas, strict=True))
    paths: dict[str, dict[str, Any]] = {}
    for route in routes:
        operation = _operation(route, schema_of, components)
        paths.setdefault(route.path, {})[route.method.lower()] = operation
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Fencepost's control port",
            "version": "1",
            "description": "Controls a running Fencepost broker, a cluster or a proxy. All paths"
            " begin with /v1; a field or a path may be added within a version, so ignore those that"
            " you do not know. In a cluster, ?broker=N asks one process alone, by its node id.",
        },
        "security": [{}, {"token": []}],
        "paths": paths,
        "components": {
            "schemas": components,
            "responses": {
                "Problem": {
                    "description": "The request is refused, and nothing has changed.",
                    "content": {CONTENT_TYPE: {"schema": schema_of[repr(Problem)]}},
                }
            },
            "securitySchemes": {
                "token": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "needed if the broker has a control.token.file",
                }
            },
        },
    }


def _operation(
    route: Route, schema_of: Mapping[str, Any], components: dict[str, Any]
) -> dict[str, Any]:
    made: dict[str, Any] = {
        "operationId": route.name,
        "tags": [route.family],
        "summary": route.summary,
    }
    if route.request is not None:
        refs, needed = msgspec.json.schema_components([route.request], ref_template=_REFS)
        own = needed.pop(refs[0].get("$ref", "").rpartition("/")[2], {})  # a union has none
        parameters = _parameters(route, own)
        if parameters:
            made["parameters"] = parameters
        if route.has_body:
            components |= needed
            made["requestBody"] = _body(route, own, schema_of)
    made["responses"] = _responses(route, schema_of)
    return made


def _parameters(route: Route, own: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Describe the fields of a request that are in the path or in the query."""
    in_path = route.names_in_path
    names = in_path if route.has_body else [*own.get("properties", {})]
    return [_parameter(name, own, is_in_path=name in in_path) for name in names]


def _parameter(name: str, own: Mapping[str, Any], *, is_in_path: bool) -> dict[str, Any]:
    schema = {**own["properties"][name]}
    made = {
        "name": name,
        "in": "path" if is_in_path else "query",
        "required": is_in_path or name in own.get("required", ()),
    }
    if "description" in schema:
        made["description"] = schema.pop("description")
    return made | {"schema": schema}


def _body(route: Route, own: dict[str, Any], schema_of: Mapping[str, Any]) -> dict[str, Any]:
    in_path = route.names_in_path
    if in_path:
        left = {name: each for name, each in own["properties"].items() if name not in in_path}
        required = [name for name in own.get("required", ()) if name not in in_path]
        schema: Any = {**own, "properties": left, "required": required}
    else:
        schema, required = schema_of[repr(route.request)], own.get("required", ())
    return {"required": True, "content": {JSON: {"schema": schema}}}


def _responses(route: Route, schema_of: Mapping[str, Any]) -> dict[str, Any]:
    success: dict[str, Any] = {"description": _first_line(route)}
    status = route.status
    if route.response is None:
        status = HTTPStatus.NO_CONTENT
    else:
        kind = _STREAM if route.is_stream else route.content_type
        success["content"] = {kind: {"schema": schema_of[repr(route.response)]}}
    errors = {*ERRORS, *route.errors, *(ERRORS_OF_BODIES if route.has_body else ())}
    refused = {str(each.value): {"$ref": "#/components/responses/Problem"} for each in errors}
    return {str(status.value): success} | dict(sorted(refused.items()))


def _first_line(route: Route) -> str:
    return (inspect.getdoc(route.handler) or route.summary).partition("\n")[0]
