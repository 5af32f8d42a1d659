"""Markers of transactions that are held back."""

from __future__ import annotations

from collections.abc import Sequence
from http import HTTPStatus
from typing import Annotated, Final

from msgspec import Meta, Struct

from fencepost_broker.coordinator.runtime import marker_sender
from fencepost_broker.server.control import numbered
from fencepost_broker.server.control.problems import not_found
from fencepost_broker.server.control.routes import ControlContext, Route


class MarkersToHold(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The markers to hold back: those that agree with all given fields; without any, all."""

    transactional_id: str | None = None
    topic: str | None = None
    partition: Annotated[int, Meta(ge=0)] | None = None


class Hold(Struct, frozen=True):
    """Markers that are held back until the hold is released."""

    hold: Annotated[int, Meta(description="the number of the hold")]
    transactional_id: str | None
    topic: str | None
    partition: int | None


class Holds(Struct, frozen=True):
    """All holds, also those of the program that runs the broker."""

    holds: list[Hold]


class HoldNumber(Struct, frozen=True, forbid_unknown_fields=True):
    """The number of a hold."""

    hold: int


def hold_markers(context: ControlContext, wanted: MarkersToHold) -> Hold:
    """Hold back markers."""
    sender = context.coordinators.sender
    return _told(sender.hold(wanted.transactional_id, wanted.topic, wanted.partition))


def list_holds(context: ControlContext) -> Holds:
    """Return all holds."""
    return Holds([_told(each) for each in _holds(context)])


def release_markers(context: ControlContext, named: HoldNumber) -> None:
    """Release markers, which are written then."""
    holds = {each.number: each for each in _holds(context)}
    if named.hold not in holds:
        raise not_found("hold", str(named.hold), map(str, holds), where="path, $.hold")
    holds[named.hold].release()


def _holds(context: ControlContext) -> Sequence[marker_sender.Hold]:
    return context.coordinators.sender.holds


def _told(hold: marker_sender.Hold) -> Hold:
    return Hold(hold.number, *hold.wanted)


ROUTES: Final = (
    Route(
        "POST",
        "/v1/markers/holds",
        hold_markers,
        "hold back markers of ended transactions",
        request=MarkersToHold,
        response=Hold,
        status=HTTPStatus.CREATED,
        errors=(HTTPStatus.CONFLICT,),
        in_cluster=numbered.add("hold", for_started=True),
    ),
    Route(
        "GET",
        "/v1/markers/holds",
        list_holds,
        "the markers that are held back",
        response=Holds,
        errors=(HTTPStatus.CONFLICT,),
        in_cluster=numbered.list_all(),
    ),
    Route(
        "DELETE",
        "/v1/markers/holds/{hold}",
        release_markers,
        "release markers; they are written then",
        request=HoldNumber,
        errors=(HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT),
        in_cluster=numbered.remove("hold", "hold"),
    ),
)
