"""The tree of a dissection: nodes with names for bytes.

The leaves of a tree, one after the other, are exactly the bytes that went in. Groups (structs,
arrays, frames) stand above them and have no bytes of their own. What was unpacked from compressed
bytes has no place among the input's bytes: it hangs as ``inner`` at the leaf that it came from,
with offsets of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import Final

_NO_BYTES: Final = memoryview(b"")


class State(Enum):
    """The state of a node's bytes."""

    OK = "ok"
    LEFT_OVER = "left over"
    """Bytes after the end of what was expected, or an end cut off where that is allowed."""
    BROKEN = "broken"
    """The bytes are invalid from here on; ``note`` says why."""
    UNREAD = "not read"
    """Not looked at, because a limit was reached or nothing tells how; ``note`` says why."""


@dataclass(slots=True, eq=False)
class Node:
    """Bytes and their meaning."""

    path: str
    """Such as ``topics[0].partitions[2].records``; structural bytes have their field's path."""
    role: str
    """``field``, ``group``, or which structural byte: ``length``, ``count``, ``tag`` ..."""
    type: str
    offset: int
    length: int = 0
    raw: memoryview = _NO_BYTES
    value: object = None
    schema: str = ""
    """The field's name in its schema."""
    about: str = ""
    note: str = ""
    """What helps to read the value: an error's name, a time, a verdict."""
    state: State = State.OK
    children: list[Node] = field(default_factory=list)
    inner: Node | None = None

    @property
    def end(self) -> int:
        """The offset after the last byte."""
        return self.offset + self.length

    def walk(self) -> Iterator[Node]:
        """Give this node and all below it in the order of their bytes; not what is unpacked."""
        stack = [self]
        while stack:
            node = stack.pop()
            yield node
            stack.extend(reversed(node.children))

    def walk_all(self) -> Iterator[Node]:
        """Give the same, and all that is unpacked, right after where it came from."""
        for node in self.walk():
            yield node
            if node.inner is not None:
                yield from node.inner.walk_all()

    def leaves(self) -> Iterator[Node]:
        """The nodes that hold the bytes."""
        return (node for node in self.walk() if not node.children)

    def find(self, path: str, role: str = "field") -> Node | None:
        """The first node of that path and role; what is unpacked is looked through as well."""
        for node in self.walk_all():
            if node.path == path and node.role == role:
                return node
        return None

    @property
    def is_broken(self) -> bool:
        """Whether anything in the tree, unpacked parts included, is broken."""
        return any(node.state is State.BROKEN for node in self.walk_all())


def join(parent: str, name: str) -> str:
    """The path of the field ``name`` below ``parent``."""
    return f"{parent}.{name}" if parent else name
