"""Progress of long work: a bar in a terminal, a line now and then elsewhere."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable
from types import TracebackType
from typing import Final, Self, TextIO

TERMINAL_EVERY_S: Final = 0.2
LINES_EVERY_S: Final = 10.0
_BAR_MIN, _BAR_MAX = 10, 30
_SHARE_MIN: Final = 0.05
"""From here on, the end is estimated."""


class Progress:
    """Shows how much of a long task is done, and when it will end.

    ``total`` is the number of its parts; 0 if that is not known.

    It goes to ``out``, standard error for commands; without one, nothing is said. Elsewhere than
    in a terminal, the first line is due after an interval, so short work says nothing.
    """

    def __init__(
        self, total: float, unit: str, out: TextIO | None,
        now_s: Callable[[], float] = time.monotonic,
    ) -> None:  # fmt: skip
        self._total = total
        self._unit = unit
        self._out = out
        self._now_s = now_s
        self._is_terminal = out is not None and out.isatty() and os.environ.get("TERM") != "dumb"
        self._every_s = TERMINAL_EVERY_S if self._is_terminal else LINES_EVERY_S
        self._done = 0.0
        self._step = ""
        self._is_shown = False
        self._began_s = self._due_s = now_s()
        if not self._is_terminal:
            self._due_s += self._every_s

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:  # fmt: skip
        self.clear()

    def begin(self, step: str) -> None:
        """A step begins, as ``reading orders-0``."""
        self._step = step
        self._tell()

    def advance(self, parts: float = 1) -> None:
        """So many more parts are done."""
        self.reach(self._done + parts)

    def reach(self, done: float) -> None:
        """So many parts are done altogether."""
        self._done = done
        self._tell()

    def clear(self) -> None:
        """Remove the bar from the terminal, so that other output can be written there."""
        if self._out and self._is_shown:
            self._is_shown = False
            self._due_s = self._now_s()
            self._out.write("\r\x1b[K")
            self._out.flush()

    def say(self, line: str) -> None:
        """Write a line to the same output; the bar stays below it."""
        if self._out is not None:
            self.clear()
            self._out.write(f"{line}\n")
            self._out.flush()
            self._tell()

    def _tell(self) -> None:
        now_s = self._now_s()
        if self._out is None or now_s < self._due_s:
            return
        self._due_s = now_s + self._every_s
        text = self._text(now_s - self._began_s)
        if self._is_terminal:
            self._is_shown = True
            text = f"\r\x1b[K{self._with_bar(text, _columns(self._out) - 1)}"
        else:
            text += "\n"
        self._out.write(text)
        self._out.flush()

    def _text(self, spent_s: float) -> str:
        if self._total:
            share = min(self._done / self._total, 1.0)
            text = f"{share:.0%}, {self._done:,.0f} of {self._total:,.0f} {self._unit}"
            if _SHARE_MIN <= share < 1:
                text += f", {duration(spent_s / share * (1 - share))} left"
        else:
            text = f"{self._done:,.0f} {self._unit} in {duration(spent_s)}"
        return f"{text}, {self._step}" if self._step else text

    def _with_bar(self, text: str, columns: int) -> str:
        width = min(columns - len(text) - len("[] "), _BAR_MAX)
        if self._total and width >= _BAR_MIN:
            filled = int(min(self._done / self._total, 1.0) * width)
            text = f"[{'#' * filled}{'-' * (width - filled)}] {text}"
        return text[:columns]


def _columns(terminal: TextIO) -> int:
    try:
        columns = os.get_terminal_size(terminal.fileno()).columns
    except (OSError, ValueError):
        columns = 0
    return columns or shutil.get_terminal_size().columns


def duration(seconds: float) -> str:
    """A time as people say it: 12 s, 3 min, 2 h 5 min."""
    minutes = round(seconds / 60)
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60} h {minutes % 60} min"
