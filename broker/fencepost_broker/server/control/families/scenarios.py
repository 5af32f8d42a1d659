"""Scenarios: failures that users of Kafka meet, which are made to happen at this broker."""

from __future__ import annotations

import asyncio
from http import HTTPStatus
from typing import TYPE_CHECKING, Annotated, Any, Final

from msgspec import Meta, Struct

from fencepost_broker.server.control.problems import ProblemError, not_found
from fencepost_broker.server.control.routes import Asked, ControlContext, Route

if TYPE_CHECKING:
    from fencepost_broker.server.control.client import ControlClient
    from fencepost_broker.server.control.cluster import Cluster


class ScenarioState(Struct, frozen=True):
    """A scenario, and what it needs."""

    name: str
    summary: str
    seen: Annotated[str, Meta(description="what a user sees")]
    clients: Annotated[str, Meta(description="which clients suffer, and in which versions")]
    remedy: Annotated[str, Meta(description="what mends it")]
    kip: Annotated[str, Meta(description="the KIP that mends it")]
    issues: Annotated[list[str], Meta(description="reports of it")]
    brokers: Annotated[int, Meta(description="brokers of its cluster; 0: a single broker")]
    topics: Annotated[list[str], Meta(description="topics that it creates")]
    settings: Annotated[dict[str, Any], Meta(description="settings that the broker must have")]
    own_broker: Annotated[str, Meta(description="why it cannot happen here; empty: it can")]


class ScenarioStates(Struct, frozen=True):
    """All scenarios."""

    scenarios: list[ScenarioState]


class ScenarioName(Struct, frozen=True, forbid_unknown_fields=True):
    """The name of a scenario."""

    name: str


class ScenarioOutcome(Struct, frozen=True):
    """What happened in a scenario, in order, and what was seen."""

    name: str
    timeline: list[str]
    facts: dict[str, int | str]


def list_scenarios(context: ControlContext) -> ScenarioStates:
    """Return all scenarios."""
    from fencepost_broker.server.scenarios import SCENARIOS

    del context
    return ScenarioStates(
        [
            ScenarioState(
                name=each.name,
                summary=each.summary,
                seen=each.seen,
                clients=each.clients,
                remedy=each.remedy,
                kip=each.kip,
                issues=list(each.issues),
                brokers=each.brokers,
                topics=list(each.topics),
                settings=dict(each.settings),
                own_broker=each.own_broker,
            )
            for each in SCENARIOS.values()
        ]
    )


async def run_scenario(context: ControlContext, named: ScenarioName) -> ScenarioOutcome:
    """Make a scenario happen at this broker."""
    assert context.server is not None  # a proxy and a controller refuse
    return await _play(named.name, context.port)


async def _list_in_cluster(cluster: Cluster, route: Route, asked: Asked) -> ScenarioStates:
    del cluster, asked
    states: ScenarioStates = route.handler(None)
    return states


async def _run_in_cluster(cluster: Cluster, route: Route, asked: Asked) -> ScenarioOutcome:
    del route
    return await _play(asked.request.name, cluster.port)


async def _play(name: str, port: ControlClient) -> ScenarioOutcome:
    """Let a thread do what `fencepost scenario run --control` does: it uses this control port."""
    from fencepost_broker.server.attached import attach_to
    from fencepost_broker.server.scenarios import SCENARIOS
    from fencepost_broker.server.scenarios.running import CannotHappenError, play_at

    if name not in SCENARIOS:
        raise not_found("scenario", name, SCENARIOS, where="path, $.name")
    scenario = SCENARIOS[name]
    try:
        outcome = await asyncio.to_thread(lambda: asyncio.run(play_at(scenario, attach_to(port))))
    except CannotHappenError as error:
        raise ProblemError(
            HTTPStatus.CONFLICT,
            str(error),
            advice="GET /v1/scenarios says what each scenario needs.",
        ) from None
    return ScenarioOutcome(outcome.name, outcome.timeline, outcome.facts)


ROUTES: Final = (
    Route(
        "GET",
        "/v1/scenarios",
        list_scenarios,
        "the scenarios, and what they need",
        response=ScenarioStates,
        in_cluster=_list_in_cluster,
    ),
    Route(
        "POST",
        "/v1/scenarios/{name}/run",
        run_scenario,
        "make a scenario happen here; its topics must be new",
        request=ScenarioName,
        response=ScenarioOutcome,
        errors=(HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT),
        in_cluster=_run_in_cluster,
    ),
)
