"""The members of a classic group, as the leader gets them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

from fencepost_client.consumer.group_protocol import NOTHING, Holding
from fencepost_client.types import TopicPartition


@dataclass(frozen=True, slots=True)
class Member:
    """A member of the group."""

    member_id: str
    group_instance_id: str | None
    topics: tuple[str, ...]
    owned: Holding = NOTHING
    rack: str | None = None


Assignment: TypeAlias = dict[str, list[TopicPartition]]
"""Member id -> its partitions."""


def by_rank(members: Iterable[Member]) -> list[Member]:
    """Members in the order of Kafka's assignors: static members first (KIP-345)."""
    return sorted(members, key=_rank)


def _rank(member: Member) -> tuple[bool, str]:
    return member.group_instance_id is None, member.group_instance_id or member.member_id
