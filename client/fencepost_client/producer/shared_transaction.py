"""A transaction of several processes: one begins it, many write, and another one ends it.

The coordinator identifies a transaction by producer id and epoch, not by a connection, so any
process that has these can write in it and end it. A broker cannot distinguish two writers of one
partition, and would drop the batches of one as duplicates. So each partition must have only one
writer in a transaction; the program that distributes the work has to ensure that.
"""

from __future__ import annotations

from typing import NamedTuple

from fencepost_client.producer.batch import Identity
from fencepost_client.producer.stages import Stage
from fencepost_client.producer.transaction_manager import TransactionManager
from fencepost_client.requests.backoff import Chance


class OpenTransaction(NamedTuple):
    """The identity of a transaction, as plain values that can be sent to other processes."""

    transactional_id: str
    producer_id: int
    producer_epoch: int
    version: int
    """The feature ``transaction.version`` when it began: all have to go by the same protocol."""


class SharedTransactionManager(TransactionManager):
    """The part of one process in a transaction that another process has begun."""

    def __init__(self, transaction: OpenTransaction, chance: Chance) -> None:
        super().__init__(transaction.transactional_id, timeout_ms=0, chance=chance)
        self.identity = Identity(transaction.producer_id, transaction.producer_epoch)
        self.stage = Stage.READY
        self.begin(transaction.version)
        self._perhaps_begun = True  # by the others
