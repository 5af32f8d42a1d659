"""Every error code in the answers that machines take: Produce, Fetch, epochs, Metadata, the start.

As in test_every_code.py the code's kind decides: it is sent or asked for again later, after a look
at who leads where the kind is *refresh*, or the application is told. What differs is named.
"""

from __future__ import annotations

from typing import Final

import pytest
from fencepost_client.errors import (
    AuthenticationError,
    DeliveryTimedOutError,
    KafkaError,
    LogTruncatedError,
    error_of,
)
from fencepost_client.metadata.cluster import Cluster
from fencepost_client.requests.backoff import Backoff
from fencepost_client.requests.connection import Connection, State
from fencepost_client.requests.sasl import Login
from fencepost_protocol.errors import KINDS, RETRIABLE, ErrorCode
from fencepost_protocol.framing import encode_response
from fencepost_protocol.generated.api_versions import ApiVersion, ApiVersionsResponse
from fencepost_protocol.generated.fetch import FetchableTopicResponse, FetchResponse, PartitionData
from fencepost_protocol.generated.index import ApiKey
from fencepost_protocol.generated.metadata import (
    MetadataResponse,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from fencepost_protocol.generated.sasl_handshake import SaslHandshakeResponse

from tests.machine.client.harness.codes import CODES
from tests.machine.client.harness.connection import head_of
from tests.machine.client.harness.fetcher import Rig as FetchRig
from tests.machine.client.harness.fetcher import batch
from tests.machine.client.harness.sender import LATER_MS, TIMEOUT_MS
from tests.machine.client.harness.sender import Rig as SendRig
from tests.machine.client.harness.truncation import answer as epoch_answer
from tests.machine.client.harness.truncation import at_a_new_leader

# -- Produce -----------------------------------------------------------------------------------

WRITTEN_BEFORE: Final = ErrorCode.DUPLICATE_SEQUENCE_NUMBER
NEW_EPOCH: Final = {ErrorCode.UNKNOWN_PRODUCER_ID, ErrorCode.INVALID_PRODUCER_EPOCH}
"""An idempotent producer without transactions goes on under the next epoch (KIP-360)."""
NOT_CONFIRMED: Final = {
    ErrorCode.REQUEST_TIMED_OUT,
    ErrorCode.NOT_ENOUGH_REPLICAS,
    ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND,
}
"""A leader that is cut off from the controller answers so, and does not say who leads."""
TOO_LARGE: Final = {ErrorCode.MESSAGE_TOO_LARGE, ErrorCode.RECORD_LIST_TOO_LARGE}


def produce(code: int, records: int = 1) -> SendRig:
    """One batch was sent, and answered with a code."""
    rig = SendRig()
    rig.batch(records=records)
    rig.broker.send(rig.now_ms)
    rig.broker.handle(code)
    rig.broker.answer(rig.now_ms)
    return rig


def test_a_batch_is_sent_again_or_its_sender_told_why_not() -> None:
    for code in CODES:
        rig = produce(code)
        (sent,) = rig.batches
        if code in {ErrorCode.NONE, WRITTEN_BEFORE}:
            assert sent.error is None
            assert rig.finished == [sent]
        elif code in RETRIABLE:
            assert not sent.done
            is_doubtful = code in NOT_CONFIRMED
            assert rig.sender.wants_metadata == (KINDS[code] == "refresh" or is_doubtful), code
            assert rig.sender.doubted == ({1} if is_doubtful else set()), code
            rig.broker.send(rig.now_ms)
            assert not rig.broker.requests, f"{code}: again at once"
            rig.pass_time(LATER_MS)
            rig.broker.send(rig.now_ms)
            rig.broker.handle()
            rig.broker.answer(rig.now_ms)
            assert rig.finished == [sent]
            assert sent.error is None
        elif code in NEW_EPOCH:
            assert not sent.done
            assert rig.accumulator.queue_for("t", None, 0).has_hole, "which asks for an epoch"
        else:
            assert type(sent.error) is type(error_of(code)), code
            assert sent.error.code == code
            assert sent.error.state == "sending to t-0"


def test_a_code_that_never_passes_ends_with_the_delivery_timeout() -> None:
    for code in RETRIABLE:
        rig = produce(code)
        (sent,) = rig.batches
        while not sent.done:
            rig.pass_time(LATER_MS)
            rig.broker.send(rig.now_ms)
            if rig.broker.requests:
                rig.broker.handle(code)
                rig.broker.answer(rig.now_ms)
        assert isinstance(sent.error, DeliveryTimedOutError)
        assert ErrorCode(code).name in str(sent.error), "what it was at last"
        assert rig.now_ms < 3 * TIMEOUT_MS


def test_what_is_too_large_is_sent_in_halves() -> None:
    for code in TOO_LARGE:
        rig = produce(code, records=2)
        (sent,) = rig.batches
        for _ in range(2):
            rig.broker.send(rig.now_ms)
            rig.broker.handle()
            rig.broker.answer(rig.now_ms)
        assert (sent.done, sent.error) == (True, None)
        assert rig.broker.log("t", 0).sizes == [1, 1]


# -- Fetch -------------------------------------------------------------------------------------

AGAIN_AT_THE_LEADER: Final = RETRIABLE | {
    ErrorCode.FENCED_LEADER_EPOCH,
    ErrorCode.UNKNOWN_LEADER_EPOCH,
}
OF_THE_SESSION: Final = {
    ErrorCode.FETCH_SESSION_ID_NOT_FOUND,
    ErrorCode.INVALID_FETCH_SESSION_EPOCH,
    ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR,
}


@pytest.mark.parametrize("reset_to", [None, -2])
def test_a_partition_is_fetched_again_reset_or_its_reader_told_why_not(
    reset_to: int | None,
) -> None:
    for code in CODES:
        rig = FetchRig(reset_to=reset_to)
        rig.fetch(*([batch(0)] if code == ErrorCode.NONE else ()), code=code)
        if code == ErrorCode.NONE:
            assert rig.take() == [0, 1]
        elif code == ErrorCode.OFFSET_OUT_OF_RANGE and reset_to is not None:
            assert rig.position.error is None
            assert not rig.ask(), "first it has to be known where"
        elif code in AGAIN_AT_THE_LEADER:
            later(rig, code)
        else:
            told(rig, code)


def test_a_whole_answer_that_is_refused_is_asked_for_again_or_told() -> None:
    for code in CODES:
        rig = FetchRig()
        (fetch,) = rig.ask()
        rig.request(fetch)
        parts = [PartitionData(0, 0, 2, 2, records=bytes(batch(0)))] if not code else []
        topics = [FetchableTopicResponse("t", partitions=parts)] if parts else []
        rig.fetcher.answered(rig.now_ms, fetch, FetchResponse(0, code, 0, topics))
        if code == ErrorCode.NONE:
            assert rig.take() == [0, 1]
        elif code in OF_THE_SESSION:
            (again,) = rig.ask()  # in a new session, at once
            assert rig.request(again).session_epoch == 0
        elif code in RETRIABLE:
            later(rig, code)
        else:
            told(rig, code)


def test_a_session_that_is_refused_every_time_is_no_tight_loop() -> None:
    for code in OF_THE_SESSION:
        rig = FetchRig()
        for _ in range(10):
            fetches = rig.ask()
            if not fetches:
                break
            rig.request(fetches[0])
            rig.fetcher.answered(rig.now_ms, fetches[0], FetchResponse(0, code))
        assert rig.position.error is not None or not rig.ask(), code


def later(rig: FetchRig, code: int) -> None:
    assert rig.position.error is None, code
    assert rig.fetcher.wants_metadata
    assert not rig.ask(), f"{code}: again at once"
    rig.now_ms += LATER_MS
    rig.fetch(batch(0))
    assert rig.take() == [0, 1]


def told(rig: FetchRig, code: int) -> None:
    error = rig.position.error
    assert type(error) is type(error_of(code)), code
    assert error is not None
    assert error.code == code
    assert error.state


# -- OffsetForLeaderEpoch ----------------------------------------------------------------------


def test_a_leader_is_asked_again_where_its_epoch_ends_or_the_reader_told_why_not() -> None:
    for code in CODES:
        rig = at_a_new_leader()
        epoch_answer(rig, rig.check(), 0, 4, code)
        if code == ErrorCode.NONE:
            assert rig.ask()
        elif code in AGAIN_AT_THE_LEADER:
            assert rig.position.error is None, code
            assert not rig.ask()
            rig.now_ms += LATER_MS
            epoch_answer(rig, rig.check(), 0, 4)
            assert rig.ask()
        else:
            told(rig, code)
            assert not isinstance(rig.position.error, LogTruncatedError)


# -- Metadata ----------------------------------------------------------------------------------


def test_a_topic_that_may_come_is_asked_for_again_soon() -> None:
    age_ms = 300_000
    for code in CODES:
        for of_partition in (False, True):
            known = Cluster(Backoff(lambda: 0.5), max_age_ms=age_ms)
            known.want("t", 0)
            part = MetadataResponsePartition(code if of_partition else 0, 0, 1, 0)
            if of_partition and code:
                part.leader_id = -1
            topic = MetadataResponseTopic(0 if of_partition else code, "t", partitions=[part])
            known.answered(MetadataResponse(topics=[topic]), 0)
            deadline_ms = known.deadline()
            assert deadline_ms is not None
            is_soon = bool(code) if of_partition else code in RETRIABLE
            assert (deadline_ms < age_ms) == is_soon, code
            assert deadline_ms > 0, "but not at once"


# -- the first answers of a connection ---------------------------------------------------------


def opened(code: int, login: Login | None = None) -> tuple[Connection, bytes]:
    """What a connection makes of ApiVersions with a code."""
    connection = Connection("broker:1", "me", login)
    _, version, correlation_id = head_of(connection.open(0))
    apis = [(ApiKey.FIND_COORDINATOR, 0, 4), (ApiKey.SASL_HANDSHAKE, 0, 1)]
    apis += [(ApiKey.SASL_AUTHENTICATE, 0, 2), (ApiKey.API_VERSIONS, 0, 4)]
    answer = ApiVersionsResponse(code, [ApiVersion(*api) for api in apis])
    if code == ErrorCode.UNSUPPORTED_VERSION:
        version = 0  # as brokers answer a version that they do not know
    _, reply = connection.receive(1, encode_response(answer, version, correlation_id))
    return connection, bytes(reply)


def test_versions_are_known_asked_for_anew_or_the_connection_says_why_not() -> None:
    for code in CODES:
        if code == ErrorCode.NONE:
            assert opened(code)[0].state is State.READY
        elif code == ErrorCode.UNSUPPORTED_VERSION:
            first = head_of(Connection("broker:1", "me").open(0))
            again = head_of(opened(code)[1])
            assert again[0] == ApiKey.API_VERSIONS
            assert again[1] < first[1], "in an older version"
        else:
            with pytest.raises(KafkaError) as raised:
                opened(code)
            assert raised.value.code == code


def test_a_login_that_is_refused_is_told_whatever_the_code() -> None:
    for code in CODES:
        login = Login("PLAIN", "alice", "secret", lambda: "nonce")
        connection, reply = opened(0, login)
        key, version, correlation_id = head_of(reply)
        assert key == ApiKey.SASL_HANDSHAKE
        answer = encode_response(SaslHandshakeResponse(code, ["PLAIN"]), version, correlation_id)
        if code == ErrorCode.NONE:
            assert head_of(connection.receive(2, answer)[1])[0] == ApiKey.SASL_AUTHENTICATE
        else:
            with pytest.raises(AuthenticationError):
                connection.receive(2, answer)
