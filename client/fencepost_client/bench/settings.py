"""Settings of a bench's clients: a file, what overrides it, what the tool itself decides."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

SERIALIZERS: Final = frozenset(
    {"key.serializer", "value.serializer", "key.deserializer", "value.deserializer"}
)
"""Files for Java's tools have them; the tools and we take bytes whatever they say."""


def read_properties(text: str) -> dict[str, str]:
    """``name=value`` lines of a properties file; ValueError names the line that is none.

    Continued lines are refused, and Java's escapes stand for themselves: no setting of ours needs
    either.
    """
    found = {}
    for number, line in enumerate(text.splitlines(), 1):
        line = line.strip()
        if not line or line[0] in "#!":
            continue
        at = min((place for sign in "=:" if (place := line.find(sign)) >= 0), default=-1)
        if at < 1:
            raise ValueError(f"line {number}: name=value is wanted, not {line!r:.100}")
        if line.endswith("\\"):
            raise ValueError(f"line {number}: write it in one line, continued ones are not read")
        found[line[:at].strip()] = line[at + 1 :].strip()
    return found


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
