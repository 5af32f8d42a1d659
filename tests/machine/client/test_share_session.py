"""A share session of a client: which partitions and acknowledgements its requests have."""

from __future__ import annotations

from typing import Any

from fencepost_client.consumer.share_session import (
    AcknowledgeType,
    ShareFetchSettings,
    ShareSession,
    errors_of,
)
from fencepost_protocol.errors import ErrorCode

ONE, TWO = (b"1" * 16, 0), (b"2" * 16, 3)
SETTINGS = ShareFetchSettings(max_records=50)
ACCEPT, RELEASE = AcknowledgeType.ACCEPT, AcknowledgeType.RELEASE


def named(request: Any) -> dict[tuple[bytes, int], list[tuple[int, int, list[int]]]]:
    return {
        (topic.topic_id, each.partition_index): [
            (batch.first_offset, batch.last_offset, batch.acknowledge_types)
            for batch in each.acknowledgement_batches
        ]
        for topic in request.topics
        for each in topic.partitions
    }


def test_a_session_names_its_partitions_once() -> None:
    session = ShareSession("g", "m")
    first, _ = session.fetch(frozenset({ONE, TWO}), SETTINGS)
    assert (first.share_session_epoch, named(first)) == (0, {ONE: [], TWO: []})
    session.answered(0)
    second, _ = session.fetch(frozenset({TWO}), SETTINGS)
    assert (second.share_session_epoch, named(second)) == (1, {})
    assert [(t.topic_id, t.partitions) for t in second.forgotten_topics_data] == [(ONE[0], [0])]


def test_acknowledgements_are_joined_and_sent_once() -> None:
    session = ShareSession("g", "m", epoch=4)
    for offset, kind in ((3, ACCEPT), (1, ACCEPT), (2, ACCEPT), (4, RELEASE), (6, RELEASE)):
        session.acknowledge(ONE, offset, kind)
    request, sent = session.fetch(frozenset(), SETTINGS)
    assert named(request) == {ONE: [(1, 3, [1]), (4, 4, [2]), (6, 6, [2])]}
    assert list(sent) == [ONE]
    assert named(session.acknowledgement()[0]) == {}


def test_a_request_that_renews_says_so() -> None:
    session = ShareSession("g", "m", epoch=4)
    session.acknowledge(ONE, 1, AcknowledgeType.RENEW)
    assert session.renews
    assert session.acknowledgement()[0].is_renew_ack
    assert not session.acknowledgement()[0].is_renew_ack


def test_the_last_request() -> None:
    session = ShareSession("g", "m", epoch=4)
    request, _ = session.acknowledgement(is_last=True)
    assert request.share_session_epoch == -1


def test_after_an_error_the_session_is_opened_again() -> None:
    session = ShareSession("g", "m")
    session.fetch(frozenset({ONE}), SETTINGS)
    session.answered(0)
    era = session.era
    session.answered(ErrorCode.SHARE_SESSION_NOT_FOUND)
    assert session.era == era + 1
    request, _ = session.fetch(frozenset({ONE}), SETTINGS)
    assert (request.share_session_epoch, named(request)) == (0, {ONE: []})


def test_epochs_begin_again_at_one() -> None:
    session = ShareSession("g", "m", epoch=(1 << 31) - 1)
    session.answered(0)
    assert session.epoch == 1


def test_errors_of_acknowledgements() -> None:
    sent = {ONE: {1: 1}, TWO: {1: 1}}
    assert errors_of(sent, [(ONE, 0, None), (TWO, 121, "late")], 0) == {TWO: (121, "late")}
    assert errors_of(sent, [(ONE, 0, None)], 0) == {TWO: (-1, None)}
    assert errors_of(sent, [], 122) == {ONE: (122, None), TWO: (122, None)}
