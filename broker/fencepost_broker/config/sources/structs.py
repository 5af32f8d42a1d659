"""Structs from data that users have written, as JSON or TOML.

msgspec says what is wrong and where; here it also gets the nearest name that would be right.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, Final

import msgspec
from fencepost_protocol.commands import did_you_mean

_PLACE: Final = re.compile(r"^(.*?)(?: - at `(?:key in )?([^`]*)`)?$", re.DOTALL)
_WRONG: Final = re.compile(
    r"unknown field `(?P<field>.*)`|Invalid (?:enum )?value '(?P<value>.*)'", re.DOTALL
)
_STEP: Final = re.compile(r"\.([^.\[\]]+)|\[([^\]]*)\]")
_SHOWN: Final = 500


class StructError(ValueError):
    """Data that is no such struct."""

    def __init__(self, detail: str, place: str = "$", advice: str = "") -> None:
        self.detail = detail
        """What is wrong."""
        self.place = place
        """Where it is: ``$.act.type``; ``$`` is all of it."""
        self.advice = advice
        """The names that would be right, or ``""``."""
        where = place.removeprefix("$").removeprefix(".")
        beginning = f"{where}: " if where else ""
        super().__init__(f"{beginning}{detail}{f'. {advice}' if advice else ''}")


def convert(given: Any, kind: Any, *, is_text: bool = False) -> Any:
    """Return data as a struct; raises ``StructError``. With ``is_text``, all values are texts."""
    try:
        return msgspec.convert(given, kind, strict=not is_text, str_keys=is_text)
    except msgspec.ValidationError as error:
        found = _PLACE.match(str(error))
        assert found is not None
        place = found[2] or "$"
        detail = found[1] if len(found[1]) < _SHOWN else f"{found[1][:_SHOWN]}..."
        raise StructError(detail, place, _advice(found[1], given, kind, place)) from None
    except RecursionError:
        raise StructError("it is nested too deeply") from None


def _advice(detail: str, given: Any, kind: Any, place: str) -> str:
    """Return the names that are right at a place of a request, the nearest one first."""
    wrong = _WRONG.search(detail)
    if wrong is None:
        return ""
    steps = [step[1] or step[2] for step in _STEP.finditer(place)]
    if wrong["field"] is not None:
        word, known = wrong["field"], sorted(set(_fields_at(given, kind, steps)))
    else:
        word, known = wrong["value"], sorted(set(_values_at(given, kind, steps)))
    near = did_you_mean(word[:_SHOWN], known).removeprefix("; ")
    told = f"There are: {', '.join(known)}" if known else "There are none."
    return f"{near[:1].upper()}{near[1:]} {told}".strip()


def _fields_at(given: Any, kind: Any, steps: Sequence[str]) -> Iterable[str]:
    for each in _types_at(given, kind, steps):
        if isinstance(each, msgspec.inspect.StructType):
            yield from (field.encode_name for field in each.fields)


def _values_at(given: Any, kind: Any, steps: Sequence[str]) -> Iterable[str]:
    """Return the values that a text may have there: of an enum or literal, or a struct's tag."""
    for each in _types_at(given, kind, steps):
        if isinstance(each, msgspec.inspect.LiteralType):
            yield from map(str, each.values)
        elif isinstance(each, msgspec.inspect.EnumType):
            yield from (str(member.value) for member in each.cls)
    for each in _types_at(given, kind, steps[:-1]):
        if isinstance(each, msgspec.inspect.StructType) and steps and each.tag_field == steps[-1]:
            yield str(each.tag)


def _types_at(given: Any, kind: Any, steps: Iterable[str]) -> list[msgspec.inspect.Type]:
    """Return the types that may be at a place; a step is the name of a field, or a number."""
    found = _tagged(_alternatives(msgspec.inspect.type_info(kind)), given)
    for step in steps:
        given = _value_inside(given, step)
        inner = [type_ for each in found for type_ in _alternatives(*_inside(each, step))]
        found = _tagged(inner, given)
    return found


def _tagged(kinds: list[msgspec.inspect.Type], given: Any) -> list[msgspec.inspect.Type]:
    """Return the struct that has the tag of a value, if there is one, or else all types."""
    tag = given.get if isinstance(given, dict) else {}.get
    right: list[msgspec.inspect.Type] = [
        each
        for each in kinds
        if isinstance(each, msgspec.inspect.StructType)
        and each.tag_field is not None
        and tag(each.tag_field) == each.tag
    ]
    return right or kinds


def _value_inside(given: Any, step: str) -> Any:
    if isinstance(given, dict):
        return given.get(step)
    if isinstance(given, list) and step.isdigit() and int(step) < len(given):
        return given[int(step)]
    return None


def _inside(kind: msgspec.inspect.Type, step: str) -> Iterable[msgspec.inspect.Type]:
    if isinstance(kind, msgspec.inspect.StructType):
        return [field.type for field in kind.fields if field.encode_name == step]
    if isinstance(kind, msgspec.inspect.DictType):
        return [kind.value_type]
    item = getattr(kind, "item_type", None)
    return [] if item is None else [item]


def _alternatives(*kinds: msgspec.inspect.Type) -> list[msgspec.inspect.Type]:
    found: list[msgspec.inspect.Type] = []
    for kind in kinds:
        if isinstance(kind, msgspec.inspect.Metadata):
            found += _alternatives(kind.type)
        elif isinstance(kind, msgspec.inspect.UnionType):
            found += _alternatives(*kind.types)
        else:
            found.append(kind)
    return found
