"""Progress of an audit: an updated line in a terminal, occasional lines elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final, Protocol, TextIO

TERMINAL_EVERY_S: Final = 0.2
LINES_EVERY_S: Final = 10.0


class Progress(Protocol):
    """Takes the progress of an audit."""

    def begin(self, step: str) -> None:
        """A step begins, as ``reading orders-0``."""

    def read(self, size: int) -> None:
        """Count bytes of log files that are done."""


class NoProgress:
    """Progress that is not shown."""

    def begin(self, step: str) -> None:
        """Tell nothing."""

    def read(self, size: int) -> None:
        """Tell nothing."""


class WrittenProgress:
    """Progress as text, with an estimate of the end once a twentieth is done."""

    def __init__(
        self,
        out: TextIO,
        total_bytes: int,
        now_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._out = out
        self._total = max(total_bytes, 1)
        self._now_s = now_s
        self._step = ""
        self._done = 0
        self._is_terminal = out.isatty()
        self._every_s = TERMINAL_EVERY_S if self._is_terminal else LINES_EVERY_S
        self._began_s = now_s()
        self._told_s = self._began_s

    def begin(self, step: str) -> None:
        """A step begins."""
        self._step = step
        self._tell()

    def read(self, size: int) -> None:
        """So many more bytes are done."""
        self._done += size
        self._tell()

    def end(self) -> None:
        """Leave the terminal's line empty."""
        if self._is_terminal:
            self._out.write("\r\x1b[K")
            self._out.flush()

    def _tell(self) -> None:
        now_s = self._now_s()
        if now_s - self._told_s < self._every_s:
            return
        self._told_s = now_s
        share = min(self._done / self._total, 1.0)
        text = f"{share:4.0%} of {self._total / 1e6:,.0f} MB"
        if 0.05 <= share < 1:
            left_s = (now_s - self._began_s) / share * (1 - share)
            text += f", {left_s:,.0f} s left"
        text = f"{text}, {self._step}"
        self._out.write(f"\r\x1b[K{text[:79]}" if self._is_terminal else f"{text}\n")
        self._out.flush()
