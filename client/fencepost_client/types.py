"""The values that calls of the client take and return."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import index
from typing import Any, Final, NamedTuple, TypeAlias, TypeVar

Headers: TypeAlias = Sequence[tuple[str, bytes | None]]
"""Header keys and values, in order; a key may occur more than once."""


_NUMBER_MAX: Final = (1 << 63) - 1
AnyItem = TypeVar("AnyItem", bound=Hashable)


def distinct(given: Iterable[AnyItem]) -> list[AnyItem]:
    """Each item once, in order. A text would be taken letter by letter, so it is refused."""
    if isinstance(given, str | bytes):
        raise TypeError(f"{given!r:.100} is one item where several are taken: put it into a list")
    return list(dict.fromkeys(given))


def whole_number(what: str, given: Any) -> int:
    """An offset, or another number that is sent in 63 bits."""
    try:
        found = index(given)
    except TypeError:
        raise TypeError(f"{what} is {given!r:.100}; it is a whole number") from None
    if not 0 <= found <= _NUMBER_MAX:
        raise ValueError(f"{what} is {found}; it is from 0 to {_NUMBER_MAX}")
    return found


class TopicPartition(NamedTuple):
    """A partition of a topic."""

    topic: str
    partition: int


class OffsetAndMetadata(NamedTuple):
    """A committed offset: that of the next record to read, with a note."""

    offset: int
    metadata: str = ""
    leader_epoch: int = -1


def as_offsets(
    given: Mapping[TopicPartition, OffsetAndMetadata | int],
) -> dict[TopicPartition, OffsetAndMetadata]:
    """Offsets to commit, checked."""
    found = {}
    for where, offset in given.items():
        if not isinstance(where, TopicPartition):
            raise TypeError(f"{where!r:.100} is no TopicPartition")
        taken = offset if isinstance(offset, OffsetAndMetadata) else OffsetAndMetadata(offset)
        found[where] = taken._replace(offset=whole_number("the offset", taken.offset))
    return found


class RecordMetadata(NamedTuple):
    """The partition, offset and timestamp of a record that was sent.

    The offset is -1 with ``acks=0``, and if an earlier attempt wrote the record and the broker does
    not say where.
    """

    topic: str
    partition: int
    offset: int
    timestamp_ms: int


class ConsumerRecord(NamedTuple):
    """A record as a consumer reads it."""

    topic: str
    partition: int
    offset: int
    timestamp_ms: int
    key: bytes | None
    value: bytes | None
    headers: Headers = ()


class PreparedTxnState(NamedTuple):
    """What identifies a transaction of a two-phase commit after a restart (KIP-939).

    Its text, ``str(state)``, can be stored; ``parse`` reads it. It is empty without a transaction.
    """

    producer_id: int = -1
    epoch: int = -1

    @classmethod
    def parse(cls, text: str) -> PreparedTxnState:
        """Read the text of a state; a ``ValueError`` names an invalid one."""
        if not text:
            return cls()
        try:
            producer_id, epoch = map(int, text.split(":"))
        except ValueError:
            raise ValueError(f"{text!r:.100} is not of the form ID:EPOCH") from None
        if producer_id < 0 or epoch < 0:
            raise ValueError(f"{text!r:.100} has a negative number")
        return cls(producer_id, epoch)

    @property
    def has_transaction(self) -> bool:
        """Whether there is a transaction."""
        return self.producer_id >= 0

    def __str__(self) -> str:
        return f"{self.producer_id}:{self.epoch}" if self.has_transaction else ""


@dataclass(frozen=True, slots=True)
class GroupMetadata:
    """The identity of a consumer in its group, for ``Producer.send_offsets`` (KIP-447)."""

    group_id: str
    generation_id: int = -1
    member_id: str = ""
    group_instance_id: str | None = None
