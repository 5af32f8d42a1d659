"""Values of records, decoded by a schema file that is given with them."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from http import HTTPStatus
from typing import Final

from fencepost_broker.server.control.in_cluster import any_broker
from fencepost_broker.server.control.problems import ProblemError
from fencepost_broker.server.control.routes import ControlContext, Route
from fencepost_broker.server.control.values.model import (
    DecodedValues,
    SchemaRefusedError,
    ValuesToDecode,
)
from fencepost_broker.server.control.values.process import decode

_PROCESSES_MAX: Final = 2


@cache
def _pool() -> ThreadPoolExecutor:
    """The threads that wait for processes; others wait for a thread."""
    return ThreadPoolExecutor(_PROCESSES_MAX, "decoding values")


async def decode_values(context: ControlContext, asked: ValuesToDecode) -> DecodedValues:
    """Decode values by a schema, which the broker does not keep."""
    del context
    try:
        return await asyncio.get_running_loop().run_in_executor(_pool(), decode, asked)
    except SchemaRefusedError as error:
        raise ProblemError(
            HTTPStatus.UNPROCESSABLE_ENTITY,
            f"{asked.file}: {error}",
            where="body, $.schema",
            advice=error.refused.advice,
        ) from None


ROUTES: Final = (
    Route(
        "POST",
        "/v1/decoded-values",
        decode_values,
        "decode values of records by an Avro or Protobuf schema",
        request=ValuesToDecode,
        response=DecodedValues,
        in_cluster=any_broker,
        errors=(HTTPStatus.UNPROCESSABLE_ENTITY,),
    ),
)
