"""Fetch sessions: epochs, what is news, whose turn it is, and who has to go."""

from __future__ import annotations

import random

import pytest
from fencepost_broker.apis.fetch import sessions as fetch_sessions
from fencepost_broker.apis.fetch.sessions import (
    EPOCH_MAX,
    OF_ONE_MAX,
    FetchSession,
    FetchSessions,
    Opened,
)
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.fetch import (
    EpochEndOffset,
    FetchPartition,
    FetchRequest,
    FetchTopic,
    ForgottenTopic,
    PartitionData,
)

NOW = 1_000_000
IDLE = 1_000
ID = bytes(15) + b"\x07"


def sessions(slots: int = 10) -> FetchSessions:
    return FetchSessions(slots, random.Random(7), IDLE)


def request(
    session_id: int, epoch: int, *numbers: int, forget: tuple[int, ...] = (), offset: int = 0
) -> FetchRequest:
    entries = [FetchPartition(number, fetch_offset=offset) for number in numbers]
    return FetchRequest(
        session_id=session_id,
        session_epoch=epoch,
        topics=[FetchTopic("t", ID, entries)] if entries else [],
        forgotten_topics_data=[ForgottenTopic("t", ID, list(forget))] if forget else [],
    )


def begun(them: FetchSessions, *numbers: int, now_ms: int = NOW) -> FetchSession:
    opened = them.open(now_ms, request(0, 0, *numbers), by_id=False)
    assert opened.session is not None
    assert opened.session_id == opened.session.session_id > 0
    return opened.session


def go_on(them: FetchSessions, session: FetchSession, *numbers: int, **more: object) -> Opened:
    now_ms = more.pop("now_ms", NOW)
    assert isinstance(now_ms, int)
    asked = request(session.session_id, session.epoch, *numbers, **more)  # type: ignore[arg-type]
    return them.open(now_ms, asked, by_id=session.by_id)


def numbers_of(opened: Opened) -> list[int]:
    return [asked.entry.partition for asked in opened.asked]


def answer(number: int, high_watermark: int = 5, records: bytes = b"", error: int = 0) -> object:
    data = PartitionData(number, error, high_watermark, log_start_offset=0, records=records)
    return FetchTopic("t", ID), data


def news(session: FetchSession, *answers: object, everything: bool = False) -> list[int]:
    told = session.news(answers, everything=everything)  # type: ignore[arg-type]
    return [data.partition_index for _, data in told]


def test_without_a_session_everything_is_asked() -> None:
    them = sessions()
    opened = them.open(NOW, request(0, -1, 0, 1), by_id=False)
    assert (opened.error, opened.session, opened.session_id) == (0, None, 0)
    assert (numbers_of(opened), len(them)) == ([0, 1], 0)


@pytest.mark.parametrize("epoch", [0, -1])
def test_a_partition_that_is_named_again_is_asked_as_it_was_last(epoch: int) -> None:
    asked = request(0, epoch, 4, 2, 4)
    asked.topics[0].partitions[2].fetch_offset = 7
    opened = sessions().open(NOW, asked, by_id=False)
    found = [(each.entry.partition, each.entry.fetch_offset) for each in opened.asked]
    assert found == [(4, 7), (2, 0)]


def test_a_session_remembers_what_was_asked() -> None:
    them = sessions()
    session = begun(them, 0, 1)
    assert session.epoch == 1
    opened = go_on(them, session)
    assert (opened.session, opened.is_first, numbers_of(opened)) == (session, False, [0, 1])
    assert numbers_of(go_on(them, session, 2)) == [0, 1, 2]
    assert numbers_of(go_on(them, session, forget=(0, 9))) == [1, 2]
    opened = go_on(them, session, 1, offset=8)
    assert [asked.entry.fetch_offset for asked in opened.asked] == [8, 0]
    assert session.epoch == 5


@pytest.mark.parametrize("by_id", [False, True])
def test_a_topic_is_known_as_the_client_names_it(by_id: bool) -> None:
    them = sessions()
    opened = them.open(NOW, request(0, 0, 0), by_id=by_id)
    other = them.open(NOW, request(opened.session_id, 1), by_id=not by_id)
    assert other.error is ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR
    same = them.open(NOW, request(opened.session_id, 1, 1, forget=(0,)), by_id=by_id)
    assert numbers_of(same) == [1]


@pytest.mark.parametrize("epoch", [2, 9, EPOCH_MAX, -2])
def test_a_wrong_epoch_leaves_the_session_as_it_is(epoch: int) -> None:
    them = sessions()
    session = begun(them, 0)
    opened = them.open(NOW, request(session.session_id, epoch, 1), by_id=False)
    assert (opened.error, opened.session_id) == (ErrorCode.INVALID_FETCH_SESSION_EPOCH, 0)
    assert numbers_of(go_on(them, session)) == [0]


def test_an_unknown_session() -> None:
    opened = sessions().open(NOW, request(5, 1, 0), by_id=False)
    assert (opened.error, opened.asked) == (ErrorCode.FETCH_SESSION_ID_NOT_FOUND, ())


def test_epochs_begin_again_at_one() -> None:
    them = sessions()
    session = begun(them, 0)
    session.epoch = EPOCH_MAX
    assert not go_on(them, session).error
    assert session.epoch == 1


@pytest.mark.parametrize("epoch", [0, -1])
def test_a_session_ends_when_another_way_is_taken(epoch: int) -> None:
    them = sessions()
    session = begun(them, 0)
    opened = them.open(NOW, request(session.session_id, epoch, 0), by_id=False)
    assert opened.session is not session
    assert go_on(them, session).error is ErrorCode.FETCH_SESSION_ID_NOT_FOUND


def test_a_session_ends_when_nothing_is_left_in_it() -> None:
    them = sessions()
    session = begun(them, 0)
    opened = go_on(them, session, forget=(0,))
    assert (opened.error, opened.session_id, len(them)) == (0, 0, 0)


def test_only_news_is_told() -> None:
    session = begun(sessions(), 0, 1, 2)
    nothing = [answer(number) for number in range(3)]
    assert news(session, *nothing, everything=True) == [0, 1, 2]
    assert news(session, *nothing) == []
    assert news(session, answer(0), answer(1, 6), answer(2, records=b"r")) == [1, 2]
    assert news(session, answer(0, error=3), answer(1, 6), answer(2)) == [0]
    assert news(session, answer(0, error=3)) == [0]
    assert news(session, answer(0)) == [0]
    assert news(session, answer(0)) == []


def test_where_logs_diverge_is_news_each_time() -> None:
    session = begun(sessions(), 0, 1)
    news(session, answer(0), answer(1), everything=True)
    diverging = PartitionData(
        1, 0, 5, log_start_offset=0, diverging_epoch=EpochEndOffset(0, 3), records=b""
    )
    for _ in range(2):
        assert news(session, answer(0), (FetchTopic("t", ID), diverging)) == [1]


def test_a_nearer_replica_is_news_each_time() -> None:
    session = begun(sessions(), 0, 1)
    news(session, answer(0), answer(1), everything=True)
    nearer = PartitionData(1, 0, 5, log_start_offset=0, preferred_read_replica=7, records=b"")
    for _ in range(2):
        assert news(session, answer(0), (FetchTopic("t", ID), nearer)) == [1]


def test_who_had_records_goes_to_the_end() -> None:
    them = sessions()
    session = begun(them, 0, 1, 2)
    news(session, answer(0, records=b"r"), answer(1), answer(2))
    assert numbers_of(go_on(them, session)) == [1, 2, 0]


def test_what_was_forgotten_meanwhile_is_told_all_the_same() -> None:
    them = sessions()
    session = begun(them, 0, 1)
    go_on(them, session, forget=(0,))
    assert news(session, answer(0, records=b"r"), answer(1)) == [0, 1]
    assert numbers_of(go_on(them, session)) == [1]


def test_without_room_there_is_no_session() -> None:
    them = sessions(slots=1)
    first = begun(them, 0)
    opened = them.open(NOW, request(0, 0, 0, 1), by_id=False)
    assert (opened.error, opened.session_id, numbers_of(opened)) == (0, 0, [0, 1])
    assert not go_on(them, first).error
    assert sessions(slots=0).open(NOW, request(0, 0, 0), by_id=False).session is None


def test_an_idle_session_makes_room() -> None:
    them = sessions(slots=2)
    busy, idle = begun(them, 0), begun(them, 0, 1, 2)
    go_on(them, busy, now_ms=NOW + 1)
    begun(them, 0, now_ms=NOW + IDLE + 1)
    assert go_on(them, idle).error is ErrorCode.FETCH_SESSION_ID_NOT_FOUND
    assert not go_on(them, busy).error


def test_an_old_and_small_session_makes_room_for_a_larger_one() -> None:
    them = sessions(slots=2)
    small, large = begun(them, 0), begun(them, 0, 1, 2)
    later = NOW + IDLE + 1
    for session in (small, large):
        go_on(them, session, now_ms=later)
    assert them.open(later, request(0, 0, 0), by_id=False).session is None
    begun(them, 0, 1, now_ms=later)
    assert go_on(them, small).error is ErrorCode.FETCH_SESSION_ID_NOT_FOUND
    assert not go_on(them, large).error


def test_what_all_sessions_hold_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetch_sessions, "PARTITIONS_MAX", 400)
    them = sessions(slots=1000)
    size = 100
    held = [begun(them, *range(size)) for _ in range(4)]
    refused = them.open(NOW, request(0, 0, *range(size)), by_id=False)
    assert (refused.error, refused.session) == (ErrorCode.NONE, None), "it is read all the same"
    assert len(refused.asked) == size
    grown = go_on(them, held[0], size + 1)
    assert grown.error is ErrorCode.FETCH_SESSION_ID_NOT_FOUND, "it has to begin again"
    assert len(them) == 3
    assert not go_on(them, held[1]).error, "others go on"
    begun(them, *range(size))
    later = NOW + IDLE + 1
    assert not go_on(them, held[2], now_ms=later).error
    begun(them, *range(size), now_ms=later)
    assert len(them) == 4, "one that was idle made room"
    assert them.open(later, request(0, 0, *range(401)), by_id=False).session is None


def test_what_one_session_holds_is_bounded() -> None:
    them = sessions()
    opened = them.open(NOW, request(0, 0, *range(OF_ONE_MAX + 1)), by_id=False)
    assert (opened.error, opened.session) == (ErrorCode.NONE, None)
    assert len(opened.asked) == OF_ONE_MAX + 1, "they are read all the same"
    session = begun(them, *range(OF_ONE_MAX))
    assert not go_on(them, session, *range(OF_ONE_MAX)).error
    grown = go_on(them, session, OF_ONE_MAX)
    assert grown.error is ErrorCode.FETCH_SESSION_ID_NOT_FOUND
    assert len(them) == 0
