"""The logs of data directories, for the audit, by :mod:`fencepost_pipeline.segments`.

A directory may be a broker's ``log.dirs`` of Fencepost or Apache Kafka. Given the directories of
several brokers, a partition that has replicas in more than one of them is read where it is longest.
"""

from __future__ import annotations

import copy
import os
import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Final

import pyarrow as pa
from fencepost_protocol.exceptions import RemoteProtocolError
from fencepost_protocol.generated.config_record import ConfigRecord
from fencepost_protocol.generated.producer_ids_record import ProducerIdsRecord
from fencepost_protocol.varint import read_uvarint

from fencepost_pipeline.audit.checks.last_stable_offset import AbortedEntry
from fencepost_pipeline.audit.checks.lost_segments import Policies, Setting, policies_of
from fencepost_pipeline.audit.checks.producer_id_blocks import TOPIC as METADATA_TOPIC
from fencepost_pipeline.audit.checks.producer_id_blocks import BlockNote
from fencepost_pipeline.audit.findings import Finding, Invariant
from fencepost_pipeline.segments import (
    Problem,
    ProblemKind,
    Segment,
    Slice,
    list_segments,
    read_batches,
    read_records,
    split,
)

INDEX_ENTRY: Final = struct.Struct(">hqqqq")
"""Version, producer id, first offset, last offset, last stable offset."""
SNAPSHOT_SUFFIX: Final = ".checkpoint"
PROBLEMS_KEPT: Final = 1000


class DataDirectory:
    """All logs below some paths.

    Raises :class:`fencepost_pipeline.segments.UnreadablePathError` for a path without logs.
    """

    def __init__(self, paths: Iterable[str | os.PathLike[str]]) -> None:
        self.segments: dict[tuple[str, int], list[Segment]] = {}
        self._problems: dict[tuple[str, int], Finding] = {}
        copies: dict[tuple[str, int], dict[str, list[Segment]]] = {}
        for segment in list_segments(paths):
            place = segment.topic, segment.partition
            folder = str(Path(segment.path).parent)
            copies.setdefault(place, {}).setdefault(folder, []).append(segment)
        for place, found in copies.items():
            self.segments[place] = max(found.values(), key=_extent)

    def partitions(self) -> list[tuple[str, int]]:
        """All but the metadata log, which has records of another kind."""
        return [place for place in self.segments if place[0] != METADATA_TOPIC]

    def of_topic(self, topic: str) -> DataDirectory:
        """The logs of one topic, with no problems told yet."""
        part = copy.copy(self)
        part.segments = {place: each for place, each in self.segments.items() if place[0] == topic}
        part._problems = {}
        return part

    def size(self, *topics: str) -> int:
        """How many bytes the segments of these topics have; of all topics if none is named."""
        return sum(
            segment.size
            for place in self.partitions()
            if not topics or place[0] in topics
            for segment in self.segments[place]
        )

    def batches(self, topic: str, partition: int) -> Iterator[pa.RecordBatch]:
        """Rows of the table ``batches``."""
        for part in self._slices(topic, partition):
            yield from read_batches(part, on_problem=self._tell)

    def records(self, topic: str, partition: int) -> Iterator[pa.RecordBatch]:
        """Rows of the table ``records``."""
        for part in self._slices(topic, partition):
            # A wrong CRC was told with the headers; here it is left out again, and not told twice.
            yield from read_records(part, control=True, on_problem=self._tell)

    def aborted(self, topic: str, partition: int) -> list[AbortedEntry]:
        """What the files ``.txnindex`` say."""
        return [
            AbortedEntry(segment.path, *fields[1:])
            for segment in self.segments[topic, partition]
            for fields in self._index_entries(segment)
        ]

    def block_notes(self) -> list[BlockNote] | None:
        """Notes of the latest snapshot, and of the log after it."""
        return None if self._decisions is None else self._decisions.notes

    def policies(self) -> Policies | None:
        """What the same says of ``cleanup.policy``."""
        return None if self._decisions is None else policies_of(self._decisions.settings)

    @cached_property
    def _decisions(self) -> _Decisions | None:
        segments = self.segments.get((METADATA_TOPIC, 0))
        if segments is None:
            return None
        folder = Path(segments[0].path).parent
        decisions = _Decisions()
        known = -1
        if segments[0].base_offset > 0:
            for path in sorted(folder.glob("*" + SNAPSHOT_SUFFIX))[-1:]:
                decisions.read(Segment(str(path), METADATA_TOPIC, 0, 0, path.stat().st_size), -1)
                known = int(path.name[:20]) - 1
        for segment in segments:
            decisions.read(segment, known)
        return decisions

    def problems(self) -> list[Finding]:
        """What could not be read so far; a torn tail is none."""
        return list(self._problems.values())

    def slices(self, topic: str, partition: int, target_bytes: int) -> list[Slice]:
        """A partition's segments, large ones cut at batches."""
        return [
            part
            for segment in self.segments[topic, partition]
            for part in split(segment, target_bytes)
        ]

    def tell(self, problems: Iterable[Problem]) -> None:
        """Take what somebody else could not read."""
        for problem in problems:
            self._tell(problem)

    def take(self, problems: Iterable[Finding]) -> None:
        """Take the problems of others who read a part of these logs."""
        for found in problems:
            self._problems.setdefault((found.segment, found.position), found)

    def _slices(self, topic: str, partition: int) -> list[Slice]:
        return [Slice(segment, 0, segment.size) for segment in self.segments[topic, partition]]

    def _tell(self, problem: Problem) -> None:
        if problem.kind is ProblemKind.TORN_TAIL or len(self._problems) >= PROBLEMS_KEPT:
            return
        self._problems.setdefault((problem.path, problem.position), finding_of(problem))

    def _index_entries(self, segment: Segment) -> Iterator[tuple[int, ...]]:
        path = Path(segment.path).with_suffix(".txnindex")
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            return
        whole = len(data) - len(data) % INDEX_ENTRY.size
        for position, fields in enumerate(INDEX_ENTRY.iter_unpack(data[:whole])):
            if fields[0] < 0 or fields[2] > fields[3]:
                place = position * INDEX_ENTRY.size
                self._problems[str(path), place] = Finding(
                    Invariant.READABLE,
                    f"byte {place}: this is no entry of an index of aborted transactions",
                    segment.topic,
                    segment.partition,
                    segment.base_offset,
                    segment=str(path),
                    position=place,
                )
                return
            yield fields


def finding_of(problem: Problem) -> Finding:
    """A problem with a file, as the audit tells it."""
    return Finding(
        Invariant.READABLE,
        f"byte {problem.position}: {problem.reason}",
        problem.topic,
        problem.partition,
        problem.offset,
        segment=problem.path,
        position=problem.position,
    )


def _extent(segments: list[Segment]) -> tuple[int, int]:
    """The longest replica is the one that begins its last segment latest, and has most in it."""
    return segments[-1].base_offset, segments[-1].size


@dataclass(slots=True)
class _Decisions:
    """What the audit wants to know of the controllers' records."""

    notes: list[BlockNote] = field(default_factory=list)
    settings: list[Setting] = field(default_factory=list)

    def read(self, segment: Segment, known: int) -> None:
        """Read the records of a file that come after an offset."""
        for batch in read_records(Slice(segment, 0, segment.size)):
            pairs = zip(
                batch.column("offset").to_pylist(), batch.column("value").to_pylist(), strict=True
            )
            for offset, value in pairs:
                if offset > known and value is not None:
                    self._take(segment, offset, value)

    def _take(self, segment: Segment, offset: int, value: bytes) -> None:
        """The record's frame says its type: frame version, type and version, each a varint."""
        try:
            frame, pos = read_uvarint(value, 0)
            kind, pos = read_uvarint(value, pos)
            version, pos = read_uvarint(value, pos)
            if frame != 1:
                return
            if kind == ProducerIdsRecord.RECORD_TYPE:
                ids, _ = ProducerIdsRecord.decode(memoryview(value), version, pos)
                note = BlockNote(offset, ids.broker_id, ids.next_producer_id, segment.path)
                self.notes.append(note)
            elif kind == ConfigRecord.RECORD_TYPE:
                config, _ = ConfigRecord.decode(memoryview(value), version, pos)
                name = _POLICY_NAMES.get(config.resource_type)
                if config.name == name and config.value is not None:
                    is_topic = config.resource_type == _TOPIC
                    topic = config.resource_name if is_topic else ""
                    self.settings.append(Setting(topic, config.value))
        except (IndexError, ValueError, RemoteProtocolError):
            return


_TOPIC, _BROKER = 2, 4
_POLICY_NAMES: Final = {_TOPIC: "cleanup.policy", _BROKER: "log.cleanup.policy"}
