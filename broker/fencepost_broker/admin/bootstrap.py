"""Where a cluster is, as people write it."""

from __future__ import annotations

import re
from typing import Final

DEFAULT_PORT: Final = 9092
DEFAULT_BOOTSTRAP: Final = f"127.0.0.1:{DEFAULT_PORT}"


class UsageError(Exception):
    """Options that make no sense; the text says what is wanted."""


def addresses(text: str) -> list[tuple[str, int]]:
    """The brokers of ``HOST:PORT,HOST:PORT``; a port may be left out."""
    found = []
    for each in text.split(","):
        host, colon, port = each.strip().rpartition(":")
        if not colon or each.strip().endswith("]"):
            host, port = each.strip(), str(DEFAULT_PORT)
        if not re.fullmatch(r"[0-9]{1,5}", port) or not 0 < int(port) < 1 << 16 or not host:
            raise UsageError(f"--bootstrap {text}: it must be HOST or HOST:PORT, or several")
        found.append((host.removeprefix("[").removesuffix("]"), int(port)))
    return found


def command_for(bootstrap: str) -> str:
    """How another question to the same cluster begins, for advice that can be pasted."""
    where = "" if bootstrap == DEFAULT_BOOTSTRAP else f" --bootstrap {bootstrap}"
    return f"fencepost transactions{where}"
