"""Effects of a coordinator's decisions; they are released when the records are committed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(slots=True)
class Reply:
    """The answer to a request that was parked in the machine."""

    token: Callable[[Any], None]
    """The command's token, which is called with the answer."""
    answer: Any


@dataclass(slots=True)
class Tell:
    """An event for the log."""

    kind: str
    """The event's name, by which log lines can be filtered: words with hyphens."""
    text: str
    unexpected: bool = False
    """Whether it is logged as a warning."""
