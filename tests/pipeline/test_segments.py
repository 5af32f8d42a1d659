"""Log files are listed, cut and read, past whatever is wrong in them."""

from __future__ import annotations

import os
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from fencepost_pipeline.segments import (
    BATCH_SCHEMA,
    RECORD_TABLE_SCHEMA,
    Problem,
    ProblemKind,
    Slice,
    UnreadablePathError,
    list_segments,
    raise_problem,
    read_batches,
    read_records,
    split,
)
from fencepost_pipeline.segments import block_reader as blocks
from fencepost_protocol.exceptions import RemoteProtocolError
from fencepost_protocol.records.batch import renew_crc
from fencepost_protocol.records.compression import Compression
from fencepost_protocol.records.control import (
    ControlType,
    build_control_batch,
    build_end_txn_marker,
)
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.pipeline.harness import read_one_by_one
from tests.pipeline.logs import data_batches, write_segment

Rows = list[dict[str, Any]]


def whole(path: Path) -> Slice:
    (segment,) = list_segments([path])
    return Slice(segment, 0, segment.size)


def batches_of(part: Slice) -> tuple[Rows, list[Problem]]:
    problems: list[Problem] = []
    rows: Rows = []
    for some in read_batches(part, on_problem=problems.append):
        assert some.schema.equals(BATCH_SCHEMA)
        some.validate(full=True)
        rows += some.to_pylist()
    return rows, problems


def records_of(part: Slice, *, control: bool = False) -> tuple[Rows, list[Problem]]:
    problems: list[Problem] = []
    rows: Rows = []
    for some in read_records(part, control=control, on_problem=problems.append):
        assert some.schema.equals(RECORD_TABLE_SCHEMA)
        some.validate(full=True)
        rows += some.to_pylist()
    return rows, problems


def expected(batches: list[bytes], topic: str = "orders", partition: int = 0) -> Rows:
    where = {"topic": topic, "partition": partition}
    return [where | row for row in read_one_by_one(batches, control=False)]


# --- listing ----------------------------------------------------------------------------------


def test_a_data_directory_is_listed_in_order(tmp_path: Path) -> None:
    some = data_batches(2)
    for folder in ("orders-1", "orders-0", "a-topic-10", "gone-0.1f-delete", "x-0.1f-future"):
        write_segment(tmp_path, some, folder=folder)
    write_segment(tmp_path, some, folder="orders-0", base_offset=6)
    (tmp_path / "orders-0" / f"{0:020d}.log.deleted").write_bytes(b"")
    (tmp_path / "orders-0" / "leader-epoch-checkpoint").write_bytes(b"")
    (tmp_path / "meta.properties").write_bytes(b"")
    found = list_segments([tmp_path])
    assert [(each.topic, each.partition, each.base_offset) for each in found] == [
        ("a-topic", 10, 0),
        ("orders", 0, 0),
        ("orders", 0, 6),
        ("orders", 1, 0),
    ]
    assert {each.size for each in found} == {sum(map(len, some))}
    assert [each.topic for each in list_segments([tmp_path], topics=["a-topic"])] == ["a-topic"]
    assert [each.partition for each in list_segments([tmp_path], partitions=[1])] == [1]


def test_a_partition_or_a_file_may_be_named_too(tmp_path: Path) -> None:
    path = write_segment(tmp_path, data_batches(1))
    assert list_segments([path]) == list_segments([path.parent]) == list_segments([tmp_path])


def test_several_directories_are_one_log(tmp_path: Path) -> None:
    write_segment(tmp_path / "a", data_batches(1), folder="t-0")
    write_segment(tmp_path / "b", data_batches(1), folder="t-1")
    found = list_segments([tmp_path / "a", tmp_path / "b"])
    assert [each.partition for each in found] == [0, 1]


def test_a_path_without_logs_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnreadablePathError, match="holds no log: name a data directory"):
        list_segments([tmp_path])
    with pytest.raises(UnreadablePathError, match="No such file"):
        list_segments([tmp_path / "nowhere"])


# --- cutting ----------------------------------------------------------------------------------


@pytest.mark.parametrize("target", [1, 500, 2000, 10_000, 1 << 30])
def test_slices_together_are_the_segment(tmp_path: Path, target: int) -> None:
    some = data_batches(60)
    write_segment(tmp_path, some, index_every=7)
    (segment,) = list_segments([tmp_path])
    parts = split(segment, target)
    assert parts[0].start == 0
    assert parts[-1].end == segment.size
    assert all(a.end == b.start for a, b in pairwise(parts))
    assert [row for part in parts for row in records_of(part)[0]] == expected(some)
    assert len(parts) == {1: 9, 500: 9, 2000: 5, 10_000: 2}.get(target, 1)


def test_without_a_usable_index_a_segment_stays_whole_or_is_cut_at_batches(tmp_path: Path) -> None:
    some = data_batches(60)
    path = write_segment(tmp_path, some, index_every=7)
    index = path.with_suffix(".index")
    good = index.read_bytes()
    (segment,) = list_segments([tmp_path])
    index.write_bytes(good[:24] + bytes(1000))
    assert len(split(segment, 1)) == 4
    index.write_bytes(b"\0\0\0\1\0\0\0\7" + good)
    assert len(split(segment, 1)) == 9
    index.write_bytes(b"\xff" * 801)
    assert len(split(segment, 1)) == 1
    index.unlink()
    assert split(segment, 1) == [Slice(segment, 0, segment.size)]


# --- reading ----------------------------------------------------------------------------------


@pytest.mark.parametrize("codec", Compression)
def test_the_table_of_batches(tmp_path: Path, codec: Compression) -> None:
    some = data_batches(
        2, codec=codec, producer_id=7, producer_epoch=2, base_sequence=2**31 - 1, transactional=True
    )
    marker = bytes(
        build_end_txn_marker(
            committed=False,
            producer_id=7,
            producer_epoch=2,
            coordinator_epoch=5,
            timestamp_ms=9,
            base_offset=6,
        )
    )
    other = bytes(build_control_batch([(ControlType.LEADER_CHANGE, b"")] * 2, 3, base_offset=7))
    path = write_segment(tmp_path, [*some, marker, other])
    rows, problems = batches_of(whole(path))
    assert problems == []
    assert rows[1] == {
        "topic": "orders",
        "partition": 0,
        "segment": str(path),
        "position": len(some[0]),
        "size": len(some[1]),
        "base_offset": 3,
        "last_offset": 5,
        "leader_epoch": -1,
        "magic": 2,
        "codec": codec.name.lower(),
        "timestamp_type": 0,
        "base_timestamp": 1001,
        "max_timestamp": 1001,
        "producer_id": 7,
        "producer_epoch": 2,
        "base_sequence": 2**31 - 1,
        "last_sequence": 1,
        "record_count": 3,
        "transactional": True,
        "control": False,
        "control_type": None,
        "coordinator_epoch": None,
        "crc_ok": True,
    }
    controls = [(row["control_type"], row["coordinator_epoch"]) for row in rows[2:]]
    assert controls == [("abort", 5), ("other", None)]


def test_the_table_of_records(tmp_path: Path) -> None:
    some = data_batches(5, codec=Compression.ZSTD)
    rows, problems = records_of(whole(write_segment(tmp_path, some)))
    assert problems == []
    assert rows == expected(some)


def test_only_wanted_columns_are_read(tmp_path: Path) -> None:
    part = whole(write_segment(tmp_path, data_batches(1, records=1, size=0)))
    (rows,) = read_records(part, columns={"partition", "value"})
    assert rows.to_pylist() == [{"partition": 0, "value": b"0/0"}]


def test_an_empty_file_has_no_rows(tmp_path: Path) -> None:
    assert records_of(whole(write_segment(tmp_path, []))) == ([], [])


def test_batches_over_the_borders_of_blocks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    some = data_batches(20, size=100)
    path = write_segment(tmp_path, some, index_every=3)
    for size in (62, 63, 300, 1000, sum(map(len, some))):
        monkeypatch.setattr(blocks, "BLOCK_BYTES", size)
        assert records_of(whole(path)) == (expected(some), [])


# --- what is wrong ----------------------------------------------------------------------------


@pytest.mark.parametrize("cut", [1, 11, 12, 16, 60, 61, 100])
def test_a_torn_tail_is_told_and_tolerated(tmp_path: Path, cut: int) -> None:
    some = data_batches(4)
    path = write_segment(tmp_path, some[:3], tail=some[3][:cut])
    part = whole(path)
    rows, (problem,) = records_of(part)
    assert rows == expected(some[:3])
    assert problem.kind is ProblemKind.TORN_TAIL
    assert (problem.position, problem.size, problem.offset) == (sum(map(len, some[:3])), cut, 9)
    assert f"{path}, byte {problem.position}, offset 9: torn tail: " in str(problem)
    assert len(list(read_records(part, on_problem=raise_problem))) == 1


def test_a_file_that_ends_in_zeros_was_preallocated(tmp_path: Path) -> None:
    some = data_batches(2)
    rows, (problem,) = batches_of(whole(write_segment(tmp_path, some, tail=bytes(5000))))
    assert len(rows) == 2
    assert (problem.kind, problem.size) == (ProblemKind.TORN_TAIL, 5000)


def test_a_batch_with_a_wrong_crc_is_told_and_left_out(tmp_path: Path) -> None:
    some = data_batches(3)
    changed = bytearray(some[1])
    changed[-2] ^= 1
    part = whole(write_segment(tmp_path, [some[0], bytes(changed), some[2]]))
    rows, (problem,) = records_of(part)
    assert rows == expected([some[0], some[2]])
    assert (problem.kind, problem.position, problem.size) == (
        ProblemKind.CORRUPT,
        len(some[0]),
        len(some[1]),
    )
    assert problem.offset == 3
    rows, (again,) = batches_of(part)
    assert again == problem
    assert [row["crc_ok"] for row in rows] == [True, False, True]
    with pytest.raises(RemoteProtocolError, match="offset 3: corrupt: the batch's CRC"):
        list(read_records(part, on_problem=raise_problem))
    (unlooked,) = read_batches(part, check_crcs=False)
    assert unlooked["crc_ok"].to_pylist() == [None] * 3


def test_records_that_are_wrong_under_a_right_crc(tmp_path: Path) -> None:
    some = data_batches(3)
    changed = bytearray(some[1])
    changed[61 + 3] = 0x7E
    renew_crc(changed)
    rows, (problem,) = records_of(
        whole(write_segment(tmp_path, [some[0], bytes(changed), some[2]]))
    )
    assert rows == expected([some[0], some[2]])
    assert (problem.position, problem.offset) == (len(some[0]), 3)
    assert "offset delta 63 is not within 0..2" in problem.reason


@pytest.mark.parametrize("length", [0, 10, 48, 49, 100, 300, 100_000, 2**31 - 1])
def test_a_wrong_length_costs_one_batch(tmp_path: Path, length: int) -> None:
    some = data_batches(6)
    changed = some[2][:8] + length.to_bytes(4, "big") + some[2][12:]
    part = whole(write_segment(tmp_path, [*some[:2], changed, *some[3:]]))
    rows, problems = records_of(part)
    assert rows == expected(some[:2] + some[3:])
    assert {problem.kind for problem in problems} == {ProblemKind.CORRUPT}
    assert sum(map(len, some[:2])) in {problem.position for problem in problems}


def test_garbage_between_batches_is_skipped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    some = data_batches(6)
    garbage = os.urandom(3000) + some[1][:70]
    path = write_segment(tmp_path, [*some[:3], garbage, *some[3:]])
    for size in (200, 1000, 1 << 20):
        monkeypatch.setattr(blocks, "BLOCK_BYTES", size)
        rows, (problem,) = records_of(whole(path))
        assert rows == expected(some)
        assert (problem.position, problem.size) == (sum(map(len, some[:3])), len(garbage))


def test_a_slice_with_nothing_but_garbage(tmp_path: Path) -> None:
    rows, (problem,) = records_of(whole(write_segment(tmp_path, [b"garbage" * 100])))
    assert rows == []
    assert (problem.kind, problem.position, problem.size) == (ProblemKind.CORRUPT, 0, 700)


def test_a_file_that_went_or_shrank_since_it_was_listed(tmp_path: Path) -> None:
    some = data_batches(3)
    path = write_segment(tmp_path, some)
    part = whole(path)
    path.write_bytes(b"".join(some[:2]))
    rows, (problem,) = records_of(part)
    assert rows == expected(some[:2])
    assert problem.kind is ProblemKind.TORN_TAIL
    path.unlink()
    rows, (problem,) = records_of(part)
    assert rows == []
    assert (problem.kind, problem.reason) == (ProblemKind.GONE, "No such file or directory")


def test_a_batch_that_was_completed_since_files_were_listed(tmp_path: Path) -> None:
    some = data_batches(3)
    path = write_segment(tmp_path, some[:2], tail=some[2][:30])
    part = whole(path)
    path.write_bytes(b"".join(data_batches(4)))
    assert records_of(part) == (expected(some), [])


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.data())
def test_any_changed_byte_costs_at_most_its_batch(tmp_path: Path, data: st.DataObject) -> None:
    some = data_batches(6)
    content = bytearray(b"".join(some))
    at = data.draw(st.integers(0, len(content) - 1))
    content[at] ^= 1 << data.draw(st.integers(0, 7))
    part = whole(write_segment(tmp_path, [bytes(content)]))
    hit = at // len(some[0])
    values = {row["value"] for row in records_of(part)[0]}
    for number, batch in enumerate(some):
        if number != hit:
            assert {row["value"] for row in expected([batch])} <= values
