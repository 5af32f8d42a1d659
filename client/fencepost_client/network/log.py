"""Log lines of the client: connections, retries, rebalances, transactions, throttling.

Programs find the values of a line as attributes of the log record (``extra``). Without a handler of
the application nothing is written. There is no line for a record or a batch, so logging costs
nothing at full speed.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from time import monotonic
from typing import Final

from fencepost_client.errors import KafkaError
from fencepost_client.types import TopicPartition

ROOT: Final = "fencepost_client"
logging.getLogger(ROOT).addHandler(logging.NullHandler())

_connection: Final = logging.getLogger(f"{ROOT}.connection")
_retry: Final = logging.getLogger(f"{ROOT}.retry")
_group: Final = logging.getLogger(f"{ROOT}.group")
_transaction: Final = logging.getLogger(f"{ROOT}.transaction")
_throttle: Final = logging.getLogger(f"{ROOT}.throttle")

_AGAIN_S: Final = 10.0
"""A repeated event is logged this often."""
_PARTITIONS_SHOWN: Final = 10


class Repeated:
    """Limits the log lines of a repeated event."""

    def __init__(self) -> None:
        self._told_at = float("-inf")

    def is_due(self) -> bool:
        """Whether to log now; True at most once in some seconds."""
        now = monotonic()
        if now - self._told_at < _AGAIN_S:
            return False
        self._told_at = now
        return True


def connected(peer: str) -> None:
    """Log a new connection."""
    _connection.debug("connected to %s", peer, extra={"peer": peer})


def disconnected(peer: str, reason: str, *, expected: bool, under_way: int) -> None:
    """Log the end of a connection, with the number of requests under way."""
    level = logging.DEBUG if expected else logging.WARNING if under_way else logging.INFO
    extra = {"peer": peer, "reason": reason}
    _connection.log(level, "disconnected from %s: %s", peer, reason, extra=extra)


def unreachable(peer: str, error: KafkaError) -> None:
    """Log a failed attempt to connect."""
    extra = {"peer": peer, "reason": error.message}
    _connection.warning("%s", error.message, extra=extra)


def trying_again(pause_ms: float, because: KafkaError | None) -> None:
    """Log a retry after a pause."""
    reason = "the last attempt did not fail" if because is None else because.message
    extra = {"pause_ms": pause_ms, "reason": reason}
    _retry.debug("retrying in %d ms: %s", pause_ms, reason, extra=extra)


def throttled(peer: str, throttle_ms: int) -> None:
    """Log that a quota throttles this client."""
    extra = {"peer": peer, "throttle_ms": throttle_ms}
    _throttle.info("%s throttles this client for %d ms", peer, throttle_ms, extra=extra)


def joined(group_id: str, member_id: str, generation: int) -> None:
    """Log that the consumer has joined a generation of its group."""
    extra = {"group_id": group_id, "member_id": member_id, "generation": generation}
    text = "joined group %s in generation %d as %s"
    _group.info(text, group_id, generation, member_id, extra=extra)


def reassigned(group_id: str, what: str, partitions: Iterable[TopicPartition]) -> None:
    """Log partitions that were assigned, revoked or lost."""
    if not _group.isEnabledFor(logging.INFO):
        return
    names = [f"{topic}-{partition}" for topic, partition in sorted(partitions)]
    shown = ", ".join(names[:_PARTITIONS_SHOWN]) or "nothing"
    if len(names) > _PARTITIONS_SHOWN:
        shown += f" and {len(names) - _PARTITIONS_SHOWN} more"
    extra = {"group_id": group_id, "partitions": names}
    _group.info("group %s: %s %s", group_id, what, shown, extra=extra)


def expelled(group_id: str, error: KafkaError) -> None:
    """Log that the group has removed this member."""
    extra = {"group_id": group_id, "reason": error.message}
    _group.warning("group %s: %s", group_id, error.message, extra=extra)


def too_slow(group_id: str, limit_ms: int) -> None:
    """Log that the application has not asked for records in time."""
    extra = {"group_id": group_id, "max_poll_interval_ms": limit_ms}
    text = "leaving group %s: the application has not asked for records for max_poll_interval_ms=%d"
    _group.warning(text, group_id, limit_ms, extra=extra)


def identified(transactional_id: str, producer_id: int, epoch: int) -> None:
    """Log the producer id and epoch of a transactional producer."""
    extra = {"transactional_id": transactional_id, "producer_id": producer_id, "epoch": epoch}
    text = "%s is producer %d in epoch %d"
    _transaction.info(text, transactional_id, producer_id, epoch, extra=extra)


def transaction_failed(transactional_id: str, error: KafkaError, what_is_left: str) -> None:
    """Log that a transaction must be aborted, or that its producer has ended."""
    extra = {"transactional_id": transactional_id, "reason": error.message}
    text = "%s: %s (%s)"
    _transaction.warning(text, transactional_id, error.message, what_is_left, extra=extra)
