"""The states of a transactional id, and how one follows another.

Theory. A transactional id lives in one partition of ``__transaction_state`` and is always in one
of these states. Each arrow but one is a record in that partition; what is in the log is what is.

- *Empty*: a producer has its id and epoch and has not written anything yet.
- *Ongoing*: partitions have been added. From the first one on the transaction's time runs.
- *PrepareCommit*, *PrepareAbort*: the outcome is decided, and nothing changes it any more. The
  producer has its answer; markers go to the partitions until the last one has acknowledged its
  own, however long that takes. A coordinator that finds such a record when it loads goes on there.
- *PrepareEpochFence*: the coordinator itself aborts, because time is over or another producer has
  come. It passes through here within one decision: what is logged is PrepareAbort with the epoch
  already bumped, so that the old producer can do no more.
- *CompleteCommit*, *CompleteAbort*: all markers are there. The next transaction may begin.
- *Dead*: unused for too long. What is logged is a tombstone, then the id is as good as new.

Under transaction version 2 (KIP-890) PrepareX has the epoch of the *next* transaction, so that a
late request of this one is fenced; and an abort of nothing, which a client sends when it does not
know whether anything was added, goes from Empty or CompleteX through PrepareAbort without
partitions.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Final

from fencepost_protocol.exceptions import RemoteProtocolError


class State(IntEnum):
    """With the numbers that stand in the log."""

    EMPTY = 0
    ONGOING = 1
    PREPARE_COMMIT = 2
    PREPARE_ABORT = 3
    COMPLETE_COMMIT = 4
    COMPLETE_ABORT = 5
    DEAD = 6
    PREPARE_EPOCH_FENCE = 7


_: Final = State
TRANSITIONS: Final[dict[State, frozenset[State]]] = {
    _.EMPTY: frozenset({_.EMPTY, _.ONGOING, _.PREPARE_ABORT, _.DEAD}),
    _.ONGOING: frozenset(
        {_.ONGOING, _.PREPARE_COMMIT, _.PREPARE_ABORT, _.PREPARE_EPOCH_FENCE},
    ),
    _.PREPARE_EPOCH_FENCE: frozenset({_.PREPARE_ABORT}),
    _.PREPARE_COMMIT: frozenset({_.COMPLETE_COMMIT}),
    _.PREPARE_ABORT: frozenset({_.COMPLETE_ABORT}),
    _.COMPLETE_COMMIT: frozenset({_.EMPTY, _.ONGOING, _.PREPARE_ABORT, _.DEAD}),
    _.COMPLETE_ABORT: frozenset({_.EMPTY, _.ONGOING, _.PREPARE_ABORT, _.DEAD}),
    _.DEAD: frozenset({_.EMPTY}),
}
"""What may follow; Empty follows on nothing, too: a new id."""

_MASKS: Final = tuple(
    sum(1 << follower for follower in TRANSITIONS[state]) for state in sorted(TRANSITIONS)
)

NAMES: Final = {
    State.EMPTY: "Empty",
    State.ONGOING: "Ongoing",
    State.PREPARE_COMMIT: "PrepareCommit",
    State.PREPARE_ABORT: "PrepareAbort",
    State.COMPLETE_COMMIT: "CompleteCommit",
    State.COMPLETE_ABORT: "CompleteAbort",
    State.DEAD: "Dead",
    State.PREPARE_EPOCH_FENCE: "PrepareEpochFence",
}
"""As DescribeTransactions and ListTransactions spell them."""


def may_follow(state: State, follower: State) -> bool:
    """Whether the table has this arrow; asked of bits, since hashing an enum's member is slow."""
    return bool(_MASKS[state] >> follower & 1)


_LOGGED: Final = tuple(State)[: State.DEAD]


def logged_state(status: int) -> State:
    """The state that a record's number means."""
    if 0 <= status < len(_LOGGED):
        return _LOGGED[status]
    raise RemoteProtocolError(
        f"status {status} is never written", api="TransactionLogValue", path="transaction_status"
    )
