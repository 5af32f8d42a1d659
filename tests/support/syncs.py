"""A disk whose syncs wait, and fail, when a test says so."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from fencepost_broker.storage.disk import files

GIVE_UP_SECONDS = 60


class Syncs:
    """The system's fdatasync, as the flushing thread calls it."""

    def __init__(self) -> None:
        self.real = files._datasync
        self.count = 0
        self.in_loop = 0
        """How many the loop did itself, which nothing holds up here."""
        self.fails = False
        self.may_go_on = threading.Event()
        self.may_go_on.set()
        self.threads: set[int] = set()

    def __call__(self, descriptor: int) -> None:
        """Sync a file."""
        if threading.get_ident() == threading.main_thread().ident:
            self.in_loop += 1
        else:
            self.threads.add(threading.get_ident())
            self.count += 1
            self.may_go_on.wait(GIVE_UP_SECONDS)
            if self.fails:
                raise OSError(5, "Input/output error")
        self.real(descriptor)


@contextmanager
def controlled_syncs() -> Iterator[Syncs]:
    """Have all syncs go through what is given."""
    syncs = Syncs()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(files, "_datasync", syncs)
        yield syncs
        syncs.may_go_on.set()
