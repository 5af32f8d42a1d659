"""What we tell a user we say in our own words: Apache Kafka's facts are used, not its sentences.

Every text in the source (docstrings aside) and in the schemas is laid beside every text in Apache
Kafka's classes and beside the ``about`` of its messages. A run of the same words that is too long
to be chance is a sentence copied.
"""

from __future__ import annotations

import ast
import json
import re
import struct
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.apache_kafka import LIBRARY_DIR, KafkaUnavailableError, fetch

pytestmark = pytest.mark.conformance

ROOT = Path(__file__).parents[2]
RUN = 6
"""Shorter ones are chance too often: "the first offset of the" is how anybody begins."""

# A name of several parts (retention.ms, read-only) is one word: names are facts.
_WORD = re.compile(r"[a-z0-9][a-z0-9'._-]*(?<=[a-z0-9])")
_VALUE = re.compile(r"[\x00-\x02]|%\w|\{\w*\}")
"""Where something is put into a text: the words on its two sides do not follow each other."""

_TEXT, _REFERENCE_TO_TEXT = 1, 8
_TAKES_TWO_NUMBERS = frozenset({5, 6})
_SIZES = {3: 5, 4: 5, 5: 9, 6: 9, 7: 3, 8: 3, 9: 5, 10: 5, 11: 5, 12: 5, 15: 4, 16: 3, 17: 5,
          18: 5, 19: 3, 20: 3}  # fmt: skip
"""How many bytes an entry of a class file's constants has, by its tag; texts tell it themselves."""


def runs(text: str) -> Iterator[tuple[str, ...]]:
    for part in _VALUE.split(text):
        words = _WORD.findall(part.lower())
        for start in range(len(words) - RUN + 1):
            yield tuple(words[start : start + RUN])


# -- Apache Kafka's --------------------------------------------------------------------------------


def texts_of_class(content: bytes) -> list[str]:
    """The texts that code of a class uses: those of its constants that one of tag 8 points to."""
    (count,) = struct.unpack_from(">H", content, 8)
    texts: dict[int, bytes] = {}
    used: list[int] = []
    position, number = 10, 1
    while number < count:
        tag = content[position]
        if tag == _TEXT:
            (size,) = struct.unpack_from(">H", content, position + 1)
            texts[number] = content[position + 3 : position + 3 + size]
            position += 3 + size
        else:
            if tag == _REFERENCE_TO_TEXT:
                used += struct.unpack_from(">H", content, position + 1)
            position += _SIZES[tag]
        number += 2 if tag in _TAKES_TWO_NUMBERS else 1
    return [texts[each].decode("utf-8", "replace") for each in used]


def kafka_texts() -> Iterator[str]:
    for jar in sorted(LIBRARY_DIR.glob("*kafka*.jar")):
        with zipfile.ZipFile(jar) as archive:
            for name in archive.namelist():
                if name.endswith(".class"):
                    yield from texts_of_class(archive.read(name))
                elif name.endswith(".json"):
                    yield from re.findall(r'"about":\s*"([^"]*)"', archive.read(name).decode())


@pytest.fixture(scope="module")
def kafka() -> dict[tuple[str, ...], str]:
    """Every run of words in Apache Kafka, and a text in which it stands."""
    try:
        fetch()
    except KafkaUnavailableError as error:
        pytest.skip(str(error))
    return {run: text for text in kafka_texts() for run in runs(text)}


# -- ours ------------------------------------------------------------------------------------------


def texts_of_module(path: Path) -> Iterator[tuple[str, str]]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    parts: set[ast.AST] = set()
    for node in ast.walk(tree):  # breadth first: whole texts come before their parts
        match node:
            case ast.Expr(value=ast.Constant() as documentation):
                parts.add(documentation)
            case ast.JoinedStr(values=values):
                parts.update(values)
                words = [each.value if isinstance(each, ast.Constant) else "{}" for each in values]
                yield f"{path}:{node.lineno}", "".join(map(str, words))
            case ast.Constant(value=str(text)) if node not in parts:
                yield f"{path}:{node.lineno}", text


def texts_of_schema(path: Path, node: Any) -> Iterator[tuple[str, str]]:
    match node:
        case dict():
            for each in node.values():
                yield from texts_of_schema(path, each)
        case list():
            for each in node:
                yield from texts_of_schema(path, each)
        case str():
            yield str(path), node


def our_texts() -> Iterator[tuple[str, str]]:
    for part in ("protocol", "client", "broker", "pipeline"):
        for path in sorted((ROOT / part).rglob("*.py")):
            if path.parent.name != "generated":
                yield from texts_of_module(path)
    for path in sorted((ROOT / "schemas").rglob("*.json")):
        yield from texts_of_schema(path, json.loads(path.read_text(encoding="utf-8")))


# -- the comparison --------------------------------------------------------------------------------


def test_no_sentence_is_copied(kafka: dict[tuple[str, ...], str]) -> None:
    copied = {}
    looked_at = 0
    for place, text in our_texts():
        looked_at += 1
        for run in runs(text):
            if run in kafka:
                copied[place, " ".join(run)] = kafka[run]
    assert looked_at > 5000
    assert not copied, "\n".join(
        f"{at}: {words!r}, as in {it!r}" for (at, words), it in copied.items()
    )


@pytest.mark.parametrize(
    "text",
    [
        "This server does not host this topic-partition.",
        "a manual partition assignment was specified, but something else was not",
        "Unable to replicate the partition 7 time(s): All brokers are currently fenced.",
    ],
)
def test_a_copied_sentence_is_seen(kafka: dict[tuple[str, ...], str], text: str) -> None:
    assert any(run in kafka for run in runs(text))


def test_a_text_with_values_in_it_is_one_text(tmp_path: Path) -> None:
    module = tmp_path / "module.py"
    module.write_text('"""Not this."""\nX = f"a {1} b"\n"""Nor this."""\nY = "c" "d"\n')
    assert [text for _, text in texts_of_module(module)] == ["a {} b", "cd"]
