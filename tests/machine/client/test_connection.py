"""A connection without a socket: what it sends, and what it makes of answers."""

from __future__ import annotations

import struct
from typing import Any

import pytest
from fencepost_client.errors import (
    MalformedAnswerError,
    NetworkError,
    RequestTimedOutError,
    TlsError,
    UnsupportedVersionError,
)
from fencepost_client.requests.connection import (
    SILENCE_MS,
    Answered,
    Connection,
    Failed,
    Ready,
    State,
)
from fencepost_protocol.apis import request_class
from fencepost_protocol.exceptions import RemoteProtocolError
from fencepost_protocol.framing import encode_response
from fencepost_protocol.generated.api_versions import (
    ApiVersion,
    ApiVersionsResponse,
)
from fencepost_protocol.generated.find_coordinator import (
    FindCoordinatorRequest,
)
from fencepost_protocol.generated.index import ApiKey
from fencepost_protocol.generated.produce import ProduceRequest

from tests.machine.client.harness.connection import FIND, head_of, ready, submit, versions

UNSUPPORTED_VERSION = 35


def test_it_asks_for_versions_first_and_takes_features() -> None:
    connection = Connection("broker:1", "me")
    key, version, _ = head_of(connection.open(0))
    assert (key, version) == (ApiKey.API_VERSIONS, request_class(ApiKey.API_VERSIONS).MAX_VERSION)
    assert connection.state is State.NEGOTIATING
    connection = ready((FIND, 1, 9))
    assert connection.state is State.READY
    assert connection.features == {"transaction.version": 2}


def test_an_older_broker_is_asked_again_in_its_version() -> None:
    connection = Connection("old:1", "me")
    _, _, correlation_id = head_of(connection.open(0))
    refused = ApiVersionsResponse(UNSUPPORTED_VERSION, [ApiVersion(ApiKey.API_VERSIONS, 0, 2)])
    events, reply = connection.receive(1, encode_response(refused, 0, correlation_id))
    assert events == []
    key, version, correlation_id = head_of(reply)
    assert (key, version) == (ApiKey.API_VERSIONS, 2)
    events, _ = connection.receive(2, encode_response(versions((FIND, 0, 0)), 2, correlation_id))
    assert events == [Ready()]
    assert connection.choose_version(FIND) == 0


def test_a_broker_that_knows_no_version_at_all_is_not_asked_for_ever() -> None:
    connection = Connection("odd:1", "me")
    sent: Any = connection.open(0)
    for _ in range(10):
        _, version, correlation_id = head_of(sent)
        if version == 0:
            break
        refused = ApiVersionsResponse(UNSUPPORTED_VERSION, [ApiVersion(18, 0, 99)])
        _, sent = connection.receive(1, encode_response(refused, 0, correlation_id))
    last = encode_response(ApiVersionsResponse(UNSUPPORTED_VERSION), 0, correlation_id)
    with pytest.raises(UnsupportedVersionError):
        connection.receive(1, last)


def test_the_newest_version_that_both_have_is_chosen() -> None:
    connection = ready((FIND, 2, 4), (ApiKey.END_TXN, 90, 99))
    assert connection.choose_version(FIND) == 4
    assert connection.choose_version(FIND, 3) == 3
    with pytest.raises(UnsupportedVersionError, match=r"FindCoordinator v2 to v4.*v0 to v1"):
        connection.choose_version(FIND, 1)
    with pytest.raises(UnsupportedVersionError, match="EndTxn"):
        connection.choose_version(ApiKey.END_TXN)
    with pytest.raises(UnsupportedVersionError, match="does not support Heartbeat"):
        connection.choose_version(ApiKey.HEARTBEAT)


def test_answers_come_back_with_their_tokens_however_the_bytes_arrive() -> None:
    connection = ready()
    stream = submit(connection, "first") + submit(connection, "second")
    found = []
    for byte in stream:
        events, _ = connection.receive(5, bytes([byte]))
        found += [
            (event.token, event.response.node_id) for event in events if isinstance(event, Answered)
        ]
    assert found == [("first", 7), ("second", 7)]
    assert connection.deadline() is None


def test_an_answer_out_of_order_or_unasked_is_a_violation() -> None:
    connection = ready()
    submit(connection, "first")
    second = submit(connection, "second")
    with pytest.raises(RemoteProtocolError, match="is the oldest one"):
        connection.receive(5, second)
    with pytest.raises(RemoteProtocolError, match="an answer without a request"):
        ready().receive(5, second)


def test_garbage_is_a_violation() -> None:
    connection = ready()
    answer = submit(connection, "first")
    struct.pack_into(">i", answer, 0, len(answer) - 3)
    with pytest.raises(RemoteProtocolError, match="left after"):
        connection.receive(5, answer + b"\x00")
    with pytest.raises(RemoteProtocolError, match="frame size"):
        ready().receive(5, b"HTTP/1.1 400 Bad Request")


def test_garbage_leaves_no_request_without_an_outcome() -> None:
    """Neither the one that it answers, nor those that were answered in the same bytes."""
    connection = ready()
    first, second = (submit(connection, token) for token in ("a", "b"))
    submit(connection, "c")
    with pytest.raises(RemoteProtocolError):
        connection.receive(2, first + struct.pack(">i", 9) + second[4:8] + b"\xff" * 5)
    events = connection.lost("garbage", MalformedAnswerError)
    assert [(event.token, type(event.error)) for event in events if isinstance(event, Failed)] == [
        (token, MalformedAnswerError) for token in ("a", "b", "c")
    ]


def test_a_late_answer_ends_the_connection_and_says_which() -> None:
    connection = ready()
    submit(connection, "patient", 500)
    submit(connection, "hasty", 100)
    assert connection.deadline() == 100
    assert connection.expire(99) == []
    events = connection.expire(100)
    assert [(event.token, type(event.error)) for event in events if isinstance(event, Failed)] == [
        ("patient", NetworkError),
        ("hasty", RequestTimedOutError),
    ]
    assert connection.state is State.CLOSED
    assert connection.lost("closed") == []


def test_a_broker_is_silent_when_it_owes_an_answer_and_nothing_comes() -> None:
    connection = ready((ApiKey.FIND_COORDINATOR, 0, 3))
    assert not connection.is_silent(1_000_000)
    request = FindCoordinatorRequest("g")
    connection.submit(request, 3, "late", 9_000_000, silent_at_ms=5_000)
    connection.submit(request, 3, "behind it", 9_000_000, silent_at_ms=3_000)
    assert connection.oldest_api == ApiKey.FIND_COORDINATOR
    # The first answer is the one that is waited for, and it may be held back for long.
    assert not connection.is_silent(4_999)
    assert connection.is_silent(5_000)
    # Whatever arrives, a part of an answer too, is a sign of life.
    connection.receive(6_000, b"\0\0")
    assert not connection.is_silent(6_000 + SILENCE_MS - 1)
    assert connection.is_silent(6_000 + SILENCE_MS)


def test_a_lost_connection_fails_what_was_under_way() -> None:
    connection = ready()
    submit(connection, "token")
    (event,) = connection.lost("reset by peer")
    assert isinstance(event, Failed)
    assert isinstance(event.error, NetworkError)
    assert "reset by peer" in str(event.error)
    assert connection.under_way == 0


def test_nothing_is_expected_for_acks_0() -> None:
    connection = ready()
    connection.submit(ProduceRequest(None, 0, 1000, []), 9, "token", 100)
    assert connection.under_way == 0


def test_a_port_that_speaks_tls_is_told_apart() -> None:
    connection = Connection("broker:1", "me")
    connection.open(0)
    with pytest.raises(TlsError, match=r"broker:1 answers with TLS.*security_protocol"):
        connection.receive(1, bytes.fromhex("15 0303 0002 02 50"))
    with pytest.raises(RemoteProtocolError, match="frame size"):
        ready().receive(5, bytes.fromhex("15 0303 0002 02 50"))
