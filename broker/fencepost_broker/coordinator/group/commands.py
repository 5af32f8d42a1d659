"""What the group coordinator can be asked to do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from fencepost_protocol.apis import Message


@dataclass(slots=True)
class Ask:
    """A request of the protocol, and what the machine must know of who sent it.

    Every group that the request names belongs to this machine: whoever calls it has taken a
    request for several groups apart, and puts the answers together.
    """

    request: Message
    version: int
    client_id: str = ""
    client_host: str = ""
    token: Any = None
    """Comes back in the ``Reply`` to a request that had to wait."""


@dataclass(slots=True)
class TopicsDeleted:
    """Topics are gone from the metadata, and so shall be the offsets committed for them."""

    names: Sequence[str]


@dataclass(slots=True)
class TopicsChanged:
    """Topics were created, deleted or have more partitions: groups that read them look again."""

    names: Sequence[str]
    created: bool
    """Whether one of them is new, so that regular expressions may match it."""
