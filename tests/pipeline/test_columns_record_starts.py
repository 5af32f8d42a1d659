"""However records are walked, they are found where walking one by one finds them."""

from __future__ import annotations

import random

import numpy as np
import pytest
from fencepost_pipeline.columns.record_starts import _walk_one, walk
from fencepost_pipeline.columns.varints import PADDING
from fencepost_protocol.records.batch import HEADER_SIZE
from fencepost_protocol.records.writer import build_batch


def bodies(chance: random.Random, count: int, records_max: int) -> list[bytearray]:
    """Records in runs of one size, the lengths of one, two and three bytes."""
    made = []
    for _ in range(count):
        values: list[bytes] = []
        while len(values) < chance.randrange(1, records_max):
            size = chance.choice([0, 1, 20, 52, 53, 54, 55, 200, 264, 9000, 17192])
            values += [bytes(size)] * chance.choice([1, 2, 31, 32, 33, 70, 300])
        made.append(build_batch(None, values[:records_max], 1000)[HEADER_SIZE:])
    return made


def check(some: list[bytearray], counts: list[int]) -> None:
    raw = b"".join([*some, bytes(PADDING)])
    sizes = np.array([len(each) for each in some], np.int64)
    ends = np.cumsum(sizes)
    starts = ends - sizes
    data = np.frombuffer(raw, np.uint8)
    positions, failed, walked = walk(data, raw, starts, ends, np.array(counts, np.int64))
    row = 0
    for place, count in enumerate(counts):
        found, behind, wrong = _walk_one(raw, int(starts[place]), int(ends[place]), count)
        assert failed[place] == (wrong or behind != ends[place])
        if wrong:
            assert walked[place] == len(found)
        else:
            assert positions[row : row + count].tolist() == found
        row += count


def count_of(body: bytearray) -> int:
    found, _, _ = _walk_one(bytes(body) + bytes(PADDING), 0, len(body), len(body))
    return len(found)


@pytest.mark.parametrize("batches", [1, 3, 170])
@pytest.mark.parametrize("seed", range(3))
def test_runs_of_one_size_and_what_is_between_them(batches: int, seed: int) -> None:
    chance = random.Random(seed)
    some = bodies(chance, batches, 2000 if batches < 100 else 300)
    check(some, [count_of(each) for each in some])


@pytest.mark.parametrize("sizes", [(200, 264), (9000, 9000 + 8192)])
def test_lengths_whose_first_bytes_are_the_same(sizes: tuple[int, int]) -> None:
    values = [bytes(size) for size in sizes for _ in range(60)]
    check([build_batch(None, values, 1000)[HEADER_SIZE:]], [120])


@pytest.mark.parametrize("seed", range(40))
def test_what_is_wrong_is_found_at_the_same_record(seed: int) -> None:
    chance = random.Random(seed)
    some = bodies(chance, 3, 500)
    counts = [count_of(each) + chance.choice([0, 0, 0, 1, -1]) for each in some]
    for each in some:
        for _ in range(chance.choice([0, 1, 3])):
            each[chance.randrange(len(each))] = chance.randrange(256)
    check(some, [max(count, 0) for count in counts])
