"""The contract of every machine: coordinators, controller, partition state.

    handle(now_ms, command) -> Decision        reads state, changes nothing
    replay(record)                             the only mutation of durable state
    apply_soft(soft)                           the mutation of what is not logged (heartbeats)
    deadline() -> int | None                   when it next wants to be woken
    expire(now_ms) -> Decision                 what time alone makes happen

A request makes records, records are appended to a log, then replayed, then the effects leave: a
restart is a replay of the log. A machine imports no loop, socket, file, clock, chance or logger.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar, cast

from fencepost_protocol.apis import Message

AnswerT = TypeVar("AnswerT")


class MetadataRecord(NamedTuple):
    """A record for the metadata log: a message of ``schemas/records`` and its version."""

    message: Message
    version: int


@dataclass(slots=True)
class Decision(Generic[AnswerT]):
    """What a command or the passing of time leads to; it does not change once it is made.

    ``records`` are appended first, all or none, and replayed; then ``soft`` goes to the machine's
    ``apply_soft`` one by one; ``answer`` and ``effects`` are released when the records are
    committed. (A frozen dataclass takes four times as long to build, and every request builds one.)
    """

    answer: AnswerT = cast("Any", None)  # noqa: RUF009
    """``None``: the request waits in the machine, under the token that came with it; a later
    decision has a ``Reply`` for it. A command that expects no answer has ``None`` too."""
    records: tuple[Any, ...] = ()
    """For the metadata log ``MetadataRecord``, for a coordinator's log ``LogRecord``."""
    effects: tuple[Any, ...] = ()
    soft: tuple[Any, ...] = ()
    producer_id: int = -1
    """Not -1: the records are one transactional batch of this producer (offsets that wait for the
    end of its transaction)."""
    producer_epoch: int = -1
