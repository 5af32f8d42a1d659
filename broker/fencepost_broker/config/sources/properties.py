r"""Parser of Java properties files: strict, with line numbers.

Three things that Java accepts are refused, because they are mistakes: a name that is given twice, a
backslash before a letter that is no escape (``C:\data``), and text that is not UTF-8.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple, NoReturn

from fencepost_broker.config.errors import SettingsError

_BLANK: Final = " \t\f"
_ESCAPES: Final = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_HEX_DIGITS: Final = 4


class Entry(NamedTuple):
    """A name with its value, and the line on which it begins."""

    name: str
    value: str
    line: int


def read_properties(content: bytes, path: str) -> list[Entry]:
    """Return all entries in their order; raises SettingsError with line numbers."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise SettingsError([f"{path}:{line}: this is not UTF-8"]) from None
    entries: list[Entry] = []
    problems: list[str] = []
    lines: dict[str, int] = {}
    for number, logical in _logical_lines(text):
        try:
            name, value = _split(logical)
        except ValueError as error:
            problems.append(f"{path}:{number}: {error}")
            continue
        if name in lines:
            problems.append(f"{path}:{number}: {name} is set in line {lines[name]} already")
        lines.setdefault(name, number)
        entries.append(Entry(name, value, number))
    if problems:
        raise SettingsError(problems)
    return entries


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield lines that are not comments, joined with those that continue them."""
    begun = 0
    parts: list[str] = []
    for number, natural in enumerate(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"), 1):
        line = natural.lstrip(_BLANK)
        if not parts and (line in {"", "\\"} or line[0] in "#!"):
            continue  # nothing yet: a comment can still begin after a backslash alone
        if not parts:
            begun = number
        # Of backslashes at the end, an odd one continues the line; a pair is a backslash.
        goes_on = (len(line) - len(line.rstrip("\\"))) % 2 == 1
        parts.append(line[:-1] if goes_on else line)
        if not goes_on:
            yield begun, "".join(parts)
            parts = []
    if parts:
        yield begun, "".join(parts)


def _split(line: str) -> tuple[str, str]:
    """Split a line at an equals sign, a colon or blanks."""
    name, end = _unescape(line, 0, stop="=:" + _BLANK)
    while end < len(line) and line[end] in _BLANK:
        end += 1
    if end < len(line) and line[end] in "=:":
        end += 1
        while end < len(line) and line[end] in _BLANK:
            end += 1
    if not name:
        raise ValueError("a value has no name")
    return name, _unescape(line, end, stop="")[0]


def _unescape(line: str, start: int, stop: str) -> tuple[str, int]:
    """Return the text up to one of the characters of `stop`, and its position."""
    if "\\" not in line and not stop:
        return line[start:], len(line)
    found: list[str] = []
    position = start
    while position < len(line):
        character = line[position]
        position += 1
        if character in stop:
            return "".join(found), position - 1
        if character == "\\":
            if position == len(line):
                break  # the last line of the file ends in a backslash: nothing to go on with
            character = line[position]
            position += 1
            if character == "u":
                character = _unicode(line[position : position + _HEX_DIGITS])
                position += _HEX_DIGITS
            elif character in _ESCAPES:
                character = _ESCAPES[character]
            elif character.isalnum():
                _refuse_escape(character)
        found.append(character)
    # A character beyond the first 65,536 is written as two escapes, the halves of a pair.
    return "".join(found).encode("utf-16", "surrogatepass").decode("utf-16", "replace"), position


def _unicode(digits: str) -> str:
    if len(digits) < _HEX_DIGITS or any(each not in "0123456789abcdefABCDEF" for each in digits):
        raise ValueError(f"\\u{digits}: \\u needs four hexadecimal digits")
    return chr(int(digits, 16))


def _refuse_escape(character: str) -> NoReturn:
    raise ValueError(f"\\{character} is not an escape; write a backslash as \\\\")
