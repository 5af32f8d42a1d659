"""What the tap shows to nobody: secrets of logins, settings with passwords, the metadata's log.

In the log, which brokers read from the controller, are the keys of SCRAM and such settings. What is
hidden is as long as it was, of zeros, so that sizes stay true.
Of the log nothing is shown.
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
from fencepost_broker.metadata.log import METADATA_TOPIC_ID
from fencepost_broker.metadata.model import ResourceType
from fencepost_broker.metadata.names import METADATA_TOPIC


def hide_token(message: Any) -> None:
    """Hide what a login sends, or hears."""
    message.auth_bytes = bytes(len(message.auth_bytes))


def hide_credentials(message: Any) -> None:
    """Hide the keys of SCRAM."""
    for each in message.upsertions:
        each.salt = bytes(len(each.salt))
        each.salted_password = bytes(len(each.salted_password))


def hide_settings(message: Any) -> None:
    """Hide settings that are passwords, and those that nobody knows."""
    for resource in message.resources:
        for each in resource.configs:
            setting = Settings.setting_of(each.name)
            is_known_topics = setting is None and resource.resource_type == ResourceType.TOPIC
            is_shown = is_known_topics or (setting is not None and not setting.is_sensitive)
            if each.value is not None and not is_shown:
                each.value = "\0" * len(each.value.encode())


METADATA_APIS: Final = (ApiKey.FETCH, ApiKey.FETCH_SNAPSHOT)
"""Those whose responses may have the cluster's metadata in them."""
BEGINNING_BYTES: Final = 64
"""So much of a response says whether it is of the metadata."""
_FETCHES_BY_ID_FROM: Final = 13
_ID_AT: Final = 11
"""Behind the throttle time, an error, the session, and how many topics there are."""
_NAME_WITHIN: Final = 40


def shown_request(frame: memoryview, hide: Callable[[Any], None]) -> bytes:
    """A request without its secrets; one that cannot be read is not shown at all."""
    try:
        api_key, version, *_, body = read_request_head(frame)
        return _hidden(request_class(api_key), hide, frame, version, body)
    except ProtocolError:
        return b""


def shown_response(
    pieces: list[Buffer], skip: int, api_key: int, version: int, hide: Callable[[Any], None] | None
) -> bytes:
    """A response behind its size, without its secrets."""
    frame = memoryview(b"".join(pieces))[skip:]
    if hide is None or not frame:
        return frame.tobytes()
    try:
        body = read_response_head(frame, api_key, version)[1]
        return _hidden(response_class(api_key), hide, frame, version, body)
    except ProtocolError:
        return b""


def is_of_metadata(api_key: int, version: int, beginning: bytes) -> bool:
    """Whether a response, of which this is the beginning, has the cluster's metadata in it.

    That is always alone in a Fetch, so that it stands before all records what it is.
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
