"""What a coordinator's machine decides: records, soft state, an answer, and effects.

The order is that of ``fencepost_broker.metadata.decision``: the records are appended as one batch
and replayed, ``soft`` goes to ``apply_soft`` one by one, and only when the records are committed do
``answer`` and ``effects`` leave.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from fencepost_broker.coordinator.records import LogRecord

Answer = TypeVar("Answer")


@dataclass(slots=True)
class Decision(Generic[Answer]):
    """What a command or the passing of time leads to; not to be changed once it is made.

    (A frozen dataclass takes four times as long to build, and every request builds one.)
    """

    answer: Answer | None = None
    """``None``: the request waits in the machine, under the token that came with it; a later
    decision has a ``Reply`` for it. A command that expects no answer has ``None`` too."""
    records: tuple[LogRecord, ...] = ()
    effects: tuple[Any, ...] = ()
    soft: tuple[Any, ...] = ()
    producer_id: int = -1
    """Not -1: the records are one transactional batch of this producer (offsets that wait for the
    end of its transaction)."""
    producer_epoch: int = -1


@dataclass(slots=True)
class Reply:
    """The answer to a request that has waited in the machine."""

    token: Callable[[Any], None]
    """What the command brought; it is called with the answer."""
    answer: Any


@dataclass(slots=True)
class Tell:
    """Something that a person should hear of; the server logs it."""

    kind: str
    """One word or two with a hyphen: what a log line is filtered by."""
    text: str
    unexpected: bool = False
    """Worth a warning."""
