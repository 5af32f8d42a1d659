"""Compares Fetch answers as streams of records: the target may cut them into other batches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from fencepost_protocol.exceptions import ProtocolError
from fencepost_protocol.records.batch import CONTROL_FLAG, split_raw
from fencepost_protocol.records.reader import iter_records

from fencepost_client.recordings.comparison import FieldDifference, error_differences
from fencepost_client.recordings.ids import Ids, Kind, TopicPartition

_SHOWN_BYTES = 40


class Read(NamedTuple):
    """A record as a reader sees it, or a marker."""

    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...]
    is_marker: bool

    def __str__(self) -> str:
        if self.is_marker:
            return f"a marker {self.key!r}"
        return f"key {_shown(self.key)}, value {_shown(self.value)}, {len(self.headers)} headers"


class FetchComparison:
    """Compares the answers to one recorded Fetch, of which there may be several.

    ``first_missing`` has the next offsets of partitions that lack records so far.
    """

    def __init__(self, ids: Ids, request: Any, recorded: Any) -> None:
        """Take the recorded request and its recorded answer."""
        self._ids = ids
        self._starts = {
            (ids.topic(topic.topic, topic.topic_id), each.partition): each.fetch_offset
            for topic in request.topics
            for each in topic.partitions
        }
        self._recorded = dict(_partitions(ids, recorded))
        self._answer = recorded
        self._got: dict[TopicPartition, dict[int, Read]] = {}
        self._aborted: dict[TopicPartition, set[tuple[int, int]]] = {}
        self.first_missing: dict[TopicPartition, int] = {}

    def add(self, got: Any) -> list[FieldDifference]:
        """Add an answer of the target, and return the differences that it shows."""
        found = list(error_differences("error_code", self._answer.error_code, got.error_code))
        if found:
            return found
        if not self._ids.match(Kind.SESSION, None, self._answer.session_id, got.session_id):
            found.append(
                FieldDifference("session_id", str(self._answer.session_id), str(got.session_id))
            )
        answers = {
            (self._ids.topic(topic.topic, self._ids.topic_id_of(bytes(topic.topic_id))),
             each.partition_index): each
            for topic in got.responses
            for each in topic.partitions
        }  # fmt: skip
        self.first_missing = {}
        for place in answers.keys() - self._recorded.keys():
            if code := answers[place].error_code:
                found += error_differences(f"{_path(place)}.error_code", 0, code)
        for place, recorded in self._recorded.items():
            answer = answers.get(place)
            code = 0 if answer is None else answer.error_code
            errors = list(
                error_differences(f"{_path(place)}.error_code", recorded.error_code, code)
            )
            found += errors
            if not errors:
                found += self._records(place, recorded, answer)
        return found

    def _records(self, place: TopicPartition, recorded: Any, answer: Any) -> list[FieldDifference]:
        shift = self._ids.offset_shifts.get(place, 0)
        start = self._starts.get(place, 0)
        expected = {
            offset + shift: each for offset, each in _read(recorded.records) if offset >= start
        }
        got = self._got.setdefault(place, {})
        aborted = self._aborted.setdefault(place, set())
        if answer is not None:
            got.update(_read(answer.records))
            aborted.update(_aborted(answer))
        if not expected:
            return []
        last = max(expected)
        missing = [offset for offset in expected if offset not in got]
        if missing:
            self.first_missing[place] = min(missing)
        path = _path(place)
        offsets = sorted({*expected, *(each for each in got if start + shift <= each <= last)})
        unequal = [each for each in offsets if expected.get(each) != got.get(each)]
        found = []
        if unequal:
            first, more = unequal[0], len(unequal) - 1
            found.append(
                FieldDifference(
                    f"{path}.records[{first}]",
                    str(expected.get(first, "nothing")),
                    str(got.get(first, "nothing")) + (f" (and {more} more)" if more else ""),
                )
            )
        wanted = {
            (self._ids.to_target(Kind.PRODUCER, None, producer_id), first + shift)
            for producer_id, first in _aborted(recorded)
        }
        if wanted != {each for each in aborted if each[1] <= last}:
            found.append(
                FieldDifference(
                    f"{path}.aborted_transactions", str(sorted(wanted)), str(sorted(aborted))
                )
            )
        return found


def _partitions(ids: Ids, answer: Any) -> Iterator[tuple[TopicPartition, Any]]:
    for topic in answer.responses:
        for each in topic.partitions:
            yield (ids.topic(topic.topic, topic.topic_id), each.partition_index), each


def _path(place: TopicPartition) -> str:
    return f"responses[{place[0]}].partitions[{place[1]}]"


def _read(records: Any) -> Iterator[tuple[int, Read]]:
    """Yield records with their offsets, up to the first that cannot be read."""
    try:
        for header, batch in split_raw(records or b"", tolerate_partial=True):
            is_marker = bool(header[5] & CONTROL_FLAG)
            for each in iter_records(batch):
                key = None if each.key is None else bytes(each.key)
                value = None if each.value is None or is_marker else bytes(each.value)
                headers = tuple(
                    (name, None if data is None else bytes(data)) for name, data in each.headers
                )
                yield each.offset, Read(key, value, headers, is_marker)
    except ProtocolError as error:
        yield 1 << 62, Read(None, str(error).encode(), (), is_marker=False)


def _aborted(partition: Any) -> set[tuple[int, int]]:
    return {(each.producer_id, each.first_offset) for each in partition.aborted_transactions or ()}


def _shown(data: bytes | None) -> str:
    if data is None or len(data) <= _SHOWN_BYTES:
        return repr(data)
    return f"{data[:_SHOWN_BYTES]!r}... ({len(data)} bytes)"
