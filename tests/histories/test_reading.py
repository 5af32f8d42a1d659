"""Lines that are no history are refused with the place, and in bounded memory."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from fencepost_client.histories import HistoryError, Operation, check, read_files, read_history
from fencepost_client.histories.reading import LINE_BYTES_MAX

HEADER = b'{"fencepost_history": 1}\n'
SEND = '{"op": "send", "process": 1, "topic": "t", "partition": 0, "values": ["a"]'


def read(text: bytes) -> list[Operation]:
    return list(read_history(io.BytesIO(text), "h.jsonl"))


def test_all_fields_have_a_default_but_the_needed_ones() -> None:
    lines = f'{SEND}}}\n\n{{"op": "commit", "process": "w", "transaction": "t"}}\n'
    operations = read(HEADER + lines.encode())
    assert [each.op for each in operations] == ["send", "commit"]
    assert operations[0].type == "ok"
    assert operations[0].process == 1


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("nonsense", "malformed"),
        ("[]", "Expected `object`"),
        ('{"process": 1}', "missing required field `op`"),
        ('{"op": "sent", "process": 1}', "Invalid enum value 'sent' - at `$.op`"),
        ('{"op": "send", "process": 1}', "send needs topic"),
        (SEND + ', "ofset": 1}', "unknown field `ofset`"),
        (SEND + ', "offsets": [1, 2]}', "2 offsets for 1 values"),
        (SEND + ', "offsets": [-2]}', "an offset is a number from 0"),
        (SEND + ', "offsets": [1e9999]}', "out of range"),
        (SEND + ', "offsets": ["1"]}', "Expected `int`, got `str` - at `$.offsets[0]`"),
        (SEND + ', "type": "invoke"}', "an invoke line needs an id"),
        ('{"op": "commit", "process": 1}', "commit needs transaction"),
        ('{"note": ' + "[" * 100_000, "Expected `str`, got `array`"),
    ],
)
def test_a_line_that_is_no_operation(line: str, text: str) -> None:
    with pytest.raises(HistoryError) as caught:
        read(HEADER + f"{SEND}}}\n{line}\n".encode())
    assert str(caught.value).startswith("h.jsonl: line 3: ")
    assert text in str(caught.value)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (b"", "line 1 has to be"),
        (b'{"op": "crash", "process": 1}\n', "line 1 has to be"),
        (b'{"fencepost_history": 2}\n', "version 2 of histories; this reads 1"),
        (HEADER + b"x" * (LINE_BYTES_MAX + 2), "line 2 is longer than"),
        (HEADER + b'{"op": "\xff"}\n', "line 2: 'utf-8' codec"),
    ],
)
def test_a_file_that_is_no_history(text: bytes, reason: str) -> None:
    with pytest.raises(HistoryError, match=reason):
        read(text)


def test_the_last_line_of_a_writer_that_was_killed_is_left_out() -> None:
    assert len(read(HEADER + f'{SEND}}}\n{{"op": "se'.encode())) == 1


def test_the_end_of_an_operation_has_to_fit_its_beginning() -> None:
    begun = Operation(op="commit", process=1, type="invoke", id=1, transaction="t")
    with pytest.raises(HistoryError, match="operation 2: id 1 of process 1 began as commit"):
        check([begun, Operation(op="abort", process=1, id=1)])
    with pytest.raises(HistoryError, match="operation 2: process 1 has begun another operation"):
        check([begun, begun])
    begun = Operation(
        op="send", process=1, type="invoke", id=1, topic="t", partition=0, values=["a"]
    )
    with pytest.raises(HistoryError, match="operation 2: 2 offsets for 1 values"):
        check([begun, Operation(op="send", process=1, id=1, offsets=[1, 2])])
    begun = Operation(
        op="send", process=1, type="invoke", id=1, topic="t", partition=0, values=["a"]
    )
    with pytest.raises(HistoryError, match="operation 2: it began with other values"):
        check([begun, Operation(op="send", process=1, id=1, values=["b"])])


def test_several_files_are_merged_by_time(tmp_path: Path) -> None:
    for name, times in (("a", (1, 4)), ("b", (2, 3))):
        lines = "".join(f'{SEND}, "time": {time}}}\n' for time in times)
        (tmp_path / name).write_bytes(HEADER + lines.encode())
    merged = read_files([tmp_path / "a", tmp_path / "b"])
    assert [each.time for each in merged] == [1, 2, 3, 4]


def test_a_file_that_is_not_there() -> None:
    with pytest.raises(HistoryError, match=r"nowhere\.jsonl cannot be read: No such file"):
        list(read_files([Path("nowhere.jsonl")]))
