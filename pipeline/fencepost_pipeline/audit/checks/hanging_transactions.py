"""Hanging transactions: open longer than they may be, or decided and never completed.

A coordinator looks every ten seconds for transactions that are open longer than their timeout, and
aborts them. One that is still open well after that holds back everybody who reads committed
records. "Now" is the latest time in the coordinators' own logs, so that a log that was put away
with a transaction open does not age; ``now_ms`` gives another one.

A decision whose markers are never acknowledged (a partition that cannot be reached) holds the
transactional id and its readers in the same way, and is measured against the same timeout.
"""

from __future__ import annotations

from typing import Final

from fencepost_pipeline.audit.coordinator_log import TOPIC, History
from fencepost_pipeline.audit.findings import Finding, Invariant, Ledger

SCAN_MS: Final = 10_000
"""``transaction.abort.timed.out.transaction.cleanup.interval.ms``: how late an abort may be."""


def check_hanging(history: History, now_ms: int | None, ledger: Ledger) -> None:
    """What is open where the coordinators' logs end."""
    now = history.last_time if now_ms is None else now_ms
    ledger.checked(Invariant.HANGING, len(history.transactions))
    latest: dict[str, int] = {}
    for number, transaction in enumerate(history.transactions):
        latest[transaction.transactional_id] = number
    for number in latest.values():
        transaction = history.transactions[number]
        if transaction.is_complete:
            continue
        since = transaction.prepare_time if transaction.is_decided else transaction.begin_time
        age = now - since
        if age <= transaction.timeout_ms + SCAN_MS:
            continue
        what = "decided but not complete" if transaction.is_decided else "open"
        places = ", ".join(f"{topic}-{number}" for topic, number in sorted(transaction.partitions))
        ledger.found(
            Finding(
                Invariant.HANGING,
                f"{what} for {age / 1000:.0f} s with a timeout of "
                f"{transaction.timeout_ms / 1000:g} s; it holds back {places or 'no partition'}",
                TOPIC,
                transaction.log_partition,
                transaction.begin_offset,
                producer_id=transaction.producer_id,
                producer_epoch=transaction.producer_epoch,
                transactional_id=transaction.transactional_id,
            )
        )
