"""Values as text: parsing and formatting as in Kafka."""

from __future__ import annotations

import re
from typing import Final

_INTEGER: Final = r"(?a)[+-]?[0-9]+"
_DOUBLE: Final = r"(?a)[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?"

# More than any number of 64 bits has, leading zeros included; Python itself gives up at 4,300.
_DIGITS_MAX: Final = 100

# From 10^7 on, and below 10^-3, Java writes a double with an exponent.
_EXPONENT_FROM: Final = 1e7
_EXPONENT_BELOW: Final = 1e-3


def read_boolean(given: str) -> bool:
    """Parse true or false, in any case."""
    lowered = given.lower()
    if lowered not in {"true", "false"}:
        raise ValueError("it is neither true nor false")
    return lowered == "true"


def read_integer(given: str) -> int:
    """Parse a whole number in decimal digits."""
    if not re.fullmatch(_INTEGER, given):
        raise ValueError("it is not a whole number")
    if len(given) > _DIGITS_MAX:
        raise ValueError("it is too large or too small")
    return int(given)


def read_double(given: str) -> float:
    """Parse a decimal number, with a point or an exponent."""
    if not re.fullmatch(_DOUBLE, given):
        raise ValueError("it is not a number")
    return float(given)


def read_list(given: str) -> tuple[str, ...]:
    """Split words at commas; an empty text has no words."""
    return tuple(word.strip() for word in given.split(",")) if given else ()


def check_form(words: tuple[str, ...], form: str, told: str) -> str | None:
    """Return what is wrong with the first word that does not match, or ``None``."""
    for word in words:
        if not re.fullmatch(form, word):
            return f"{word} is not of the form {told}"
    return None


def write(value: bool | float | str | tuple[str, ...] | None) -> str | None:
    """Return a value as Kafka writes it."""
    match value:
        case None:
            return None
        case bool():
            return "true" if value else "false"
        case float():
            return _write_double(value)
        case tuple():
            return ",".join(value)
    return str(value)


def _write_double(value: float) -> str:
    if value == 0 or _EXPONENT_BELOW <= abs(value) < _EXPONENT_FROM:
        return repr(value)
    digits, _, exponent = f"{value:.17e}".partition("e")
    # As few digits as tell the number from its neighbours: the shortest that Python finds.
    for precision in range(1, 18):
        digits, _, exponent = f"{value:.{precision}e}".partition("e")
        if float(f"{digits}e{exponent}") == value:
            break
    return f"{digits}E{int(exponent)}"
