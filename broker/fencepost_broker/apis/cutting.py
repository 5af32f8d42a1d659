"""Which requests may be carried out in parts, how they are cut and how answers are joined.

An entry stands for a list whose elements have nothing to do with each other: each succeeds, fails
and is answered by itself, and a client sees no difference between one request and several. Where
elements have lists of such elements, long ones are cut, too: a topic of a million partitions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from copy import copy
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.delete_records import DeleteRecordsTopic
from fencepost_protocol.generated.describe_log_dirs import DescribableLogDirTopic
from fencepost_protocol.generated.list_offsets import ListOffsetsTopic
from fencepost_protocol.generated.produce import ProduceRequest
from fencepost_protocol.primitives import ZERO_UUID, Buffer
from fencepost_protocol.records.batch import (
    ATTRIBUTES_OFFSET,
    HEADER_SIZE,
    MAGIC,
    TRANSACTIONAL_FLAG,
)

from fencepost_broker.controller.ports import ControllerSettings

if TYPE_CHECKING:
    from fencepost_broker.apis.context import BrokerContext

ELEMENTS_OF_A_PART: Final = 100
"""Some half of a millisecond; 50 where whole topics are described."""
_BY_ID_FROM: Final = 12
_MAGIC_AT: Final = 16
_ATTRIBUTES: Final = ATTRIBUTES_OFFSET + 1
_LET_GO_AT_ONCE: Final = 200
_MAY_FORBID_CREATION_FROM: Final = 4
Lists = tuple[str, ...]


def _as_it_is(message: Any, _version: int) -> Any:
    return message


class Cut(NamedTuple):
    """How the requests of one API are cut."""

    asked: Lists
    """The lists that are cut, from the outside in."""
    answered: Lists
    """Those of the response, for each of them; empty where it has none."""
    prepare: Callable[[Any, int], Any] = _as_it_is
    """Makes another message of one before it is cut; ``None`` if all of it belongs together."""
    within: str = ""
    """The list of the response whose only element has the answers."""
    only_first: str = ""
    """A switch that only the first part keeps."""
    finish: Callable[[Any, Any, Any], None] | None = None
    """What is done in the loop at the end, with broker, request and response."""
    key: Callable[[Any], Hashable] | None = None
    """What an element is known by, where a request that repeats it is told so: all of those that
    are repeated stay together, in the last part."""


WHOLE: Final = Cut((), ())
"""All of a request belongs together."""


class Part(NamedTuple):
    """A request that is carried out by itself."""

    message: Any
    continued: int
    """On so many levels its first element goes on with the last one of the part before it."""


def parts_of(message: Any, version: int, cut: Cut) -> list[Part]:
    """The parts, the first one first; none if the message has to be carried out as a whole."""
    if cut is WHOLE:
        return []
    prepared = cut.prepare(message, version)
    if prepared is None:
        return []
    name, *inner = cut.asked
    if not getattr(prepared, name) and getattr(prepared, "topic_names", None):
        name = "topic_names"  # DeleteTopics before version 6
    items = getattr(prepared, name) or []
    repeated: list[Any] = []
    if cut.key is not None:
        key = cut.key
        times = Counter(map(key, items))
        repeated = [each for each in items if times[key(each)] > 1]
        if repeated:
            items = [each for each in items if times[key(each)] == 1]
    slices = _slices(items, inner)
    parts: list[Part] = []
    for some, continued in (*slices, (repeated, 0)) if repeated else slices:
        one = copy(prepared)
        setattr(one, name, some)
        if parts and cut.only_first:
            setattr(one, cut.only_first, False)
        parts.append(Part(one, continued))
    return parts if len(parts) > 1 else []


def _slices(items: Sequence[Any], inner: Sequence[str]) -> Iterator[tuple[list[Any], int]]:
    """The elements in order, some at a time, and how deep each slice begins inside of one."""
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
    """One response of those to all parts."""
    whole = answers[0][1]
    for part, more in answers[1:]:
        names = [name for name in cut.answered if name]
        continued = sum(1 for name in cut.answered[: part.continued] if name)
        if cut.within:
            [into], [other] = getattr(whole, cut.within), getattr(more, cut.within)
            into.error_code = into.error_code or other.error_code
            _merge(into, other, names, continued)
        else:
            _merge(whole, more, names, continued)
    return whole


def _merge(into: Any, more: Any, names: Sequence[str], continued: int) -> None:
    found, others = getattr(into, names[0]), getattr(more, names[0])
    if continued:
        _merge(found[-1], others[0], names[1:], continued - 1)
        del others[0]
    found.extend(others)
    others.clear()


def let_go(items: list[Any]) -> None:
    """Empty a list of messages, and those inside, some at a time: others run in between."""
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
                    let_go(list(within))  # a long list may be deeper: all settings of one topic


# --- what APIs have of their own ------------------------------------------------------------------


def to_look_for(message: Any, version: int) -> Any:
    """Each topic once, and none created: what one request creates is bounded as a whole.

    It is created when all were looked for.
    """
    topics = {(each.name, each.topic_id): each for each in message.topics or ()}
    by_id = [each for each in topics.values() if each.topic_id != ZERO_UUID]
    if by_id if version < _BY_ID_FROM else not by_id and any(name is None for name, _ in topics):
        return None  # all of it is refused
    looking = copy(message)
    if message.allow_auto_topic_creation and not by_id:
        if version < _MAY_FORBID_CREATION_FROM:
            return None
        looking.allow_auto_topic_creation = False
    looking.topics = by_id or list(topics.values())  # with ids, names do not count
    return looking


def create_missing(context: BrokerContext, request: Any, response: Any) -> None:
    if request.allow_auto_topic_creation:
        unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        missing = [each.name for each in response.topics if each.error_code == unknown]
        if missing:
            context.topics.auto_create(missing)


def pairs_last(message: Any, _version: int) -> Any:
    """Each partition once; those that are repeated, which is refused, twice and behind the others.

    Parts have room for an even number of them, so that both of a pair come into one.
    """
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
    return made


def last_of_each(message: Any, _version: int) -> Any:
    """Of a partition that is named twice the last offset counts."""
    asked: dict[str, dict[int, Any]] = {}
    for topic in message.topics:
        entries = asked.setdefault(topic.name, {})
        entries.update((each.partition_index, each) for each in topic.partitions)
    made = copy(message)
    made.topics = [
        DeleteRecordsTopic(name, list(entries.values())) for name, entries in asked.items()
    ]
    return made


def names_or_ids(message: Any, _version: int) -> Any:
    """A topic that is named by both, name and id, is refused: that is for all to be seen."""
    kinds = {each.name is None for each in message.topics}
    return None if len(kinds) > 1 else message


def topic_key(topic: Any) -> Hashable:
    return topic if isinstance(topic, str) else (topic.name, topic.topic_id)


def few_partitions(message: Any, _version: int) -> Any:
    """What one request may make is bounded as a whole."""
    asked = sum(max(each.count, 0) for each in message.topics)
    return message if asked <= ControllerSettings().records_per_request_max else None


def each_group_once(message: Any, _version: int) -> Any:
    once = copy(message)
    once.groups_names = list(dict.fromkeys(message.groups_names))
    return once


def each_topic_once(message: Any, _version: int) -> Any:
    wanted: dict[str, dict[int, None]] = {}
    for each in message.topics or ():
        wanted.setdefault(each.topic, {}).update(dict.fromkeys(each.partitions))
    once = copy(message)
    once.topics = [DescribableLogDirTopic(name, list(found)) for name, found in wanted.items()]
    return None if message.topics is None else once


RESOURCE: Final = attrgetter("resource_type", "resource_name")


def unless_in_transaction(message: ProduceRequest, _version: int) -> Any:
    """The message, if it may be cut."""
    if message.transactional_id is not None:
        return None
    for data in message.topic_data:
        if any(_is_transactional(entry.records) for entry in data.partition_data):
            return None
    return message


def _is_transactional(records: Buffer | None) -> bool:
    return (
        records is not None
        and len(records) >= HEADER_SIZE
        and bool(records[_ATTRIBUTES] & TRANSACTIONAL_FLAG)
        and records[_MAGIC_AT] == MAGIC
    )
