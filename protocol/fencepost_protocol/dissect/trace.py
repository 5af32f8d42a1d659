"""Who listens while a declaration reads a message.

The declarations tell a trace where each part begins and ends. When one fails, the trace still has
everything up to there: that is how a broken message shows its good beginning, and how an error
finds its field.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Protocol

from fencepost_protocol import limits
from fencepost_protocol.dissect.node import Node, State, join
from fencepost_protocol.dissect.values import note_of


@dataclass(frozen=True, slots=True)
class Label:
    """What a declaration says about one part, once for all messages."""

    name: str
    """The path's new step; ``ELEMENT`` for an array's element, empty for what adds no step."""
    role: str
    type: str
    schema: str = ""
    about: str = ""
    hint: str = ""
    """What else is known of the value, see ``values.note_of``."""


TAGS: Final = "tags"
"""The role of a tagged section."""

ELEMENT: Final = "[]"
"""The name of array elements: their path step is their position."""


class TooManyParts(Exception):  # noqa: N818 (a limit, nobody's error)
    """The message has more parts than the trace is willing to follow."""


class Trace(Protocol):
    """Hears of each part; nothing is heard of the end of a part that fails."""

    every_part: bool
    """Whether the elements of a plain array are parts of their own."""

    keeps_values: bool
    """Whether anybody looks at the values of structs and plain arrays."""

    def enter(self, label: Label, at: int, position: int = 0) -> None:
        """A part begins; ``position`` is that of an array's element."""

    def leave(self, at: int, value: object) -> None:
        """The part that began last has ended."""


class PathTrace:
    """Knows only where reading is: the path, and up to where everything was fine."""

    __slots__ = ("_left", "_steps", "at", "every_part", "keeps_values")

    def __init__(self, max_parts: int) -> None:
        self.every_part = False
        self.keeps_values = False
        self.at = 0
        self._steps: list[tuple[Label, int]] = []
        self._left = max_parts

    def enter(self, label: Label, at: int, position: int = 0) -> None:
        """A part begins."""
        self._left -= 1
        if self._left < 0:
            raise TooManyParts
        self.at = at
        self._steps.append((label, position))

    def leave(self, at: int, value: object) -> None:  # noqa: ARG002
        """A part has ended."""
        self.at = at
        self._steps.pop()

    @property
    def path(self) -> str:
        """Where reading is, or where it stopped."""
        path = ""
        above = None
        for label, position in self._steps:
            path = step(path, above, label, position)
            above = label
        return path


class Budget:
    """How many nodes a tree, with all that is opened below it, may still get."""

    __slots__ = ("left",)

    def __init__(self, parts: int = limits.MAX_DISSECTED_PARTS) -> None:
        self.left = parts

    def spend(self) -> None:
        """One node more."""
        self.left -= 1
        if self.left < 0:
            raise TooManyParts


class TreeTrace:
    """Builds a tree of nodes below ``root``, whose bytes begin with the content."""

    def __init__(self, root: Node, content: memoryview, budget: Budget) -> None:
        self.every_part = True
        self.keeps_values = False
        self._budget = budget
        self._content = content
        self._root = root
        self.last = root
        """The node that was completed last."""
        self._open: list[tuple[Node, Label]] = []
        self.at = 0

    def enter(self, label: Label, at: int, position: int = 0) -> None:
        """A part begins: a node that is open until ``leave``."""
        self._budget.spend()
        self.at = at
        parent, above = self._open[-1] if self._open else (self._root, None)
        node = Node(
            path=step(parent.path, above, label, position),
            role=label.role,
            type=label.type,
            offset=at + self._root.offset,
            schema=label.schema,
            about=label.about,
        )
        parent.children.append(node)
        self._open.append((node, label))

    def leave(self, at: int, value: object) -> None:
        """The open node is complete."""
        self.at = at
        node, label = self._open.pop()
        self._close(node)
        self.last = node
        if node.role not in {"group", TAGS}:
            node.value = value
        elif value is None:
            node.note = "null"
        elif isinstance(value, list):
            node.value = len(value)
        if label.hint:
            node.note = note_of(label.hint, value)

    def _close(self, node: Node) -> None:
        begin = node.offset - self._root.offset
        node.length = self.at - begin
        node.raw = self._content[begin : self.at]

    def fail(self, state: State, reason: str) -> None:
        """Reading has stopped: close what is open, and name the bytes that are left."""
        failed = self._open[-1][0] if self._open else self._root
        while self._open:
            node, _ = self._open.pop()
            self._close(node)
            if not node.length:
                parent = self._open[-1][0] if self._open else self._root
                parent.children.pop()
        rest = self._content[self.at :]
        self._root.children.append(
            Node(
                path=failed.path,
                role="rest",
                type=failed.type,
                offset=self.at + self._root.offset,
                length=len(rest),
                raw=rest,
                schema=failed.schema,
                about=failed.about,
                note=reason,
                state=state,
            )
        )


def step(path: str, above: Label | None, label: Label, position: int) -> str:
    """The path of a part below ``path``, which is that of the part ``above``."""
    if label.name is ELEMENT:
        return f"{path}[{position}]"
    if not label.name:
        return path
    if above is not None and above.role == TAGS:
        # A tagged field is its struct's, as any other; only the bytes around it are the section's.
        path = path.removesuffix(above.name).removesuffix(".")
    return join(path, label.name)
