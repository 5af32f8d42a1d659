"""A connection whose broker has answered ApiVersions, and requests on it."""

from __future__ import annotations

from typing import Any

from fencepost_client.requests.connection import (
    Connection,
    Ready,
)
from fencepost_protocol.framing import encode_response, read_request_head
from fencepost_protocol.generated.api_versions import (
    ApiVersion,
    ApiVersionsResponse,
    FinalizedFeatureKey,
)
from fencepost_protocol.generated.find_coordinator import (
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)
from fencepost_protocol.generated.index import ApiKey


def head_of(sent: Any) -> tuple[int, int, int]:
    frame = memoryview(b"".join(sent) if isinstance(sent, list) else sent)[4:]
    key, version, correlation_id, client_id, _ = read_request_head(frame)
    assert client_id == "me"
    return key, version, correlation_id


FIND = ApiKey.FIND_COORDINATOR


def versions(*apis: tuple[int, int, int]) -> ApiVersionsResponse:
    return ApiVersionsResponse(
        api_keys=[ApiVersion(*api) for api in apis],
        finalized_features=[FinalizedFeatureKey("transaction.version", 2, 2)],
    )


def ready(*apis: tuple[int, int, int]) -> Connection:
    connection = Connection("broker:1", "me")
    _, version, correlation_id = head_of(connection.open(0))
    answer = encode_response(versions(*apis or ((FIND, 0, 4),)), version, correlation_id)
    assert connection.receive(1, answer) == ([Ready()], b"")
    return connection


def submit(connection: Connection, token: object, deadline_ms: int = 100) -> bytearray:
    """Submit a request; the answer to it."""
    sent = connection.submit(FindCoordinatorRequest("g"), 3, token, deadline_ms)
    return encode_response(FindCoordinatorResponse(node_id=7), 3, head_of(sent)[2])
