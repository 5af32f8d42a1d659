"""Saying that clients may come, in each way that ``fencepost up`` was asked for."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import argparse


class NotReadyError(Exception):
    """All runs, but whoever waits for it cannot be told."""


def announce(options: argparse.Namespace, told: dict[str, Any], line: str) -> None:
    """Tell programs in JSON, or people by a line."""
    words = json.dumps(told)
    try:
        if options.pid_file:
            Path(options.pid_file).write_text(f"{os.getpid()}\n", encoding="ascii")
        if options.ready_fd is not None:
            with open(options.ready_fd, "w", encoding="utf-8") as ready:  # noqa: PTH123 (no path)
                ready.write(f"{words}\n")
    except OSError as error:
        raise NotReadyError(f"cannot tell that it is ready: {error}") from error
    sys.stdout.write(f"{words if options.json else line}\n")
    sys.stdout.flush()


def forget_pid(pid_file: str | None) -> None:
    """Remove the file, unless it is another broker's by now."""
    if pid_file is None:
        return
    with contextlib.suppress(OSError, ValueError):
        path = Path(pid_file)
        if path.read_text(encoding="ascii").strip() == str(os.getpid()):
            path.unlink()
