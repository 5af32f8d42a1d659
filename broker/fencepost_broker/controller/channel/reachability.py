"""Reachability of another process, over all connections to it: logged once, not at each attempt."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class Reachability:
    """Connections that are lost, and since when."""

    _lost: set[str] = field(default_factory=set)
    _since_ms: int = 0

    def lost(self, now_ms: int, connection: str = "") -> bool:
        """Note a failed connection; returns whether all connections worked before."""
        is_news = not self._lost
        if is_news:
            self._since_ms = now_ms
        self._lost.add(connection)
        return is_news

    def reached(self, now_ms: int, connection: str = "") -> int | None:
        """Note a working connection; returns how long the outage was, if all work again."""
        if connection not in self._lost:
            return None
        self._lost.remove(connection)
        return None if self._lost else now_ms - self._since_ms
