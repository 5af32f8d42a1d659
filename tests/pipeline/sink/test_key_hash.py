"""Keys hashed a column at a time get what the client's partitioner gives each by itself."""

from __future__ import annotations

import pyarrow as pa
import pytest
from fencepost_client.producer.partitioner import murmur2
from fencepost_pipeline.sink.key_hash import murmur2_of
from hypothesis import given
from hypothesis import strategies as st

KINDS = (pa.binary(), pa.large_binary())
SHORT = st.binary(max_size=20)
KEYS = st.lists(st.one_of(SHORT, st.binary(min_size=100, max_size=300)), max_size=80)


@given(KEYS, st.sampled_from(KINDS))
def test_every_key_has_its_hash(keys: list[bytes], kind: pa.DataType) -> None:
    assert murmur2_of(pa.array(keys, kind)).tolist() == [murmur2(key) for key in keys]


@given(st.lists(st.none() | SHORT, min_size=1), st.data())
def test_a_part_of_a_column_with_nulls(keys: list[bytes | None], data: st.DataObject) -> None:
    first = data.draw(st.integers(0, len(keys)))
    last = data.draw(st.integers(first, len(keys)))
    part = pa.array(keys, pa.binary())[first:last]
    hashes = murmur2_of(part).tolist()
    assert len(hashes) == last - first
    for key, found in zip(keys[first:last], hashes, strict=True):
        assert key is None or found == murmur2(key)


@pytest.mark.parametrize("few", [1, 40])
def test_some_keys_that_are_much_longer_than_others(few: int) -> None:
    keys = [b"%04d" % number for number in range(200)]
    keys[5 : 5 + few] = [bytes([number]) * (1000 + number) for number in range(few)]
    assert murmur2_of(pa.array(keys, pa.binary())).tolist() == [murmur2(key) for key in keys]
