"""Processes of a cluster that `fencepost up --brokers N` runs: which are up, and their ends."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta, Struct

from fencepost_broker.server.control.cluster import Cluster
from fencepost_broker.server.control.problems import ProblemError, not_found
from fencepost_broker.server.control.routes import Asked, ControlContext, Route
from fencepost_broker.server.errors import ProcessError


class ProcessState(Struct, frozen=True):
    """A process of the cluster."""

    id: Annotated[int, Meta(description="the node id of its broker or controller")]
    label: str
    roles: tuple[str, ...]
    state: Annotated[str, Meta(description="up, paused, starting or down")]
    pid: int | None
    bootstrap: Annotated[str, Meta(description="HOST:PORT")]


class ProcessStates(Struct, frozen=True):
    """All processes of the cluster."""

    processes: list[ProcessState]


class ProcessChange(Struct, frozen=True, forbid_unknown_fields=True):
    """What happens to a process."""

    id: Annotated[int, Meta(description="the node id of its broker or controller")]
    what: Annotated[
        Literal["kill", "stop", "pause", "resume", "start"],
        Meta(
            description="kill: SIGKILL; stop: in order, others take over first; pause: SIGSTOP,"
            " until resume; start: again, at its old address"
        ),
    ]


def list_processes(context: ControlContext) -> ProcessStates:
    """Return the processes of the cluster."""
    raise _alone(context)


def change_process(context: ControlContext, change: ProcessChange) -> ProcessState:
    """Kill, stop, pause, resume or start a process; return its state after that."""
    del change
    raise _alone(context)


def _alone(context: ControlContext) -> ProblemError:
    del context
    return ProblemError(
        HTTPStatus.CONFLICT,
        "this control port is that of one process, which cannot start or end others",
        advice="Ask the control port of a cluster: `fencepost up --brokers N --control PORT`.",
    )


async def _list(cluster: Cluster, route: Route, asked: Asked) -> ProcessStates:
    del route, asked
    members = cluster.processes.members.values()
    return ProcessStates([_told(each.told()) for each in members])


async def _change(cluster: Cluster, route: Route, asked: Asked) -> ProcessState:
    del route
    change: ProcessChange = asked.request
    members = cluster.processes.members
    if change.id not in members:
        raise not_found("process", str(change.id), map(str, members), where="path, $.id")
    try:
        await cluster.processes.do(change.what, change.id)
    except ProcessError as error:
        raise ProblemError(HTTPStatus.CONFLICT, str(error), where="path, $.what") from None
    return _told(members[change.id].told())


def _told(told: dict[str, Any]) -> ProcessState:
    return msgspec.convert(told, ProcessState)


ROUTES: Final = (
    Route(
        "GET",
        "/v1/processes",
        list_processes,
        "the processes of the cluster",
        response=ProcessStates,
        errors=(HTTPStatus.CONFLICT,),
        in_cluster=_list,
    ),
    Route(
        "POST",
        "/v1/processes/{id}/{what}",
        change_process,
        "kill, stop, pause, resume or start a process of the cluster",
        request=ProcessChange,
        response=ProcessState,
        errors=(HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT),
        in_cluster=_change,
    ),
)
