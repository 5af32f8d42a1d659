"""Answers that name brokers' addresses, and what a proxy changes in them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from fencepost_protocol.generated.api_versions import ApiVersion, ApiVersionsResponse
from fencepost_protocol.generated.error_code import ErrorCode
from fencepost_protocol.generated.index import APIS, ApiKey

Locate = Callable[[int, str, int], tuple[str, int]]
"""Gives the proxy's own host and port for a broker's node id, host and port."""
Named = tuple[int, Any]
"""A node id, and what has its ``host`` and ``port``."""

ADDRESSES_FROM: Final[dict[int, int]] = {
    ApiKey.PRODUCE: 10,
    ApiKey.FETCH: 16,
    ApiKey.METADATA: 0,
    ApiKey.FIND_COORDINATOR: 0,
    ApiKey.DESCRIBE_QUORUM: 2,
    ApiKey.SHARE_FETCH: 0,
    ApiKey.SHARE_ACKNOWLEDGE: 0,
    ApiKey.DESCRIBE_CLUSTER: 0,
}
"""The APIs whose answers have addresses, and the first version that has them."""
_WITH_NODE_ENDPOINTS: Final = (
    ApiKey.PRODUCE,
    ApiKey.FETCH,
    ApiKey.SHARE_FETCH,
    ApiKey.SHARE_ACKNOWLEDGE,
)
_READ: Final = frozenset({*ADDRESSES_FROM, ApiKey.API_VERSIONS})
"""The APIs whose answers a proxy has to read."""


def has_addresses(api_key: int, version: int) -> bool:
    """Whether answers of a version may have addresses that a proxy can find."""
    first = ADDRESSES_FROM.get(api_key)
    return first is not None and first <= version <= APIS[api_key][2]


def move(api_key: int, answer: Any, locate: Locate) -> bool:
    """Put the proxy's addresses in place of those in an answer; return whether there were any."""
    is_changed = False
    for node_id, place in _named_in(api_key, answer):
        if place.host:  # a coordinator that is not available has no address
            place.host, place.port = locate(node_id, place.host, place.port)
            is_changed = True
    return is_changed


def _named_in(api_key: int, answer: Any) -> Iterator[Named]:
    if api_key in _WITH_NODE_ENDPOINTS:
        yield from ((each.node_id, each) for each in answer.node_endpoints)
    elif api_key == ApiKey.METADATA:
        yield from ((each.node_id, each) for each in answer.brokers)
    elif api_key == ApiKey.FIND_COORDINATOR:
        yield answer.node_id, answer
        yield from ((each.node_id, each) for each in answer.coordinators)
    elif api_key == ApiKey.DESCRIBE_CLUSTER:
        yield from ((each.broker_id, each) for each in answer.brokers)
    elif api_key == ApiKey.DESCRIBE_QUORUM:
        for node in answer.nodes:
            yield from ((node.node_id, each) for each in node.listeners)


def version_of_answer(frame: memoryview, body: int, version: int) -> int:
    """Return the version in which ApiVersions was answered: 0 if the request's is unknown."""
    code = int.from_bytes(frame[body : body + 2], signed=True)
    return 0 if code == ErrorCode.UNSUPPORTED_VERSION else version


def limit(answer: ApiVersionsResponse) -> list[str]:
    """Leave out of an answer to ApiVersions the versions that a proxy cannot read; return them."""
    limited: list[str] = []
    for each in answer.api_keys:
        key = each.api_key
        if key in _READ and each.max_version > APIS[key][2]:
            name, _, known, *_ = APIS[key]
            limited.append(f"{name} {each.max_version} to {known}")
            each.max_version = known
    return limited


def unsupported() -> ApiVersionsResponse:
    """Return the answer to ApiVersions in a version that is unknown here."""
    _, low, high, *_ = APIS[ApiKey.API_VERSIONS]
    return ApiVersionsResponse(
        ErrorCode.UNSUPPORTED_VERSION, [ApiVersion(ApiKey.API_VERSIONS, low, high)]
    )
