"""Checks of requests for streams groups."""

from __future__ import annotations

from typing import Any, Final

from fencepost_protocol.errors import ErrorCode

from fencepost_broker.apis.authorization.groups import describe_groups_with_topics
from fencepost_broker.apis.authorization.verdicts import Asked, Verdict
from fencepost_broker.apis.authorization.whole import refusal
from fencepost_broker.security.authorizer.acls import Operation

_DENIED: Final = ErrorCode.GROUP_AUTHORIZATION_FAILED
_UNSEEN: Final = ErrorCode.TOPIC_AUTHORIZATION_FAILED


def streams_group_heartbeat(asked: Asked) -> Verdict:
    """Check READ of the group, DESCRIBE of the topology's topics, CREATE of those that lack."""
    message, rights = asked.message, asked.rights
    if not rights.of_group(Operation.READ, message.group_id):
        return refusal(asked, _DENIED, is_told=False)
    if message.topology is None:
        return None
    subtopologies = message.topology.subtopologies
    sources = {name for each in subtopologies for name in each.source_topics}
    internal = {
        topic.name
        for each in subtopologies
        for topic in (*each.repartition_source_topics, *each.state_changelog_topics)
    }
    lacking = internal - asked.image.topics.by_name.keys()
    if all(rights.of_topic(Operation.DESCRIBE, each) for each in sources | internal) and (
        not lacking
        or rights.of_cluster(Operation.CREATE)
        or all(rights.of_topic(Operation.CREATE, each) for each in lacking)
    ):
        return None
    return refusal(asked, _UNSEEN, is_told=False)


def streams_group_describe(asked: Asked) -> Verdict:
    """Check DESCRIBE of each group, and of the topics of its topology."""
    return describe_groups_with_topics(asked, _topics_of)


def _topics_of(group: Any) -> set[str]:
    subtopologies = () if group.topology is None else group.topology.subtopologies or ()
    return {
        name
        for each in subtopologies
        for name in (
            *each.source_topics,
            *(
                topic.name
                for topic in (*each.repartition_source_topics, *each.state_changelog_topics)
            ),
        )
    }
