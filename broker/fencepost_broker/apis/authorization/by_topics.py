"""Requests about topics of which some may be denied: these are answered for apart."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Final

from fencepost_protocol.errors import ErrorCode

from fencepost_broker.apis.authorization.verdicts import Asked, Refused, Rest, Verdict
from fencepost_broker.apis.matching_lists import INDEXES, NAMES


def slot(subject: Any, among: Iterable[str]) -> str:
    """What a field is called here that has several names."""
    return next(name for name in among if name in subject.__slots__)


def number(partition: Any) -> int:
    """A partition's number in a request, which may be all that it has."""
    if isinstance(partition, int):
        return partition
    found: int = getattr(partition, slot(partition, INDEXES))
    return found


def topic_name(topic: Any) -> str:
    """A topic's name in a request or a response."""
    found: str = getattr(topic, slot(topic, NAMES))
    return found


def module_of(message: Any) -> Any:
    """The generated module of a message, where its response is, too."""
    return sys.modules[type(message).__module__]


@dataclass(frozen=True, slots=True)
class Shape:
    """How an API's response answers for topics and partitions."""

    topic_class: str
    partition_class: str
    answers: str = "topics"
    asked: str = "topics"
    asked_partitions: str = "partitions"
    partitions: str = "partitions"
    error: str = "error_code"
    values: Mapping[str, Any] = field(default_factory=dict)
    """Of a refused partition, where it is not the default."""

    def refused(self, asked: Any, topic: Any, code: int) -> Any:
        """The answer for a topic, with one error for each of its partitions."""
        module = module_of(asked)
        made = getattr(module, self.topic_class)()
        setattr(made, slot(made, NAMES), topic_name(topic))
        if "topic_id" in made.__slots__ and hasattr(topic, "topic_id"):
            made.topic_id = topic.topic_id
        partition_class = getattr(module, self.partition_class)
        told = getattr(made, self.partitions)
        for each in getattr(topic, self.asked_partitions):
            partition = partition_class(**self.values)
            setattr(partition, slot(partition, INDEXES), number(each))
            setattr(partition, self.error, code)
            told.append(partition)
        return made

    def refused_all(self, asked: Any, code: int) -> Any:
        """The response in which each partition has one error."""
        module = module_of(asked)
        response = getattr(module, asked.NAME.removesuffix("Request") + "Response")()
        topics = getattr(asked, self.asked)
        setattr(response, self.answers, [self.refused(asked, each, code) for each in topics])
        return response


class Place(Enum):
    """Where Kafka puts what is denied, which differs from API to API."""

    LAST = "behind all others"
    IN_PLACE = "where it stands in the request"
    FIRST = "with what does not exist, as in the request, before all others"


@dataclass(frozen=True, slots=True)
class ByTopics:
    """Each topic is asked about by itself."""

    operation: int
    shape: Shape
    place: Place = Place.LAST

    def __call__(self, asked: Asked) -> Verdict:
        """Take out what is denied."""
        shape, message = self.shape, asked.message
        topics = getattr(message, shape.asked)
        kept: list[Any] = []
        denied: list[Any] = []
        for topic in topics:
            name = asked.name_of(topic) if hasattr(topic, "topic_id") else topic_name(topic)
            may = name is None or asked.rights.of_topic(self.operation, name)
            (kept if may else denied).append(topic)
        if not denied:
            return None
        setattr(message, shape.asked, kept)
        code = ErrorCode.TOPIC_AUTHORIZATION_FAILED
        made = [shape.refused(message, each, code) for each in denied]

        def complete(response: Any) -> None:
            told = getattr(response, shape.answers)
            order = _ORDERS[self.place]
            setattr(response, shape.answers, order(asked, topics, made, told))

        return Rest(complete, is_left=bool(kept))


def _refused_first(asked: Asked, topics: list[Any], made: list[Any], told: list[Any]) -> list[Any]:
    known = asked.image.topics.by_name
    places = {topic_name(topic): place for place, topic in enumerate(topics)}
    front = made + [each for each in told if topic_name(each) not in known]
    front.sort(key=lambda each: places.get(topic_name(each), 0))
    return front + [each for each in told if topic_name(each) in known]


def _last(_asked: Asked, _topics: list[Any], made: list[Any], told: list[Any]) -> list[Any]:
    return told + made


def _in_place(_asked: Asked, topics: list[Any], made: list[Any], told: list[Any]) -> list[Any]:
    places = {topic_name(topic): place for place, topic in enumerate(topics)}
    return sorted(told + made, key=lambda each: places.get(topic_name(each), len(places)))


_ORDERS: Final = {
    Place.LAST: _last,
    Place.IN_PLACE: _in_place,
    Place.FIRST: _refused_first,
}


def refused_as_a_whole(shape: Shape, asked: Asked, code: int) -> Refused:
    """One error for each partition."""
    return Refused(shape.refused_all(asked.message, code))
