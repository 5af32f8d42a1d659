"""A page of Python under construction: indentation, and the constants that the page refers to."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

INDENT: Final = "    "
LINE_MAX: Final = 100


class Source:
    """Lines of Python at the current indentation."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.depth = 0
        self.packers: set[str] = set()
        self.unpackers: set[str] = set()

    def line(self, text: str = "") -> None:
        """One line; an empty one carries no blanks."""
        self.lines.append(f"{INDENT * self.depth}{text}" if text else "")

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        """``head`` and, indented, what is written inside the ``with``."""
        self.line(head)
        self.depth += 1
        yield
        self.depth -= 1

    def packer(self, codes: str) -> str:
        """The bound ``pack`` of the big-endian struct with these codes."""
        self.packers.add(codes)
        return f"_pack_{struct_label(codes)}"

    def unpacker(self, codes: str) -> str:
        """The bound ``unpack_from`` of the big-endian struct with these codes."""
        self.unpackers.add(codes)
        return f"_unpack_{struct_label(codes)}"

    def docstring(self, text: str) -> None:
        """``text`` as a docstring, wrapped when it is long."""
        quoted = text.replace("\\", "\\\\").replace('"""', "'''")
        if len(INDENT) * self.depth + len(quoted) + 6 <= LINE_MAX:
            self.line(f'"""{quoted}"""')
            return
        rows = wrap(quoted, LINE_MAX - len(INDENT) * self.depth - 3)
        self.line(f'"""{rows[0]}')
        for row in rows[1:]:
            self.line(row)
        self.line('"""')


def struct_label(codes: str) -> str:
    """A struct's codes as part of an identifier: ``?`` and ``16s`` have other letters."""
    return codes.replace("16s", "U").replace("?", "t")


def wrap(text: str, width: int) -> list[str]:
    """Words of ``text`` in rows of at most ``width``."""
    rows: list[str] = []
    row = ""
    for word in text.split():
        if row and len(row) + 1 + len(word) > width:
            rows.append(row)
            row = word
        else:
            row = f"{row} {word}" if row else word
    return [*rows, row]
