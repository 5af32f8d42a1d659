"""``MarkerWaits``: notices brokers that make a transaction wait for the one before it.

A transaction that follows at once has to wait until the markers of the one before are written. From
transaction version 2 on, Produce adds its partition itself (KIP-890). Apache Kafka's broker then
looks again after 20 ms, while it refuses AddPartitionsToTxn at once, which can be repeated after
1 ms. So a producer that has waited adds the first partitions of its next transactions by a request.
"""

from __future__ import annotations

from typing import Final

LONGER_MS: Final = 15
"""A Produce that takes so much longer than the fastest has waited: Apache Kafka's
``add.partitions.to.txn.retry.backoff.ms`` is 20."""
TRANSACTIONS: Final = 10
"""So many transactions add by a request after one that had to wait."""


class MarkerWaits:
    """What a producer has seen of its transactions' first requests."""

    def __init__(self) -> None:
        self._left = 0
        self._is_first = False
        self._fastest_ms: int | None = None

    @property
    def are_likely(self) -> bool:
        """Whether it is better to add partitions by a request."""
        return self._left > 0

    def begin(self) -> None:
        """A transaction begins."""
        self._is_first = True

    def produced(self, took_ms: int) -> None:
        """A Produce was answered."""
        fastest_ms = took_ms if self._fastest_ms is None else self._fastest_ms
        if self._is_first and took_ms >= fastest_ms + LONGER_MS:
            self._left = TRANSACTIONS
        self._is_first = False
        self._fastest_ms = min(took_ms, fastest_ms)

    def added(self, attempts: int) -> None:
        """Partitions were added by a request."""
        self._is_first = False  # no Produce waits any more
        self._left = TRANSACTIONS if attempts > 1 else max(0, self._left - 1)
