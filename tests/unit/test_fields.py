"""The generated classes are plain classes that ``dataclasses`` takes for its own."""

from __future__ import annotations

import copy
import dataclasses
import pickle

import pytest
from fencepost_protocol.generated.delete_topics import DeleteTopicsRequest, DeleteTopicState
from fencepost_protocol.generated.init_producer_id import InitProducerIdRequest

REQUEST = DeleteTopicsRequest([DeleteTopicState("t")], timeout_ms=5)


def test_a_message_has_the_fields_of_its_constructor() -> None:
    fields = dataclasses.fields(REQUEST)
    assert [each.name for each in fields] == [*DeleteTopicsRequest.__slots__]
    assert fields[0].type == "list[DeleteTopicState]"
    assert dataclasses.fields(InitProducerIdRequest)[0].name == "transactional_id"


def test_a_message_is_replaced_and_taken_apart() -> None:
    assert dataclasses.is_dataclass(REQUEST)
    assert dataclasses.replace(REQUEST, timeout_ms=6).timeout_ms == 6
    assert REQUEST.__replace__(timeout_ms=6) == dataclasses.replace(REQUEST, timeout_ms=6)
    assert dataclasses.asdict(REQUEST)["topics"][0]["name"] == "t"


def test_copies_are_equal_and_independent() -> None:
    for other in (copy.deepcopy(REQUEST), pickle.loads(pickle.dumps(REQUEST))):
        assert other == REQUEST
        other.topics[0].name = "u"
        assert other != REQUEST
    assert REQUEST.topics[0].name == "t"


def test_a_message_has_no_other_attributes_and_no_hash() -> None:
    with pytest.raises(AttributeError):
        REQUEST.another = 1  # type: ignore[attr-defined]
    with pytest.raises(TypeError, match="unhashable"):
        hash(REQUEST)
