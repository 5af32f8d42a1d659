"""Settings of a benchmark's clients, from a file, from options and from the tool."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Mapping
from typing import Final

from fencepost_client.progress import Progress

SERIALIZERS: Final = frozenset(
    {"key.serializer", "value.serializer", "key.deserializer", "value.deserializer"}
)
"""Files for Java's tools have them; the tools and we take bytes whatever they say."""


def progress_of(options: argparse.Namespace) -> Progress:
    """Progress in a terminal; elsewhere Kafka's lines tell it, but not with ``--json``."""
    is_shown = options.json or sys.stderr.isatty()
    return Progress(options.num_records, "records", sys.stderr if is_shown else None)


def merge(
    defaults: Mapping[str, str],
    file: Mapping[str, str],
    properties: Iterable[tuple[str, str]],
    options: Mapping[str, str | None],
) -> dict[str, str]:
    """Defaults of the tool, then a file, then properties, then options of their own."""
    merged = {**defaults, **file, **dict(properties)}
    merged |= {name: value for name, value in options.items() if value is not None}
    return {name: value for name, value in merged.items() if name not in SERIALIZERS}
