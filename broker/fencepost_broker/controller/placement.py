"""Placement of new partitions' replicas on brokers, spread over racks.

Racks take turns, and within a rack its brokers do: the replicas of a partition are in different
racks as long as there are racks left, and every broker gets its share of leaders. The beginning is
random, so that many topics with one partition do not share a broker. Fenced brokers are used only
when there are not enough others, and never for the first replica, which leads.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from fencepost_broker.metadata.image.model import Broker
from fencepost_broker.ports import Chance


class PlacementError(Exception):
    """The replicas cannot be placed; the message is for the answer."""


class _Rack:
    """Brokers of one rack; ``turn`` says which of them is next."""

    def __init__(self, active: list[int], fenced: list[int], turn: int) -> None:
        self.active = active
        self.fenced = fenced
        self.turn = turn

    def pick(self, taken: Sequence[int], *, fenced: bool) -> int | None:
        """Return the next broker without a replica of this partition."""
        brokers = self.fenced if fenced else self.active
        for step in range(len(brokers)):
            found = brokers[(self.turn + step) % len(brokers)]
            if found not in taken:
                return found
        return None


def place_replicas(
    brokers: Iterable[Broker], partition_count: int, replication_factor: int, chance: Chance
) -> list[list[int]]:
    """Return broker ids of each partition's replicas, the preferred leader first."""
    known = sorted(brokers, key=lambda broker: broker.broker_id)
    _check(known, replication_factor)
    racks = _racks(known, chance)
    first_rack = chance.randrange(len(racks))
    placed = []
    for number in range(partition_count):
        placed.append(_one_partition(racks, first_rack + number, replication_factor))
        if (number + 1) % len(racks) == 0:
            for rack in racks:  # all have led once: the next broker of each rack leads
                rack.turn += 1
    return placed


def _check(brokers: Sequence[Broker], replication_factor: int) -> None:
    if replication_factor > len(brokers):
        raise PlacementError(
            f"replication factor {replication_factor} needs that many brokers, and the cluster "
            f"has {len(brokers)}: ask for fewer, or start more"
        )
    if all(broker.fenced for broker in brokers):
        raise PlacementError("every broker is fenced, so none can lead: wait until one is up")


def _racks(brokers: Sequence[Broker], chance: Chance) -> list[_Rack]:
    by_name: dict[str, list[Broker]] = {}
    for broker in brokers:
        by_name.setdefault(broker.rack or "", []).append(broker)
    racks = []
    for name in sorted(by_name):
        active = [broker.broker_id for broker in by_name[name] if not broker.fenced]
        fenced = [broker.broker_id for broker in by_name[name] if broker.fenced]
        racks.append(_Rack(active, fenced, chance.randrange(len(active) + len(fenced))))
    return racks


def _one_partition(racks: Sequence[_Rack], first: int, replication_factor: int) -> list[int]:
    replicas: list[int] = []
    for fenced in (False, True):
        at = first
        in_vain = 0
        while len(replicas) < replication_factor and in_vain < len(racks):
            found = racks[at % len(racks)].pick(replicas, fenced=fenced)
            at += 1
            in_vain += 1
            if found is not None:
                replicas.append(found)
                in_vain = 0
    return replicas
