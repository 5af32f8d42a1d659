"""ApiVersions: list the served APIs with their versions, and the features.

Behaviour: every version number is answered. An unknown one gets the version-0 answer with
UNSUPPORTED_VERSION and one entry, this API's own range; the connection stays open. The client's
software name and version are kept for logs.

Version notes: up to version 3 a supported feature whose minimum is 0 is left out, because older
clients refuse it (KIP-584); version 4 has all features.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from fencepost_protocol.exceptions import RemoteProtocolError
from fencepost_protocol.framing import encode_response
from fencepost_protocol.generated.api_versions import (
    ApiVersion,
    ApiVersionsRequest,
    ApiVersionsResponse,
    FinalizedFeatureKey,
    SupportedFeatureKey,
)
from fencepost_protocol.generated.error_code import ErrorCode

from fencepost_broker.apis.request import Answer, Request
from fencepost_broker.config.values.releases import release_of
from fencepost_broker.metadata.features import told_levels, told_ranges

if TYPE_CHECKING:
    from fencepost_broker.apis.context import HandlerContext

_SOFTWARE: Final = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?")
_LEADING_ZERO_UNSEEN_UP_TO: Final = 3


def read_api_versions(
    frame: memoryview, version: int, body: int
) -> tuple[ApiVersionsRequest | None, int]:
    """Decode a request of any version; of an unknown version nothing is decoded."""
    if not ApiVersionsRequest.MIN_VERSION <= version <= ApiVersionsRequest.MAX_VERSION:
        return None, body
    message, end = ApiVersionsRequest.decode(frame, version, body)
    if end != len(frame):
        raise RemoteProtocolError(
            f"{len(frame) - end} bytes are left over", api="ApiVersionsRequest",
            version=version, path="message", offset=end - body,
        )  # fmt: skip
    return message, end


def api_versions(
    context: HandlerContext, request: Request, message: ApiVersionsRequest | None
) -> Answer:
    """Answer ApiVersions, versions 0 to 4."""
    low, high = context.versions[ApiVersionsRequest.API_KEY]
    if message is None or not low <= request.version <= high:
        return _unsupported(request, low, high)
    if request.version >= 3:
        names = (message.client_software_name, message.client_software_version)
        if not all(map(_SOFTWARE.fullmatch, names)):
            return ApiVersionsResponse(error_code=ErrorCode.INVALID_REQUEST)
        request.peer.client_software_name, request.peer.client_software_version = names
    request.true_at = context.image.last_offset
    return _response(context, request.version)


def _unsupported(request: Request, low: int, high: int) -> Answer:
    response = ApiVersionsResponse(
        error_code=ErrorCode.UNSUPPORTED_VERSION,
        api_keys=[ApiVersion(ApiVersionsRequest.API_KEY, low, high)],
    )
    return [encode_response(response, 0, request.correlation_id)]


def _response(context: HandlerContext, version: int) -> ApiVersionsResponse:
    release = release_of(context.config.settings.kafka_release)
    levels = told_levels(context.image.features.levels, release)
    return ApiVersionsResponse(
        api_keys=[ApiVersion(key, low, high) for key, (low, high) in context.versions.items()],
        supported_features=[
            SupportedFeatureKey(name, low, high)
            for name, (low, high) in told_ranges(release).items()
            if low > 0 or version > _LEADING_ZERO_UNSEEN_UP_TO
        ],
        finalized_features_epoch=context.image.last_offset,
        finalized_features=[
            FinalizedFeatureKey(name, level, level) for name, level in levels.items() if level > 0
        ],
    )
