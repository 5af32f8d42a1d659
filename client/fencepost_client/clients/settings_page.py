"""Writes docs/reference/client-settings.md: the settings of the clients."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from fencepost_protocol.codegen.page import write_or_check

from fencepost_client.clients.admin import Admin
from fencepost_client.clients.consumer import Consumer
from fencepost_client.clients.producer import Producer
from fencepost_client.clients.share_consumer import ShareConsumer
from fencepost_client.config.settings import (
    ADMIN,
    COMMON,
    CONSUMER,
    PRODUCER,
    SHARE_CONSUMER,
    Setting,
)

PAGE: Final = Path(__file__).resolve().parents[3] / "docs/reference/client-settings.md"
_CLASSES: Final = {
    "Producer": Producer,
    "Consumer": Consumer,
    "ShareConsumer": ShareConsumer,
    "Admin": Admin,
}


def page() -> str:
    """The text of the page."""
    lines = [
        "<!-- Generated from the declarations of settings by `make docs`. Do not edit. -->",
        "",
        "# Settings of the client",
        "",
        'Settings are keyword arguments: `Producer("localhost:9092", linger_ms=0)`. `from_config`',
        'takes them by Kafka\'s names: `Producer.from_config({"bootstrap.servers":',
        '"localhost:9092", "linger.ms": 0})`. So do commands: `-X linger.ms=0`, or a properties',
        "file by `--command-config`. Invalid and unknown settings are refused at once.",
        "",
        "Keys, values and headers are bytes: `value.encode()`, `json.dumps(value).encode()`.",
        "",
        "## All clients",
        "",
        *_table(COMMON, {}, "Producer"),
        "",
        "## Producer",
        "",
        *_table(PRODUCER, COMMON, "Producer"),
        "",
        "## Consumer",
        "",
        *_table(CONSUMER, COMMON, "Consumer"),
        "",
        "## ShareConsumer",
        "",
        *_table(SHARE_CONSUMER, COMMON, "ShareConsumer"),
        "",
        "## Admin",
        "",
        *_table(ADMIN, COMMON, "Admin"),
        "",
    ]
    return "\n".join(lines)


def _table(
    settings: Mapping[str, Setting], without: Mapping[str, Setting], name: str
) -> Iterator[str]:
    yield "| keyword | Kafka's name | default | values | what it does |"
    yield "|---|---|---|---|---|"
    defaults = inspect.signature(_CLASSES[name]).parameters
    for each in settings.values():
        if each.keyword in without:
            continue
        kafka = f"`{each.name}`" if each.name else "-"
        default = _default(each.keyword, defaults)
        yield f"| `{each.keyword}` | {kafka} | {default} | {each.allowed} | {each.help} |"


def _default(keyword: str, parameters: Mapping[str, inspect.Parameter]) -> str:
    found = parameters.get(keyword)
    if keyword == "bootstrap_servers":
        return "required"
    if keyword == "client_id":
        return "`fencepost-producer`, `-consumer`, `-share-consumer`, `-admin`"
    default: Any = None if found is None else found.default
    if default is None:
        return "-"
    if callable(default):
        return f"`{default.__name__}`"
    return f"`{list(default) if isinstance(default, tuple) else default}`"


def main() -> int:
    """The command line."""
    return write_or_check(PAGE, page(), "docs/reference/client-settings.md is out of date")


if __name__ == "__main__":
    raise SystemExit(main())
