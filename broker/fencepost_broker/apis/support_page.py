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
from fencepost_broker.config.values.release_table import APIS as APIS_OF_RELEASES
from fencepost_broker.config.values.release_table import FEATURES
from fencepost_broker.config.values.releases import RELEASES, release_of, rows
from fencepost_broker.metadata.features import SUPPORTED_FEATURES

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
        "## As a release of Apache Kafka",
        "",
        "With `fencepost up --as RELEASE`, ApiVersions advertises these versions. Versions in",
        "parentheses are those that the release has and Fencepost has not.",
        "[Imitate an older broker](../how-to/imitate-an-older-broker.md) tells what else differs.",
        "",
        *_releases(served),
        "",
        "A new cluster has these levels of features. `metadata.version` is only told: the metadata",
        "log always has level 30.",
        "",
        *_levels(),
        "",
        "## Not served",
        "",
        "Clients do not send these. Controllers send them to elect a leader (there is only one",
        "controller here), brokers and controllers to register, and to tell in which log directory",
        "a replica is. A request for one of these closes the connection, as a request for an",
        "unknown API does in Apache Kafka, and the log names it.",
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


def _releases(served: Mapping[int, Served]) -> Iterator[str]:
    yield f"| key | API | {' | '.join(RELEASES)} |"
    yield f"|---|---|{'---|' * len(RELEASES)}"
    for key, name, *_ in rows(APIS_OF_RELEASES):
        ours = served.get(int(key))
        cells = (_versions_as(release, int(key), ours) for release in RELEASES)
        yield f"| {key} | {name} | {' | '.join(cells)} |"


def _versions_as(name: str, key: int, ours: Served | None) -> str:
    release = release_of(name)
    assert release is not None
    if key not in release.versions:
        return ""
    low, high = release.versions[key]
    if ours is None:
        return f"({_span(low, high)})"
    first = ours.versions[0]
    missing = f" ({_span(low, first - 1)})" if low < first else ""
    return _span(first, high) + missing


def _span(low: int, high: int) -> str:
    return str(low) if low == high else f"{low}-{high}"


def _levels() -> Iterator[str]:
    ours = {each.name for each in SUPPORTED_FEATURES}
    yield f"| feature | {' | '.join(RELEASES)} |"
    yield f"|---|{'---|' * len(RELEASES)}"
    for name, *_ in rows(FEATURES):
        if name in ours:
            cells = (_level_as(release, name) for release in RELEASES)
            yield f"| {name} | {' | '.join(cells)} |"


def _level_as(name: str, feature: str) -> str:
    release = release_of(name)
    assert release is not None
    if feature not in release.supported:
        return ""
    low, high = release.supported[feature]
    return f"{release.finalized.get(feature, 0)} of {_span(low, high)}"


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
