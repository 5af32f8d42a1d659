"""Settings of a benchmark's clients, from a file, from options and from the tool."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

SERIALIZERS: Final = frozenset(
    {"key.serializer", "value.serializer", "key.deserializer", "value.deserializer"}
)
"""Files for Java's tools have them; the tools and we take bytes whatever they say."""


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
