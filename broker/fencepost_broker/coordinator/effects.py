"""Effects of a coordinator's decisions: they are released when its records are committed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(slots=True)
class Reply:
    """The answer to a request that has waited in the machine."""

    token: Callable[[Any], None]
    """What the command brought; it is called with the answer."""
    answer: Any


@dataclass(slots=True)
class Tell:
    """Something that a person should hear of; the server logs it."""

    kind: str
    """One word or two with a hyphen: what a log line is filtered by."""
    text: str
    unexpected: bool = False
    """Worth a warning."""
