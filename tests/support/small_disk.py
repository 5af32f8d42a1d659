"""A file system of a few megabytes that really gets full: a tmpfs in a mount namespace of its own.

    with SmallDisk(4) as disk, Up("--data-dir", f"{disk.path}/data", before=disk.before) as broker:
        disk.fill()
        ...
        disk.make_room()

It needs Linux, and leave to make user namespaces; ``SmallDiskUnavailableError`` says what it lacks.
"""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Self

_FILLER = "filler"
_BLOCK = 4096


class SmallDiskUnavailableError(Exception):
    """This machine does not let us mount anything."""


class SmallDisk:
    """The file system; it is gone at the end."""

    def __init__(self, megabytes: int, options: str = "") -> None:
        self._options = f"size={megabytes}m{options}"
        self._holder: subprocess.Popen[str] | None = None
        self.path = ""
        """Where it is, for those who run in its namespace."""

    def __enter__(self) -> Self:
        for tool in ("unshare", "nsenter", "mount"):
            if shutil.which(tool) is None:
                raise SmallDiskUnavailableError(f"there is no {tool}")
        self.path = tempfile.mkdtemp(prefix="fencepost-disk-")
        script = 'mount -t tmpfs -o "$1" tmpfs "$2" && echo ready && exec cat'
        self._holder = subprocess.Popen(
            ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script, "-",
             self._options, self.path],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert self._holder.stdout is not None
        if self._holder.stdout.readline() != "ready\n":
            reason = self._holder.communicate()[1].strip()
            Path(self.path).rmdir()
            raise SmallDiskUnavailableError(reason)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        assert self._holder is not None
        self._holder.communicate()  # the end of its input ends it
        Path(self.path).rmdir()

    @property
    def before(self) -> tuple[str, ...]:
        """What runs a command where the file system is seen."""
        assert self._holder is not None
        pid = str(self._holder.pid)
        return ("nsenter", "--target", pid, "--user", "--mount", "--preserve-credentials")

    @property
    def seen_from_here(self) -> Path:
        """The same files for us, who are not in the namespace."""
        assert self._holder is not None
        return Path(f"/proc/{self._holder.pid}/root{self.path}")

    def run(self, *command: str) -> None:
        """Run a command in the namespace."""
        subprocess.run([*self.before, *command], check=True)

    def fill(self) -> None:
        """Take all the room that there is."""
        with (self.seen_from_here / _FILLER).open("ab", buffering=0) as file:
            for size in (1 << 20, 1 << 16, _BLOCK, 1):
                while _took(file.fileno(), size):
                    pass

    def make_room(self) -> None:
        """Give back what ``fill`` took."""
        (self.seen_from_here / _FILLER).unlink(missing_ok=True)


def _took(descriptor: int, size: int) -> bool:
    try:
        return os.write(descriptor, bytes(size)) > 0
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        return False
