"""What a tap shows of a request."""

from __future__ import annotations

from fencepost_broker.apis.controller.registry import SERVED_BY_CONTROLLER
from fencepost_broker.apis.registry import SERVED
from fencepost_broker.observability.tap.hiding import shown_request


def shown(frame: memoryview) -> bytes:
    """As the tap shows a request."""
    key = int.from_bytes(frame[:2], "big")
    served = next(api for api in (*SERVED, *SERVED_BY_CONTROLLER) if api.key == key)
    assert served.hides_in_request is not None
    return shown_request(frame, served.hides_in_request)
