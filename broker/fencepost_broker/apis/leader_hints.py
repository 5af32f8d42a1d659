"""Who leads instead: told with the refusal, so that a client need not ask Metadata (KIP-951)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from fencepost_protocol.errors import ErrorCode

from fencepost_broker.metadata.advertised_brokers import advertised_brokers

if TYPE_CHECKING:
    from collections.abc import Collection

    from fencepost_broker.apis.context import BrokerContext

MOVED: Final = (ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.FENCED_LEADER_EPOCH)
"""What is answered where another broker may lead, or this one in another epoch."""


class Leader(NamedTuple):
    """Who leads, and since which epoch."""

    leader_id: int
    leader_epoch: int


def leader_of(context: BrokerContext, topic: str, number: int) -> Leader | None:
    """Who leads a partition, as far as this broker has heard; ``None`` where nobody does."""
    found = context.image.topics.partition(topic, number)
    if found is None or found.leader < 0:
        return None
    return Leader(found.leader, found.leader_epoch)


def addresses_of(
    context: BrokerContext, listener: str, leaders: Collection[int]
) -> list[tuple[int, str, int, str | None]]:
    """Where these are reached: id, host, port and rack."""
    return [each for each in advertised_brokers(context.image, listener) if each[0] in leaders]
