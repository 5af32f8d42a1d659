"""``fencepost up`` whose writes fail at random while a file is there.

    FENCEPOST_TEST_FAILS=DIR/fails FENCEPOST_TEST_SEED=7 python -m tests.hostile.failing_broker up …

A write ends after any of its bytes: with an error at once, or short, and with the error when the
rest is tried. Cutting a file and putting a small file in place fail as well. The errors are those
of full disks, quotas and broken disks. Neither root nor a mount is needed.
"""

from __future__ import annotations

import errno
import os
import random
import sys
from typing import Any, Final

SWITCH: Final = "FENCEPOST_TEST_FAILS"
SEED: Final = "FENCEPOST_TEST_SEED"
ERRORS: Final = (errno.ENOSPC, errno.EIO, errno.EDQUOT)
FAILING: Final = 0.3

_pwrite, _ftruncate, _replace = os.pwrite, os.ftruncate, os.replace


class Failing:
    """Which call fails is up to the seed."""

    def __init__(self, switch: str, seed: str) -> None:
        self._switch = switch
        self._rng = random.Random(seed)
        self._was_short = False

    def _fails(self) -> bool:
        return os.path.exists(self._switch) and self._rng.random() < FAILING  # noqa: PTH110

    def _error(self) -> OSError:
        number = self._rng.choice(ERRORS)
        return OSError(number, os.strerror(number))

    def pwrite(self, descriptor: int, data: Any, position: int) -> int:
        if self._was_short:
            self._was_short = False
            raise self._error()
        if not self._fails():
            return _pwrite(descriptor, data, position)
        size = self._rng.randint(0, len(data))
        written = _pwrite(descriptor, memoryview(data)[:size], position)
        if 0 < written < len(data) and self._rng.random() < 0.5:
            self._was_short = True
            return written
        raise self._error()

    def ftruncate(self, descriptor: int, size: int) -> None:
        if self._fails():
            raise self._error()
        _ftruncate(descriptor, size)

    def replace(self, source: Any, target: Any) -> None:
        if self._fails():
            raise self._error()
        _replace(source, target)


def install() -> None:
    """Let the writes of this process fail while the file is there."""
    failing = Failing(os.environ[SWITCH], os.environ[SEED])
    os.pwrite, os.ftruncate = failing.pwrite, failing.ftruncate
    os.replace = failing.replace  # type: ignore[assignment]


if __name__ == "__main__":
    from fencepost_broker.cli.main import main

    install()
    sys.exit(main())
