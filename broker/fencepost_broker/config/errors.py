"""What is wrong with settings, said so that a person can put it right."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


class SettingsError(Exception):
    """Settings that cannot be used; each problem is one line that says what, why and where."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = tuple(problems)


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that somebody who wrote this one may have meant."""
    import difflib

    found = difflib.get_close_matches(name.lower(), list(known), n=1, cutoff=0.6)
    return found[0] if found else None
