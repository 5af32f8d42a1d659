"""Snapshots of a broker in memory: its state at one time, to go back to."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from http import HTTPStatus
from typing import Annotated, Any, Final, Literal

from msgspec import Meta, Struct

from fencepost_broker.server.control.cluster import Cluster
from fencepost_broker.server.control.problems import ProblemError, not_found
from fencepost_broker.server.control.routes import Asked, ControlContext, Route
from fencepost_broker.server.embedded.snapshot import NoSnapshotsError, Snapshot
from fencepost_broker.server.errors import ProcessError
from fencepost_broker.storage.log.disk import StorageError

NAME_MAX: Final = 200


class NewSnapshot(Struct, frozen=True, forbid_unknown_fields=True):
    """A snapshot to take."""

    name: Annotated[
        str,
        Meta(
            min_length=1,
            max_length=NAME_MAX,
            description="its name; an older snapshot of this name is replaced",
        ),
    ]


class SnapshotState(Struct, frozen=True):
    """A snapshot."""

    name: str
    at_ms: Annotated[int, Meta(description="state time, in milliseconds since 1970")]
    size_bytes: Annotated[int, Meta(description="the size of its files together")]


class SnapshotStates(Struct, frozen=True):
    """All snapshots, in the order in which they were taken."""

    snapshots: list[SnapshotState]


class SnapshotName(Struct, frozen=True, forbid_unknown_fields=True):
    """The name of a snapshot."""

    name: str


class SnapshotToRestore(Struct, frozen=True, forbid_unknown_fields=True):
    """A snapshot to go back to."""

    name: str
    connections: Annotated[
        Literal["close", "keep"],
        Meta(description="keep: close only connections that have a request under way"),
    ] = "close"


def take_snapshot(context: ControlContext, new: NewSnapshot) -> SnapshotState:
    """Keep the state as it is now."""
    with _refusing():
        return _told(context.embedded.snapshot(new.name))


def list_snapshots(context: ControlContext) -> SnapshotStates:
    """Return all snapshots that have names, also those of the program that runs the broker."""
    return SnapshotStates([_told(each) for each in context.embedded.snapshots.values()])


async def restore_snapshot(context: ControlContext, wanted: SnapshotToRestore) -> None:
    """Go back to a snapshot; the addresses stay."""
    snapshot = _of(context, wanted.name)
    with _refusing():
        await context.embedded.restore(snapshot, wanted.connections)


def remove_snapshot(context: ControlContext, named: SnapshotName) -> None:
    """Forget a snapshot."""
    _of(context, named.name)
    del context.embedded.snapshots[named.name]


async def reset_broker(context: ControlContext) -> None:
    """Go back to the state right after the start, and remove all faults; snapshots stay."""
    with _refusing():
        await context.embedded.reset()


async def _in_cluster(cluster: Cluster, route: Route, asked: Asked) -> Any:
    """Carry it out for a cluster in a program, which has the same methods as a broker."""
    answer = route.handler(cluster, *([] if asked.request is None else [asked.request]))
    return await answer if inspect.isawaitable(answer) else answer


async def _restore_in_cluster(cluster: Cluster, route: Route, asked: Asked) -> None:
    del route
    wanted: SnapshotToRestore = asked.request
    if wanted.connections == "keep":
        raise ProblemError(
            HTTPStatus.CONFLICT, "a cluster closes all connections", where="body, $.connections"
        )
    if wanted.name not in cluster.embedded.snapshots:
        raise _unknown(wanted.name, cluster.embedded.snapshots)
    with _refusing():
        await cluster.embedded.restore(wanted.name)


async def _reset_in_cluster(cluster: Cluster, route: Route, asked: Asked) -> None:
    del route, asked
    try:
        with _refusing():
            await cluster.processes.reset()
    except ProcessError as error:
        raise ProblemError(HTTPStatus.CONFLICT, str(error)) from None


def _of(context: ControlContext, name: str) -> Snapshot:
    snapshots = context.embedded.snapshots
    if name not in snapshots:
        raise _unknown(name, snapshots)
    return snapshots[name]


def _unknown(name: str, known: Iterable[str]) -> ProblemError:
    return not_found("snapshot", name, known, where="path, $.name")


def _told(snapshot: Snapshot) -> SnapshotState:
    return SnapshotState(snapshot.name, snapshot.at.now_ms, snapshot.size_bytes)


@contextmanager
def _refusing() -> Iterator[None]:
    try:
        yield
    except NoSnapshotsError as error:
        raise ProblemError(HTTPStatus.CONFLICT, str(error)) from None
    except StorageError as error:
        raise ProblemError(HTTPStatus.INSUFFICIENT_STORAGE, str(error)) from None


_REFUSED: Final = (HTTPStatus.CONFLICT, HTTPStatus.INSUFFICIENT_STORAGE)
ROUTES: Final = (
    Route(
        "GET", "/v1/snapshots", list_snapshots, "the snapshots of this broker",
        response=SnapshotStates, in_cluster=_in_cluster,
    ),
    Route(
        "POST",
        "/v1/snapshots",
        take_snapshot,
        "take a snapshot of a broker in memory",
        request=NewSnapshot,
        response=SnapshotState,
        status=HTTPStatus.CREATED,
        errors=_REFUSED,
        in_cluster=_in_cluster,
    ),
    Route(
        "POST",
        "/v1/snapshots/{name}/restore",
        restore_snapshot,
        "go back to a snapshot",
        request=SnapshotToRestore,
        errors=(HTTPStatus.NOT_FOUND, *_REFUSED),
        in_cluster=_restore_in_cluster,
    ),
    Route(
        "DELETE",
        "/v1/snapshots/{name}",
        remove_snapshot,
        "forget a snapshot",
        request=SnapshotName,
        errors=(HTTPStatus.NOT_FOUND,),
        in_cluster=_in_cluster,
    ),
    Route(
        "POST",
        "/v1/reset",
        reset_broker,
        "go back to the state right after the start, and remove all faults; snapshots stay",
        errors=_REFUSED,
        in_cluster=_reset_in_cluster,
    ),
)  # fmt: skip
