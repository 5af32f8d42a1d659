"""The states of a transactional id and the transitions between them.

A transactional id belongs to one partition of ``__transaction_state`` and is always in one of
these states. Each transition but one is a record in that partition; the log is the only truth.

- *Empty*: a producer has its id and epoch and has not written anything yet.
- *Ongoing*: partitions have been added. The timeout runs from the first one.
- *PrepareCommit*, *PrepareAbort*: the outcome is decided and cannot change. The producer has its
  answer. The coordinator sends markers until every partition has acknowledged its own, however
  long that takes. A coordinator that loads such a record continues from there.
- *PrepareEpochFence*: the coordinator itself aborts, because the transaction has timed out or a
  new producer has taken over the id. This state exists only within one decision: the log gets
  PrepareAbort with the epoch already bumped, so that the old producer is fenced.
- *CompleteCommit*, *CompleteAbort*: all markers are written. The next transaction may begin.
- *Dead*: the id has been unused for too long. The log gets a tombstone; after that the id counts
  as new.

Under transaction version 2 (KIP-890) PrepareX has the epoch of the *next* transaction, so that a
late request of this one is fenced. A client that does not know whether it added any partition may
abort an empty transaction; the id then goes from Empty or CompleteX through PrepareAbort without
partitions.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Final

from fencepost_protocol.exceptions import RemoteProtocolError


class State(IntEnum):
    """A state, with its number in the log."""

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
"""The states that may follow each state; a new id starts in Empty."""

PREPARED: Final = (State.PREPARE_COMMIT, State.PREPARE_ABORT)
"""The outcome is decided, and markers are outstanding."""

FOLLOWERS: Final = tuple(
    sum(1 << follower for follower in TRANSITIONS[state]) for state in sorted(TRANSITIONS)
)
"""By state, the states that may follow it as a bit mask, because hashing an enum is slow."""

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
"""The names in DescribeTransactions and ListTransactions."""


def may_follow(state: State, follower: State) -> bool:
    """Whether a transition is allowed."""
    return bool(FOLLOWERS[state] >> follower & 1)


_LOGGED: Final = {int(state): state for state in State if state < State.DEAD}


def logged_state(status: int) -> State:
    """Return the state with this number in the log."""
    try:
        return _LOGGED[status]
    except KeyError:
        raise RemoteProtocolError(
            f"status {status} is unknown", api="TransactionLogValue", path="transaction_status"
        ) from None
