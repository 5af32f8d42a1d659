"""What a coordinator tells a watcher of transactions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from fencepost_broker.coordinator.records import LogRecord


class TransactionListener(Protocol):
    """Gets what is written about transactions while a client watches them."""

    def states_logged(self, records: Sequence[LogRecord]) -> None:
        """Note records of ``__transaction_state``."""

    def marker_written(
        self,
        topic: str,
        partition: int,
        offset: int,
        producer_id: int,
        producer_epoch: int,
        *,
        committed: bool,
    ) -> None:
        """Note a marker in a partition."""
