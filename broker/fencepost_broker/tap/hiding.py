"""What the tap shows to nobody: the tokens of logins, and salted passwords.

What is hidden is as long as it was, of zeros, so that sizes stay true.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from fencepost_protocol.apis import request_class, response_class
from fencepost_protocol.exceptions import ProtocolError
from fencepost_protocol.framing import read_request_head, read_response_head
from fencepost_protocol.generated.index import ApiKey
from fencepost_protocol.primitives import Buffer


def _hide_token(message: Any) -> None:
    message.auth_bytes = bytes(len(message.auth_bytes))


def _hide_credentials(message: Any) -> None:
    for each in message.upsertions:
        each.salt = bytes(len(each.salt))
        each.salted_password = bytes(len(each.salted_password))


def _hide_forwarded(message: Any) -> None:
    frame = memoryview(message.request_data)
    if len(frame) > 1 and int.from_bytes(frame[:2], "big") in _IN_REQUESTS:
        message.request_data = shown_request(frame)


_IN_REQUESTS: Final[dict[int, Callable[[Any], None]]] = {
    ApiKey.SASL_AUTHENTICATE: _hide_token,
    ApiKey.ALTER_USER_SCRAM_CREDENTIALS: _hide_credentials,
    ApiKey.ENVELOPE: _hide_forwarded,
}
_IN_RESPONSES: Final[dict[int, Callable[[Any], None]]] = {ApiKey.SASL_AUTHENTICATE: _hide_token}
SECRET_APIS: Final = frozenset(_IN_REQUESTS)
"""Those whose frames are not shown as they are."""


def shown_request(frame: memoryview) -> bytes:
    """A request without its secrets; one that cannot be read is not shown at all."""
    try:
        api_key, version, *_, body = read_request_head(frame)
        return _hidden(request_class(api_key), _IN_REQUESTS[api_key], frame, version, body)
    except ProtocolError:
        return b""


def shown_response(pieces: list[Buffer], skip: int, api_key: int, version: int) -> bytes:
    """A response behind its size, without its secrets."""
    frame = memoryview(b"".join(pieces))[skip:]
    hide = _IN_RESPONSES.get(api_key)
    if hide is None or not frame:
        return frame.tobytes()
    try:
        body = read_response_head(frame, api_key, version)[1]
        return _hidden(response_class(api_key), hide, frame, version, body)
    except ProtocolError:
        return b""


def _hidden(
    kind: Any, hide: Callable[[Any], None], frame: memoryview, version: int, body: int
) -> bytes:
    message, end = kind.decode(frame, version, body)
    hide(message)
    out = bytearray(frame[:body])
    message.encode(version, out)
    return bytes(out) + frame[end:].tobytes()
