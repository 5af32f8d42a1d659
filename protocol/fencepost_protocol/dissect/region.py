"""Reads a stretch of bytes into a tree, whatever becomes of it.

A region is a node whose bytes are known before they are understood: a message, a record batch, a
record's value. What goes wrong inside stays inside; what comes after it is read as if nothing had
happened.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from construct import Construct, ConstructError, Container

from fencepost_protocol import limits
from fencepost_protocol.dissect.constructs import Source, why
from fencepost_protocol.dissect.node import Node, State
from fencepost_protocol.dissect.trace import Budget, Label, TooManyParts, TreeTrace


class NotReadable(Exception):  # noqa: N818 (nothing is wrong with the bytes)
    """The rest of a region is of a kind that we do not know."""


class Reader:
    """Reads one construct after the other; each makes its nodes."""

    def __init__(self, root: Node, content: memoryview, budget: Budget) -> None:
        self.trace = TreeTrace(root, content, budget)
        self.source = Source(content, self.trace)
        self._context = Container(_parsing=True, _building=False, _sizing=False, _params=None)

    def read(self, construct: Construct) -> Any:
        """The value of the next bytes."""
        return construct._parse(self.source, self._context, "")

    def note(self, text: str) -> None:
        """Say something about what was read last."""
        self.trace.last.note = text

    @contextmanager
    def group(self, label: Label, position: int = 0) -> Iterator[None]:
        """What is read inside the ``with`` hangs below one node."""
        self.trace.enter(label, self.source.tell(), position)
        yield
        self.trace.leave(self.source.tell(), ())


def read_region(
    root: Node,
    content: memoryview,
    budget: Budget,
    read: Callable[[Reader], None],
    *,
    open_end: bool = False,
) -> bool:
    """Let ``read`` fill ``root``, and mark what it leaves; gives whether it came to its end.

    With ``open_end`` the region ends where ``read`` does, otherwise where ``content`` does.
    """
    reader = Reader(root, content, budget)
    whole = False
    try:
        read(reader)
    except ConstructError as error:
        at = reader.trace.at
        reader.trace.fail(State.BROKEN, why(error, reader.source, at))
    except NotReadable as error:
        reader.trace.fail(State.UNREAD, str(error))
    except TooManyParts:
        reader.trace.fail(
            State.UNREAD, f"more than {limits.MAX_DISSECTED_PARTS} parts (MAX_DISSECTED_PARTS)"
        )
    else:
        whole = True
        if open_end:
            content = content[: reader.source.tell()]
        elif reader.source.left:
            reader.trace.fail(State.LEFT_OVER, "behind the end of what was expected")
    root.length = len(content)
    root.raw = content
    return whole
