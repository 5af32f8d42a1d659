"""The stages of a transactional producer.

::

    UNINITIALIZED -> INITIALIZING -> READY -> IN_TRANSACTION -> COMMITTING -> READY
                                                 |    |             |
                                                 |    +-> ABORTING <+- a commit that was refused
                                                 v           ^   |
                                          ABORTABLE_ERROR ---+   +-> READY
    INITIALIZING or IN_TRANSACTION -> PREPARED -> COMMITTING or ABORTING (KIP-939)
    from anywhere -> FATAL, for good
"""

from __future__ import annotations

from enum import Enum
from typing import Final


class Stage(Enum):
    """See the picture above."""

    UNINITIALIZED = "not initialised"
    INITIALIZING = "initialising"
    READY = "not in a transaction"
    IN_TRANSACTION = "in a transaction"
    PREPARED = "in a transaction that is prepared"
    COMMITTING = "committing"
    ABORTING = "aborting"
    ABORTABLE_ERROR = "in a transaction that can only be aborted"
    FATAL = "ended by a fatal error"


OPEN: Final = {Stage.IN_TRANSACTION, Stage.ABORTABLE_ERROR}
ALLOWED_FROM: Final[dict[Stage, set[Stage]]] = {
    Stage.INITIALIZING: {Stage.UNINITIALIZED, Stage.INITIALIZING},
    Stage.READY: {Stage.INITIALIZING, Stage.COMMITTING, Stage.ABORTING},
    Stage.IN_TRANSACTION: {Stage.READY},
    Stage.PREPARED: {Stage.INITIALIZING, Stage.IN_TRANSACTION},
    Stage.COMMITTING: {Stage.IN_TRANSACTION, Stage.PREPARED, Stage.COMMITTING},
    Stage.ABORTING: {Stage.IN_TRANSACTION, Stage.PREPARED, Stage.ABORTABLE_ERROR, Stage.ABORTING},
    Stage.ABORTABLE_ERROR: {Stage.IN_TRANSACTION, Stage.COMMITTING, Stage.ABORTABLE_ERROR},
    Stage.FATAL: set(Stage),
}
