"""``MarkerWaits``: notices brokers that make a transaction wait for the one before it.

A transaction that begins right after another one has to wait until the markers of that one are
written. From transaction version 2 on, Produce adds its partition itself (KIP-890), and Apache
Kafka's broker checks for the markers only every 20 ms. AddPartitionsToTxn is refused at once
instead, and the client can repeat it after 1 ms. So once a producer has had to wait, it adds the
first partitions of its next transactions by AddPartitionsToTxn.
"""

from __future__ import annotations

from typing import Final

LONGER_MS: Final = 15
"""A Produce that takes this much longer than the fastest one has waited for markers: Apache Kafka's
``add.partitions.to.txn.retry.backoff.ms`` is 20."""
TRANSACTIONS: Final = 10
"""How many transactions add their first partitions by a request after one that had to wait."""


class MarkerWaits:
    """How long the first requests of a producer's transactions took."""

    def __init__(self) -> None:
        self._left = 0
        self._is_first = False
        self._fastest_ms: int | None = None

    @property
    def are_likely(self) -> bool:
        """Whether it is better to add partitions by a request."""
        return self._left > 0

    def begin(self) -> None:
        """Note that a transaction begins."""
        self._is_first = True

    def produced(self, took_ms: int) -> None:
        """Note how long a Produce took."""
        fastest_ms = took_ms if self._fastest_ms is None else self._fastest_ms
        if self._is_first and took_ms >= fastest_ms + LONGER_MS:
            self._left = TRANSACTIONS
        self._is_first = False
        self._fastest_ms = min(took_ms, fastest_ms)

    def added(self, *, had_to_wait: bool) -> None:
        """Note that a request has added partitions; Produce does not wait after it."""
        self._is_first = False
        self._left = TRANSACTIONS if had_to_wait else max(0, self._left - 1)
