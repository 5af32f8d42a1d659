"""Fault rules: what happens to requests that match, and what the rules have done."""

from __future__ import annotations

import asyncio
from http import HTTPStatus
from typing import Annotated, Final

from msgspec import Meta, Struct

from fencepost_broker.faults.compiled import RuleError
from fencepost_broker.faults.rule import Rule, Status, Touched
from fencepost_broker.faults.rules import LoadedRule
from fencepost_broker.server.control.problems import ProblemError, not_found
from fencepost_broker.server.control.routes import ControlContext, Route

WAIT_MS_MAX: Final = 60_000


class Faults(Struct, frozen=True):
    """All rules, in the order in which they were added."""

    faults: list[Status]


class Plan(Struct, frozen=True, forbid_unknown_fields=True):
    """Rules that are added together, all or none."""

    fault: list[Rule]


class FaultName(Struct, frozen=True, forbid_unknown_fields=True):
    """The name of a rule."""

    name: str


class FaultFired(Struct, frozen=True, forbid_unknown_fields=True):
    """How often a rule is to fire, and how long to wait for that."""

    name: str
    times: Annotated[int, Meta(ge=1)] = 1
    timeout_ms: Annotated[int, Meta(ge=0, le=WAIT_MS_MAX)] = 10_000


class RequestsOfFault(Struct, frozen=True):
    """The last requests that a rule fired on."""

    requests: list[Touched]


class Released(Struct, frozen=True):
    """What a rule has let go."""

    released: Annotated[int, Meta(description="how many requests and answers")]


def list_faults(context: ControlContext) -> Faults:
    """Return all rules."""
    return Faults(context.process.fault_rules.statuses())


def add_fault(context: ControlContext, rule: Rule) -> Status:
    """Add a rule."""
    return add_faults(context, Plan([rule])).faults[0]


def add_faults(context: ControlContext, plan: Plan) -> Faults:
    """Add rules, all or none."""
    try:
        added = context.process.fault_rules.add(*plan.fault)
    except RuleError as error:
        raise ProblemError(HTTPStatus.BAD_REQUEST, str(error), where="body") from None
    now_ms = context.clock.now_ms()
    return Faults([each.status(now_ms) for each in added])


def clear_faults(context: ControlContext) -> None:
    """Remove all rules; what they hold goes on."""
    context.process.fault_rules.clear()


def get_fault(context: ControlContext, named: FaultName) -> Status:
    """Return one rule."""
    return _of(context, named.name).status(context.clock.now_ms())


def remove_fault(context: ControlContext, named: FaultName) -> None:
    """Remove a rule; what it holds goes on."""
    context.process.fault_rules.remove(_of(context, named.name).name)


def list_requests_of_fault(context: ControlContext, named: FaultName) -> RequestsOfFault:
    """Return the last requests that a rule fired on."""
    return RequestsOfFault(list(_of(context, named.name).touched))


def release_fault(context: ControlContext, named: FaultName) -> Released:
    """Let what a rule holds go on; the rule stays."""
    return Released(_of(context, named.name).release())


async def wait_for_fault(context: ControlContext, wanted: FaultFired) -> Status:
    """Wait until a rule has fired so often."""
    rule = _of(context, wanted.name)
    fired = asyncio.Event()
    stop = rule.when_fired(wanted.times, fired.set)
    try:
        async with asyncio.timeout(wanted.timeout_ms / 1000):
            await fired.wait()
    except TimeoutError:
        raise ProblemError(
            HTTPStatus.REQUEST_TIMEOUT,
            f"the rule has fired {rule.fired} of {wanted.times} times in {wanted.timeout_ms} ms;"
            f" {rule.matched} requests matched it",
            where="query, $.times",
            advice="Look at what clients send: GET /v1/requests.",
        ) from None
    finally:
        stop()
    return rule.status(context.clock.now_ms())


def _of(context: ControlContext, name: str) -> LoadedRule:
    rules = context.process.fault_rules
    try:
        return rules.get(name)
    except KeyError:
        known = [each.name for each in rules.loaded]
        raise not_found("fault rule", name, known, where="path, $.name") from None


_NAMED: Final = (HTTPStatus.NOT_FOUND,)
ROUTES: Final = (
    Route("GET", "/v1/faults", list_faults, "the fault rules", response=Faults),
    Route(
        "POST",
        "/v1/faults",
        add_fault,
        "add a fault rule",
        request=Rule,
        response=Status,
        status=HTTPStatus.CREATED,
    ),
    Route("DELETE", "/v1/faults", clear_faults, "remove all fault rules"),
    Route(
        "POST",
        "/v1/fault-plans",
        add_faults,
        "add several fault rules, all or none",
        request=Plan,
        response=Faults,
        status=HTTPStatus.CREATED,
    ),
    Route(
        "GET",
        "/v1/faults/{name}",
        get_fault,
        "one fault rule, and what it has done",
        request=FaultName,
        response=Status,
        errors=_NAMED,
    ),
    Route(
        "DELETE",
        "/v1/faults/{name}",
        remove_fault,
        "remove a fault rule; what it holds goes on",
        request=FaultName,
        errors=_NAMED,
    ),
    Route(
        "GET",
        "/v1/faults/{name}/requests",
        list_requests_of_fault,
        "the last requests that a fault rule fired on",
        request=FaultName,
        response=RequestsOfFault,
        errors=_NAMED,
    ),
    Route(
        "GET",
        "/v1/faults/{name}/fired",
        wait_for_fault,
        "wait until a fault rule has fired so often",
        request=FaultFired,
        response=Status,
        errors=(*_NAMED, HTTPStatus.REQUEST_TIMEOUT),
    ),
    Route(
        "POST",
        "/v1/faults/{name}/release",
        release_fault,
        "let what a fault rule holds go on",
        request=FaultName,
        response=Released,
        errors=_NAMED,
    ),
)
