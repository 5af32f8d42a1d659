"""Java's properties files, good ones and broken ones."""

from __future__ import annotations

from contextlib import suppress

import pytest
from fencepost_broker.config import SettingsError
from fencepost_broker.config.sources.properties import Entry, read_properties
from hypothesis import given
from hypothesis import strategies as st


def read(text: str) -> dict[str, str]:
    return {entry.name: entry.value for entry in read_properties(text.encode(), "f")}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", {}),
        ("# a=1\n! b=2\n   # c=3\n\n \t\n", {}),
        (
            "a=1\nb:2\nc 3\nd\t=\t4\n e = 5 \nf",
            {"a": "1", "b": "2", "c": "3", "d": "4", "e": "5 ", "f": ""},
        ),
        ("a = = b", {"a": "= b"}),
        ("a\\=b\\:c\\ d=1", {"a=b:c d": "1"}),
        ("a=1\\\n   ,2\\\n\t,3\nb=4", {"a": "1,2,3", "b": "4"}),
        ("a=1\\\\\nb=2", {"a": "1\\", "b": "2"}),
        ("a=1\\", {"a": "1"}),
        ("\\\n# still a comment\na=1", {"a": "1"}),
        ("a=\\\n# no comment", {"a": "# no comment"}),
        ("a=x\\ty\\nz\\\\\\#\\!", {"a": "x\ty\nz\\#!"}),
        ("a=\\u00e9\\ud83d\\ude00", {"a": "é😀"}),
        ("a=é😀", {"a": "é😀"}),
        ("\ufeffa=1", {"a": "1"}),
        ("a=1\r\nb=2\rc=3", {"a": "1", "b": "2", "c": "3"}),
    ],
)
def test_what_is_in_a_file(text: str, expected: dict[str, str]) -> None:
    assert read(text) == expected


def test_each_entry_has_its_line() -> None:
    found = read_properties(b"# one\na=1\\\n  2\n\nb=3\r\nc=4", "f")
    assert found == [Entry("a", "12", 2), Entry("b", "3", 5), Entry("c", "4", 6)]


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"a=1\nb=2\na=3", "f:3: a is set in line 1 already"),
        (b"a=\\u12", "f:1: \\u12: \\u needs four hexadecimal digits"),
        (b"a=\\u12x4", "f:1: \\u12x4: \\u needs four hexadecimal digits"),
        (b"\n\na=C:\\data", "f:3: \\d is not an escape; write a backslash as \\\\"),
        (b"= 5", "f:1: a value has no name"),
        (b"a=1\nb=\xff\xfe", "f:2: this is not UTF-8"),
    ],
)
def test_a_broken_file_is_refused_with_the_line(content: bytes, told: str) -> None:
    with pytest.raises(SettingsError) as caught:
        read_properties(content, "f")
    assert caught.value.problems == (told,)


def test_all_broken_lines_are_told() -> None:
    with pytest.raises(SettingsError) as caught:
        read_properties(b"a=\\q\nb=1\nb=2\n=3", "f")
    assert [problem.split(" ")[0] for problem in caught.value.problems] == ["f:1:", "f:3:", "f:4:"]


def escaped(text: str) -> str:
    return "".join(f"\\u{ord(each):04x}" for each in text)


# Characters of the basic plane, without the halves of pairs.
plain = st.text(st.characters(max_codepoint=0xFFFF, exclude_categories=["Cs"]), min_size=1)


@given(st.dictionaries(plain, plain))
def test_what_is_escaped_comes_back(values: dict[str, str]) -> None:
    text = "\n".join(f"{escaped(name)}={escaped(value)}" for name, value in values.items())
    assert read(text) == values


@given(st.binary())
def test_any_bytes_are_read_or_refused(content: bytes) -> None:
    with suppress(SettingsError):
        read_properties(content, "f")
