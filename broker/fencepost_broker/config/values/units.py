"""Sizes, times and largest numbers by their names, and durations as people write them."""

from __future__ import annotations

import re
import sys
from typing import Final

MIB: Final = 1024 * 1024

SECOND_MS: Final = 1000
MINUTE_MS: Final = 60 * SECOND_MS
HOUR_MS: Final = 60 * MINUTE_MS
DAY_MS: Final = 24 * HOUR_MS

SHORT_MAX: Final = (1 << 15) - 1
INT_MAX: Final = (1 << 31) - 1
LONG_MAX: Final = (1 << 63) - 1
DOUBLE_MAX: Final = sys.float_info.max

_UNITS_MS: Final = {"d": DAY_MS, "h": HOUR_MS, "m": MINUTE_MS, "s": SECOND_MS, "ms": 1}
_PART: Final = r"(?a)([0-9]{1,15}(?:\.[0-9]{1,9})?)(d|h|ms|m|s)"


def read_duration(given: str) -> int:
    """Parse a duration such as ``8d``, ``1h30m`` or ``250ms``; returns milliseconds."""
    parts = re.findall(_PART, given)
    if not parts or "".join(map("".join, parts)) != given:
        raise ValueError(f"{given!r} is not a duration: write 8d, 1h30m, 90s or 250ms")
    return round(sum(float(number) * _UNITS_MS[unit] for number, unit in parts))
