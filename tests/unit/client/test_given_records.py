"""What records and offsets cannot be: a batch that cannot be encoded would hold up others."""

from __future__ import annotations

from typing import Any

import pytest
from fencepost_client.producer.record_columns import as_headers
from fencepost_client.types import OffsetAndMetadata, TopicPartition, as_offsets, whole_number


@pytest.mark.parametrize(
    ("given", "error", "told"),
    [
        ("x", TypeError, "the offset is 'x'; it is a whole number"),
        (1.5, TypeError, "the offset is 1.5"),
        (-1, ValueError, "the offset is -1; it is from 0 to 9223372036854775807"),
        (1 << 63, ValueError, "the offset is 9223372036854775808"),
    ],
)
def test_offsets_and_timestamps(given: Any, error: type[Exception], told: str) -> None:
    with pytest.raises(error, match=told):
        whole_number("the offset", given)
    with pytest.raises(error, match=told):
        as_offsets({TopicPartition("t", 0): given})


def test_offsets_to_commit() -> None:
    where, known = TopicPartition("t", 0), OffsetAndMetadata(5, "note", 3)
    assert as_offsets({where: 5}) == {where: OffsetAndMetadata(5)}
    assert as_offsets({where: known}) == {where: known}
    wrong: Any = {"t": 5}
    with pytest.raises(TypeError, match="'t' is no TopicPartition"):
        as_offsets(wrong)


@pytest.mark.parametrize(
    ("given", "error", "told"),
    [
        (5, TypeError, "headers are 5; they are pairs of a name and bytes"),
        ({"a": b"1"}, TypeError, "they are pairs"),
        ([("a",)], TypeError, "they are pairs"),
        ([(b"a", b"1")], TypeError, "the header name b'a' is of type bytes, no str"),
        ([(None, b"1")], TypeError, "the header name None"),
        ([("\ud800", b"1")], ValueError, r"'\\ud800' cannot be encoded in UTF-8"),
        ([("a", "1")], TypeError, "the value of header 'a' is a str; header values are bytes"),
        ([("a", 1)], TypeError, "the value of a header is of type int"),
    ],
)
def test_headers(given: Any, error: type[Exception], told: str) -> None:
    with pytest.raises(error, match=told):
        as_headers(given)


def test_headers_are_copied() -> None:
    """The batch is encoded later."""
    value = bytearray(b"1")
    given = [("a", value), ("b", None)]
    taken = as_headers(given)
    given.clear()
    value[0] = 0
    assert taken == [("a", b"1"), ("b", None)]
    assert as_headers(each for each in taken) == taken
