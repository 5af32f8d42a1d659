"""What has happened in a run, and when."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from fencepost_broker.simulation.loop import SimLoop


class Timeline:
    """The faults and notes of a run."""

    def __init__(self, loop: SimLoop) -> None:
        self._loop = loop
        self.on_line: Callable[[str], object] = lambda _: None
        """Called with each new line."""
        self.lines: list[tuple[float, str]] = []
        """What has happened, and when."""
        self.faults: Counter[str] = Counter()
        """How many faults there were, by kind."""
        self.steps: Counter[str] = Counter()
        """The steps of transactions that brokers have reached; those of markers together."""

    def note(self, text: str) -> None:
        """Add a line."""
        self.lines.append((self._loop.time(), text))
        self.on_line(text)

    def reached(self, step: str) -> None:
        """Count a step of a transaction."""
        what, _, rest = step.partition(".")
        self.steps[f"marker.{rest.rpartition('.')[2]}" if what == "marker" else step] += 1
