"""Every datagram of the tap comes back as it was; every other one is refused and nothing else."""

from __future__ import annotations

from contextlib import suppress

import pytest
from fencepost_broker.observability.tap.datagrams import (
    COOKIE_BYTES,
    FILTERS_MAX,
    TOPICS_MAX,
    AskStats,
    AskTopics,
    Cookie,
    Datagram,
    DatagramError,
    Event,
    EventKind,
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
)
from hypothesis import given
from hypothesis import strategies as st


def number(low: int, high: int) -> st.SearchStrategy[int]:
    return st.integers(low, high)


TEXTS = st.text(max_size=30)
INT16 = number(-(1 << 15), (1 << 15) - 1)
INT32 = number(-(1 << 31), (1 << 31) - 1)
UINT16 = number(0, (1 << 16) - 1)
UINT32 = number(0, (1 << 32) - 1)
UINT64 = number(0, (1 << 64) - 1)
INT64 = number(-(1 << 63), (1 << 63) - 1)
COOKIES = st.binary(min_size=COOKIE_BYTES, max_size=COOKIE_BYTES)
UUIDS = st.binary(min_size=16, max_size=16)
EVENTS = st.builds(
    Event, kind=st.sampled_from(EventKind), time_us=INT64, connection=UINT32, address=TEXTS,
    software=TEXTS, client_id=st.none() | TEXTS, api_key=INT16, version=INT16,
    correlation_id=INT32, elapsed_us=INT64, size=UINT32, reason=TEXTS,
    frame=st.binary(max_size=50),
)  # fmt: skip


def tuples(
    each: st.SearchStrategy[object], max_size: int = 5
) -> st.SearchStrategy[tuple[object, ...]]:
    return st.lists(each, max_size=max_size).map(tuple)


DATAGRAMS: st.SearchStrategy[Datagram] = st.one_of(
    st.builds(Hello),
    st.builds(Subscribe, COOKIES, UINT32, tuples(INT16, FILTERS_MAX), tuples(TEXTS)),
    st.builds(Leave, COOKIES),
    st.builds(AskTopics, COOKIES, tuples(UUIDS, TOPICS_MAX)),
    st.builds(AskStats, COOKIES, UINT32, UINT16),
    st.builds(Cookie, COOKIES),
    st.builds(Leased, UINT32, UINT64, INT32, TEXTS),
    st.builds(Refused, TEXTS),
    st.builds(Left, UINT64),
    st.builds(Topics, tuples(st.tuples(UUIDS, TEXTS))),
    st.builds(Stats, UINT32, UINT16, UINT16, st.binary(max_size=50)),
    st.builds(Events, tuples(st.tuples(UINT64, EVENTS))),
)


@given(DATAGRAMS)
def test_a_datagram_comes_back(datagram: Datagram) -> None:
    assert decode(encode(datagram)) == datagram


@given(DATAGRAMS, st.data())
def test_a_cut_one_is_refused_or_is_another(datagram: Datagram, data: st.DataObject) -> None:
    whole = encode(datagram)
    try:
        other = decode(whole[: data.draw(number(0, len(whole) - 1))])
    except DatagramError:
        return
    assert other != datagram
    assert isinstance(other, Events | Stats), "what is counted or fixed cannot be shorter"


@given(st.binary(max_size=100), number(0, 255))
def test_any_bytes_are_refused_or_read(body: bytes, kind: int) -> None:
    for data in (body, encode(Left(0))[:6] + bytes([kind]) + body):
        with suppress(DatagramError):
            decode(data)


@given(st.text(min_size=200, max_size=400))
def test_long_texts_are_cut_and_stay_readable(text: str) -> None:
    cut = decode(encode(Refused(text)))
    assert isinstance(cut, Refused)
    assert cut.reason.rstrip("\N{REPLACEMENT CHARACTER}") in text


@pytest.mark.parametrize(
    "datagram",
    [
        Subscribe(bytes(16), 0, tuple(range(FILTERS_MAX + 1))),
        Subscribe(bytes(16), 0, (), ("x",) * (FILTERS_MAX + 1)),
        AskTopics(bytes(16), (bytes(16),) * (TOPICS_MAX + 1)),
    ],
)
def test_too_many_wishes_are_refused(datagram: Datagram) -> None:
    with pytest.raises(DatagramError, match="are allowed"):
        decode(encode(datagram))
