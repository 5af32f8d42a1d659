"""What the transaction coordinator needs of others, handed in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from fencepost_protocol.errors import ErrorCode


class ProducerIds(Protocol):
    """Where fresh producer ids come from (KIP-730)."""

    def take(self) -> tuple[ErrorCode, int]:
        """An id that nobody else has, or why there is none at this moment."""


class Cluster(Protocol):
    """What is known of partitions and features."""

    def has_partition(self, topic: str, partition: int) -> bool:
        """Whether there is such a partition."""

    def leader_of(self, topic: str, partition: int) -> int | None:
        """The broker that leads it; ``None`` when none does."""

    def holds_transaction(
        self, topic: str, partition: int, producer_id: int, producer_epoch: int
    ) -> bool:
        """Whether this producer has a transaction open there, as far as this broker can see."""

    def offsets_partition_of(self, group_id: str) -> int:
        """The partition of ``__consumer_offsets`` that a group's offsets go to."""

    def transaction_version(self) -> int:
        """The finalized ``transaction.version``."""


@dataclass(frozen=True, slots=True)
class TransactionSettings:
    """Settings that decisions go by; defaults are Kafka's, but for parking."""

    max_timeout_ms: int = 900_000
    id_expiration_ms: int = 7 * 24 * 3600 * 1000
    two_phase_commit_enable: bool = False
    park_enable: bool = True
    """Requests wait for the last transaction's markers (KIP-609); else CONCURRENT_TRANSACTIONS."""
