"""Replica placement: spread over racks and brokers, whatever chance says."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from fencepost_broker.controller.placement import PlacementError, place_replicas
from fencepost_broker.metadata.image.model import Broker
from hypothesis import given
from hypothesis import strategies as st


def broker(broker_id: int, rack: str | None = None, *, fenced: bool = False) -> Broker:
    return Broker(broker_id, 0, bytes(16), (), (), rack, fenced)


def place(brokers: list[Broker], count: int, factor: int, seed: int = 0) -> list[list[int]]:
    return place_replicas(brokers, count, factor, random.Random(seed))


def test_leaders_take_turns() -> None:
    placed = place([broker(each) for each in range(4)], 40, 2)
    assert Counter(replicas[0] for replicas in placed) == dict.fromkeys(range(4), 10)
    assert Counter(each for replicas in placed for each in replicas) == dict.fromkeys(range(4), 20)


def test_replicas_of_a_partition_lie_in_different_racks() -> None:
    racks = {0: "a", 1: "a", 2: "b", 3: "b", 4: "c", 5: "c"}
    placed = place([broker(each, racks[each]) for each in racks], 60, 3)
    for replicas in placed:
        assert {racks[each] for each in replicas} == {"a", "b", "c"}
    assert Counter(replicas[0] for replicas in placed) == dict.fromkeys(range(6), 10)


def test_more_replicas_than_racks() -> None:
    racks = {0: "a", 1: "a", 2: "b", 3: "b"}
    for replicas in place([broker(each, racks[each]) for each in racks], 20, 3):
        assert len({racks[each] for each in replicas[:2]}) == 2
        assert len(set(replicas)) == 3


def test_one_partition_lands_anywhere() -> None:
    brokers = [broker(each) for each in range(5)]
    first = {place(brokers, 1, 1, seed)[0][0] for seed in range(100)}
    assert first == set(range(5))


def test_the_same_chance_places_the_same() -> None:
    brokers = [broker(each, str(each % 2)) for each in range(6)]
    assert place(brokers, 9, 3, 5) == place(list(reversed(brokers)), 9, 3, 5)


@given(data=st.data(), seed=st.integers(0, 1000))
def test_any_cluster(data: st.DataObject, seed: int) -> None:
    kinds = data.draw(
        st.lists(
            st.tuples(st.sampled_from(["a", "b", "c", None]), st.booleans()),
            min_size=1,
            max_size=8,
        ).filter(lambda kinds: not all(fenced for _, fenced in kinds))
    )
    brokers = [broker(each, rack, fenced=fenced) for each, (rack, fenced) in enumerate(kinds)]
    factor = data.draw(st.integers(1, len(brokers)))
    active = {each.broker_id for each in brokers if not each.fenced}
    for replicas in place(brokers, 7, factor, seed):
        assert len(replicas) == len(set(replicas)) == factor
        assert replicas[0] in active
        # Nobody who is fenced stands where somebody who is not could.
        assert len(active & set(replicas)) == min(len(active), factor)
        assert set(replicas[: len(active)]) <= active


def test_too_few_brokers() -> None:
    with pytest.raises(PlacementError, match=r"replication factor 3 .* has 2"):
        place([broker(1), broker(2)], 1, 3)
    with pytest.raises(PlacementError, match="every broker is fenced"):
        place([broker(1, fenced=True)], 1, 1)
    with pytest.raises(PlacementError, match="the cluster has 0"):
        place([], 1, 1)
