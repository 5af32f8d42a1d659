"""Interfaces and settings that the transaction coordinator gets from its caller."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from fencepost_protocol.errors import ErrorCode


class ProducerIds(Protocol):
    """A source of fresh producer ids (KIP-730)."""

    def take(self) -> tuple[ErrorCode, int]:
        """Return an id unique in the cluster, or an error if none is available now."""


class Cluster(Protocol):
    """Partitions, leaders and features of the cluster."""

    def has_partition(self, topic: str, partition: int) -> bool:
        """Whether the partition exists."""

    def leader_of(self, topic: str, partition: int) -> int | None:
        """Return the leader of a partition; ``None`` without one."""

    def holds_transaction(
        self, topic: str, partition: int, producer_id: int, producer_epoch: int
    ) -> bool:
        """Whether the producer has an open transaction in the log, if this broker has a replica."""

    def offsets_partition_of(self, group_id: str) -> int:
        """Return the partition of ``__consumer_offsets`` that holds a group's offsets."""

    def transaction_version(self) -> int:
        """Return the finalized ``transaction.version``."""


@dataclass(frozen=True, slots=True)
class TransactionSettings:
    """Settings for decisions; the defaults are Kafka's, except for parking."""

    max_timeout_ms: int = 900_000
    id_expiration_ms: int = 7 * 24 * 3600 * 1000
    two_phase_commit_enable: bool = False
    park_enable: bool = True
    """Whether requests wait for the last transaction's markers (KIP-609); otherwise the answer is
    CONCURRENT_TRANSACTIONS."""
