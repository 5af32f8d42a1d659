"""A small mutator, for where no coverage-guided fuzzer can be had: CI, and Windows."""

from __future__ import annotations

import random
from collections.abc import Callable

EDGES = (0, 1, 0x7F, 0x80, 0xFF)


def mutated(data: bytes, other: bytes, rng: random.Random) -> bytes:
    """``data`` after one to four random changes; ``other`` is there to splice from."""
    made = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        rng.choice(CHANGES)(made, other, rng)
    return bytes(made)


def _flip(made: bytearray, other: bytes, rng: random.Random) -> None:
    if made:
        made[rng.randrange(len(made))] ^= 1 << rng.randrange(8)


def _edge(made: bytearray, other: bytes, rng: random.Random) -> None:
    if made:
        made[rng.randrange(len(made))] = rng.choice(EDGES)


def _large_number(made: bytearray, other: bytes, rng: random.Random) -> None:
    at = rng.randint(0, len(made))
    made[at : at + 4] = rng.choice([b"\x7f\xff\xff\xff", b"\xff\xff\xff\xff", b"\x80\0\0\0"])


def _cut(made: bytearray, other: bytes, rng: random.Random) -> None:
    del made[rng.randint(0, len(made)) :]


def _remove(made: bytearray, other: bytes, rng: random.Random) -> None:
    at = rng.randint(0, len(made))
    del made[at : at + rng.randint(1, 8)]


def _insert(made: bytearray, other: bytes, rng: random.Random) -> None:
    at = rng.randint(0, len(made))
    made[at:at] = rng.randbytes(rng.randint(1, 8))


def _splice(made: bytearray, other: bytes, rng: random.Random) -> None:
    start = rng.randint(0, len(other))
    at = rng.randint(0, len(made))
    made[at : at + rng.randint(0, 16)] = other[start : start + rng.randint(1, 16)]


CHANGES: tuple[Callable[[bytearray, bytes, random.Random], None], ...] = (
    _flip, _flip, _edge, _edge, _large_number, _cut, _remove, _insert, _splice,
)  # fmt: skip
