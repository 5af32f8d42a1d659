"""Clients' requests that the controller answers, whether they come to it or in an Envelope."""

from __future__ import annotations

from typing import Final

from fencepost_broker.apis.forwarding import PASSED_ON
from fencepost_broker.apis.registry import SERVED

FROM_CLIENTS: Final = tuple(each for each in SERVED if each.key in PASSED_ON)
IN_ENVELOPES: Final = {each.key.value: each for each in FROM_CLIENTS}
