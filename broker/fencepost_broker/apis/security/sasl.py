"""SaslHandshake and SaslAuthenticate on connections that need no login, or have logged in already.

Behaviour: on a SASL listener the login is over before a request reaches any handler
(``network/sasl_gate.py``). So these requests come too late, or on a listener without SASL. They are
answered with an error, and the connection stays open.
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

_NOT_HERE = "no login is expected: the connection is authenticated, or its listener has no SASL"


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
