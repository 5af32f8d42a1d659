"""Log levels of the broker's areas, which can change at run time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

AREAS: Final = ("server", "connection", "log", "controller", "group", "transaction", "tap")
LEVELS: Final = {"debug": 10, "info": 20, "warning": 30, "error": 40}
DEFAULT_LEVEL: Final = "info"
ROOT: Final = "root"
"""Stands for all areas without a level of their own."""


class LogLevels:
    """The level of each area, and of areas without one of their own."""

    def __init__(self, level: str = DEFAULT_LEVEL, areas: Mapping[str, str] | None = None) -> None:
        """Raises ValueError for an unknown area or level."""
        self._own: dict[str, str] = {}
        self._at_least: dict[str, int] = {}
        self.lowest = 0
        """The number of the lowest level that any area logs."""
        self.root = level
        self.set(ROOT, level)
        for area, of_area in (areas or {}).items():
            self.set(area, of_area)

    def at_least(self, area: str) -> int:
        """Return the number of the lowest level that an area logs."""
        return self._at_least[area]

    def told(self) -> dict[str, str]:
        """Return the level in force of every area."""
        return {ROOT: self.root} | {area: self._own.get(area, self.root) for area in AREAS}

    def set(self, area: str, level: str | None) -> None:
        """Set the level of an area, or of ROOT; ``None`` removes the area's own level."""
        if area != ROOT and area not in AREAS:
            raise ValueError(f"there is no log area {area}; the areas are {', '.join(AREAS)}")
        if level is None:
            if area == ROOT:
                raise ValueError(f"{ROOT} needs a level")
            self._own.pop(area, None)
        elif level not in LEVELS:
            raise ValueError(f"there is no log level {level}; the levels are {', '.join(LEVELS)}")
        elif area == ROOT:
            self.root = level
        else:
            self._own[area] = level
        self._at_least = {each: LEVELS[name] for each, name in self.told().items()}
        self.lowest = min(self._at_least.values())
