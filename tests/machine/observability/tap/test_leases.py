"""Who gets what from a tap, and for how long; time is moved by hand."""

from __future__ import annotations

from typing import Any

import pytest
from fencepost_broker.observability.tap.datagrams import (
    AskStats,
    AskTopics,
    Cookie,
    Datagram,
    Events,
    Hello,
    Leased,
    Leave,
    Left,
    Refused,
    Stats,
    Subscribe,
    Topics,
    decode,
    encode,
    event_head,
)
from fencepost_broker.observability.tap.leases import (
    ANSWERS_PER_SECOND,
    COOKIE_MS,
    OUTBOX_DATAGRAMS,
    SNAPSHOT_MS,
    Lease,
    Leases,
    TapLimits,
)

from tests.support.tap import CLUSTER_ID, NODE_ID, FakeFacts, event

HERE = ("127.0.0.1", 4000)
THERE = ("127.0.0.1", 4001)
LEASE_MS = 10_000


class Tap:
    """The machine, with datagrams made and read."""

    def __init__(self, **limits: int) -> None:
        self.facts = FakeFacts()
        settings = {"subscribers_max": 2, "lease_ms": LEASE_MS, "datagram_bytes_max": 1024}
        self.leases = Leases(b"secret", TapLimits(**(settings | limits)), self.facts)

    def ask(self, now_ms: int, question: Datagram, address: tuple[Any, ...] = HERE) -> Any:
        answer = self.leases.receive(now_ms, encode(question), address)
        return None if answer is None else decode(answer)

    def cookie(self, now_ms: int = 0, address: tuple[Any, ...] = HERE) -> bytes:
        answer = self.ask(now_ms, Hello(), address)
        assert isinstance(answer, Cookie)
        return answer.cookie

    def subscribe(self, address: tuple[Any, ...] = HERE, **wishes: Any) -> Lease:
        assert isinstance(
            self.ask(0, Subscribe(self.cookie(0, address), **wishes), address), Leased
        )
        return self.leases.active[address]


def received(lease: Lease) -> list[tuple[int, Any]]:
    """What the subscriber gets of all that is on its way."""
    made: list[tuple[int, Any]] = []
    while (data := lease.take()) is not None:
        assert len(data) <= 1024
        datagram = decode(data)
        assert isinstance(datagram, Events)
        made += datagram.events
    return made


def test_a_subscription_begins_with_a_cookie() -> None:
    tap = Tap()
    leased = tap.ask(0, Subscribe(tap.cookie()))
    assert leased == Leased(LEASE_MS, 0, NODE_ID, CLUSTER_ID)
    assert list(tap.leases.active) == [HERE]


@pytest.mark.parametrize(
    "question",
    [
        Subscribe(bytes(16)), Leave(bytes(16)), AskStats(bytes(16), 0, 0),
        AskTopics(bytes(16), (bytes(16),)), Left(0), Refused("no"),
    ],
    ids=lambda question: type(question).__name__,
)  # fmt: skip
def test_nothing_is_said_to_those_without_a_cookie(question: Datagram) -> None:
    tap = Tap()
    assert tap.ask(0, question) is None
    assert not tap.leases.active
    assert tap.leases.ignored == 1


def test_a_cookie_is_good_at_its_address_only() -> None:
    tap = Tap()
    assert tap.ask(0, Subscribe(tap.cookie(0, THERE)), HERE) is None


def test_a_cookie_ends_unless_its_lease_is_renewed() -> None:
    tap = Tap()
    cookie = tap.cookie(0)
    assert tap.ask(2 * COOKIE_MS, Subscribe(cookie)) is None, "too old to begin with"
    cookie = tap.cookie(2 * COOKIE_MS)
    for now_ms in range(2 * COOKIE_MS, 6 * COOKIE_MS, LEASE_MS // 2):
        assert isinstance(tap.ask(now_ms, Subscribe(cookie)), Leased)


@pytest.mark.parametrize("size", [0, 6, 7, 31, 63])
def test_an_answer_is_never_larger_than_the_question_without_a_cookie(size: int) -> None:
    tap = Tap()
    assert tap.leases.receive(0, encode(Hello())[:size], HERE) is None
    answer = tap.leases.receive(0, encode(Hello()), HERE)
    assert answer is not None
    assert len(answer) < len(encode(Hello()))


def test_answers_are_few_in_a_second() -> None:
    tap = Tap()
    answers = [tap.ask(100, Hello(), ("10.0.0.1", port)) for port in range(2 * ANSWERS_PER_SECOND)]
    assert sum(answer is not None for answer in answers) == ANSWERS_PER_SECOND
    assert tap.ask(1000, Hello()) is not None, "the next second is another one"


def test_a_lease_ends_by_time_and_its_place_is_free() -> None:
    tap = Tap(subscribers_max=1)
    tap.subscribe(HERE)
    assert tap.leases.deadline() == LEASE_MS
    refused = tap.ask(LEASE_MS - 1, Subscribe(tap.cookie(0, THERE)), THERE)
    assert isinstance(refused, Refused)
    assert "tap.subscribers.max" in refused.reason
    tap.leases.expire(LEASE_MS - 1)
    assert HERE in tap.leases.active
    assert isinstance(tap.ask(LEASE_MS, Subscribe(tap.cookie(0, THERE)), THERE), Leased)
    assert list(tap.leases.active) == [THERE]


def test_renewing_keeps_the_numbers_and_takes_new_wishes() -> None:
    tap = Tap()
    lease = tap.subscribe()
    lease.add(event_head(event()), b"")
    leased = tap.ask(5000, Subscribe(lease.cookie, api_keys=(3,)))
    assert leased.sequence == 1
    assert tap.leases.active[HERE] is lease
    assert lease.wants(3, None)
    assert not lease.wants(26, None)
    assert tap.leases.deadline() == 5000 + LEASE_MS


def test_leaving_tells_how_many_there_were() -> None:
    tap = Tap()
    lease = tap.subscribe()
    for _ in range(3):
        lease.add(event_head(event()), b"")
    assert tap.ask(0, Leave(lease.cookie)) == Left(3)
    assert tap.leases.deadline() is None


@pytest.mark.parametrize(
    ("wishes", "api_key", "client_id", "wanted"),
    [
        ({}, 26, None, True),
        ({}, -1, None, True),
        ({"api_keys": (26, 3)}, 3, "a", True),
        ({"api_keys": (26, 3)}, 0, "a", False),
        ({"api_keys": (26, 3)}, -1, "a", False),
        ({"client_ids": ("shop",)}, 0, "shop", True),
        ({"client_ids": ("shop",)}, 0, "shop-1", False),
        ({"client_ids": ("shop*", "x")}, 0, "shop-1", True),
        ({"client_ids": ("shop*", "x")}, 0, "x", True),
        ({"client_ids": ("shop*",)}, 0, None, False),
        ({"client_ids": ("shop*",), "api_keys": (1,)}, 0, "shop", False),
    ],
)
def test_filters(wishes: dict[str, Any], api_key: int, client_id: str | None, wanted: bool) -> None:
    assert Tap().subscribe(**wishes).wants(api_key, client_id) is wanted


def test_small_events_share_a_datagram_and_keep_their_order() -> None:
    lease = Tap().subscribe()
    for number in range(20):
        assert lease.add(event_head(event(correlation_id=number)), b"x" * number)
    events = received(lease)
    assert [number for number, _ in events] == list(range(1, 21))
    assert [each.correlation_id for _, each in events] == list(range(20))
    assert [len(each.frame) for _, each in events] == list(range(20))


def test_a_large_event_is_cut_and_says_so() -> None:
    lease = Tap().subscribe()
    lease.add(event_head(event(size=5000)), b"y" * 5000)
    ((_, cut),) = received(lease)
    assert cut.is_cut
    assert cut.size == 5000
    assert 700 < len(cut.frame) < 1024
    small = Tap().subscribe(snap_bytes=10)
    small.add(event_head(event(size=20)), b"y" * 20)
    ((_, cut),) = received(small)
    assert cut.frame == b"y" * 10


def test_what_does_not_fit_into_the_outbox_is_lost_and_numbered() -> None:
    lease = Tap().subscribe()
    kept = [lease.add(event_head(event(size=900)), bytes(900)) for _ in range(200)]
    assert kept.index(False) >= OUTBOX_DATAGRAMS
    assert len(received(lease)) == kept.count(True) <= OUTBOX_DATAGRAMS + 1
    assert lease.add(event_head(event()), b"")
    assert received(lease)[0][0] == 201


def test_topics_are_named() -> None:
    tap = Tap()
    known, unknown = bytes([1]) * 16, bytes([2]) * 16
    answer = tap.ask(0, AskTopics(tap.cookie(), (known, unknown)))
    assert answer == Topics(((known, "orders"), (unknown, "")))


def test_counters_come_in_parts() -> None:
    tap = Tap()
    tap.facts.told = bytes(range(256)) * 20
    cookie = tap.cookie()
    first = tap.ask(0, AskStats(cookie, 0, 0))
    assert isinstance(first, Stats)
    tap.facts.told = b"later"
    rest = [tap.ask(0, AskStats(cookie, first.snapshot, part)) for part in range(1, first.parts)]
    assert first.data + b"".join(part.data for part in rest) == bytes(range(256)) * 20
    assert isinstance(tap.ask(0, AskStats(cookie, first.snapshot, first.parts)), Refused)
    again = tap.ask(SNAPSHOT_MS - 1, AskStats(cookie, 0, 0))
    assert again == first, "they are not collected again so soon"
    assert tap.ask(SNAPSHOT_MS, AskStats(cookie, 0, 0)).data == b"later"
    refused = tap.ask(SNAPSHOT_MS, AskStats(cookie, first.snapshot, 0))
    assert isinstance(refused, Refused), "of another snapshot"
