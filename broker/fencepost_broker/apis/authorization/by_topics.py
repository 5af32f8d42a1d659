"""Checks of requests in which some topics may be denied and the others allowed."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

from fencepost_protocol.apis import response_class
from fencepost_protocol.errors import ErrorCode

from fencepost_broker.apis.authorization.verdicts import Asked, Rest, Verdict
from fencepost_broker.apis.error_responses import refused_elements
from fencepost_broker.apis.matching_lists import NAMES, class_of, matching_lists


def topic_name(topic: Any) -> str:
    """Return a topic's name in a request or a response."""
    found: str = getattr(topic, next(each for each in NAMES if each in topic.__slots__))
    return found


def module_of(message: Any) -> Any:
    """Return the generated module of a message, which also has its response."""
    return sys.modules[type(message).__module__]


class Place(Enum):
    """The position of denied topics in a response, which differs between Kafka's APIs."""

    LAST = "after all others"
    IN_PLACE = "in the order of the request"
    FIRST = "before all others, together with unknown topics, in the order of the request"


@dataclass(frozen=True, slots=True)
class ByTopics:
    """A check of each topic by itself."""

    operation: int
    place: Place = Place.LAST
    topics: str = "topics"
    """The name of the request's list of topics."""
    error_message: str | None = None

    def __call__(self, asked: Asked) -> Verdict:
        """Remove denied topics from the request; the verdict adds them to the response."""
        message = asked.message
        topics = getattr(message, self.topics)
        kept: list[Any] = []
        denied: list[Any] = []
        for topic in topics:
            name = asked.name_of(topic) if hasattr(topic, "topic_id") else topic_name(topic)
            may = name is None or asked.rights.of_topic(self.operation, name)
            (kept if may else denied).append(topic)
        if not denied:
            return None
        setattr(message, self.topics, kept)
        kinds = class_of(message), response_class(asked.api.key)
        code = ErrorCode.TOPIC_AUTHORIZATION_FAILED
        made = refused_elements(*kinds, self.topics, denied, code, self.error_message)
        answers = matching_lists(*kinds)[self.topics]

        def complete(response: Any) -> None:
            told = getattr(response, answers)
            order = _ORDERS[self.place]
            setattr(response, answers, order(asked, topics, made, told))

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
