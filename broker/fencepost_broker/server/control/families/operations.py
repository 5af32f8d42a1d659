"""Operations: what a test does to the broker at once, without waiting for time or a failure."""

from __future__ import annotations

import asyncio
from http import HTTPStatus
from typing import Final

from fencepost_broker.operations import (
    AnyOperation,
    AnyResult,
    HoldMarkers,
    OperationRefusedError,
    ReleaseMarkers,
)
from fencepost_broker.server.control.cluster import Cluster
from fencepost_broker.server.control.in_cluster import broker_that_has_it
from fencepost_broker.server.control.problems import ProblemError
from fencepost_broker.server.control.routes import ASK_SECONDS, Asked, ControlContext, Route
from fencepost_broker.server.operations import perform


async def perform_operation(context: ControlContext, operation: AnyOperation) -> AnyResult:
    """Perform an operation, and return the state after it."""
    try:
        async with asyncio.timeout(ASK_SECONDS):
            result: AnyResult = await perform(context.server, operation)
    except OperationRefusedError as error:
        raise ProblemError(
            HTTPStatus.CONFLICT, str(error), where="body", broker=error.broker
        ) from None
    return result


async def _in_cluster(cluster: Cluster, route: Route, asked: Asked) -> AnyResult:
    """Ask the broker that can carry it out; all of them about markers, which each sends by itself.

    A broker that cannot says which one can.
    """
    if isinstance(asked.request, HoldMarkers | ReleaseMarkers):
        held: AnyResult = await broker_that_has_it(cluster, route, asked)
        return held
    left = cluster.running_brokers
    broker = left[0]
    while True:
        left.remove(broker)
        try:
            result: AnyResult = await cluster.ask(broker, route, asked)
        except ProblemError as error:
            if error.problem.broker not in left:
                raise
            broker = error.problem.broker
        else:
            return result


ROUTES: Final = (
    Route(
        "POST",
        "/v1/operations",
        perform_operation,
        "perform an operation at once: time out a transaction, remove a member, move a leader, ...",
        request=AnyOperation,
        response=AnyResult,
        in_cluster=_in_cluster,
        errors=(HTTPStatus.CONFLICT, HTTPStatus.GATEWAY_TIMEOUT),
    ),
)
