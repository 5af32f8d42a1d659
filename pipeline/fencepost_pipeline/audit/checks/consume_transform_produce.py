"""Consume, transform, produce: offsets and output belong together.

A program that reads from one topic and writes to another commits, in one transaction, what it
wrote and how far it has read. Then, of all that a reader of committed records can see:

- every input in front of the group's committed offset has its output, and has it once;
- every output belongs to an input in front of the committed offset.

A consumer group commits offsets of the input. A Spark query with our sink commits a marker, whose
note has the offsets that the query's batches have read.

Input and output are recognised by an id that both carry: the key, the value, a header, or a field
of a JSON value. Every input has one output. Inputs of aborted transactions are left out.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from fencepost_client.types import OffsetAndMetadata
from fencepost_protocol.exceptions import RemoteProtocolError
from fencepost_protocol.generated.offset_commit import OffsetCommitKey, OffsetCommitValue

from fencepost_pipeline.audit.batch_headers import NONE, Bools, Ints
from fencepost_pipeline.audit.findings import Finding, Invariant, Ledger
from fencepost_pipeline.audit.partition_scan import Scanned
from fencepost_pipeline.sink.errors import MarkerError
from fencepost_pipeline.sink.marker import Marker

OFFSETS_TOPIC: Final = "__consumer_offsets"
ID_KINDS: Final = ("key", "value", "header:NAME", "json:FIELD")


@dataclass(frozen=True, slots=True)
class Transform:
    """Which program to look at."""

    group: str
    input: str
    output: str
    input_id: str = "key"
    output_id: str = "key"


class Place(NamedTuple):
    """Where records with ids stand, column by column; ids are in the same order."""

    partition: Ints
    offset: Ints
    ids: Any


def check_id_kind(text: str) -> str:
    """An id's description, if it is one; raises ValueError."""
    kind, _, name = text.partition(":")
    if text in {"key", "value"} or (kind in {"header", "json"} and name):
        return text
    raise ValueError(f"{text!r} says not where an id is: {', '.join(ID_KINDS)}")


def visible(scanned: Scanned, batch: pa.RecordBatch) -> Bools:
    """Which records a reader of committed records is given."""
    pieces = scanned.pieces
    offset = batch.column("offset").to_numpy(zero_copy_only=False)
    seen = ~batch.column("control").to_numpy(zero_copy_only=False)
    if not len(offset):
        return np.asarray(seen)
    producer_id = batch.column("producer_id").to_numpy(zero_copy_only=False)
    hidden = (pieces.first_offset != NONE) & (pieces.committed != 1)
    hidden &= (pieces.last_offset >= offset[0]) & (pieces.first_offset <= offset[-1])
    for row in np.flatnonzero(hidden).tolist():
        within = slice(
            *np.searchsorted(offset, (pieces.first_offset[row], pieces.last_offset[row] + 1))
        )
        seen[within] &= producer_id[within] != pieces.producer_id[row]
    return np.asarray(seen)


def ids_of(batch: pa.RecordBatch, kind: str) -> pa.Array:
    """The id of each record as bytes; null where there is none."""
    name, _, detail = kind.partition(":")
    if name in {"key", "value"}:
        return batch.column(name).cast(pa.binary())
    if name == "json":
        return pa.array([_json_id(value, detail) for value in batch.column("value").to_pylist()],
                        pa.binary())  # fmt: skip
    headers = batch.column("headers")
    owners = pc.list_parent_indices(headers)
    flat = headers.flatten()
    wanted = pc.equal(flat.field("key").cast(pa.string()), detail)
    owners = owners.filter(wanted).to_numpy()
    values = flat.field("value").filter(wanted)
    at = np.full(batch.num_rows, -1, np.int64)
    at[owners[::-1]] = np.arange(len(owners))[::-1]  # the first of several
    return values.take(pa.array(at, mask=at < 0)).cast(pa.binary())


def _json_id(value: bytes | None, field: str) -> bytes | None:
    try:
        found = json.loads(value or b"null")[field]
    except (ValueError, KeyError, TypeError, IndexError):
        return None
    return found.encode() if isinstance(found, str) else json.dumps(found).encode()


Commits: TypeAlias = dict[tuple[str, int], OffsetAndMetadata]
"""The last commit of each topic and partition."""


def committed_offsets(group: str, scanned: Scanned, batches: Iterable[pa.RecordBatch]) -> Commits:
    """What a group has committed, by one partition of the offsets topic."""
    result: Commits = {}
    for batch in batches:
        chosen = batch.filter(pa.array(visible(scanned, batch)))
        for key, value in zip(
            chosen.column("key").to_pylist(), chosen.column("value").to_pylist(), strict=True
        ):
            if key is None or int.from_bytes(key[:2], "big") > 1:
                continue
            try:
                named = OffsetCommitKey.decode(memoryview(key), 0, 2)[0]
                if named.group != group:
                    continue
                place = named.topic, named.partition
                if value is None:
                    result.pop(place, None)
                    continue
                version = int.from_bytes(value[:2], "big")
                commit = OffsetCommitValue.decode(memoryview(value), version, 2)[0]
                result[place] = OffsetAndMetadata(commit.offset, commit.metadata)
            except RemoteProtocolError:
                continue  # of a later Kafka, or not an offset at all
    return result


class Consumed(NamedTuple):
    """How far a program has read its input, by what its group has committed."""

    upto: dict[int, int] | None
    """The offset after the last input of each partition; None: no commit says it."""
    not_judged: dict[Invariant, str]


def consumed_by(transform: Transform, commits: Commits) -> Consumed:
    """Find the group's progress in its commits, or in its marker if it is a Spark query's."""
    upto = {
        partition: commit.offset
        for (topic, partition), commit in commits.items()
        if topic == transform.input
    }
    if upto:
        return Consumed(upto, {})
    marker = next(filter(None, map(_marker, commits.values())), None)
    if marker is None:
        why = f"group {transform.group} has committed nothing of {transform.input} in these logs"
        return Consumed({}, dict.fromkeys((Invariant.OUTPUTS, Invariant.CONSUMED), why))
    upto = marker.source_offsets(transform.input) or {}
    if upto:
        return Consumed(upto, {})
    if marker.sources is not None:
        why = (
            f"the sources of the Spark query in group {transform.group} do not name "
            f"{transform.input}: {marker.sources:.200}"
        )
        return Consumed(None, dict.fromkeys((Invariant.OUTPUTS, Invariant.CONSUMED), why))
    why = (
        f"the marker in group {transform.group} does not say what its Spark query has read, so "
        f"inputs count up to the last one that has an output"
    )
    return Consumed(None, {Invariant.CONSUMED: why})


def _marker(commit: OffsetAndMetadata) -> Marker | None:
    try:
        return Marker.read(commit, "the group")
    except MarkerError:
        return None


def place_of(parts: list[tuple[int, pa.RecordBatch]], kind: str) -> Place:
    """Put the ids of visible records together."""
    if not parts:
        return Place(np.empty(0, np.int64), np.empty(0, np.int64), pa.array([], pa.binary()))
    return Place(
        np.concatenate([np.full(batch.num_rows, number) for number, batch in parts]),
        np.concatenate([batch.column("offset").to_numpy() for _, batch in parts]),
        pa.concat_arrays([ids_of(batch, kind) for _, batch in parts]),
    )


def check_transform(
    transform: Transform,
    upto: dict[int, int] | None,
    given: Place,
    made: Place,
    inputs_missing: bool,
    ledger: Ledger,
) -> None:
    """Compare inputs, outputs and committed offsets, id by id.

    ``upto`` is :attr:`Consumed.upto`. Where it is None, inputs count as consumed up to the last one
    that has an output: a batch that is missing in the middle, or there twice, still shows.
    """
    ids = pa.chunked_array([given.ids, made.ids]).combine_chunks().dictionary_encode()
    if isinstance(ids, pa.ChunkedArray):
        ids = ids.combine_chunks()
    codes = ids.indices.fill_null(len(ids.dictionary)).to_numpy().astype(np.int64)
    kinds = len(ids.dictionary) + 1
    mine, theirs = codes[: len(given.offset)], codes[len(given.offset) :]
    without_id = kinds - 1
    count_all = np.bincount(mine, minlength=kinds)
    count_made = np.bincount(theirs, minlength=kinds)
    end = np.zeros(int(given.partition.max(initial=0)) + 1, np.int64)
    if upto is None:
        has_output = (count_made[mine] > 0) & (mine != without_id)
        np.maximum.at(end, given.partition[has_output], given.offset[has_output] + 1)
    else:
        for number, offset in upto.items():
            if number < len(end):
                end[number] = offset
    consumed = given.offset < end[given.partition]
    count_consumed = np.bincount(mine[consumed], minlength=kinds)
    ledger.checked(Invariant.OUTPUTS, consumed.sum())
    ledger.checked(Invariant.CONSUMED, len(theirs))
    ledger.excused(Invariant.OUTPUTS, "input without an id", count_all[without_id])
    ledger.excused(Invariant.CONSUMED, "output without an id", count_made[without_id])
    for counts in (count_all, count_consumed, count_made):
        counts[without_id] = 0

    def found(kind: Invariant, topic: str, place: Place, i: int, code: int, text: str) -> None:
        name = bytes(ids.dictionary[code].as_py()).decode(errors="backslashreplace")
        partition, offset = int(place.partition[i]), int(place.offset[i])
        ledger.found(Finding(kind, f"id {name}: {text}", topic, partition, offset))

    lacking = (count_made < count_consumed)[mine] & consumed
    for i in np.flatnonzero(lacking).tolist():
        found(Invariant.OUTPUTS, transform.input, given, i, mine[i],
              f"group {transform.group} has committed it, and there is no output")  # fmt: skip
    surplus = (count_made > count_all) & (count_all > 0)
    for i in _second_ones(theirs, surplus[theirs]):
        found(Invariant.OUTPUTS, transform.output, made, i, theirs[i],
              "there is more than one output of one input")  # fmt: skip
    early = (count_made > count_consumed) & (count_made <= count_all)
    for i in np.flatnonzero(early[theirs]).tolist():
        found(Invariant.CONSUMED, transform.output, made, i, theirs[i],
              f"its input is after what group {transform.group} has committed")  # fmt: skip
    stray = (count_made > 0) & (count_all == 0)
    if inputs_missing:
        why = "output of an input that retention or compaction took"
        ledger.excused(Invariant.CONSUMED, why, int(stray[theirs].sum()))
        return
    for i in np.flatnonzero(stray[theirs]).tolist():
        found(Invariant.CONSUMED, transform.output, made, i, theirs[i], "there is no such input")


def _second_ones(codes: Ints, chosen: Bools) -> list[int]:
    """Of the chosen ones, all but the first of each."""
    seen: set[int] = set()
    result = []
    for i in np.flatnonzero(chosen).tolist():
        if int(codes[i]) in seen:
            result.append(i)
        seen.add(int(codes[i]))
    return result
