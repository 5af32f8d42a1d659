"""Operations: what a test does to the broker at once, without waiting for time or a failure."""

from __future__ import annotations

import asyncio
from http import HTTPStatus
from typing import Final

from fencepost_broker.operations import AnyOperation, AnyResult, OperationRefusedError
from fencepost_broker.server.control.problems import ProblemError
from fencepost_broker.server.control.routes import ASK_SECONDS, ControlContext, Route
from fencepost_broker.server.operations import perform


async def perform_operation(context: ControlContext, operation: AnyOperation) -> AnyResult:
    """Perform an operation, and return the state after it."""
    try:
        async with asyncio.timeout(ASK_SECONDS):
            result: AnyResult = await perform(context.server, operation)
    except OperationRefusedError as error:
        raise ProblemError(HTTPStatus.CONFLICT, str(error), where="body") from None
    return result


ROUTES: Final = (
    Route(
        "POST",
        "/v1/operations",
        perform_operation,
        "perform an operation at once: time out a transaction, remove a member, move a leader, ...",
        request=AnyOperation,
        response=AnyResult,
        errors=(HTTPStatus.CONFLICT, HTTPStatus.GATEWAY_TIMEOUT),
    ),
)
