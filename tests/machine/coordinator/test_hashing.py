"""The partition of an id is Kafka's: hash codes as a Java virtual machine gives them."""

from __future__ import annotations

import pytest
from fencepost_broker.coordinator.hashing import java_hash, partition_of


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", 0),
        ("a", 97),
        ("Aa", 2112),
        ("BB", 2112),
        ("hello", 99162322),
        ("my-transactional-id", -959806496),
        ("polygenelubricants", -(1 << 31)),
        ("\u00e4", 228),
        ("\u20ac", 8364),
        ("\U0001f600", 1772899),
    ],
)
def test_hash_codes_of_java(text: str, expected: int) -> None:
    assert java_hash(text) == expected


@pytest.mark.parametrize("count", [1, 5, 50])
def test_a_partition_is_never_negative(count: int) -> None:
    for name in ("", "polygenelubricants", "my-transactional-id", "hello", "\U0001f600"):
        assert 0 <= partition_of(name, count) < count
    assert partition_of("polygenelubricants", count) == 0
    assert partition_of("hello", count) == 99162322 % count


def test_the_magnitude_counts() -> None:
    assert partition_of("my-transactional-id", 50) == 959806496 % 50
