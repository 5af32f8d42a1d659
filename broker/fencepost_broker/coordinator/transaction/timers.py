"""Timers of a transaction coordinator: open transactions time out, and unused ids expire.

There are two heaps. An id's entry in a heap is never later than its deadline. It may be too early,
because the transaction has ended or the id was used again; it is corrected when it reaches the
top. So the cost of a step does not depend on the number of ids.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from typing import Final

from fencepost_broker.coordinator.transaction.model import NEVER_MS, Transaction
from fencepost_broker.coordinator.transaction.states import State

Heap = list[tuple[int, str]]
_ONGOING: Final = State.ONGOING
_SPARE: Final = 64
"""The number of superfluous entries that are tolerated before a cleanup."""


class Timers:
    """The timeouts and expiries of one machine's ids."""

    __slots__ = (
        "_armed", "_aside", "_expiration_ms", "_expiries", "_timeouts", "_transactions",
        "earliest_ms",
    )  # fmt: skip

    def __init__(self, transactions: Mapping[str, Transaction], expiration_ms: int) -> None:
        self._transactions = transactions
        self._expiration_ms = expiration_ms
        self.earliest_ms: int | None = None
        """No deadline is earlier than this one."""
        self._timeouts: Heap = []
        self._armed: dict[str, int] = {}
        """The time of each id's valid entry among the timeouts; its other entries are ignored."""
        self._expiries: Heap = []
        self._aside: list[str] = []
        """The ids that ``put_off`` has skipped; they have no entry."""

    def timeout_of(self, transaction: Transaction) -> int | None:
        """Return the time at which the open transaction is aborted; ``None`` for never."""
        if transaction.state is not _ONGOING:
            return None
        logged = transaction.logged
        timeout_ms = logged.transaction_timeout_ms
        return (
            None if timeout_ms == NEVER_MS else logged.transaction_start_timestamp_ms + timeout_ms
        )

    def expiry_of(self, transaction: Transaction) -> int | None:
        """Return the time at which an unused id expires; ``None`` during a transaction."""
        if transaction.state is _ONGOING or transaction.is_prepared:
            return None
        return transaction.logged.transaction_last_update_timestamp_ms + self._expiration_ms

    def arm(self, transaction: Transaction) -> None:
        """Add the entries that a changed transaction needs."""
        due_ms = self.timeout_of(transaction)
        if due_ms is not None:
            name = transaction.transactional_id
            armed_ms = self._armed.get(name)
            if armed_ms is None or due_ms < armed_ms:
                self._armed[name] = due_ms
                self._push(self._timeouts, due_ms, name)
                if len(self._timeouts) > 2 * len(self._armed) + _SPARE:
                    self._timeouts = [(at_ms, each) for each, at_ms in self._armed.items()]
                    heapq.heapify(self._timeouts)
        elif not transaction.has_expiry_entry:
            due_ms = self.expiry_of(transaction)
            if due_ms is not None:
                name = transaction.transactional_id
                transaction.has_expiry_entry = True
                self._push(self._expiries, due_ms, name)
                if len(self._expiries) > 2 * len(self._transactions) + _SPARE:
                    self._collect_expiries()

    def _push(self, heap: Heap, due_ms: int, name: str) -> None:
        heapq.heappush(heap, (due_ms, name))
        if self.earliest_ms is None or due_ms < self.earliest_ms:
            self.earliest_ms = due_ms

    def _collect_expiries(self) -> None:
        """Drop the entries of ids that no longer exist."""
        self._expiries = []
        for name, transaction in self._transactions.items():
            due_ms = self.expiry_of(transaction)
            transaction.has_expiry_entry = due_ms is not None
            if due_ms is not None:
                self._expiries.append((due_ms, name))
        heapq.heapify(self._expiries)

    def first(self) -> tuple[int, str] | None:
        """Return the next deadline and its id."""
        both = self._first_timeout(), self._first_expiry()
        first = min((each for each in both if each is not None), default=None)
        self.earliest_ms = None if first is None else first[0]
        return first

    def put_off(self) -> None:
        """Skip the result of ``first`` until its transaction changes or ``take_up`` is called."""
        timeout, expiry = self._first_timeout(), self._first_expiry()
        if timeout is not None and (expiry is None or timeout <= expiry):
            name = heapq.heappop(self._timeouts)[1]
            del self._armed[name]
        elif expiry is not None:
            name = heapq.heappop(self._expiries)[1]
            self._transactions[name].has_expiry_entry = False
        else:
            return
        self._aside.append(name)

    def take_up(self) -> None:
        """Consider all skipped ids again."""
        aside, self._aside = self._aside, []
        for name in aside:
            transaction = self._transactions.get(name)
            if transaction is not None:
                self.arm(transaction)

    def _first_timeout(self) -> tuple[int, str] | None:
        heap, armed = self._timeouts, self._armed
        while heap:
            at_ms, name = heap[0]
            if armed.get(name) == at_ms:
                transaction = self._transactions.get(name)
                due_ms = None if transaction is None else self.timeout_of(transaction)
                if due_ms == at_ms:
                    return heap[0]
                if due_ms is not None:
                    armed[name] = due_ms
                    heapq.heapreplace(heap, (due_ms, name))
                    continue
                del armed[name]
            heapq.heappop(heap)
        return None

    def _first_expiry(self) -> tuple[int, str] | None:
        heap = self._expiries
        while heap:
            at_ms, name = heap[0]
            transaction = self._transactions.get(name)
            if transaction is not None and transaction.has_expiry_entry:
                due_ms = self.expiry_of(transaction)
                if due_ms == at_ms:
                    return heap[0]
                if due_ms is not None:  # an earlier one, if the clock was set back before its use
                    heapq.heapreplace(heap, (due_ms, name))
                    continue
                transaction.has_expiry_entry = False
            heapq.heappop(heap)
        return None
