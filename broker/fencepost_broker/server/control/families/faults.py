"""Fault rules: what happens to requests that match, and what the rules have done."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from http import HTTPStatus
from typing import Annotated, Any, Final
from urllib.parse import quote

import msgspec
from msgspec import Meta, Struct

from fencepost_broker.faults.compiled import RuleError
from fencepost_broker.faults.rule import Rule, Status, Touched
from fencepost_broker.faults.rules import LoadedRule
from fencepost_broker.server.control.cluster import Cluster
from fencepost_broker.server.control.in_cluster import all_brokers, broker_that_has_it
from fencepost_broker.server.control.problems import ProblemError, not_found
from fencepost_broker.server.control.routes import Asked, ControlContext, Route

WAIT_MS_MAX: Final = 60_000
WAIT_AT_ONCE_MS: Final = 10_000
"""How long a broker of a cluster is asked to wait, before it is asked again."""


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
    return Faults(context.fault_rules.statuses())


def add_fault(context: ControlContext, rule: Rule) -> Status:
    """Add a rule."""
    return add_faults(context, Plan([rule])).faults[0]


def add_faults(context: ControlContext, plan: Plan) -> Faults:
    """Add rules, all or none."""
    try:
        added = context.fault_rules.add(*plan.fault)
    except RuleError as error:
        raise ProblemError(HTTPStatus.BAD_REQUEST, str(error), where="body") from None
    now_ms = context.now_ms()
    return Faults([each.status(now_ms) for each in added])


def clear_faults(context: ControlContext) -> None:
    """Remove all rules; what they hold goes on."""
    context.fault_rules.clear()


def get_fault(context: ControlContext, named: FaultName) -> Status:
    """Return one rule."""
    return _of(context, named.name).status(context.now_ms())


def remove_fault(context: ControlContext, named: FaultName) -> None:
    """Remove a rule; what it holds goes on."""
    context.fault_rules.remove(_of(context, named.name).name)


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
        raise _not_fired(rule, wanted) from None
    finally:
        stop()
    return rule.status(context.now_ms())


def _not_fired(rule: LoadedRule | Status, wanted: FaultFired) -> ProblemError:
    return ProblemError(
        HTTPStatus.REQUEST_TIMEOUT,
        f"the rule has fired {rule.fired} of {wanted.times} times in {wanted.timeout_ms} ms;"
        f" {rule.matched} requests matched it",
        where="query, $.times",
        advice="Look at what clients send: GET /v1/requests.",
    )


def _of(context: ControlContext, name: str) -> LoadedRule:
    rules = context.fault_rules
    try:
        return rules.get(name)
    except KeyError:
        raise _unknown(name, [each.name for each in rules.loaded]) from None


def _unknown(name: str, known: Iterable[str]) -> ProblemError:
    return not_found("fault rule", name, known, where="path, $.name")


# -- in a cluster --------------------------------------------------------------------------------


async def _list_in_cluster(cluster: Cluster, route: Route, asked: Asked) -> Faults:
    answers = await cluster.ask_all(cluster.running_brokers, route, asked)
    return _united(cluster, answers.values())


def _united(cluster: Cluster, answers: Iterable[Faults]) -> Faults:
    by_name: dict[str, list[Status]] = {}
    for answer in answers:
        for each in answer.faults:
            by_name.setdefault(each.name, []).append(each)
    return Faults([_one(cluster, found) for found in by_name.values()])


async def _get_in_cluster(cluster: Cluster, route: Route, asked: Asked) -> Status:
    answers = await cluster.ask_all(cluster.running_brokers, route, asked)
    return _one(cluster, answers.values())


def _one(cluster: Cluster, answers: Iterable[Status]) -> Status:
    """Return what a rule has done in the cluster; ``answers`` are those of the brokers."""
    found = list(answers)
    return cluster.rules.sum(found[0].rule, found)


async def _add_in_cluster(cluster: Cluster, route: Route, asked: Asked) -> Status:
    added = await _add_plan_in_cluster(cluster, route, Asked(Plan([asked.request]), ""))
    return added.faults[0]


async def _add_plan_in_cluster(cluster: Cluster, route: Route, asked: Asked) -> Faults:
    """Add rules to all brokers, or to none if one refuses them."""
    del route
    async with cluster.changing:
        try:
            named = cluster.rules.named(asked.request.fault)
        except RuleError as error:
            raise ProblemError(HTTPStatus.BAD_REQUEST, str(error), where="body") from None
        brokers = cluster.running_brokers
        plan = Plan(named)
        asked = Asked(plan, ADDING.path, msgspec.json.encode(plan))
        cluster.rules.expect(named)
        answers = await cluster.try_all(brokers, ADDING, asked)
        refused = [each for each in answers.values() if isinstance(each, ProblemError)]
        added: dict[int, Any] = {
            broker: each for broker, each in answers.items() if each not in refused
        }
        if refused:
            for each in named:
                cluster.rules.forget(each.name)
                target = f"{_LISTING.path}/{quote(each.name, safe='')}"
                if added:
                    await cluster.try_all(added, _REMOVING, Asked(None, target))
            raise refused[0]
        cluster.rules.added(named)
        return _united(cluster, added.values())


async def _clear_in_cluster(cluster: Cluster, route: Route, asked: Asked) -> None:
    async with cluster.changing:
        cluster.rules.clear()
        await cluster.ask_all(cluster.running_brokers, route, asked)


async def _remove_in_cluster(cluster: Cluster, route: Route, asked: Asked) -> None:
    async with cluster.changing:
        cluster.rules.forget(asked.request.name)
        await broker_that_has_it(cluster, route, asked)


def _those_that_fired(answers: Sequence[RequestsOfFault]) -> RequestsOfFault:
    found = [each for answer in answers for each in answer.requests]
    return RequestsOfFault(sorted(found, key=lambda each: each.at_ms))


def _all_released(answers: Sequence[Released]) -> Released:
    return Released(sum(each.released for each in answers))


async def _wait_in_cluster(cluster: Cluster, route: Route, asked: Asked) -> Status:
    """Wait until a rule has fired so often in all brokers together.

    Each broker is asked to wait for its next firing, and the first answer ends the wait of all.
    """
    wanted: FaultFired = asked.request
    path = asked.target.partition("?")[0]
    loop = asyncio.get_running_loop()
    until = loop.time() + wanted.timeout_ms / 1000
    while True:
        brokers = cluster.running_brokers
        answers = await cluster.ask_all(brokers, _SHOWING, Asked(None, path.removesuffix("/fired")))
        status = _one(cluster, answers.values())
        left_ms = round((until - loop.time()) * 1000)
        if status.fired >= wanted.times:
            return status
        if left_ms <= 0:
            raise _not_fired(status, wanted)
        ms = min(left_ms, WAIT_AT_ONCE_MS)
        waits = [
            asyncio.ensure_future(
                cluster.ask(
                    broker, route, Asked(None, f"{path}?times={each.fired + 1}&timeout_ms={ms}")
                )
            )
            for broker, each in answers.items()
        ]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for each in waits:
                each.cancel()
            await asyncio.gather(*waits, return_exceptions=True)


_NAMED: Final = (HTTPStatus.NOT_FOUND,)
_LISTING: Final = Route(
    "GET",
    "/v1/faults",
    list_faults,
    "the fault rules",
    response=Faults,
    in_cluster=_list_in_cluster,
)
ADDING: Final = Route(
    "POST",
    "/v1/fault-plans",
    add_faults,
    "add several fault rules, all or none",
    request=Plan,
    response=Faults,
    status=HTTPStatus.CREATED,
    in_cluster=_add_plan_in_cluster,
)
_SHOWING: Final = Route(
    "GET",
    "/v1/faults/{name}",
    get_fault,
    "one fault rule, and what it has done",
    request=FaultName,
    response=Status,
    errors=_NAMED,
    in_cluster=_get_in_cluster,
)
_REMOVING: Final = Route(
    "DELETE",
    "/v1/faults/{name}",
    remove_fault,
    "remove a fault rule; what it holds goes on",
    request=FaultName,
    errors=_NAMED,
    in_cluster=_remove_in_cluster,
)
ROUTES: Final = (
    _LISTING,
    Route(
        "POST",
        "/v1/faults",
        add_fault,
        "add a fault rule",
        request=Rule,
        response=Status,
        status=HTTPStatus.CREATED,
        in_cluster=_add_in_cluster,
    ),
    Route(
        "DELETE",
        "/v1/faults",
        clear_faults,
        "remove all fault rules",
        in_cluster=_clear_in_cluster,
    ),
    ADDING,
    _SHOWING,
    _REMOVING,
    Route(
        "GET",
        "/v1/faults/{name}/requests",
        list_requests_of_fault,
        "the last requests that a fault rule fired on",
        request=FaultName,
        response=RequestsOfFault,
        errors=_NAMED,
        in_cluster=all_brokers(_those_that_fired),
    ),
    Route(
        "GET",
        "/v1/faults/{name}/fired",
        wait_for_fault,
        "wait until a fault rule has fired so often",
        request=FaultFired,
        response=Status,
        errors=(*_NAMED, HTTPStatus.REQUEST_TIMEOUT),
        in_cluster=_wait_in_cluster,
    ),
    Route(
        "POST",
        "/v1/faults/{name}/release",
        release_fault,
        "let what a fault rule holds go on",
        request=FaultName,
        response=Released,
        errors=_NAMED,
        in_cluster=all_brokers(_all_released),
    ),
)
