"""Recordings come back from files as they were written, and other files are refused."""

from __future__ import annotations

import io
import struct

import pytest
from fencepost_client.recordings import file as recording
from fencepost_client.recordings.file import Entry, EntryKind, RecordingError, read_entries

ENTRIES = [
    Entry(EntryKind.REQUEST, 1, 10, b"asked"),
    Entry(EntryKind.ANSWER, 1, 20, b"answered"),
    Entry(EntryKind.CLOSED, 1, 30, b""),
]


def written() -> bytes:
    out = io.BytesIO()
    recording.write_start(out)
    for each in ENTRIES:
        recording.write_entry(out, *each)
    return out.getvalue()


def test_entries_come_back() -> None:
    assert list(read_entries(io.BytesIO(written()))) == ENTRIES


def test_an_unfinished_file_is_read_up_to_its_last_whole_entry() -> None:
    assert list(read_entries(io.BytesIO(written()[:-1]))) == ENTRIES[:-1]


def test_a_changed_byte_is_noticed() -> None:
    data = written().replace(b"asked", b"Asked")
    with pytest.raises(RecordingError, match="checksum"):
        list(read_entries(io.BytesIO(data)))


def test_another_version_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recording, "VERSION", 2)
    data = written()
    monkeypatch.undo()
    with pytest.raises(RecordingError, match="has version 2; version 1 can be read"):
        list(read_entries(io.BytesIO(data)))


def test_a_huge_entry_is_refused_before_it_is_read() -> None:
    data = written() + struct.pack(">II", 0xFFFFFFFF, 0)
    with pytest.raises(RecordingError, match="4294967295 bytes is announced"):
        list(read_entries(io.BytesIO(data)))


def test_another_file_is_refused() -> None:
    with pytest.raises(RecordingError, match="no recording"):
        list(read_entries(io.BytesIO(b"PK\x03\x04 something else")))
