"""Fields of messages by their paths in the schema, as rules name them.

``topics[].partitions[].index`` is the index of every partition, ``topics[0].name`` that of the
first topic. Names are the schema's (``TopicData``) or Python's (``topic_data``).
"""

from __future__ import annotations

import json
import operator
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from difflib import get_close_matches
from typing import Any, Final, NamedTuple

from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.schema.model import Array, Field, Message, Struct, snake_case

_SEGMENT: Final = re.compile(r"(\w+)(?:\[(\d*)\])?")
_CONDITION: Final = re.compile(r"\s*([\w.\[\]]+)\s*(==|!=|<=|>=|<|>|~)\s*(.+?)\s*", re.DOTALL)
_PATH_MAX: Final = 1_000
_UUID_BYTES: Final = 16
_BITS: Final = {
    **{f"int{n}": (-(1 << n - 1), (1 << n - 1) - 1) for n in (8, 16, 32, 64)},
    **{f"uint{n}": (0, (1 << n) - 1) for n in (16, 32)},
}
"""The range of each kind of number."""
_COMPARE: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "~": lambda value, pattern: pattern.search(value) is not None,
}


class PathError(ValueError):
    """A path or a condition that does not fit a message."""


class _Step(NamedTuple):
    attribute: str
    element: int | None
    """The element of a list; ``None`` for all of them."""
    is_list: bool


class Path(NamedTuple):
    """A field of a message, or that field of every element of lists."""

    text: str
    steps: tuple[_Step, ...]
    field: Field

    @classmethod
    def read(cls, text: str, schema: Message) -> Path:
        """Read a path in a schema; raises ``PathError`` if there is no such field."""
        if len(text) > _PATH_MAX:
            raise PathError(f"{text[:40]}...: a path has at most {_PATH_MAX} characters")
        if not text:
            raise PathError("a path of a field is empty")
        struct: Struct | None = schema.root
        steps: list[_Step] = []
        for part in text.split("."):
            match = _SEGMENT.fullmatch(part)
            if match is None:
                raise PathError(f"{text!r}: {part!r} is not NAME, NAME[] or NAME[NUMBER]")
            if struct is None:
                raise PathError(f"{text!r}: {steps[-1].attribute} has no fields")
            fields = {each.attribute: each for each in struct.fields}
            name = snake_case(match[1])
            if name not in fields:
                near = near_name(name, fields)
                raise PathError(f"{text!r}: {struct.name} has no field {match[1]!r}{near}")
            field = fields[name]
            is_list = isinstance(field.type, Array)
            if match[2] is not None and not is_list:
                raise PathError(f"{text!r}: {match[1]} is no list: leave out the brackets")
            steps.append(_Step(field.attribute, int(match[2]) if match[2] else None, is_list))
            struct = schema.struct(field.struct_name) if field.struct_name else None
        return cls(text, tuple(steps), field)

    @property
    def kind(self) -> str:
        """The type of its values: ``string``, ``int32``; of structs, their name."""
        kind = self.field.type
        return str(kind.element if isinstance(kind, Array) else kind)

    def values(self, message: Any) -> Iterator[Any]:
        """Yield the values in a message."""
        for holder, attribute in self._holders(message):
            value = getattr(holder, attribute)
            *_, last = self.steps
            if last.is_list:
                yield from _elements(value, last.element)
            else:
                yield value

    def set(self, message: Any, value: Any) -> None:
        """Set the value in a message, wherever the path leads."""
        *_, last = self.steps
        for holder, attribute in self._holders(message):
            if last.is_list and (last.element is not None or not isinstance(value, list)):
                elements = getattr(holder, attribute) or []
                for at in range(len(elements)) if last.element is None else (last.element,):
                    if at < len(elements):
                        elements[at] = value
            else:
                setattr(holder, attribute, value)

    def _holders(self, message: Any) -> Iterator[tuple[Any, str]]:
        holders = [message]
        *inner, last = self.steps
        for step in inner:
            found: list[Any] = []
            for holder in holders:
                value = getattr(holder, step.attribute)
                found += _elements(value, step.element) if step.is_list else [value]
            holders = [each for each in found if each is not None]
        for holder in holders:
            yield holder, last.attribute

    def read_value(self, given: Any) -> Any:
        """Check a value that a rule gives for this path, and return it as messages have it."""
        if given is None:
            if not self.field.nullable:
                raise PathError(f"{self.text}: null is not possible here")
            return None
        *_, last = self.steps
        if last.is_list and last.element is None and isinstance(given, list):
            return [self._read_one(each) for each in given]
        return self._read_one(given)

    def _read_one(self, given: Any) -> Any:
        kind = self.kind
        if kind in _BITS:
            if isinstance(given, str) and self.field.attribute.endswith("error_code"):
                return error_of(given)
            lowest, highest = _BITS[kind]
            if (
                isinstance(given, int)
                and not isinstance(given, bool)
                and lowest <= given <= highest
            ):
                return given
            raise PathError(
                f"{self.text}: {given!r:.80} is not a number from {lowest} to {highest}"
            )
        if kind in ("bytes", "records", "uuid") and isinstance(given, str):
            try:
                content = bytes.fromhex(given)
            except ValueError:
                raise PathError(f"{self.text}: {kind} are given in hexadecimal") from None
            if kind == "uuid" and len(content) != _UUID_BYTES:
                raise PathError(f"{self.text}: a uuid has {_UUID_BYTES} bytes")
            return content
        if kind == "float64" and isinstance(given, int | float):
            return float(given)
        if (kind == "bool" and isinstance(given, bool)) or (
            kind == "string" and isinstance(given, str)
        ):
            return given
        told = {"bool": "true or false", "string": "text"}.get(kind, f"possible for {kind}")
        raise PathError(f"{self.text}: {given!r:.80} is not {told}")


class Condition(NamedTuple):
    """A comparison of a field; it holds if it does for any value that the path leads to."""

    path: Path
    compare: Callable[[Any, Any], bool]
    value: Any

    @classmethod
    def read(cls, text: str, schema: Message) -> Condition:
        """Read ``PATH OPERATOR VALUE``; a value is JSON, or text without quotes."""
        match = _CONDITION.fullmatch(text)
        if match is None:
            raise PathError(f"{text!r:.200}: not PATH == VALUE (or != < <= > >= ~)")
        path = Path.read(match[1], schema)
        sign, given = match[2], match[3]
        if sign == "~":
            if path.kind != "string":
                raise PathError(f"{text!r:.200}: ~ compares text with a pattern")
            return cls(path, _COMPARE[sign], _pattern(given))
        value = given
        if path.kind != "string" or given.startswith('"') or given == "null":
            with suppress(ValueError):  # the name of an error, or text
                value = json.loads(given)
        return cls(path, _COMPARE[sign], path.read_value(value))

    def holds(self, message: Any) -> bool:
        """Whether it holds for a message."""
        compare, wanted = self.compare, self.value
        for value in self.path.values(message):
            if value is None or wanted is None:
                if compare is operator.eq and value is wanted:
                    return True
                if compare is operator.ne and value is not wanted:
                    return True
            elif compare(bytes(value) if self.path.kind == "bytes" else value, wanted):
                return True
        return False


def error_of(name: str) -> ErrorCode:
    """Return an error by Kafka's name for it."""
    try:
        return ErrorCode[name]
    except KeyError:
        near = near_name(name, ErrorCode.__members__)
        raise PathError(f"there is no error {name!r:.80}{near}") from None


def _pattern(text: str) -> Any:
    import re2  # matching takes linear time, whatever the pattern

    try:
        return re2.compile(json.loads(text) if text.startswith('"') else text)
    except (re2.error, ValueError) as error:
        raise PathError(f"{text!r:.80} is no pattern: {error}") from None


def _elements(value: Any, index: int | None) -> list[Any]:
    if value is None:
        return []
    if index is None:
        return list(value)
    return [value[index]] if index < len(value) else []


def near_name(name: str, names: Iterable[str]) -> str:
    """Return the end of a message about a name that is unknown."""
    names = list(names)
    close = get_close_matches(name, names, 1)
    if close:
        return f"; did you mean {close[0]}?"
    return f"; it has {', '.join(names)}" if len(names) <= 20 else ""
