"""The input and the verdict of a check."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from fencepost_protocol.apis import Message
from fencepost_protocol.primitives import ZERO_UUID

from fencepost_broker.security.authorizer.authorizer import Rights

if TYPE_CHECKING:
    from fencepost_broker.apis.served import Served
    from fencepost_broker.config import Settings
    from fencepost_broker.metadata.image.metadata_image import MetadataImage


class Asked(NamedTuple):
    """A request that is to be checked."""

    api: Served
    rights: Rights
    message: Any
    """The request, from which a check removes denied elements."""
    version: int
    image: MetadataImage
    settings: Settings

    def name_of(self, topic: Any) -> str | None:
        """Return a topic's name, looked up by its id if necessary; ``None`` if it is unknown."""
        topic_id: bytes = getattr(topic, "topic_id", ZERO_UUID)
        if topic_id == ZERO_UUID:
            name: str | None = getattr(topic, "name", None)
            return name
        found = self.image.topics.by_id.get(topic_id)
        return None if found is None else found.name


class Refused(NamedTuple):
    """The whole request is refused with this response."""

    response: Message


@dataclass(slots=True)
class Rest:
    """The handler answers the rest of the request, and its response is completed."""

    complete: Callable[[Any], None]
    """Adds denied elements to the response, or removes those that the user may not see."""
    is_left: bool = True
    """Whether anything is left for the handler; if not, an empty response is completed."""
    drop: str = ""
    """The reason for closing the connection in place of an answer, if any."""


Verdict: TypeAlias = Refused | Rest | None
"""``None`` means that the request is allowed and its response is sent unchanged."""
Check: TypeAlias = Callable[[Asked], Verdict]
