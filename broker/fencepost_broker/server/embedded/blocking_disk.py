"""Faults of the disk of a broker that runs in another thread."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from fencepost_broker.storage.disk import faulty
    from fencepost_broker.storage.disk.faults import DiskFault

R = TypeVar("R")


class Do(Protocol):
    """Makes a call where the broker runs."""

    def __call__(self, call: Callable[[], R], /) -> R:
        """Return what it returns."""


class Disk:
    """Faults of a broker's disk: ``DiskFaults``, for another thread."""

    def __init__(self, do: Do, faults: Callable[[], faulty.DiskFaults]) -> None:
        self._do = do
        self._faults = faults

    def add(self, fault: DiskFault) -> LoadedDiskFault:
        """Put a fault in force until it is removed."""
        return LoadedDiskFault(self._do, self._do(lambda: self._faults().add(fault)))


class LoadedDiskFault:
    """A fault that is in force until it is removed."""

    def __init__(self, do: Do, loaded: faulty.LoadedDiskFault) -> None:
        self._do = do
        self._loaded = loaded

    @property
    def fired(self) -> int:
        """How many operations it has changed."""
        return self._loaded.fired

    def remove(self) -> None:
        """Mend the disk; syncs that wait go on."""
        self._do(self._loaded.remove)
