"""Whether another process is heard, over all connections to it: told once, not at each try."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class Reachability:
    """Connections by name, those of them that are lost, and since when."""

    _lost: set[str] = field(default_factory=set)
    _since_ms: int = 0

    def lost(self, now_ms: int, connection: str = "") -> bool:
        """One does not work; says whether all did before."""
        is_news = not self._lost
        if is_news:
            self._since_ms = now_ms
        self._lost.add(connection)
        return is_news

    def reached(self, now_ms: int, connection: str = "") -> int | None:
        """One works; gives for how long not all did, if by this all do again."""
        if connection not in self._lost:
            return None
        self._lost.remove(connection)
        return None if self._lost else now_ms - self._since_ms
