"""The broker's docstrings and texts use plain words, which a stranger reads once."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import fencepost_broker

BROKER = Path(fencepost_broker.__file__).parent
INSTEAD = {
    "whoever": "clients, brokers, callers",
    "nobody": "no client, no broker",
    "somebody": "a client, another user",
    "who is in": "an authenticated client",
    "who asks": "the client, the caller",
    "who comes": "clients",
    "comes behind": "comes after",
}
_BANNED = re.compile(rf"\b({'|'.join(INSTEAD)})\b", re.IGNORECASE)


def texts_of(path: Path) -> Iterator[tuple[int, str]]:
    """Docstrings and literals of more than one word, with their lines."""
    for node in ast.walk(ast.parse(path.read_bytes())):
        match node:
            case ast.Constant(str(text)) if " " in text:
                yield node.lineno, " ".join(text.split())


def banned_in(path: Path) -> list[str]:
    return [
        f"{path.name}:{line}: {found[1]} ({INSTEAD[found[1].lower()]}): {text}"
        for line, text in texts_of(path)
        if (found := _BANNED.search(text)) is not None
    ]


def test_texts_have_plain_words() -> None:
    paths = sorted(BROKER.rglob("*.py"))
    assert len(paths) > 100
    assert [each for path in paths for each in banned_in(path)] == []


def test_a_banned_word_is_found(tmp_path: Path) -> None:
    path = tmp_path / "module.py"
    path.write_text('"""Doc."""\nraise ValueError(f"{1}: it comes\\n behind others")\n')
    assert banned_in(path) == ["module.py:2: comes behind (comes after): : it comes behind others"]
