"""What a check says of a request."""

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
    from fencepost_broker.metadata.image import MetadataImage


class Asked(NamedTuple):
    """A request that is to be checked."""

    api: Served
    rights: Rights
    message: Any
    """A check takes out of it what is denied."""
    version: int
    image: MetadataImage
    settings: Settings

    def name_of(self, topic: Any) -> str | None:
        """A topic's name, where it is named by its id; none when there is no such topic."""
        topic_id: bytes = getattr(topic, "topic_id", ZERO_UUID)
        if topic_id == ZERO_UUID:
            name: str | None = getattr(topic, "name", None)
            return name
        found = self.image.topics.by_id.get(topic_id)
        return None if found is None else found.name


class Refused(NamedTuple):
    """Nothing of the request is carried out."""

    response: Message


@dataclass(slots=True)
class Rest:
    """The handler answers for what is left of the request, and its answer is completed."""

    complete: Callable[[Any], None]
    """Puts what is denied into a response, or takes out what may not be told."""
    is_left: bool = True
    """Whether the handler has anything to answer; else an empty response is completed."""
    drop: str = ""
    """Why the connection is closed instead of an answer."""


Verdict: TypeAlias = Refused | Rest | None
"""None: all of it is allowed, and all of the answer may be told."""
Check: TypeAlias = Callable[[Asked], Verdict]
