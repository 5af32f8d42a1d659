"""``python -m fencepost_broker.server.control.page [--check]``: docs/reference/control.md."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final, get_args

from fencepost_protocol.codegen.page import write_or_check

from fencepost_broker.server.control.events import READERS_MAX, WAITING_EVENTS_MAX
from fencepost_broker.server.control.families.live import Event
from fencepost_broker.server.control.openapi import document
from fencepost_broker.server.control.port import (
    BODY_BYTES_MAX,
    BODY_SECONDS,
    CONNECTIONS_MAX,
    IDLE_SECONDS,
    UNREAD_SECONDS,
)
from fencepost_broker.server.control.table import ROUTES

PAGE: Final = Path(__file__).resolve().parents[4] / "docs/reference/control.md"
_BEGINNING: Final = """\
<!-- Generated from the routes of the control port by `make docs`. Do not edit. -->

# The control port

`fencepost up --control PORT` opens it: HTTP and JSON for a running broker, from any language.
[Control a broker from any language](../how-to/control-a-broker.md) shows how it is used. `GET
/openapi.json` describes it as OpenAPI 3.1, from which clients can be generated.

`fencepost up --brokers N --control PORT` opens one for a cluster. It passes a request on to those
brokers that it concerns, and unites their answers. A process that is down or paused is not asked;
when it is up again, it gets the fault rules that it has missed, and the time of the others.
`?broker=N` asks one process alone, by its node id.

`fencepost proxy --control PORT` opens one for a proxy. It has the routes of fault rules, requests
and events, and refuses the others with 409.

## Who may use it

- It listens on 127.0.0.1, unless a host is given. On an address that other machines reach, each
  request needs a token: `--control-token-file FILE`, and the header `Authorization: Bearer
  TOKEN`.
- The header `Host` must name loopback, the address that the port listens on, or the one that was
  reached. Otherwise the status is 421, so that web pages cannot reach the port by DNS rebinding.
- A request of a web page of another origin (`Origin`, `Sec-Fetch-Site`) is refused with 403.

## Errors and limits

An error is a problem of RFC 9457 (`application/problem+json`): `detail` is what is wrong, `where`
is the part of the request, and `advice` is what to do. A field that the port does not know is an
error, too, with the nearest name.
"""
_STREAM: Final = """\
## Events

The stream is Server-Sent Events. The `event` field is the kind of an event, and so is `type` in
its JSON. A reader that does not keep up loses events, and then gets the event `lost` with their
number. A comment is sent when nothing happens.
"""


def page() -> str:
    """Return the text of the page."""
    described = document(ROUTES)
    lines = [_BEGINNING, *_limits(), "", "## Routes", "", *_routes()]
    lines += ["", "## Requests", "", "Fields without a default are required.", ""]
    lines += _requests(described)
    lines += ["", _STREAM]
    events = [each.__name__ for each in get_args(Event)]
    lines += _fields(described["components"]["schemas"], events)
    return "\n".join(lines).rstrip("\n") + "\n"


def _limits() -> Iterator[str]:
    yield from ("| limit | |", "|---|---:|")
    yield f"| connections | {CONNECTIONS_MAX} |"
    yield f"| bytes of a request's body | {BODY_BYTES_MAX:,} |"
    yield f"| seconds until a request's headers have arrived | {IDLE_SECONDS:g} |"
    yield f"| seconds until its body has arrived | {BODY_SECONDS:g} |"
    yield f"| seconds for which a client may leave an answer unread | {UNREAD_SECONDS:g} |"
    yield f"| event streams | {READERS_MAX} |"
    yield f"| events that wait for a reader | {WAITING_EVENTS_MAX} |"


def _routes() -> Iterator[str]:
    yield from ("| route | what it does | answer | for a whole cluster |", "|---|---|---|---|")
    for route in ROUTES:
        answer = "none" if route.response is None else _name(route.response)
        answer = "a stream" if route.is_stream else answer
        whole = "no: add `?broker=N`" if route.in_cluster is None else "yes"
        yield f"| `{route.method} {route.path}` | {_cell(route.summary)} | {answer} | {whole} |"


def _name(kind: Any) -> str:
    if kind is str:
        return "text"
    name = getattr(kind, "__name__", "")
    return "a JSON object" if not name or name == "dict" else f"`{name}`"


def _requests(described: dict[str, Any]) -> Iterator[str]:
    yield from ("| route | field | type | meaning | default |", "|---|---|---|---|---|")
    schemas = described["components"]["schemas"]
    for route in ROUTES:
        operation = described["paths"][route.path][route.method.lower()]
        where = f"`{route.method} {route.path}`"
        for each in operation.get("parameters", ()):
            meaning = f"in the {each['in']}"
            if "description" in each:
                meaning += f": {each['description']}"
            yield _row(where, each["name"], each["schema"], meaning)
        if route.has_body:
            body = operation["requestBody"]["content"]["application/json"]["schema"]
            for each in body.get("anyOf", [body]):
                each = schemas[each["$ref"].rpartition("/")[2]] if "$ref" in each else each
                fields = {**each["properties"]}
                at = where
                if "anyOf" in body:
                    at = f"{where} `{fields.pop('type')['enum'][0]}`"
                for name, field in fields.items():
                    yield _row(at, name, field, field.get("description", ""))


def _row(where: str, name: str, field: dict[str, Any], meaning: str) -> str:
    default = f"`{json.dumps(field['default'])}`" if "default" in field else ""
    return f"| {where} | `{name}` | {_type(field)} | {_cell(meaning)} | {default} |"


def _fields(schemas: dict[str, Any], names: Iterable[str]) -> Iterator[str]:
    for name in names:
        schema = schemas[name]
        kind = schema["properties"]["type"]["enum"][0]
        yield from (f"`{kind}`: {schema['description']}", "", "| field | type | meaning |")
        yield "|---|---|---|"
        for field, told in schema["properties"].items():
            if field != "type":
                meaning = told.get("description", "")
                yield f"| `{field}` | {_type(told)} | {_cell(meaning)} |"
        yield ""


def _type(field: dict[str, Any]) -> str:
    """Return the type of a field in words."""
    if "anyOf" in field:
        return " or ".join(_type(each) for each in field["anyOf"])
    if "$ref" in field:
        return f"`{field['$ref'].rpartition('/')[2]}`"
    if "enum" in field:
        return " or ".join(f"`{json.dumps(each)}`" for each in field["enum"])
    return str(field.get("type", "any"))


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*")


def main() -> int:
    """Write the page, or check that it is up to date."""
    return write_or_check(PAGE, page(), "docs/reference/control.md is out of date")


if __name__ == "__main__":
    raise SystemExit(main())
