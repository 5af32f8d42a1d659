"""The generator of docs/reference/support.md: ``python -m fencepost_broker.apis.support_page``.

The page lists the served APIs with their versions, and the "Not done" notes of the handlers'
docstrings. With ``--check`` it only compares.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from fencepost_protocol.apis import WITHOUT_SCHEMA
from fencepost_protocol.codegen.page import write_or_check
from fencepost_protocol.generated.index import APIS

from fencepost_broker.apis.controller.registry import SERVED_BY_CONTROLLER
from fencepost_broker.apis.registry import SERVED
from fencepost_broker.apis.served import Later, Served

PAGE: Final = Path(__file__).resolve().parents[3] / "docs/reference/support.md"


def page() -> str:
    """Return the text of the page."""
    served = {api.key.value: api for api in SERVED}
    at_controller = {api.key.value: api for api in SERVED_BY_CONTROLLER}
    lines = [
        "<!-- Generated from the registry by `make docs`. Do not edit. -->",
        "",
        "# Supported APIs",
        "",
        "ApiVersions advertises these APIs in these versions, and no others. The last column lists",
        "what a handler does not do yet.",
        "",
        *_table(served),
        "",
        "## On a controller's port",
        "",
        "A controller in its own process (`process.roles=controller`) serves these APIs to brokers",
        "and administrators.",
        "",
        *_table(at_controller),
        "",
        "## Not served",
        "",
        "A request for one of these closes the connection, as a request for an unknown API does in",
        "Apache Kafka, and the log names it.",
        "",
    ]
    names = {key: entry[0] for key, entry in APIS.items()} | WITHOUT_SCHEMA
    unserved = sorted(names.keys() - served.keys() - at_controller.keys())
    lines += [f"- {names[key]} ({key})" for key in unserved]
    return "\n".join([*lines, ""])


def _table(served: Mapping[int, Served]) -> Iterator[str]:
    yield "| key | API | versions | not done |"
    yield "|---|---|---|---|"
    for key, api in sorted(served.items()):
        low, high = api.versions
        yield f"| {key} | {APIS[key][0]} | {low}-{high} | {_not_done(api.handler)} |"


def _not_done(handler: object) -> str:
    module = inspect.getmodule(handler.load() if isinstance(handler, Later) else handler)
    text = (module.__doc__ or "") if module else ""
    match = re.search(r"^Not done: (.*?)(?:\n\n|\Z)", text, re.MULTILINE | re.DOTALL)
    return " ".join(match[1].split()) if match else ""


def main() -> int:
    """Run the command line."""
    return write_or_check(PAGE, page(), "docs/reference/support.md does not match the registry")


if __name__ == "__main__":
    raise SystemExit(main())
