"""What acts do to messages: errors for a request or a part of it, and changes of fields."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import is_dataclass
from typing import Any, Final, NamedTuple

from fencepost_protocol.generated.fetch import (
    FetchableTopicResponse,
    FetchRequest,
    FetchResponse,
    PartitionData,
)
from fencepost_protocol.primitives import ZERO_UUID

from fencepost_broker.apis.error_responses import refused, refused_in_elements
from fencepost_broker.apis.fetch.fetching import BY_ID_FROM
from fencepost_broker.apis.matching_lists import INDEXES, NAMES, class_of, lists_of
from fencepost_broker.faults.compiled import Arrived, is_entry
from fencepost_broker.faults.entities import take_out, topic_lists
from fencepost_broker.faults.rule import Error
from fencepost_broker.faults.rules import LoadedRule
from fencepost_broker.ports import Chance

_KEYS: Final = ("topic_id", "group_id", "transactional_id", "producer_id", *NAMES, *INDEXES)
"""The fields that tell which element of a list another one is about."""
_UNKNOWN: Final = -1


class Refusal(NamedTuple):
    """An answer with the error of a rule."""

    answer: Any
    is_whole: bool
    """Whether it answers all of the request; else ``merge`` puts it into the answer to the rest."""
    carries_on: bool
    """Whether the request, or what is left of it, is carried out."""


def refusal(rule: LoadedRule, arrived: Arrived) -> Refusal:
    """Return the answer with a rule's error.

    If the match has a topic or a partition, these elements alone are refused, and they are taken
    out of the request.
    """
    act, match = rule.rule.act, rule.rule.match
    assert isinstance(act, Error)
    api, message, code = arrived.api, arrived.message, rule.compiled.code
    if match.topic is None and match.partition is None:
        answer = refused(api, message, arrived.request.version, code, act.message)
        return Refusal(answer, is_whole=True, carries_on=act.apply)
    if isinstance(message, FetchRequest):
        message.max_wait_ms = 0
        return Refusal(_fetch_refusal(rule, arrived), is_whole=False, carries_on=True)
    name_of = arrived.states.topic_name
    wanted = {topic for topic, index in arrived.entries if is_entry(match, topic, index)}
    taken, is_left = take_out(message, wanted, match.partition, name_of, leave=act.apply)
    answer = refused_in_elements(api, taken, code, act.message)
    return Refusal(answer, is_whole=False, carries_on=is_left or act.apply)


def _fetch_refusal(rule: LoadedRule, arrived: Arrived) -> FetchResponse:
    """Return the error for partitions of a Fetch, which may be those of its session."""
    message, match, version = arrived.message, rule.rule.match, arrived.request.version
    ids: dict[str, bytes] = {}
    for shape in topic_lists(message.NAME):
        for _, topics in shape.lists(message):
            for topic in topics:
                if name := shape.name_of(topic, arrived.states.topic_name):
                    ids[name] = bytes(topic.topic_id)
    for key, _ in arrived.states.fetched(message.session_id):
        if isinstance(key, bytes) and (name := arrived.states.topic_name(key)):
            ids[name] = key
    found: dict[str, FetchableTopicResponse] = {}
    for topic, index in dict.fromkeys(arrived.entries):
        if index is None or not is_entry(match, topic, index):
            continue
        by_id = version >= BY_ID_FROM
        answer = found.setdefault(
            topic,
            FetchableTopicResponse(
                "" if by_id else topic, ids.get(topic, ZERO_UUID) if by_id else ZERO_UUID
            ),
        )
        error = PartitionData(index, rule.compiled.code, _UNKNOWN, _UNKNOWN, _UNKNOWN)
        error.records = b""
        answer.partitions.append(error)
    return FetchResponse(responses=list(found.values()))


def merge(answer: Any, other: Any) -> None:
    """Put the elements of another answer into an answer, in place of those that it has."""
    for name, kind in lists_of(class_of(answer)).items():
        if not is_dataclass(kind):
            continue
        mine, theirs = getattr(answer, name), getattr(other, name)
        if not theirs:
            continue
        if mine is None:
            mine = []
            setattr(answer, name, mine)
        places = {_key(each): place for place, each in enumerate(mine)}
        for each in theirs:
            place = places.get(_key(each))
            if place is None:
                mine.append(each)
            elif any(is_dataclass(inner) and getattr(each, lists) for lists, inner in _lists(each)):
                merge(mine[place], each)
            else:
                mine[place] = each


def _lists(element: Any) -> Iterator[tuple[str, type]]:
    yield from lists_of(class_of(element)).items()


def _key(element: Any) -> tuple[Any, ...]:
    return tuple(getattr(element, name) for name in _KEYS if name in element.__slots__)


def change(rule: LoadedRule, message: Any) -> None:
    """Set the fields that a rule changes."""
    for path, value in rule.compiled.values:
        path.set(message, value)


def corrupt(content: bytearray, begin: int, bits: int, chance: Chance) -> None:
    """Flip bits after the first bytes, at places by chance."""
    size = len(content) - begin
    for _ in range(bits if size > 0 else 0):
        place = chance.randrange(size * 8)
        content[begin + place // 8] ^= 1 << place % 8
