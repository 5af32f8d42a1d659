"""What a person should hear of once, however often a client makes it happen."""

from __future__ import annotations

from typing import Final

_TEXTS_MAX: Final = 200


class OneTimeWarnings:
    """Collects texts for the log, each of them one time."""

    def __init__(self) -> None:
        self._known: set[str] = set()
        self._untold: list[str] = []

    def add(self, text: str) -> None:
        """Warn of this, unless it was said before or too much was said already."""
        if text not in self._known and len(self._known) < _TEXTS_MAX:
            self._known.add(text)
            self._untold.append(text)

    def take(self) -> list[str]:
        """Give what was not told yet."""
        untold, self._untold = self._untold, []
        return untold
