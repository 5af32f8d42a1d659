"""Errors of settings, with what users need to correct them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


class SettingsError(Exception):
    """Invalid settings; each problem is one line that says what, why and where."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = tuple(problems)


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that is most similar, if any."""
    import difflib

    found = difflib.get_close_matches(name.lower(), list(known), n=1, cutoff=0.6)
    return found[0] if found else None
