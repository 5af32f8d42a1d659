"""What ``send`` refuses: a batch with what cannot be encoded would hold up its partition."""

from __future__ import annotations

from typing import Any

import pytest
from fencepost_client.producer.record_columns import as_headers, as_timestamp


@pytest.mark.parametrize(
    ("given", "error", "told"),
    [
        ("x", TypeError, "timestamp_ms is of type str; it is a whole number"),
        (1.5, TypeError, "timestamp_ms is of type float"),
        (-1, ValueError, "timestamp_ms is -1; it counts milliseconds since 1970"),
        (1 << 63, ValueError, "in 63 bits"),
    ],
)
def test_timestamps(given: Any, error: type[Exception], told: str) -> None:
    with pytest.raises(error, match=told):
        as_timestamp(given)


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
