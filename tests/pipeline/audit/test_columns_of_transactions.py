"""Transactions as columns are what a plain loop over records, markers and pieces says they are."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
import pytest
from fencepost_pipeline.audit.audit_run import Audit, audit
from fencepost_pipeline.audit.batch_headers import NONE
from fencepost_pipeline.audit.coordinator_log import TOPIC, Transactions
from fencepost_pipeline.audit.coordinator_steps import State
from fencepost_pipeline.audit.findings import Invariant
from fencepost_protocol.exceptions import RemoteProtocolError
from fencepost_protocol.generated.transaction_log import TransactionLogKey, TransactionLogValue

from tests.pipeline.audit.memory_logs import Place
from tests.pipeline.audit.random_logs import STATES, RandomLogs

SEEDS = range(6)


@dataclass
class Plain:
    """A transaction, and by partition the rows of its pieces."""

    name: str
    columns: dict[str, int]
    places: set[Place]
    pieces: dict[Place, list[int]] = field(default_factory=dict)


def plain_steps(logs: RandomLogs, partition: int) -> Iterator[tuple[int, int, str, State, Any]]:
    for batch in logs.records(TOPIC, partition):
        for row in batch.to_pylist():
            if row["key"] is None or row["key"][:2] != b"\0\0":
                continue
            name = TransactionLogKey.decode(memoryview(row["key"]), 0, 2)[0].transactional_id
            state, message, value = State.EXPIRED, None, row["value"]
            if value is not None:
                try:
                    version = int.from_bytes(value[:2], "big", signed=True)
                    message = TransactionLogValue.decode(memoryview(value), version, 2)[0]
                    state = State(message.transaction_status)
                except (RemoteProtocolError, ValueError):
                    continue
            yield row["offset"], row["timestamp"], name, state, message


def plain_history(logs: RandomLogs) -> list[Plain]:
    found: list[Plain] = []
    for _, partition in STATES:
        running: dict[str, Plain] = {}
        for offset, time, name, state, message in plain_steps(logs, partition):
            current = running.get(name)
            if state in {State.EMPTY, State.EXPIRED}:
                running.pop(name, None)
                continue
            is_complete = state in {State.COMPLETE_COMMIT, State.COMPLETE_ABORT}
            if current is None or current.columns["complete_time"] != NONE or (
                state is State.ONGOING and current.columns["committed"] != NONE
            ):  # fmt: skip
                if is_complete:
                    continue
                current = running[name] = begun(partition, offset, time, name, state, message)
                found.append(current)
            places = {
                (topic.topic, number)
                for topic in message.transaction_partitions or ()
                for number in topic.partition_ids
            }
            if state is State.ONGOING:
                current.places = places
            elif is_complete:
                committed = state is State.COMPLETE_COMMIT
                current.columns |= {"complete_time": time, "complete_committed": committed}
            else:
                current.places |= places
                current.columns |= {
                    "prepare_time": time,
                    "prepare_offset": offset,
                    "marker_epoch": message.producer_epoch,
                    "committed": state is State.PREPARE_COMMIT,
                }
    return found


def begun(partition: int, offset: int, time: int, name: str, state: State, message: Any) -> Plain:
    columns = dict.fromkeys(Transactions._fields, NONE)
    columns["producer_id"] = message.producer_id
    columns["producer_epoch"] = message.producer_epoch - (state is not State.ONGOING)
    columns["timeout_ms"] = message.transaction_timeout_ms
    columns["log_partition"], columns["begin_offset"] = partition, offset
    start = message.transaction_start_timestamp_ms
    columns["begin_time"] = start if start >= 0 else time
    return Plain(name, columns, set())


def plain_match(history: list[Plain], found: Audit) -> None:
    for scanned in found.partitions:
        place = scanned.summary.topic, scanned.summary.partition
        pieces = scanned.pieces
        here = [each for each in history if place in each.places]
        markers: dict[tuple[int, int], list[int]] = defaultdict(list)
        for row in np.flatnonzero(pieces.marker_offset != NONE).tolist():
            markers[int(pieces.producer_id[row]), int(pieces.marker_epoch[row])].append(row)
        for key, rows in markers.items():
            candidates = [
                each
                for each in here
                if each.columns["committed"] != NONE
                and (each.columns["producer_id"], each.columns["marker_epoch"]) == key
            ]
            times = [each.columns["prepare_time"] for each in candidates]
            for number, row in enumerate(rows):
                if len(candidates) != len(rows):
                    number = bisect_right(times, pieces.marker_time[row]) - 1
                if 0 <= number < len(candidates):
                    candidates[number].pieces.setdefault(place, []).append(row)
        for row in np.flatnonzero(pieces.marker_offset == NONE).tolist():
            key = int(pieces.producer_id[row]), int(pieces.producer_epoch[row])
            if pieces.previous_marker_epoch[row] > key[1]:
                continue
            for each in here:
                writer = each.columns["producer_id"], each.columns["producer_epoch"]
                if writer == key and place not in each.pieces:
                    each.pieces[place] = [row]
                    break


@cache
def audited(seed: int) -> tuple[RandomLogs, Audit]:
    logs = RandomLogs(seed)
    return logs, audit(logs)


@pytest.mark.parametrize("seed", SEEDS)
def test_columns_say_the_same(seed: int) -> None:
    logs, found = audited(seed)
    assert found.history is not None
    history, known = found.history, found.history.transactions
    expected = plain_history(logs)
    plain_match(expected, found)
    assert len(history) == len(expected) > 0
    matched: list[dict[Place, list[int]]] = [{} for _ in expected]
    for place, parts in found.matched.of_place.items():
        for part in parts.tolist():
            row = int(found.matched.piece[part])
            if row != NONE:
                rows = [row, *found.matched.again.get(part, ())]
                matched[found.matched.transaction[part]][place] = rows
    for number, plain in enumerate(expected):
        assert history.name_of(number) == plain.name
        assert history.places_of(number) == plain.places
        for name in set(Transactions._fields) - {"name", "places"}:
            assert getattr(known, name)[number] == plain.columns[name], name
        assert matched[number] == plain.pieces


def test_these_logs_have_something_wrong_of_each_kind() -> None:
    kinds: Counter[Invariant] = Counter()
    for seed in SEEDS:
        kinds.update(each.invariant for each in audited(seed)[1].verdicts if each.count)
    assert kinds.keys() >= {
        Invariant.READABLE, Invariant.UNMARKED, Invariant.ORPHANS, Invariant.ATOMIC, Invariant.LATE,
    }  # fmt: skip
