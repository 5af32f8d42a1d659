"""Errors of the control port, as RFC 9457 writes them."""

from __future__ import annotations

from collections.abc import Iterable
from http import HTTPStatus
from typing import Annotated, Final

from fencepost_protocol.commands import did_you_mean
from msgspec import Meta, Struct

CONTENT_TYPE: Final = "application/problem+json"


class Problem(Struct, frozen=True, omit_defaults=True):
    """Why a request was refused (RFC 9457)."""

    title: Annotated[str, Meta(description="the name of the status")]
    status: Annotated[int, Meta(description="the HTTP status")]
    detail: Annotated[str, Meta(description="what is wrong")]
    where: Annotated[str, Meta(description="the part of the request that is wrong")] = ""
    advice: Annotated[str, Meta(description="what to do")] = ""
    broker: Annotated[int | None, Meta(description="the broker that can do it")] = None


class ProblemError(Exception):
    """A request that is refused."""

    def __init__(
        self, status: HTTPStatus, detail: str, *, where: str = "", advice: str = "",
        broker: int | None = None,
    ) -> None:  # fmt: skip
        super().__init__(detail)
        self.problem = Problem(status.phrase, status.value, detail, where, advice, broker)


def not_found(what: str, name: str, known: Iterable[str], *, where: str) -> ProblemError:
    """Return the error for a name that nothing has; it advises the nearest name that is known."""
    known = sorted(known)
    near = did_you_mean(name, known).removeprefix("; ")
    shown = ", ".join(known[:_NAMES_SHOWN]) + (", ..." if len(known) > _NAMES_SHOWN else "")
    advice = f"{near[:1].upper()}{near[1:]}" if near else f"There are: {shown}" if known else ""
    return ProblemError(
        HTTPStatus.NOT_FOUND, f"there is no {what} {name}", where=where, advice=advice
    )


_NAMES_SHOWN: Final = 10
