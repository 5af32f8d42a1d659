"""SaslHandshake and SaslAuthenticate where nobody has to log in, or somebody has already.

Behaviour: a connection of a SASL listener logs in before it comes to any handler
(``network/sasl_gate.py``); what comes here came too late, or by a listener without SASL, and
is told so. The connection stays.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fencepost_protocol.generated.error_code import ErrorCode
from fencepost_protocol.generated.sasl_authenticate import (
    SaslAuthenticateRequest,
    SaslAuthenticateResponse,
)
from fencepost_protocol.generated.sasl_handshake import (
    SaslHandshakeRequest,
    SaslHandshakeResponse,
)

from fencepost_broker.apis.request import Answer, Request

if TYPE_CHECKING:
    from fencepost_broker.apis.context import HandlerContext

_NOT_HERE = "nobody logs in here: the connection has a user, or its listener asks for none"


def sasl_handshake(
    _context: HandlerContext, _request: Request, _message: SaslHandshakeRequest
) -> Answer:
    """Answer SaslHandshake, versions 0 and 1."""
    return SaslHandshakeResponse(ErrorCode.ILLEGAL_SASL_STATE)


def sasl_authenticate(
    _context: HandlerContext, _request: Request, _message: SaslAuthenticateRequest
) -> Answer:
    """Answer SaslAuthenticate, versions 0 to 2."""
    return SaslAuthenticateResponse(ErrorCode.ILLEGAL_SASL_STATE, _NOT_HERE)
