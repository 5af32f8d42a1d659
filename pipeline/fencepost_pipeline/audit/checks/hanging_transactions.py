"""Hanging transactions: open longer than they may be, or decided and never completed.

A coordinator looks every ten seconds for transactions that are open longer than their timeout, and
aborts them. One that is still open well after that holds back everybody who reads committed
records. "Now" is the latest time in the coordinators' own logs, so that a log that was put away
with a transaction open does not age; ``now_ms`` gives another one.

A decision whose markers are never acknowledged (a partition that cannot be reached) holds the
transactional id and its readers in the same way, and is measured against the same timeout.

A transaction of a two-phase commit (KIP-939) has no timeout: it may stay open until it is decided.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from fencepost_client.admin.transactions import NEVER_MS

from fencepost_pipeline.audit.batch_headers import NONE
from fencepost_pipeline.audit.coordinator_log import TOPIC, History
from fencepost_pipeline.audit.findings import Finding, Invariant, Ledger

SCAN_MS: Final = 10_000
"""``transaction.abort.timed.out.transaction.cleanup.interval.ms``: how late an abort may be."""


def check_hanging(history: History, now_ms: int | None, ledger: Ledger) -> None:
    """What is open where the coordinators' logs end."""
    now = history.last_time if now_ms is None else now_ms
    ledger.checked(Invariant.HANGING, len(history))
    known = history.transactions
    names, first, inverse = np.unique(known.name, return_index=True, return_inverse=True)
    latest = np.empty(len(names), np.int64)
    latest[inverse] = np.arange(len(history))
    latest = latest[np.argsort(first)]
    is_decided = known.committed[latest] != NONE
    may_stay = ~is_decided & (known.timeout_ms[latest] == NEVER_MS)
    age = now - np.where(is_decided, known.prepare_time[latest], known.begin_time[latest])
    hangs = (known.complete_committed[latest] == NONE) & ~may_stay
    hangs &= age > known.timeout_ms[latest] + SCAN_MS
    for i in np.flatnonzero(hangs).tolist():
        number = int(latest[i])
        what = "decided but not complete" if is_decided[i] else "open"
        places = ", ".join(f"{topic}-{which}" for topic, which in sorted(history.places_of(number)))
        ledger.found(
            Finding(
                Invariant.HANGING,
                f"{what} for {age[i] / 1000:.0f} s with a timeout of "
                f"{known.timeout_ms[number] / 1000:g} s; it holds back {places or 'no partition'}",
                TOPIC,
                int(known.log_partition[number]),
                int(known.begin_offset[number]),
                producer_id=int(known.producer_id[number]),
                producer_epoch=int(known.producer_epoch[number]),
                transactional_id=history.name_of(number),
            )
        )
