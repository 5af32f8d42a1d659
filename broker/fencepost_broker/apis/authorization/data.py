"""Produce and Fetch."""

from __future__ import annotations

from typing import Any, Final

from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.primitives import ZERO_UUID

from fencepost_broker.apis.authorization.by_topics import ByTopics, Shape, refused_as_a_whole
from fencepost_broker.apis.authorization.verdicts import Asked, Refused, Rest, Verdict
from fencepost_broker.security.authorizer.acls import Operation

PRODUCE: Final = Shape(
    "TopicProduceResponse",
    "PartitionProduceResponse",
    answers="responses",
    asked="topic_data",
    asked_partitions="partition_data",
    partitions="partition_responses",
    values={"base_offset": -1},
)
_TOPICS: Final = ByTopics(Operation.WRITE, PRODUCE)
_ATTRIBUTES_AT: Final = 22
"""The lower byte of a batch's attributes."""
_IS_TRANSACTIONAL: Final = 0x10


def produce(asked: Asked) -> Verdict:
    """Writing to the transactional id, where there is one, and to each topic."""
    message = asked.message
    verdict: Verdict = None
    if _is_transactional(message) and not (
        message.transactional_id is not None
        and asked.rights.of_transaction(Operation.WRITE, message.transactional_id)
    ):
        code = ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
        verdict = refused_as_a_whole(PRODUCE, asked, code)
    else:
        verdict = _TOPICS(asked)
    if verdict is None or message.acks:
        return verdict
    reason = "a Produce with acks 0 is not authorized"
    if isinstance(verdict, Refused):
        return Rest(lambda _: None, is_left=False, drop=reason)
    verdict.drop = reason
    return verdict


def _is_transactional(message: Any) -> bool:
    return any(
        data.records is not None
        and len(data.records) > _ATTRIBUTES_AT
        and data.records[_ATTRIBUTES_AT] & _IS_TRANSACTIONAL
        for topic in message.topic_data
        for data in topic.partition_data
    )


def fetch(asked: Asked) -> Verdict:
    """Reading from each topic, those of the session, too; followers are asked elsewhere."""
    message = asked.message
    state = message.replica_state
    if (message.replica_id if state is None else state.replica_id) >= 0:
        return None
    hiding = _Hiding(asked)
    return Rest(hiding.complete, False, True, hiding.shown, hiding.has_hidden)


class _Hiding:
    """A broker as somebody sees it who may not read all topics: these are not there.

    A Fetch may be about partitions that an earlier one named: which they are is found out by
    looking on as the handler looks them up. What it says of those that are hidden is completed.
    """

    def __init__(self, asked: Asked) -> None:
        self._asked = asked
        self._names: set[str] = set()
        self._ids: set[bytes] = set()

    def shown(self, broker: Any) -> Any:
        """The broker to show."""
        return _Shown(broker, self)

    def has_hidden(self) -> bool:
        """Whether something was looked for that may not be read."""
        return bool(self._names or self._ids)

    def by_name(self, table: Any, name: str) -> Any:
        """Look up a topic by its name."""
        if self._asked.rights.of_topic(Operation.READ, name):
            return table.by_name.get(name)
        self._names.add(name)
        return None

    def by_id(self, table: Any, topic_id: bytes) -> Any:
        """Look up a topic by its id; of one that does not exist nobody needs a right."""
        topic = self._asked.image.topics_by_id.get(topic_id)
        if topic is None or self._asked.rights.of_topic(Operation.READ, topic.name):
            return table.by_id.get(topic_id)
        self._ids.add(topic_id)
        return None

    def complete(self, response: Any) -> None:
        """Say why nothing of what is hidden was read."""
        for topic in response.responses:
            by_id = topic.topic_id != ZERO_UUID
            if topic.topic_id in self._ids if by_id else topic.topic in self._names:
                for data in topic.partitions:
                    data.error_code = ErrorCode.TOPIC_AUTHORIZATION_FAILED


class _Shown:
    """See above."""

    def __init__(self, broker: Any, hiding: _Hiding) -> None:
        self._broker = broker
        self.table = _Table(broker.table, hiding)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._broker, name)


class _Table:
    """The topics of a broker that is shown."""

    def __init__(self, table: Any, hiding: _Hiding) -> None:
        self.by_name = _Lookup(lambda name: hiding.by_name(table, name))
        self.by_id = _Lookup(lambda topic_id: hiding.by_id(table, topic_id))


class _Lookup:
    """Something to look up in."""

    def __init__(self, get: Any) -> None:
        self.get = get
