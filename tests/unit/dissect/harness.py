"""Golden messages for the dissector."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent / "golden"


@dataclass(frozen=True)
class Golden:
    """A message in hexadecimal in which each byte was named by hand; the command takes it as well.

    A line is bytes and, behind the ``#``, ``path role type = value (note)`` of the leaf that they
    are. The first line is a title, the second the option that says what the bytes are.
    """

    name: str
    options: list[str]
    lines: list[tuple[str, str]]

    @property
    def content(self) -> bytes:
        return bytes.fromhex("".join(raw for raw, _ in self.lines))

    @property
    def is_broken(self) -> bool:
        return self.name.startswith("broken")


def read_golden(path: Path) -> Golden:
    rows = path.read_text(encoding="utf-8").splitlines()
    cut = [row.split("#", 1) for row in rows]
    lines = [(raw.strip(), leaf.strip()) for raw, leaf in cut[2:]]
    return Golden(path.stem, cut[1][1].split(), lines)


GOLDEN = [read_golden(path) for path in sorted(FOLDER.glob("*.txt"))]
