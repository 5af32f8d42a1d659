"""When time alone changes something: open transactions time out, unused ids expire.

Two heaps, each with one entry for an id that is not later than it should be. An entry that is too
early, because its transaction has ended or its id was used again, is put right when it comes to
the top: a step costs the same however many ids there are.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from typing import Final

from fencepost_broker.coordinator.transaction.model import NEVER_MS, Transaction
from fencepost_broker.coordinator.transaction.states import State

Heap = list[tuple[int, str]]
_SPARE: Final = 64
"""So many entries too many are no reason to clean up."""


class Timers:
    """Over the ids of one machine."""

    __slots__ = ("_armed", "_aside", "_expiration_ms", "_expiries", "_timeouts", "_transactions")

    def __init__(self, transactions: Mapping[str, Transaction], expiration_ms: int) -> None:
        self._transactions = transactions
        self._expiration_ms = expiration_ms
        self._timeouts: Heap = []
        self._armed: dict[str, int] = {}
        """The time of each id's entry among the timeouts; another one is of no use any more."""
        self._expiries: Heap = []
        self._aside: list[str] = []
        """Ids without an entry, because what is due cannot be done now."""

    def timeout_of(self, transaction: Transaction) -> int | None:
        """When the open transaction will be aborted."""
        if transaction.state is not State.ONGOING or transaction.timeout_ms == NEVER_MS:
            return None
        return transaction.started_ms + transaction.timeout_ms

    def expiry_of(self, transaction: Transaction) -> int | None:
        """When the id will be forgotten, if nothing happens; never while markers are out."""
        if transaction.state is State.ONGOING or transaction.is_prepared:
            return None
        return transaction.updated_ms + self._expiration_ms

    def arm(self, transaction: Transaction) -> None:
        """Look after a transaction that has changed."""
        name = transaction.transactional_id
        due_ms = self.timeout_of(transaction)
        if due_ms is not None:
            armed_ms = self._armed.get(name)
            if armed_ms is None or due_ms < armed_ms:
                self._armed[name] = due_ms
                heapq.heappush(self._timeouts, (due_ms, name))
                if len(self._timeouts) > 2 * len(self._armed) + _SPARE:
                    self._timeouts = [(at_ms, each) for each, at_ms in self._armed.items()]
                    heapq.heapify(self._timeouts)
        elif not transaction.has_expiry_entry:
            due_ms = self.expiry_of(transaction)
            if due_ms is not None:
                transaction.has_expiry_entry = True
                heapq.heappush(self._expiries, (due_ms, name))
                if len(self._expiries) > 2 * len(self._transactions) + _SPARE:
                    self._collect_expiries()

    def _collect_expiries(self) -> None:
        """Ids that came and went have left entries behind."""
        self._expiries = []
        for name, transaction in self._transactions.items():
            due_ms = self.expiry_of(transaction)
            transaction.has_expiry_entry = due_ms is not None
            if due_ms is not None:
                self._expiries.append((due_ms, name))
        heapq.heapify(self._expiries)

    def first(self) -> tuple[int, str] | None:
        """What is due next, and which id."""
        timeout, expiry = self._first_timeout(), self._first_expiry()
        if timeout is None or expiry is None:
            return timeout or expiry
        return min(timeout, expiry)

    def put_off(self) -> None:
        """Pass over what ``first`` gives, until its transaction changes or it is taken up."""
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
        """Pass over nothing any more."""
        aside, self._aside = self._aside, []
        for name in aside:
            transaction = self._transactions.get(name)
            if transaction is not None:
                self.arm(transaction)

    def not_before(self) -> int | None:
        """A time before which nothing is due; entries that came too early are not put right."""
        timeouts, expiries = self._timeouts, self._expiries
        if not timeouts or not expiries:
            first = timeouts or expiries
            return first[0][0] if first else None
        return min(timeouts[0][0], expiries[0][0])

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
                if due_ms is not None and due_ms > at_ms:
                    heapq.heapreplace(heap, (due_ms, name))
                    continue
                transaction.has_expiry_entry = False
            heapq.heappop(heap)
        return None
