"""Commands of the group coordinator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from fencepost_protocol.apis import Message


@dataclass(slots=True)
class Ask:
    """A request of the protocol, with the data of its client that the machine needs.

    Every group in the request belongs to this machine: the caller splits a request for several
    groups and joins the answers.
    """

    request: Message
    version: int
    client_id: str = ""
    client_host: str = ""
    token: Any = None
    """The token in the ``Reply`` to a request that has to wait."""


@dataclass(slots=True)
class TopicsDeleted:
    """Topics were deleted; the offsets committed for them must be deleted, too."""

    names: Sequence[str]


@dataclass(slots=True)
class TopicsChanged:
    """Topics were created, deleted or extended; groups that read them must check them again."""

    names: Sequence[str]
    created: bool
    """Whether at least one is new, so that regular expressions may match it."""
