"""The check of Produce."""

from __future__ import annotations

from typing import Any, Final

from fencepost_protocol.errors import ErrorCode

from fencepost_broker.apis.authorization.by_topics import ByTopics
from fencepost_broker.apis.authorization.verdicts import Asked, Refused, Rest, Verdict
from fencepost_broker.apis.authorization.whole import refusal
from fencepost_broker.security.authorizer.acls import Operation

_TOPICS: Final = ByTopics(Operation.WRITE, topics="topic_data")
_ATTRIBUTES_AT: Final = 22
"""The lower byte of a batch's attributes."""
_IS_TRANSACTIONAL: Final = 0x10


def produce(asked: Asked) -> Verdict:
    """Check WRITE of the transactional id, if there is one, and of each topic."""
    message = asked.message
    verdict: Verdict = None
    if _is_transactional(message) and not (
        message.transactional_id is not None
        and asked.rights.of_transaction(Operation.WRITE, message.transactional_id)
    ):
        code = ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
        verdict = refusal(asked, code, is_told=False)
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
