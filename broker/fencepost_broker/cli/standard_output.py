"""Standard output, whose errors are told apart from those of other files and of connections."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


class OutputError(Exception):
    """Standard output cannot be written, as on a full disk.

    It is no ``OSError``, so that no command takes it for an error of a file of its own.
    """


class ReaderGoneError(BrokenPipeError):
    """The reader of the pipe has ended."""


class _StandardOutput(io.FileIO):
    def write(self, data: ReadableBuffer, /) -> int:
        try:
            return super().write(data)
        except BrokenPipeError as error:
            raise ReaderGoneError(*error.args) from None
        except OSError as error:
            raise OutputError(error.strerror) from None


@contextmanager
def errors_of_output() -> Iterator[None]:
    """Within the block, writing to ``sys.stdout`` raises the errors above, the last flush too."""
    before = sys.stdout
    made = _made()
    if made is not None:
        sys.stdout = made
    try:
        try:
            yield
        finally:
            sys.stdout.flush()
    except (OutputError, ReaderGoneError):
        from fencepost_client.commands.output import discard_output

        discard_output()
        sys.stdout.flush()  # what is left goes nowhere
        raise
    finally:
        sys.stdout = before
        if made is not None:
            made.close()  # the descriptor stays open


def _made() -> io.TextIOWrapper | None:
    """Return a new standard output; ``None`` if it is no file, as in tests and Windows' console."""
    now = sys.stdout
    if now is None:  # it was closed before Python began
        # Open for reading only, so that writing fails.
        closed = _StandardOutput(os.open(os.devnull, os.O_RDONLY), "wb")
        return io.TextIOWrapper(io.BufferedWriter(closed), "utf-8")
    if not isinstance(now, io.TextIOWrapper):
        return None
    is_buffered = isinstance(now.buffer, io.BufferedWriter)
    raw = now.buffer.raw if isinstance(now.buffer, io.BufferedWriter) else now.buffer
    if type(raw) is not io.FileIO:
        return None
    now.flush()
    file = _StandardOutput(now.fileno(), "wb", closefd=False)
    return io.TextIOWrapper(
        io.BufferedWriter(file) if is_buffered else file,  # python -u
        now.encoding,
        now.errors,
        line_buffering=now.line_buffering,
        write_through=now.write_through,
    )
