"""DeleteTopics, by name or by id."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable

from fencepost_protocol.generated.delete_topics import (
    DeletableTopicResult,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    DeleteTopicState,
)
from fencepost_protocol.generated.error_code import ErrorCode
from fencepost_protocol.generated.remove_topic_record import RemoveTopicRecord
from fencepost_protocol.primitives import ZERO_UUID, uuid_text

from fencepost_broker.controller.context import Context, Refusal, given_twice, invalid_request
from fencepost_broker.metadata.decision import Decision, MetadataRecord
from fencepost_broker.metadata.image.model import Topic


def delete_topics(context: Context, request: DeleteTopicsRequest) -> Decision[DeleteTopicsResponse]:
    """Decide a DeleteTopics request, by names (versions 1 to 5) or by names and ids (6).

    Kafka shuffles the order of the results; here it is the order of the request.
    """
    asked = [*request.topics, *(DeleteTopicState(name=name) for name in request.topic_names)]
    times = Counter(map(_key, asked))
    ids = {each.topic_id for each in asked if each.name is None}
    results: dict[Hashable, DeletableTopicResult] = {}
    removed: dict[bytes, tuple[Topic, DeletableTopicResult]] = {}
    named_twice = set()
    for each in asked:
        key = _key(each)
        if key in results:
            continue
        result = results[key] = DeletableTopicResult(name=each.name, topic_id=each.topic_id)
        try:
            topic = _deletable(context, each, times[key])
            result.topic_id = topic.topic_id
            if each.name is not None and topic.topic_id in ids:
                named_twice.add(topic.topic_id)
                raise given_twice(f"topic {topic.name} (by its name and by its id)")
        except Refusal as refusal:
            result.error_code, result.error_message = refusal.code, refusal.message
        else:
            result.name = topic.name
            removed[topic.topic_id] = topic, result
    for topic_id in named_twice:  # the name's answer holds for the id as well
        results.pop(("id", topic_id), None)
        removed.pop(topic_id, None)
    records = []
    for topic_id, (topic, result) in removed.items():
        try:
            context.charge(len(topic.partitions))
        except Refusal as refusal:
            result.error_code, result.error_message = refusal.code, refusal.message
        else:
            records.append(MetadataRecord(RemoveTopicRecord(topic_id), 0))
    response = DeleteTopicsResponse(responses=list(results.values()))
    return Decision(response, tuple(records))


def _key(state: DeleteTopicState) -> Hashable:
    if state.name is None:
        return "id", state.topic_id
    return ("name", state.name) if state.topic_id == ZERO_UUID else (state.name, state.topic_id)


def _deletable(context: Context, state: DeleteTopicState, times: int) -> Topic:
    by_id = state.name is None
    if by_id and state.topic_id == ZERO_UUID:
        raise invalid_request("a topic to delete has no name and no id: give one of them")
    topic_id = uuid_text(state.topic_id)
    if not by_id and state.topic_id != ZERO_UUID:
        raise invalid_request(
            f"a topic to delete has a name ({state.name}) and an id ({topic_id}): give one of them"
        )
    if times > 1:
        raise given_twice(f"topic id {topic_id}" if by_id else f"topic {state.name}")
    if by_id:
        found = context.image.topics.by_id.get(state.topic_id)
        if found is None:
            raise Refusal(ErrorCode.UNKNOWN_TOPIC_ID, f"there is no topic with id {topic_id}")
        return found
    found = context.image.topics.by_name.get(state.name or "")
    if found is None:
        raise Refusal(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"there is no topic {state.name}")
    return found
