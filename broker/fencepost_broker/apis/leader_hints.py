"""Who leads instead: told with the refusal, so that a client need not ask Metadata (KIP-951)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from fencepost_protocol.errors import ErrorCode

if TYPE_CHECKING:
    from collections.abc import Collection

    from fencepost_broker.apis.ports import Broker

MOVED: Final = (ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.FENCED_LEADER_EPOCH)
"""What is answered where another broker may lead, or this one in another epoch."""


class Leader(NamedTuple):
    """Who leads, and since which epoch."""

    leader_id: int
    leader_epoch: int


def leader_of(broker: Broker, topic: str, number: int) -> Leader | None:
    """Who leads a partition, as far as this broker has heard; ``None`` where nobody does."""
    found = broker.image.topics.partition(topic, number)
    if found is None or found.leader < 0:
        return None
    return Leader(found.leader, found.leader_epoch)


def addresses_of(
    broker: Broker, listener: str, leaders: Collection[int]
) -> list[tuple[int, str, int, str | None]]:
    """Where these are reached: id, host, port and rack."""
    return [each for each in broker.advertised_brokers(listener) if each[0] in leaders]
