"""Ways in which ``fencepost up`` reports that the broker is ready."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from argparse import ArgumentTypeError
from typing import TYPE_CHECKING, Any

from fencepost_protocol.commands import number

if TYPE_CHECKING:
    import argparse


class NotReadyError(Exception):
    """The broker runs, but its readiness cannot be reported."""


def written_descriptor(text: str) -> int:
    """Parse the number of a file descriptor that is open for writing."""
    descriptor = number("a file descriptor above 2", least=3)(text)
    if _mode_of(descriptor) == os.O_RDONLY:
        raise ArgumentTypeError(f"{descriptor} is not open for writing")
    return descriptor


def read_descriptor(text: str) -> int:
    """Parse the number of a file descriptor that is open for reading."""
    descriptor = number("a file descriptor")(text)
    if _mode_of(descriptor) == os.O_WRONLY:
        raise ArgumentTypeError(f"{descriptor} is not open for reading")
    return descriptor


def _mode_of(descriptor: int) -> int:
    try:
        try:
            import fcntl
        except ImportError:  # Windows does not tell what a descriptor is open for
            os.fstat(descriptor)
            return os.O_RDWR
        return fcntl.fcntl(descriptor, fcntl.F_GETFL) & os.O_ACCMODE
    except OSError:
        raise ArgumentTypeError(
            f"{descriptor} is not an open file descriptor: let this process inherit it (a shell: "
            f"{descriptor}>FILE; Python's subprocess: pass_fds)"
        ) from None


def check_pid_file(pid_file: str) -> None:
    """Raise ValueError if the file cannot be written later."""
    from pathlib import Path

    folder = Path(pid_file).parent
    if not folder.is_dir():
        raise ValueError(f"--pid-file {pid_file}: there is no directory {folder}")
    if Path(pid_file).is_dir():
        raise ValueError(f"--pid-file {pid_file}: this is a directory; name a file in it")


def announce(options: argparse.Namespace, told: dict[str, Any], line: str) -> None:
    """Print JSON for programs or a line for people, and write the files that were asked for."""
    words = json.dumps(told)
    try:
        if options.pid_file:
            from pathlib import Path

            Path(options.pid_file).write_text(f"{os.getpid()}\n", encoding="ascii")
        if options.ready_fd is not None:
            with open(options.ready_fd, "w", encoding="utf-8") as ready:  # noqa: PTH123 (no path)
                ready.write(f"{words}\n")
    except OSError as error:
        raise NotReadyError(f"cannot report that the broker is ready: {error}") from error
    sys.stdout.write(f"{words if options.json else line}\n")
    sys.stdout.flush()


def forget_pid(pid_file: str | None) -> None:
    """Remove the file, unless another broker has written it since."""
    if pid_file is None:
        return
    from pathlib import Path

    with contextlib.suppress(OSError, ValueError):
        path = Path(pid_file)
        if path.read_text(encoding="ascii").strip() == str(os.getpid()):
            path.unlink()
