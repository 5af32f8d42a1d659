"""The contract of every machine: coordinators, controller, partition state.

    handle(now_ms, command) -> Decision        reads state, changes nothing
    replay(record)                             the only mutation of durable state
    apply_soft(soft)                           the mutation of what is not logged (heartbeats)
    deadline() -> int | None                   when it next wants to be woken
    expire(now_ms) -> Decision                 what time alone makes happen

A request makes records, records are appended to a log, then replayed, then the effects leave: a
restart is a replay of the log. A machine imports no loop, socket, file, clock, chance or logger.
The coordinators' decisions have the same shape with records of their own, see
``coordinator/effects.py``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from fencepost_protocol.apis import Message

Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class MetadataRecord:
    """A record for the metadata log: a message of ``schemas/records`` and its version."""

    message: Message
    version: int


@dataclass(frozen=True, slots=True)
class Decision(Generic[Answer]):
    """What a command or the passing of time leads to.

    ``records`` are appended first, all or none, and replayed; then ``soft`` goes to the machine's
    ``apply_soft`` one by one; ``answer`` and ``effects`` are released when the records are
    committed.
    """

    answer: Answer
    records: tuple[MetadataRecord, ...] = ()
    effects: tuple[Any, ...] = ()
    soft: tuple[Any, ...] = ()
