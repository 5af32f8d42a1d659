"""Names of topics: which are allowed, and that of the metadata log."""

from __future__ import annotations

import re
from typing import Final

METADATA_TOPIC: Final = "__cluster_metadata"
"""The controller's log; clients cannot create or delete this topic."""
MAX_NAME_LENGTH: Final = 249
_ILLEGAL: Final = re.compile(r"[^a-zA-Z0-9._-]")


def name_problem(name: str) -> str | None:
    """Return what is wrong with a topic's name, for the answer; ``None`` for a valid one."""
    if not name:
        return "a topic needs a name, and this one is empty"
    if name in {".", ".."}:  # a file system would take it for a folder of its own
        return f"a topic cannot be called {name!r}"
    if len(name) > MAX_NAME_LENGTH:
        return f"a topic's name has at most {MAX_NAME_LENGTH} characters, this one {len(name)}"
    illegal = _ILLEGAL.search(name)
    if illegal is None:
        return None
    return f"{name!r} has {illegal[0]!r} in it: a topic's name is made of a-z, A-Z, 0-9, . _ and -"


def metric_name(name: str) -> str:
    """Return the name that Kafka's metrics use; two topics with the same one collide."""
    return name.replace(".", "_")
