"""Commands of the group coordinator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
    """Topics were deleted; what coordinators have stored about them must be deleted, too."""

    names: Mapping[bytes, str]
    """By the topic's id."""


@dataclass(slots=True)
class TopicsChanged:
    """Topics were created, deleted or extended; groups that read them must check them again."""

    names: Sequence[str]
    created: bool
    """Whether at least one is new, so that regular expressions may match it."""


@dataclass(slots=True)
class Rebalance:
    """Begin a rebalance, as a change of members does; the answer is whether one has begun."""

    group_id: str


@dataclass(slots=True)
class EndSession:
    """End a member's session as its timeout does; the answer is whether it had to end.

    As in Kafka, the session of a classic member does not end while the member waits for an answer.
    """

    group_id: str
    member_id: str
