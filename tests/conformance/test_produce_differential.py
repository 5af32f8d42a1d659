"""Apache Kafka and our broker get the same bad batches: the same codes, and the same records named.

What differs on purpose:

- ours always says what was wrong; Kafka often gives a code without a message;
- where Kafka falls over a batch (UNKNOWN_SERVER_ERROR: codecs that do not exist, bytes that are not
  of the codec that they claim, records that are none), ours names it: UNSUPPORTED_COMPRESSION_TYPE,
  INVALID_RECORD or CORRUPT_MESSAGE;
- ours takes some batches whose header is right and whose records are not (`produce_cases.py`);
- null records are INVALID_RECORD here; Kafka never answers them.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from fencepost_protocol.records.writer import build_batch

from tests.conformance.produce_cases import TOPICS, Case, cases
from tests.support.apache_kafka import ApacheKafka, KafkaUnavailableError
from tests.support.up import Up, Wire

pytestmark = pytest.mark.conformance

PRODUCE_VERSION = 11


@pytest.fixture(scope="module")
def kafka() -> Iterator[ApacheKafka]:
    try:
        with ApacheKafka() as running:
            yield running
    except KafkaUnavailableError as error:
        pytest.skip(str(error))


def prepare(client: Wire) -> None:
    """The topics of the cases, with a record each."""
    request = CreateTopicsRequest(
        [
            CreatableTopic(
                name, 1, 1, [], [CreatableTopicConfig(*config) for config in configs.items()]
            )
            for name, configs in TOPICS.items()
        ],
        30_000,
    )
    for result in client.ask(request, 7).topics:
        assert not result.error_code, result.error_message
    good = build_batch([b"key"], [b"value"], int(time.time() * 1000))
    for name in TOPICS:
        while error := client.produce(name, good, version=PRODUCE_VERSION).error_code:
            # Kafka leads a new topic a moment after it has said that it is there.
            assert error in (
                ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
                ErrorCode.NOT_LEADER_OR_FOLLOWER,
            )


def difference(client: Wire, kafka: Wire, case: Case) -> str | None:
    """How the answers to a case differ, if not on purpose."""
    theirs = kafka.produce(case.topic, case.records, version=PRODUCE_VERSION)
    ours = client.produce(case.topic, case.records, version=PRODUCE_VERSION)
    expected, found = ErrorCode(theirs.error_code), ErrorCode(ours.error_code)
    told = f"{case.topic}, {case.label}: Kafka {expected.name}, ours {found.name}"
    if case.is_believed:
        return None if found is ErrorCode.NONE else told
    if expected is ErrorCode.UNKNOWN_SERVER_ERROR:
        # Kafka fell over what it should have refused. Ours names it.
        return None if found in NAMED else told
    if expected is not found:
        return told
    indexes = [[each.batch_index for each in answer.record_errors] for answer in (theirs, ours)]
    if indexes[0] != indexes[1]:
        return f"{told}, records {indexes[0]} and {indexes[1]}"
    if found and not ours.error_message:
        return f"{told}, without a message"
    offsets = [(each.base_offset, each.log_start_offset) for each in (theirs, ours)]
    if found and offsets[0] != offsets[1]:
        return f"{told}, base and start offsets {offsets[0]} and {offsets[1]}"
    return None


NAMED = (
    ErrorCode.INVALID_RECORD,
    ErrorCode.CORRUPT_MESSAGE,
    ErrorCode.UNSUPPORTED_COMPRESSION_TYPE,
)


def test_the_same_answers_to_bad_batches(kafka: ApacheKafka) -> None:
    now_ms = int(time.time() * 1000)
    with Up() as broker, broker.connect() as ours, Wire(kafka.port) as theirs:
        prepare(ours)
        prepare(theirs)
        every = list(cases(now_ms))
        found = [difference(ours, theirs, case) for case in every]
        broker.assert_healthy()
    wrong = [each for each in found if each is not None]
    assert not wrong, "\n".join([f"{len(wrong)} of {len(every)} differ:", *wrong])
