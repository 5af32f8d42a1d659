"""A transaction that several processes share: one begins it, many write, another one ends it.

The coordinator knows a transaction by its producer id and epoch only, not by a connection: whoever
has these can write and can end it. What the broker cannot see is two writers of one partition,
whose batches it takes for repetitions of each other; so each partition has one writer, and that is
the business of whoever hands out the work.
"""

from __future__ import annotations

from typing import NamedTuple

from fencepost_client.producer.batch import Identity
from fencepost_client.producer.stages import Stage
from fencepost_client.producer.transaction_manager import TransactionManager
from fencepost_client.requests.backoff import Chance


class OpenTransaction(NamedTuple):
    """What a process has to know to take part; plain values, to be sent anywhere."""

    transactional_id: str
    producer_id: int
    producer_epoch: int
    version: int
    """The feature ``transaction.version`` when it began: all have to go by the same protocol."""


class SharedTransactionManager(TransactionManager):
    """One process's part in a transaction that was begun elsewhere."""

    def __init__(self, transaction: OpenTransaction, chance: Chance) -> None:
        super().__init__(transaction.transactional_id, timeout_ms=0, chance=chance)
        self.identity = Identity(transaction.producer_id, transaction.producer_epoch)
        self.stage = Stage.READY
        self.begin(transaction.version)
        self._perhaps_begun = True  # by the others
