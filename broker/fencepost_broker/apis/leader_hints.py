"""Leaders in error responses, so that clients need not send Metadata (KIP-951)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from fencepost_protocol.errors import ErrorCode

from fencepost_broker.metadata.advertised_brokers import advertised_brokers

if TYPE_CHECKING:
    from collections.abc import Collection

    from fencepost_broker.apis.context import BrokerContext

MOVED: Final = (ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.FENCED_LEADER_EPOCH)
"""The errors of a partition that another broker may lead, or this one in another epoch."""


class Leader(NamedTuple):
    """A partition's leader and its epoch."""

    leader_id: int
    leader_epoch: int


def leader_of(context: BrokerContext, topic: str, number: int) -> Leader | None:
    """Return the leader of a partition by this broker's metadata, or ``None``."""
    found = context.image.topics.partition(topic, number)
    if found is None or found.leader < 0:
        return None
    return Leader(found.leader, found.leader_epoch)


def addresses_of(
    context: BrokerContext, listener: str, leaders: Collection[int]
) -> list[tuple[int, str, int, str | None]]:
    """Return id, host, port and rack of these brokers."""
    return [each for each in advertised_brokers(context.image, listener) if each[0] in leaders]
