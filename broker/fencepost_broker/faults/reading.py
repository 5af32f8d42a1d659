"""Reading rules that users have written, with errors that name what to write."""

from __future__ import annotations

import re
from typing import Any, Final, TypeVar, get_args, get_type_hints

import msgspec

from fencepost_broker.faults.compiled import RuleError
from fencepost_broker.faults.paths import near_name
from fencepost_broker.faults.rule import ACTS, Act

T = TypeVar("T")
_UNKNOWN: Final = re.compile(r"Object contains unknown field `(.+?)`(?: - at `\$\.?(.*)`)?")
_NO_ACT: Final = re.compile(r"Invalid value '(.*)' - at `\$(?:.*\.)?act\.type`")


def read(given: Any, kind: type[T], place: str = "") -> T:
    """Convert plain data to a rule; raises ``RuleError``."""
    try:
        return msgspec.convert(given, kind)
    except msgspec.ValidationError as error:
        where = f"{place}: " if place else ""
        raise RuleError(f"{where}{_told(str(error), given, kind)}") from None


def read_json(content: bytes, kind: type[T]) -> T:
    """Convert JSON to a rule; raises ``RuleError``."""
    try:
        given = msgspec.json.decode(content)
    except msgspec.DecodeError as error:
        raise RuleError(str(error)) from None
    return read(given, kind)


def _told(text: str, given: Any, kind: Any) -> str:
    """Complete a message with the nearest right name."""
    if match := _NO_ACT.fullmatch(text):
        acts = [str(act.__struct_config__.tag) for act in ACTS]
        return f"there is no act {match[1]!r}{near_name(match[1], acts)}"
    if match := _UNKNOWN.fullmatch(text):
        name, path = match[1], match[2] or ""
        return (
            f"{path or kind.__name__}: there is no field {name!r}{_near(name, path, given, kind)}"
        )
    return text


def _near(name: str, path: str, given: Any, kind: Any) -> str:
    """Return what the nearest field is called, by the types on the way to it."""
    for part in re.findall(r"\w+|\[\d+\]", path):
        if part.startswith("["):
            (kind,) = get_args(kind)
            given = given[int(part[1:-1])]
            continue
        kind = get_type_hints(kind)[part]
        given = given[part]
    if kind not in ACTS and isinstance(given, dict) and "type" in given:
        kind = next((act for act in ACTS if act.__struct_config__.tag == given["type"]), Act)
    fields = getattr(kind, "__struct_encode_fields__", ())
    return near_name(name, fields)
