"""What is committed: as a reader of it finds it over the wire, and as the files say.

The second is a reading of its own: data batches and markers in the order of the log, nothing of
the broker's indexes.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from fencepost_broker.coordinator.records import RecordFamily, decode_record
from fencepost_broker.coordinator.transaction.states import NAMES, State, logged_state
from fencepost_protocol.generated.fetch import FetchPartition, FetchRequest, FetchTopic
from fencepost_protocol.generated.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from fencepost_protocol.records.batch import BatchHeader, split_batches
from fencepost_protocol.records.control import ControlType, read_control_records
from fencepost_protocol.records.reader import iter_records

from tests.support.up import FETCH_BYTES, FETCH_VERSION, Wire

READ_COMMITTED: Final = 1
LATEST: Final = -1


def committed_values(wire: Wire, topic: str, partition: int) -> list[bytes]:
    """All values that a client with ``isolation.level=read_committed`` hands to its user."""
    found: list[bytes] = []
    offset = 0
    while True:
        wanted = FetchPartition(partition, fetch_offset=offset, partition_max_bytes=FETCH_BYTES)
        request = FetchRequest(
            max_bytes=FETCH_BYTES,
            isolation_level=READ_COMMITTED,
            topics=[FetchTopic(topic, partitions=[wanted])],
        )
        data = wire.ask(request, FETCH_VERSION).responses[0].partitions[0]
        assert not data.error_code, data.error_code
        if not data.records:
            return found
        to_come = sorted(
            (each.first_offset, each.producer_id) for each in data.aborted_transactions
        )
        aborting: set[int] = set()
        for header, batch in split_batches(data.records, tolerate_partial=True):
            while to_come and to_come[0][0] <= header.last_offset:
                aborting.add(to_come.pop(0)[1])
            if header.is_control:
                aborting.discard(header.producer_id)
            elif not (header.is_transactional and header.producer_id in aborting):
                found += [bytes(each.value or b"") for each in iter_records(batch)]
            offset = header.next_offset


def ends(wire: Wire, topic: str, partitions: int, isolation_level: int) -> list[int]:
    """High watermarks, or last stable offsets."""
    asked = [ListOffsetsPartition(number, timestamp=LATEST) for number in range(partitions)]
    request = ListOffsetsRequest(-1, isolation_level, [ListOffsetsTopic(topic, asked)])
    answer = wire.ask(request, 7)
    return [int(each.offset) for each in answer.topics[0].partitions]


# --- files ------------------------------------------------------------------------------------


def batches(data_dir: Path, folder: str) -> Iterator[tuple[BatchHeader, memoryview]]:
    """The whole batches of a partition."""
    for path in sorted((data_dir / folder).glob("*.log")):
        yield from split_batches(memoryview(path.read_bytes()), tolerate_partial=True)


def torn_bytes(data_dir: Path) -> int:
    """How many bytes stand behind the last whole batch of partitions."""
    torn = 0
    for path in data_dir.glob("*-*/*.log"):
        content = memoryview(path.read_bytes())
        torn += len(content) - sum(
            len(batch) for _, batch in split_batches(content, tolerate_partial=True)
        )
    return torn


def committed_in_files(data_dir: Path, folder: str) -> list[bytes]:
    """The values whose transaction has a commit marker in this partition."""
    found: list[bytes] = []
    open_: dict[int, list[bytes]] = {}
    for header, batch in batches(data_dir, folder):
        if header.is_control:
            values = open_.pop(header.producer_id, [])
            [control] = read_control_records(batch)
            if control.type is ControlType.COMMIT:
                found += values
        else:
            values = [bytes(each.value or b"") for each in iter_records(batch)]
            open_.setdefault(header.producer_id, []).extend(values)
    assert not open_, f"{folder}: producers {sorted(open_)} have no marker"
    return found


def offsets_in_files(data_dir: Path, partitions: int) -> dict[str, int]:
    """Each group's committed offset: here a group reads one partition only."""
    found: dict[str, int] = {}
    for number in range(partitions):
        pending: dict[int, dict[str, int]] = {}
        for header, batch in batches(data_dir, f"{RecordFamily.GROUPS.value}-{number}"):
            if header.is_control:
                offsets = pending.pop(header.producer_id, {})
                [control] = read_control_records(batch)
                if control.type is ControlType.COMMIT:
                    found |= offsets
                continue
            offsets = (
                pending.setdefault(header.producer_id, {}) if header.has_producer_id else found
            )
            for record in iter_records(batch):
                decoded: Any = decode_record(RecordFamily.GROUPS, record.key, record.value)
                offsets[decoded.key.group] = decoded.value.offset
        assert not pending, f"offsets of {sorted(pending)} have no marker"
    return found


def states_in_files(data_dir: Path, partitions: int) -> dict[str, str]:
    """The state of each transactional id as its last record tells it."""
    found: dict[str, str] = {}
    for number in range(partitions):
        for _, batch in batches(data_dir, f"{RecordFamily.TRANSACTIONS.value}-{number}"):
            for record in iter_records(batch):
                decoded: Any = decode_record(RecordFamily.TRANSACTIONS, record.key, record.value)
                name = decoded.key.transactional_id
                if decoded.value is None:
                    found[name] = NAMES[State.DEAD]
                else:
                    found[name] = NAMES[logged_state(decoded.value.transaction_status)]
    return found
