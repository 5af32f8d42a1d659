"""Warnings that are logged once, however often a client causes them."""

from __future__ import annotations

from typing import Final

_TEXTS_MAX: Final = 200


class OneTimeWarnings:
    """Collects texts for the log, each of them once."""

    def __init__(self) -> None:
        self._known: set[str] = set()
        self._untold: list[str] = []

    def add(self, text: str) -> None:
        """Collect a warning, unless it is known or there are too many."""
        if text not in self._known and len(self._known) < _TEXTS_MAX:
            self._known.add(text)
            self._untold.append(text)

    def take(self) -> list[str]:
        """Return the new warnings."""
        untold, self._untold = self._untold, []
        return untold
