"""Cutting of large requests into parts, and joining of the parts' responses.

A list is cut only if its elements are independent: each succeeds or fails by itself, so that a
client sees no difference between one request and several. If the elements have long lists of
independent elements, those are cut, too: a topic may have a million partitions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from copy import copy
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.produce import ProduceRequest
from fencepost_protocol.primitives import ZERO_UUID, Buffer
from fencepost_protocol.records.batch import (
    ATTRIBUTES_OFFSET,
    HEADER_SIZE,
    MAGIC,
    TRANSACTIONAL_FLAG,
)

from fencepost_broker.apis.matching_lists import class_of, matching_path
from fencepost_broker.apis.produce.repeated_partitions import each_once
from fencepost_broker.controller.ports import ControllerSettings

if TYPE_CHECKING:
    from fencepost_broker.apis.context import BrokerContext

ELEMENTS_OF_A_PART: Final = 100
"""A part takes about half a millisecond, or 50 ms if whole topics are described."""
_BY_ID_FROM: Final = 12
_MAGIC_AT: Final = 16
_ATTRIBUTES: Final = ATTRIBUTES_OFFSET + 1
_LET_GO_AT_ONCE: Final = 200
_MAY_FORBID_CREATION_FROM: Final = 4


def as_it_is(message: Any, _version: int) -> list[Any]:
    """Return the message itself, unchanged."""
    return [message]


class Cut(NamedTuple):
    """The way in which large requests of one API are cut."""

    asked: str
    """The path of the lists that are cut, outermost first."""
    prepare: Callable[[Any, int], list[Any]] = as_it_is
    """Converts a message to those that are cut; to none if it must be carried out as a whole."""
    key: Callable[[Any], Hashable] | None = None
    """Identifies an element, if the API refuses repeated ones; these stay together in the last
    part."""
    answered: str = ""
    """The path of the response's lists, if ``matching_path`` does not find them."""
    finish: Callable[[Any, Any, Any], None] | None = None
    """Called in the loop after all parts, with context, request and response."""


WHOLE: Final = Cut("")
"""Requests of the API are not cut."""


class Part(NamedTuple):
    """A part of a large request, which is carried out by itself."""

    message: Any
    continued: int
    """The number of levels on which its first element continues the previous part's last one."""


def parts_of(message: Any, version: int, cut: Cut) -> list[Part]:
    """Cut a message; return its parts in order, or none if it must be carried out as a whole."""
    if cut is WHOLE:
        return []
    parts = [part for each in cut.prepare(message, version) for part in _parts(each, cut)]
    return parts if len(parts) > 1 else []


def _parts(message: Any, cut: Cut) -> Iterator[Part]:
    name, *inner = cut.asked.split(".")
    if not getattr(message, name) and getattr(message, "topic_names", None):
        name = "topic_names"  # DeleteTopics before version 6
    items = getattr(message, name) or []
    repeated: list[Any] = []
    if cut.key is not None:
        key = cut.key
        times = Counter(map(key, items))
        repeated = [each for each in items if times[key(each)] > 1]
        if repeated:
            items = [each for each in items if times[key(each)] == 1]
    slices = _slices(items, inner)
    for some, continued in (*slices, (repeated, 0)) if repeated else slices:
        one = copy(message)
        setattr(one, name, some)
        yield Part(one, continued)


def _slices(items: Sequence[Any], inner: Sequence[str]) -> Iterator[tuple[list[Any], int]]:
    """Yield the elements in slices, with the number of levels that continue the previous slice."""
    found: list[Any] = []
    size = 0
    for item in items:
        weight = _weight(item, inner)
        if found and size + weight > ELEMENTS_OF_A_PART:
            yield found, 0
            found, size = [], 0
        if weight <= ELEMENTS_OF_A_PART or not inner:
            found.append(item)
            size += weight
            continue
        for at, (some, depth) in enumerate(_slices(getattr(item, inner[0]), inner[1:])):
            one = copy(item)
            setattr(one, inner[0], some)
            yield [one], depth + 1 if at else 0
    if found:
        yield found, 0


def _weight(item: Any, inner: Sequence[str]) -> int:
    if not inner:
        return 1
    within = getattr(item, inner[0]) or ()
    if len(inner) == 1:
        return max(1, len(within))
    return max(1, sum(_weight(each, inner[1:]) for each in within))


def join(answers: Sequence[tuple[Part, Any]], cut: Cut) -> Any:
    """Join the responses to all parts into one."""
    part, whole = answers[0]
    asked = tuple(cut.asked.split("."))
    path = tuple(cut.answered.split(".")) if cut.answered else ()
    path = path or matching_path(class_of(part.message), class_of(whole), asked)
    # A response may have one more list, around the others; its only element continues, too.
    deeper = len(path) - len(asked)
    for part, more in answers[1:]:
        _merge(whole, more, path, max(0, part.continued + deeper))
        if getattr(more, "throttle_time_ms", 0) > getattr(whole, "throttle_time_ms", 0):
            whole.throttle_time_ms = more.throttle_time_ms
    return whole


def _merge(into: Any, more: Any, path: Sequence[str], continued: int) -> None:
    found, others = getattr(into, path[0]), getattr(more, path[0])
    if continued:
        last, first = found[-1], others.pop(0)
        if getattr(first, "error_code", 0):
            last.error_code = first.error_code
        _merge(last, first, path[1:], continued - 1)
    found.extend(others)
    others.clear()


def let_go(items: list[Any]) -> None:
    """Empty a list of messages and the lists in them, in steps between which other threads run."""
    is_short = len(items) <= _LET_GO_AT_ONCE
    while items:
        some = items[-_LET_GO_AT_ONCE:]
        del items[-_LET_GO_AT_ONCE:]
        for each in some:
            for name in getattr(each, "__slots__", ()):
                within = getattr(each, name, None)
                if not isinstance(within, list):
                    continue
                if len(within) > _LET_GO_AT_ONCE:
                    let_go(within)
                elif is_short:
                    let_go(list(within))  # inner lists may be long: all settings of one topic


# --- of single APIs -------------------------------------------------------------------------------


def to_look_for(message: Any, version: int) -> list[Any]:
    """Look up each topic once, without creating any.

    The number of topics that one request creates is limited, so ``create_missing`` creates them
    after all lookups.
    """
    topics = {(each.name, each.topic_id): each for each in message.topics or ()}
    by_id = [each for each in topics.values() if each.topic_id != ZERO_UUID]
    if by_id if version < _BY_ID_FROM else not by_id and any(name is None for name, _ in topics):
        return []  # the whole request is refused
    looking = copy(message)
    if message.allow_auto_topic_creation and not by_id:
        if version < _MAY_FORBID_CREATION_FROM:
            return []
        looking.allow_auto_topic_creation = False
    looking.topics = by_id or list(topics.values())  # names are ignored if there are ids
    return [looking]


def create_missing(context: BrokerContext, request: Any, response: Any) -> None:
    """Create missing topics, if the request allows it."""
    if request.allow_auto_topic_creation:
        unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        missing = [each.name for each in response.topics if each.error_code == unknown]
        if missing:
            context.topics.auto_create(missing)


def pairs_last(message: Any, _version: int) -> list[Any]:
    """Keep each partition once, and repeated ones, which are refused, as pairs after the others.

    A part has an even number of partitions, so that both of a pair are in the same part.
    """
    from fencepost_protocol.generated.list_offsets import ListOffsetsTopic

    asked: dict[str, dict[int, list[Any]]] = {}
    for topic in message.topics:
        entries = asked.setdefault(topic.name, {})
        for entry in topic.partitions:
            entries.setdefault(entry.partition_index, []).append(entry)
    made = copy(message)
    made.topics = []
    for name, entries in asked.items():
        once = [each[0] for each in entries.values() if len(each) == 1]
        twice = [entry for each in entries.values() if len(each) > 1 for entry in each[:2]]
        made.topics += [ListOffsetsTopic(name, found) for found in (once, twice) if found]
    return [made]


def last_of_each(message: Any, _version: int) -> list[Any]:
    """Keep each partition once, with the last offset that the request has for it."""
    from fencepost_protocol.generated.delete_records import DeleteRecordsTopic

    asked: dict[str, dict[int, Any]] = {}
    for topic in message.topics:
        entries = asked.setdefault(topic.name, {})
        entries.update((each.partition_index, each) for each in topic.partitions)
    made = copy(message)
    made.topics = [
        DeleteRecordsTopic(name, list(entries.values())) for name, entries in asked.items()
    ]
    return [made]


def names_or_ids(message: Any, _version: int) -> list[Any]:
    """Do not cut a request that has a topic both by name and by id, which is refused."""
    kinds = {each.name is None for each in message.topics}
    return [] if len(kinds) > 1 else [message]


def topic_key(topic: Any) -> Hashable:
    """Return what identifies a topic of DeleteTopics."""
    return topic if isinstance(topic, str) else (topic.name, topic.topic_id)


def few_partitions(message: Any, _version: int) -> list[Any]:
    """Do not cut a request near the limit on created partitions, which parts cannot check."""
    asked = sum(max(each.count, 0) for each in message.topics)
    return [message] if asked <= ControllerSettings().records_per_request_max else []


def each_group_once(message: Any, _version: int) -> list[Any]:
    """Keep each group once."""
    once = copy(message)
    once.groups_names = list(dict.fromkeys(message.groups_names))
    return [once]


def each_topic_once(message: Any, _version: int) -> list[Any]:
    """Keep each partition of each topic once; a request without topics asks for all."""
    from fencepost_protocol.generated.describe_log_dirs import DescribableLogDirTopic

    if message.topics is None:
        return []
    wanted: dict[str, dict[int, None]] = {}
    for each in message.topics:
        wanted.setdefault(each.topic, {}).update(dict.fromkeys(each.partitions))
    once = copy(message)
    once.topics = [DescribableLogDirTopic(name, list(found)) for name, found in wanted.items()]
    return [once]


def explain_first(message: Any, _version: int) -> list[Any]:
    """Explain transactions in the first part only, since their number per request is limited."""
    if not message.explain:
        return [message]
    first, rest = copy(message), copy(message)
    first.transactional_ids = message.transactional_ids[:ELEMENTS_OF_A_PART]
    rest.transactional_ids = message.transactional_ids[ELEMENTS_OF_A_PART:]
    rest.explain = False
    return [first, rest]


RESOURCE: Final = attrgetter("resource_type", "resource_name")


def unless_in_transaction(message: ProduceRequest, _version: int) -> list[Any]:
    """Do not cut transactional requests: the coordinator is asked once for all batches."""
    if message.transactional_id is not None:
        return []
    for data in message.topic_data:
        if any(_is_transactional(entry.records) for entry in data.partition_data):
            return []
    message.topic_data = each_once(message.topic_data)
    return [message]


def _is_transactional(records: Buffer | None) -> bool:
    return (
        records is not None
        and len(records) >= HEADER_SIZE
        and bool(records[_ATTRIBUTES] & TRANSACTIONAL_FLAG)
        and records[_MAGIC_AT] == MAGIC
    )
