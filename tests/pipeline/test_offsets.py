"""Offsets as texts: what a checkpoint keeps, and what people write as options."""

from __future__ import annotations

import json
from typing import Any

import pytest
from fencepost_client import TopicPartition
from fencepost_pipeline.spark.offsets import (
    EARLIEST,
    LATEST,
    AtOffsets,
    AtPlace,
    AtTime,
    AtTimes,
    StreamOffset,
    read_assignment,
    read_bound,
)
from fencepost_pipeline.spark.options import OptionError
from fencepost_pipeline.spark.source_options import Assigned, Pattern, SourceOptions, Topics

A, B = TopicPartition("orders", 0), TopicPartition("orders", 10)
SERVERS = {"kafka.bootstrap.servers": "h:1"}


def read(**given: Any) -> SourceOptions:
    return SourceOptions.read(SERVERS | {"subscribe": "orders"} | given)


def test_a_checkpoint_has_what_sparks_own_source_has_and_the_ids() -> None:
    offset = StreamOffset({B: 45, A: 23}, {"orders": "AAA"})
    text = json.dumps(offset.to_json())
    assert text == '{"orders": {"0": 23, "10": 45}, "#ids": {"orders": "AAA"}}'
    assert StreamOffset.from_json(json.loads(text)) == offset


def test_equal_offsets_give_equal_texts() -> None:
    one = StreamOffset({A: 1, B: 2}, {"x": "1", "a": "2"}).to_json()
    other = StreamOffset({B: 2, A: 1}, {"a": "2", "x": "1"}).to_json()
    assert json.dumps(one) == json.dumps(other)


def test_a_topic_that_was_made_anew_is_known_by_its_id() -> None:
    old, new, none = (StreamOffset({}, ids) for ids in ({"t": "1"}, {"t": "2"}, {}))
    assert new.is_of_another("t", old)
    assert not old.is_of_another("t", old)
    assert not none.is_of_another("t", old)
    assert not new.is_of_another("t", none)


def test_bounds() -> None:
    assert read_bound(" Earliest") == AtPlace(EARLIEST)
    assert read_bound('{"orders": {"0": 23, "10": -1}}') == AtOffsets({A: 23, B: LATEST})
    assert read_assignment('{"orders": [10, 0]}') == [A, B]


@pytest.mark.parametrize("text", ["sometime", "3", '{"orders": 5}', '{"orders": {"x": 1}}', "["])
def test_what_is_no_bound(text: str) -> None:
    with pytest.raises(OptionError, match=r"startingOffsets: .* is no JSON of a number for each"):
        read(startingOffsets=text)


def test_the_first_way_to_say_where_to_begin_counts() -> None:
    by_times = '{"orders": {"0": 5}}'
    assert read(startingOffsets="latest").starting == AtPlace(LATEST)
    found = read(startingOffsets="latest", startingOffsetsByTimestamp=by_times)
    assert found.starting == AtTimes({A: 5})
    found = read(startingTimestamp="7", startingOffsetsByTimestamp=by_times)
    assert found.starting == AtTime(7)
    assert read().starting is None


def test_one_way_to_select() -> None:
    assert read(subscribe="a, b,a").selection == Topics(("a", "b"))
    pattern = SourceOptions.read(SERVERS | {"subscribePattern": "a.*"})
    assert pattern.selection == Pattern("a.*")
    assigned = SourceOptions.read(SERVERS | {"assign": '{"orders": [0]}'})
    assert assigned.selection == Assigned((A,))
    with pytest.raises(OptionError, match="subscribe and assign was given"):
        read(assign='{"orders": [0]}')
    with pytest.raises(OptionError, match="none was given"):
        SourceOptions.read(SERVERS)
    with pytest.raises(OptionError, match="is no pattern"):
        SourceOptions.read(SERVERS | {"subscribePattern": "a("})


def test_committed_records_only_unless_it_is_said_otherwise() -> None:
    assert read().is_committed_only
    assert not read(isolation="read_uncommitted").is_committed_only
    assert not read(**{"kafka.isolation.level": "read_uncommitted"}).is_committed_only
    with pytest.raises(OptionError, match="can be read_committed, read_uncommitted"):
        read(isolation="serializable")


def test_settings_that_are_not_for_users_to_set() -> None:
    with pytest.raises(OptionError, match="use startingOffsets to say where to begin"):
        read(**{"kafka.auto.offset.reset": "latest"})
    assert "group.id" not in read(**{"kafka.group.id": "g"}).client


def test_sizes_and_delays() -> None:
    found = read(maxOffsetsPerTrigger="10", minOffsetsPerTrigger="5", maxTriggerDelay="2m")
    assert (found.rows_max, found.rows_min, found.delay_max_ms) == (10, 5, 120_000)
    with pytest.raises(OptionError, match="minOffsetsPerTrigger is larger"):
        read(maxOffsetsPerTrigger="10", minOffsetsPerTrigger="11")
    with pytest.raises(OptionError, match="write 30s, 15m or 1h"):
        read(maxTriggerDelay="soon")


def test_a_wrong_name_is_refused_with_the_nearest() -> None:
    with pytest.raises(OptionError, match="the nearest is 'startingOffsets'"):
        read(startingOffset="earliest")
