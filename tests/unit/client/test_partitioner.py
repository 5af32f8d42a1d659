"""Where records go: as with Kafka's own clients, or two programs disagree about a key."""

from __future__ import annotations

import random

import pytest
from aiokafka.partitioner import murmur2 as murmur2_of_aiokafka
from fencepost_client.producer.partitioner import by_murmur2, murmur2


@pytest.mark.parametrize(
    ("key", "hashed"),
    [
        (b"21", -973932308),
        (b"foobar", -790332482),
        (b"a-little-bit-long-string", -985981536),
        (b"a-little-bit-longer-string", -1486304829),
        (b"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58897971),
        (b"abc", 479470107),
    ],
)
def test_the_hash_is_kafkas(key: bytes, hashed: int) -> None:
    assert murmur2(key) == hashed & 0xFFFF_FFFF


def test_the_hash_is_that_of_another_client() -> None:
    chance = random.Random(1)
    for _ in range(2000):
        key = chance.randbytes(chance.randrange(40))
        assert murmur2(key) == murmur2_of_aiokafka(key) & 0xFFFF_FFFF


def test_a_key_has_one_partition() -> None:
    assert by_murmur2("t", b"foobar", 7) == (-790332482 & 0x7FFF_FFFF) % 7
    assert len({by_murmur2("t", b"key-%d" % number, 7) for number in range(100)}) == 7
