"""Faults of the broker's disk."""

from __future__ import annotations

from collections.abc import Sequence
from http import HTTPStatus
from typing import Annotated, Final, cast

from msgspec import Meta, Struct
from msgspec.structs import replace

from fencepost_broker.server.control import numbered
from fencepost_broker.server.control.problems import not_found
from fencepost_broker.server.control.routes import ControlContext, Route
from fencepost_broker.storage.disk.faults import AnyDiskFault
from fencepost_broker.storage.disk.faulty import LoadedDiskFault


class DiskFaultState(Struct, frozen=True):
    """A fault of the disk that is in force."""

    number: Annotated[int, Meta(description="the number of the fault")]
    fired: Annotated[int, Meta(description="how many operations of the disk it has changed")]
    fault: AnyDiskFault


class DiskFaultStates(Struct, frozen=True):
    """All faults of the disk, in the order in which they were added."""

    faults: list[DiskFaultState]


class DiskFaultNumber(Struct, frozen=True, forbid_unknown_fields=True):
    """The number of a fault."""

    number: int


def list_disk_faults(context: ControlContext) -> DiskFaultStates:
    """Return all faults of the disk, also those of the program that runs the broker."""
    return DiskFaultStates([_told(each) for each in context.embedded.disk.loaded])


def add_disk_fault(context: ControlContext, fault: AnyDiskFault) -> DiskFaultState:
    """Make the disk fail until the fault is removed."""
    return _told(context.embedded.disk.add(fault))


def remove_disk_fault(context: ControlContext, named: DiskFaultNumber) -> None:
    """Remove a fault of the disk; syncs that wait go on."""
    loaded = {each.number: each for each in context.embedded.disk.loaded}
    if named.number not in loaded:
        known = map(str, loaded)
        raise not_found("disk fault", str(named.number), known, where="path, $.number")
    loaded[named.number].remove()


def clear_disk_faults(context: ControlContext) -> None:
    """Remove all faults of the disk."""
    context.embedded.disk.clear()


def _told(loaded: LoadedDiskFault) -> DiskFaultState:
    return DiskFaultState(loaded.number, loaded.fired, cast("AnyDiskFault", loaded.fault))


def _sum(states: Sequence[DiskFaultState]) -> DiskFaultState:
    """Return what a fault has done at the disks of all brokers."""
    return replace(states[0], fired=sum(each.fired for each in states))


ROUTES: Final = (
    Route(
        "GET",
        "/v1/disk/faults",
        list_disk_faults,
        "the faults of the disk, and how often they have fired",
        response=DiskFaultStates,
        in_cluster=numbered.list_all(_sum),
    ),
    Route(
        "POST",
        "/v1/disk/faults",
        add_disk_fault,
        "make the disk fail: full, slow, read-only, a torn write, ...",
        request=AnyDiskFault,
        response=DiskFaultState,
        status=HTTPStatus.CREATED,
        in_cluster=numbered.add("number", for_started=False),
    ),
    Route(
        "DELETE",
        "/v1/disk/faults",
        clear_disk_faults,
        "remove all faults of the disk",
        in_cluster=numbered.clear,
    ),
    Route(
        "DELETE",
        "/v1/disk/faults/{number}",
        remove_disk_fault,
        "remove a fault of the disk",
        request=DiskFaultNumber,
        errors=(HTTPStatus.NOT_FOUND,),
        in_cluster=numbered.remove("number", "disk fault"),
    ),
)
