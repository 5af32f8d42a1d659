"""What is written to an awkward topic, step by step, and what a correct consumer reads then."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple, TypeAlias

from fencepost_client.config.settings import CompressionName
from fencepost_client.types import Headers


class Record(NamedTuple):
    """A record that is sent. Topics with LogAppendTime ignore its timestamp."""

    timestamp_ms: int
    key: bytes | None
    value: bytes | None
    headers: Headers = ()


@dataclass(frozen=True)
class Writer:
    """A producer with a producer id of its own."""

    name: str = "writer"
    codec: CompressionName = "none"
    is_transactional: bool = False


@dataclass(frozen=True)
class Batch:
    """Records are sent as one batch; a transactional writer begins a transaction if it must."""

    writer: Writer
    records: Sequence[Record]


@dataclass(frozen=True)
class End:
    """A transaction ends, and its marker is written."""

    writer: Writer
    commit: bool


@dataclass(frozen=True)
class DeleteRecords:
    """All records before an offset are deleted."""

    before: int


@dataclass(frozen=True)
class Compact:
    """All that was written so far is compacted once; the next batch begins a new segment."""


Step: TypeAlias = Batch | End | DeleteRecords | Compact


@dataclass(frozen=True)
class AwkwardTopic:
    """A topic of one partition."""

    name: str
    about: str
    """Why it is awkward."""
    steps: Sequence[Step]
    config: Mapping[str, str] = field(default_factory=dict)

    @property
    def needs_compaction(self) -> bool:
        """Whether no client can make it."""
        return any(isinstance(step, Compact) for step in self.steps)

    @property
    def has_append_time(self) -> bool:
        """Whether the broker gives its records their timestamps."""
        return self.config.get(TIMESTAMP_TYPE) == LOG_APPEND_TIME


TIMESTAMP_TYPE: Final = "message.timestamp.type"
LOG_APPEND_TIME: Final = "LogAppendTime"


class Readable(NamedTuple):
    """A record that consumers read."""

    offset: int
    timestamp_ms: int
    key: bytes | None
    value: bytes | None
    headers: Headers
    is_aborted: bool
    """Readers of committed records do not get it."""


@dataclass
class _Written:
    offset: int
    record: Record
    timestamp_ms: int
    is_aborted: bool = False


class Contents:
    """What a topic has after some of its steps."""

    def __init__(self) -> None:
        self.start_offset = 0
        self.end_offset = 0
        self._written: list[_Written] = []
        self._open: dict[Writer, list[_Written]] = {}

    def records(self) -> list[Readable]:
        """Return all records, in order."""
        return [
            Readable(
                each.offset,
                each.timestamp_ms,
                each.record.key,
                each.record.value,
                each.record.headers,
                each.is_aborted,
            )
            for each in self._written
            if each.offset >= self.start_offset
        ]

    def is_open(self, writer: Writer) -> bool:
        """Whether this writer has a transaction open."""
        return writer in self._open

    def add(self, batch: Batch, append_time_ms: int | None = None) -> None:
        """Add a batch, whose records have one timestamp if the broker gave it."""
        added = []
        for record in batch.records:
            time_ms = record.timestamp_ms if append_time_ms is None else append_time_ms
            added.append(_Written(self.end_offset, record, time_ms))
            self.end_offset += 1
        self._written += added
        if batch.writer.is_transactional:
            self._open.setdefault(batch.writer, []).extend(added)

    def end(self, step: End) -> None:
        """End a transaction: its marker takes an offset."""
        for each in self._open.pop(step.writer):
            each.is_aborted = not step.commit
        self.end_offset += 1

    def delete(self, step: DeleteRecords) -> None:
        """Let the log begin later."""
        self.start_offset = step.before

    def compact(self) -> None:
        """Keep the last record of each key; one without a value stays for a day."""
        last = {each.record.key: each.offset for each in self._written if not each.is_aborted}
        self._written = [
            each
            for each in self._written
            if not each.is_aborted and last[each.record.key] == each.offset
        ]
