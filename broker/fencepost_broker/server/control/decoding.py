"""Decoding of requests: their path, query and body become one struct."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from http import HTTPStatus
from typing import Any

import msgspec

from fencepost_broker.config.sources.structs import StructError, convert
from fencepost_broker.server.control.problems import ProblemError
from fencepost_broker.server.control.routes import Route


def read_request(
    route: Route, path: Mapping[str, str], query: Mapping[str, str], body: bytes
) -> Any:
    """Return the request of a route; raises ``ProblemError``."""
    assert route.request is not None
    if not route.has_body:
        for name in path.keys() & query.keys():
            raise _refused(f"{name} is in the path already", f"query, $.{name}")
        return _converted({**query, **path}, route.request, is_text=True, in_path=path)
    given: Any = _decoded(body)
    if path:
        if not isinstance(given, dict):
            raise _refused("it must be a JSON object", "body")
        types = {each.encode_name: each.type for each in msgspec.structs.fields(route.request)}
        for name, text in path.items():
            if name in given:
                raise _refused(f"{name} is in the path already", f"body, $.{name}")
            given[name] = _converted(text, types[name], is_text=True, where=f"path, $.{name}")
    return _converted(given, route.request, is_text=False)


def _decoded(body: bytes) -> Any:
    try:
        return msgspec.json.decode(body)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise _refused(f"it is not JSON: {error or 'it is nested too deeply'}", "body") from None


def _converted(
    given: Any, kind: Any, *, is_text: bool, in_path: Collection[str] = (), where: str = ""
) -> Any:
    try:
        return convert(given, kind, is_text=is_text)
    except StructError as error:
        part = "body"
        if is_text:
            part = "path" if error.place.removeprefix("$.") in in_path else "query"
        raise _refused(error.detail, where or f"{part}, {error.place}", error.advice) from None


def _refused(detail: str, where: str, advice: str = "") -> ProblemError:
    return ProblemError(HTTPStatus.BAD_REQUEST, detail, where=where, advice=advice)
