"""The table of clients' requests that the controller answers, directly or in an Envelope."""

from __future__ import annotations

from typing import Final

from fencepost_protocol.generated.envelope import EnvelopeRequest

from fencepost_broker.apis.registry import SERVED
from fencepost_broker.observability.tap.hiding import shown_request

FROM_CLIENTS: Final = tuple(each for each in SERVED if each.by_controller)
IN_ENVELOPES: Final = {each.key.value: each for each in FROM_CLIENTS}


def hide_forwarded(message: EnvelopeRequest) -> None:
    """Hide the secrets of the request inside an Envelope."""
    frame = memoryview(message.request_data)
    api = IN_ENVELOPES.get(int.from_bytes(frame[:2], "big")) if len(frame) > 1 else None
    if api is not None and api.hides_in_request is not None:
        message.request_data = shown_request(frame, api.hides_in_request)
