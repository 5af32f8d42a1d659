"""Writes trees of nodes as text for people or as JSON for programs.

What came over the wire never reaches a terminal as it is: whatever is not printable is escaped.
"""

from __future__ import annotations

import json
import math
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from fencepost_protocol.dissect.node import Node, State
from fencepost_protocol.primitives import uuid_text

TEXT_BYTES_SHOWN: Final = 8
"""Bytes of a field in the column of bytes; the value has more of them."""
TEXT_VALUE_SHOWN: Final = 100
JSON_BYTES_SHOWN: Final = 1024
JSON_VALUE_SHOWN: Final = 4096
_NAME_WIDTH_MAX: Final = 48
_TYPE_WIDTH_MAX: Final = 32
_ABOUT_WIDTH: Final = 76
_UUID_SIZE: Final = 16
_LONG_ARRAY: Final = 10
_FOLD: Final = "(--full shows them)"
_ELEMENTS_SHOWN: Final = 5
"""So many of a longer one."""

_BOLD, _DIM, _RED, _GREEN, _YELLOW, _CYAN = "1", "2", "31;1", "32", "33", "36"
_STATE_COLOURS: Final = {State.BROKEN: _RED, State.LEFT_OVER: _YELLOW, State.UNREAD: _YELLOW}


@dataclass(frozen=True, slots=True)
class Style:
    """How a tree is to be written."""

    colour: bool = False
    explain: bool = False
    is_full: bool = True
    """Whether all elements of long arrays are written in text."""

    def paint(self, text: str, code: str) -> str:
        """The text in a colour, if there are to be any."""
        return f"\x1b[{code}m{text}\x1b[0m" if self.colour and text.strip() else text

    def bold(self, text: str) -> str:
        """A heading."""
        return self.paint(text, _BOLD)


# -- values -------------------------------------------------------------------------------------


def printable(text: str) -> str:
    """The text in one line, with what a terminal might act upon escaped."""
    return "".join(c if c.isprintable() else _escaped(c) for c in text)


def _escaped(character: str) -> str:
    short = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}.get(character)
    return short or character.encode("unicode_escape").decode()


def quoted(text: str, limit: int) -> str:
    """The text in quotes, shortened to ``limit`` characters."""
    shown = printable(text[:limit].replace("\\", "\\\\").replace('"', '\\"'))
    more = len(text) - limit
    return f'"{shown}"' if more <= 0 else f'"{shown}"… and {more} characters more'


def spaced_hex(raw: memoryview | bytes, limit: int) -> str:
    """The first bytes in hexadecimal."""
    shown = bytes(raw[:limit]).hex(" ")
    return f"{shown} …" if len(raw) > limit else shown


def value_text(node: Node) -> str:
    """A node's value in words."""
    value = node.value
    if value is None:
        return "null" if node.role in {"length", "count", "field"} and node.length else ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return quoted(value, TEXT_VALUE_SHOWN)
    if isinstance(value, bytes | memoryview):
        if node.children:
            return ""  # What is in it follows.
        return _bytes_text(bytes(value[: 4 * TEXT_VALUE_SHOWN]), len(value), node.type)
    if node.role == "group":
        return f"{value} element{'' if value == 1 else 's'}"
    return str(value)


def _bytes_text(head: bytes, size: int, kind: str) -> str:
    """Bytes as text if that is what they look like."""
    if kind == "uuid" and size == _UUID_SIZE:
        return uuid_text(head)
    if len(head) == size:
        text = _as_text(head)
        if text is not None:
            return quoted(text, TEXT_VALUE_SHOWN)
    if size <= TEXT_BYTES_SHOWN:
        return ""  # The column of bytes says it all.
    shown = TEXT_VALUE_SHOWN // 3
    more = f" … {size} bytes" if size > shown else ""
    return head[:shown].hex(" ") + more


def _as_text(raw: bytes) -> str | None:
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        return None
    return text if text and all(c.isprintable() or c in "\n\r\t" for c in text) else None


# -- text ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Row:
    node: Node
    depth: int
    is_group: bool
    name: str


def text_lines(root: Node, style: Style, depth: int = 0) -> Iterator[str]:
    """The tree as lines of text: offset, length, bytes, name, type, value."""
    rows = list(_rows(root, depth, is_full=style.is_full))
    name_width = min(max(len(r.name) + 2 * r.depth for r in rows), _NAME_WIDTH_MAX)
    type_width = min(max(len(r.node.type) for r in rows), _TYPE_WIDTH_MAX)
    for row in rows:
        yield _line(row, style, name_width, type_width)
        if style.explain and row.node.about and not _is_structural(row.node):
            margin = " " * (20 + 3 * TEXT_BYTES_SHOWN + 2 * row.depth)
            for about in textwrap.wrap(row.node.about, _ABOUT_WIDTH):
                yield style.paint(f"{margin}{about}", _DIM)
        if row.node.inner is not None:
            yield style.paint(
                f"{'':>15}  {'  ' * row.depth}--- decompressed: offsets count from here ---", _DIM
            )
            yield from text_lines(row.node.inner, style, row.depth + 1)
            yield style.paint(f"{'':>15}  {'  ' * row.depth}--- end of decompressed ---", _DIM)


def _is_structural(node: Node) -> bool:
    """Whether the field that the node belongs to has a row of its own that explains it."""
    return node.role in {"length", "count"} and node.path != "size"


def _rows(root: Node, depth: int, *, is_full: bool) -> Iterator[_Row]:
    stack = [(root, depth)]
    while stack:
        node, at = stack.pop()
        children = node.children if is_full else list(_folded(node.children))
        if _is_wrapper(node):
            # Its only part, or its length and its content, have rows of their own.
            stack += [(child, at) for child in reversed(children)]
            continue
        yield _Row(node, at, bool(node.children) or node.type == _FOLD, _name(node))
        stack += [(child, at + 1) for child in reversed(children)]


def _folded(children: list[Node]) -> Iterator[Node]:
    """The first elements of a long array, a node for the others, and all that are not as usual."""
    elements = [child for child in children if child.path.endswith("]")]
    if len(elements) <= _LONG_ARRAY:
        yield from children
        return
    hidden = [each for each in elements[_ELEMENTS_SHOWN:] if _is_as_usual(each)]
    left_out = set(map(id, hidden))
    for child in children:
        if child is hidden[0]:
            length = sum(each.length for each in hidden)
            yield Node(f"… {len(hidden)} more", "group", _FOLD, child.offset, length)
        if id(child) not in left_out:
            yield child


def _is_as_usual(element: Node) -> bool:
    return all(node.state is State.OK for node in element.walk_all())


def _is_wrapper(node: Node) -> bool:
    if node.role == "tags":
        return len(node.children) == 1
    return node.role == "field" and bool(node.children) and node.children[0].role == "length"


def _name(node: Node) -> str:
    name = node.path.rpartition(".")[2]
    if node.role in {"field", "group", "content", "rest"} or node.path == "size":
        return name
    if node.role == "tags":
        return "tagged fields"
    if name == "tagged_fields":
        return f"tagged fields {node.role}"
    if name.startswith("tagged_fields"):
        return node.role
    return f"{name} {node.role}"


def _line(row: _Row, style: Style, name_width: int, type_width: int) -> str:
    node = row.node
    raw = "" if row.is_group else spaced_hex(node.raw, TEXT_BYTES_SHOWN)
    name = f"{'  ' * row.depth}{row.name}".ljust(name_width)
    value = value_text(node) if node.state is not State.BROKEN or node.role != "rest" else ""
    head = f"{node.offset:08x} {node.length:>6}  "
    parts = [
        style.paint(head, _DIM),
        raw.ljust(3 * TEXT_BYTES_SHOWN + 1),
        " ",
        style.paint(name, _BOLD if row.is_group else _CYAN),
        "  ",
        node.type.ljust(type_width),
        "  ",
        style.paint(value, _GREEN),
    ]
    if node.state is not State.OK:
        remark = f"{node.state.value.upper()}: {node.note}" if node.note else node.state.value
        parts += ["  " if value else "", style.paint(printable(remark), _STATE_COLOURS[node.state])]
    elif node.note:
        parts += ["  " if value else "", style.paint(f"({printable(node.note)})", _YELLOW)]
    return "".join(parts).rstrip()


# -- JSON ---------------------------------------------------------------------------------------


def json_text(root: Node | None, style: Style, facts: dict[str, Any]) -> str:
    """The tree, and what else is known, as one line of JSON."""
    made = dict(facts)
    if root is not None:
        made["tree"] = as_json(root, explain=style.explain)
    return json.dumps(made, ensure_ascii=True, allow_nan=False)


def as_json(node: Node, *, explain: bool = False) -> dict[str, Any]:
    """A node and what is below it as JSON's own types."""
    made: dict[str, Any] = {
        "path": node.path,
        "role": node.role,
        "type": node.type,
        "offset": node.offset,
        "length": node.length,
    }
    if not node.children:
        made["bytes"] = bytes(node.raw[:JSON_BYTES_SHOWN]).hex()
        if len(node.raw) > JSON_BYTES_SHOWN:
            made["bytes_omitted"] = len(node.raw) - JSON_BYTES_SHOWN
    if node.role not in {"group", "tags", "rest"}:
        made["value"] = _json_value(node)
        if isinstance(node.value, str) and len(node.value) > JSON_VALUE_SHOWN:
            made["value_omitted"] = len(node.value) - JSON_VALUE_SHOWN
    elif isinstance(node.value, int):
        made["elements"] = node.value
    if node.schema:
        made["schema"] = node.schema
    if node.note:
        made["note"] = node.note
    if node.state is not State.OK:
        made["state"] = node.state.value
    if explain and node.about:
        made["about"] = node.about
    if node.children:
        made["children"] = [as_json(child, explain=explain) for child in node.children]
    if node.inner is not None:
        made["decompressed"] = as_json(node.inner, explain=explain)
    return made


def _json_value(node: Node) -> Any:
    value = node.value
    if isinstance(value, str):
        return value[:JSON_VALUE_SHOWN]
    if isinstance(value, bytes | memoryview):
        if node.type == "uuid":
            return uuid_text(bytes(value))
        return _as_text(bytes(value[:JSON_VALUE_SHOWN]))
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value
