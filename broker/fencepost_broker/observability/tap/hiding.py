"""What the tap hides: secrets of logins, settings with passwords, the metadata log.

The metadata log, which brokers fetch from the controller, contains SCRAM keys and such settings.
Hidden values are replaced by zeros of the same length, so that sizes stay true. The metadata log is
not shown at all.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from fencepost_protocol.apis import request_class, response_class
from fencepost_protocol.exceptions import ProtocolError
from fencepost_protocol.framing import read_request_head, read_response_head
from fencepost_protocol.generated.index import ApiKey
from fencepost_protocol.primitives import Buffer

from fencepost_broker.config import Settings
from fencepost_broker.metadata.image.model import ResourceType
from fencepost_broker.metadata.log.metadata_log import METADATA_TOPIC_ID
from fencepost_broker.metadata.names import METADATA_TOPIC


def hide_token(message: Any) -> None:
    """Hide the token of a login."""
    message.auth_bytes = bytes(len(message.auth_bytes))


def hide_credentials(message: Any) -> None:
    """Hide SCRAM keys."""
    for each in message.upsertions:
        each.salt = bytes(len(each.salt))
        each.salted_password = bytes(len(each.salted_password))


def hide_delegation_tokens(message: Any) -> None:
    """Hide the secrets of delegation tokens, in requests and responses."""
    for each in getattr(message, "tokens", [message]):
        each.hmac = bytes(len(each.hmac))


def hide_settings(message: Any) -> None:
    """Hide settings that are passwords, and unknown ones."""
    for resource in message.resources:
        for each in resource.configs:
            setting = Settings.setting_of(each.name)
            is_known_topics = setting is None and resource.resource_type == ResourceType.TOPIC
            is_shown = is_known_topics or (setting is not None and not setting.is_sensitive)
            if each.value is not None and not is_shown:
                each.value = "\0" * len(each.value.encode())


METADATA_APIS: Final = (ApiKey.FETCH, ApiKey.FETCH_SNAPSHOT)
"""APIs whose responses may contain the cluster's metadata."""
BEGINNING_BYTES: Final = 64
"""Bytes of a response that show whether it contains metadata."""
_FETCHES_BY_ID_FROM: Final = 13
_ID_AT: Final = 11
"""Offset of the first topic id: after throttle time, error, session and number of topics."""
_NAME_WITHIN: Final = 40


def shown_request(frame: memoryview, hide: Callable[[Any], None]) -> bytes:
    """Return a request without its secrets; an unreadable one is hidden completely."""
    try:
        api_key, version, *_, body = read_request_head(frame)
        return _hidden(request_class(api_key), hide, frame, version, body)
    except ProtocolError:
        return b""


def shown_response(
    pieces: list[Buffer], skip: int, api_key: int, version: int, hide: Callable[[Any], None] | None
) -> bytes:
    """Return a response without its secrets."""
    frame = memoryview(b"".join(pieces))[skip:]
    if hide is None or not frame:
        return frame.tobytes()
    try:
        body = read_response_head(frame, api_key, version)[1]
        return _hidden(response_class(api_key), hide, frame, version, body)
    except ProtocolError:
        return b""


def is_of_metadata(api_key: int, version: int, beginning: bytes) -> bool:
    """Return whether the response with this beginning contains the cluster's metadata.

    A Fetch of metadata has no other topic, so its topic comes before all records.
    """
    if api_key != ApiKey.FETCH:
        return api_key == ApiKey.FETCH_SNAPSHOT
    try:
        body = read_response_head(memoryview(beginning), api_key, version)[1]
    except ProtocolError:
        return True
    if version < _FETCHES_BY_ID_FROM:
        return METADATA_TOPIC.encode() in beginning[body : body + _NAME_WITHIN]
    return beginning.startswith(METADATA_TOPIC_ID, body + _ID_AT)


def _hidden(
    kind: Any, hide: Callable[[Any], None], frame: memoryview, version: int, body: int
) -> bytes:
    message, end = kind.decode(frame, version, body)
    hide(message)
    out = bytearray(frame[:body])
    message.encode(version, out)
    return bytes(out) + frame[end:].tobytes()
