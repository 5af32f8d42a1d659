"""UpdateFeatures: move finalized features to other levels (KIP-584), as the controller decides.

Version notes: 1 brought upgrade types and validation only, 2 has no results per feature.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from fencepost_protocol.generated.update_features import (
    UpdateFeaturesRequest,
    UpdateFeaturesResponse,
)

from fencepost_broker.apis.request import Answer, Request

if TYPE_CHECKING:
    from fencepost_broker.apis.context import HandlerContext

_NO_RESULTS_FROM: Final = 2


def update_features(
    context: HandlerContext, request: Request, message: UpdateFeaturesRequest
) -> Answer:
    """Answer UpdateFeatures, versions 0 to 2."""
    response: UpdateFeaturesResponse = context.controller.command(message)
    if request.version >= _NO_RESULTS_FROM:
        response.results = []
    return response
