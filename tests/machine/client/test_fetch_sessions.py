"""Fetch sessions from the client's side (KIP-227), and topics by id (KIP-516)."""

from __future__ import annotations

import pytest
from fencepost_client import FatalError, NetworkError, TopicPartition
from fencepost_client.consumer.fetch_session import FetchSession
from fencepost_client.consumer.fetcher import Fetch
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.fetch import (
    FetchableTopicResponse,
    FetchRequest,
    FetchResponse,
    PartitionData,
)

from tests.machine.client.harness.fetcher import Rig, batch

ID, OTHER_ID = b"i" * 16, b"o" * 16
BY_NAME, BY_ID = 12, 18


class SessionRig(Rig):
    """Several partitions of t, all at one broker, which keeps sessions."""

    version = BY_ID

    def __init__(self, partitions: int = 3, version: int = BY_ID) -> None:
        super().__init__(partitions)
        self.version = version
        self.cluster.topics["t"].topic_id = ID

    def send(self) -> tuple[Fetch, FetchRequest]:
        (fetch,) = self.ask()
        return fetch, self.request(fetch, self.version)

    def reply(
        self,
        fetch: Fetch,
        session_id: int,
        data: dict[int, bytes | bytearray] | None = None,
        *,
        code: int = 0,
        topic_id: bytes = ID,
    ) -> None:
        """Without data: empty answers for all that was asked."""
        if data is None:
            data = {where.partition: b"" for where in fetch.partitions}
        parts = [
            PartitionData(number, 0, 9, 9, records=bytes(each)) for number, each in data.items()
        ]
        topic = FetchableTopicResponse("t" if self.version < 13 else "", topic_id, parts)
        responses = [topic] if parts else []
        response = FetchResponse(0, code, session_id, responses)
        response.encode(self.version, bytearray())
        self.fetcher.answered(self.now_ms, fetch, response)


def session(request: FetchRequest) -> tuple[int, int]:
    return request.session_id, request.session_epoch


def sent(request: FetchRequest) -> dict[int, int]:
    """Partitions and offsets."""
    return {p.partition: p.fetch_offset for topic in request.topics for p in topic.partitions}


def forgotten(request: FetchRequest) -> list[int]:
    return [number for topic in request.forgotten_topics_data for number in topic.partitions]


@pytest.mark.parametrize("version", [7, 11, BY_NAME, 13, BY_ID])
def test_only_what_changed_is_told_again(version: int) -> None:
    rig = SessionRig(version=version)
    fetch, request = rig.send()
    assert session(request) == (0, 0)
    assert sent(request) == {0: 0, 1: 0, 2: 0}
    rig.reply(fetch, 77)
    fetch, request = rig.send()
    assert session(request) == (77, 1)
    assert sent(request) == {}
    assert forgotten(request) == []
    rig.reply(fetch, 77, {1: batch(0)})
    assert rig.fetcher.positions[TopicPartition("t", 1)].fetch_offset == 2
    rig.fetcher.positions[TopicPartition("t", 2)].is_paused = True
    fetch, request = rig.send()
    assert session(request) == (77, 2)
    assert sent(request) == {1: 2}
    assert forgotten(request) == [2]
    rig.reply(fetch, 77, {})
    rig.fetcher.positions[TopicPartition("t", 2)].is_paused = False
    fetch, request = rig.send()
    assert session(request) == (77, 3)
    assert sent(request) == {2: 0}


def test_topics_go_by_id_where_they_have_one() -> None:
    rig = SessionRig()
    assert rig.fetcher.version_max(rig.ask()[0], rig.cluster) is None
    rig = SessionRig()
    fetch, request = rig.send()
    assert [topic.topic_id for topic in request.topics] == [ID]
    rig.reply(fetch, 5, {0: batch(0), 1: b"", 2: b""})
    assert rig.position.fetch_offset == 2
    rig.cluster.topics["t"].topic_id = bytes(16)
    (fetch,) = rig.ask()
    assert rig.fetcher.version_max(fetch, rig.cluster) == BY_NAME
    request = rig.request(fetch, BY_NAME)
    assert session(request) == (5, 0), "a session by names takes the place of the one by ids"
    assert [topic.topic for topic in request.topics] == ["t"]
    assert len(sent(request)) == 3


def test_an_answer_with_an_id_that_nobody_asked_for_is_left_alone() -> None:
    rig = SessionRig(1)
    fetch, _ = rig.send()
    rig.reply(fetch, 5, {0: batch(0)}, topic_id=OTHER_ID)
    assert rig.position.fetch_offset == 0
    _, request = rig.send()
    assert session(request) == (5, 0), "not all was answered: the session is begun anew"


def test_a_topic_that_was_made_again_is_forgotten_by_its_old_id() -> None:
    rig = SessionRig(1)
    fetch, _ = rig.send()
    rig.reply(fetch, 5, {0: batch(0)})
    assert rig.position.fetch_epoch == 0
    rig.cluster.topics["t"].topic_id = OTHER_ID
    _, request = rig.send()
    assert [(topic.topic_id, topic.partitions) for topic in request.forgotten_topics_data] == [
        (ID, [0])
    ]
    assert request.topics[0].topic_id == OTHER_ID
    assert request.topics[0].partitions[0].last_fetched_epoch == -1, "another topic's epochs"


@pytest.mark.parametrize(
    ("code", "next_session"),
    [
        (ErrorCode.FETCH_SESSION_ID_NOT_FOUND, (0, 0)),
        (ErrorCode.INVALID_FETCH_SESSION_EPOCH, (77, 0)),
        (ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR, (77, 0)),
    ],
)
def test_a_session_that_is_refused_is_begun_anew(code: int, next_session: tuple[int, int]) -> None:
    rig = SessionRig()
    fetch, _ = rig.send()
    rig.reply(fetch, 77)
    fetch, _ = rig.send()
    rig.reply(fetch, 0, {}, code=code)
    fetch, request = rig.send()
    assert session(request) == next_session
    assert len(sent(request)) == 3
    # A broker that does nothing else is not asked in a tight loop.
    rig.reply(fetch, 0, {}, code=code)
    assert rig.ask() == []
    rig.now_ms = rig.fetcher.wake_at_ms or 0
    fetch, _ = rig.send()
    rig.reply(fetch, 78)
    fetch, request = rig.send()
    assert session(request) == (78, 1)


@pytest.mark.parametrize(
    ("code", "passes"),
    [(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, True), (ErrorCode.INVALID_REQUEST, False)],
)
def test_another_error_of_the_whole_answer(code: int, passes: bool) -> None:
    rig = SessionRig(1)
    fetch, _ = rig.send()
    rig.reply(fetch, 0, {}, code=code)
    assert rig.ask() == []
    assert (rig.position.error is None) == passes
    if not passes:
        assert isinstance(rig.position.error, FatalError)
        assert "fetching from node 1" in str(rig.position.error)


def test_a_lost_answer_may_have_moved_the_session_on() -> None:
    rig = SessionRig()
    fetch, _ = rig.send()
    rig.reply(fetch, 77)
    fetch, _ = rig.send()
    rig.fetcher.failed(rig.now_ms, fetch, NetworkError())
    rig.now_ms = 1000
    fetch, request = rig.send()
    assert session(request) == (77, 0)
    assert len(sent(request)) == 3


def test_a_broker_without_room_for_a_session_is_told_everything_each_time() -> None:
    rig = SessionRig()
    for _ in range(3):
        fetch, request = rig.send()
        assert session(request) == (0, 0)
        assert len(sent(request)) == 3
        rig.reply(fetch, 0)


def test_a_broker_from_before_sessions_is_told_everything_each_time() -> None:
    rig = SessionRig(version=6)
    for _ in range(3):
        fetch, request = rig.send()
        assert session(request) == (0, -1)
        assert len(sent(request)) == 3
        rig.reply(fetch, 0)


def test_an_answer_that_ends_the_session_or_is_another_ones() -> None:
    for answer, expected in ((0, (0, 0)), (99, (77, 0))):
        rig = SessionRig()
        fetch, _ = rig.send()
        rig.reply(fetch, 77)
        fetch, _ = rig.send()
        rig.reply(fetch, answer, {})
        _, request = rig.send()
        assert session(request) == expected


def test_epochs_begin_again_at_one() -> None:
    running = FetchSession(5, (1 << 31) - 1)
    assert running.answered(FetchResponse(session_id=5), set())
    assert running.epoch == 1


def test_an_answer_for_before_a_seek_is_fetched_again_within_the_session() -> None:
    rig = SessionRig(1)
    fetch, _ = rig.send()
    rig.reply(fetch, 77)
    fetch, _ = rig.send()
    rig.position.seek(1)
    rig.reply(fetch, 77, {0: batch(0)})
    _, request = rig.send()
    assert session(request) == (77, 2)
    assert sent(request) == {0: 1}


def test_the_end_names_the_session_and_asks_for_nothing() -> None:
    rig = SessionRig()
    assert rig.fetcher.end_sessions() == {}
    fetch, _ = rig.send()
    assert rig.fetcher.is_busy(fetch.node_id)
    assert rig.fetcher.end_sessions() == {}, "whether there is one is not known yet"
    rig.reply(fetch, 77)
    assert not rig.fetcher.is_busy(fetch.node_id)
    ended = rig.fetcher.end_sessions()
    assert {node_id: session(request) for node_id, request in ended.items()} == {
        fetch.node_id: (77, -1)
    }
    assert not ended[fetch.node_id].topics
    assert rig.fetcher.end_sessions() == {}, "once is enough"
