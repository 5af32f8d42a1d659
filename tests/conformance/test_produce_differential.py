"""Apache Kafka and our broker get the same bad batches: the same codes, and the same records named.

What differs on purpose:

- ours always says what was wrong; Kafka often gives a code without a message;
- where Kafka falls over a batch (UNKNOWN_SERVER_ERROR: codecs that do not exist, bytes that are not
  of the codec that they claim, records that are none), ours names it: UNSUPPORTED_COMPRESSION_TYPE,
  INVALID_RECORD or CORRUPT_MESSAGE;
- ours walks the records of all batches only with `record.validation=all`; without, it takes some
  whose header is right and whose records are not (`produce_cases.py`);
- ours refuses records with wrong lengths, and numbers that are not 0, 1, 2 ..., where Kafka stores
  them although no reader can make sense of them (`Case.is_kept_by_kafka`);
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
from fencepost_protocol.generated.fetch import FetchPartition, FetchRequest, FetchTopic
from fencepost_protocol.generated.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from fencepost_protocol.records.batch import TimestampType, split_batches
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


def prepare(client: Wire) -> dict[str, int]:
    """The topics of the cases, with a record each; gives the offsets behind these."""
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
        assert result.error_code in (0, ErrorCode.TOPIC_ALREADY_EXISTS), result.error_message
    good = build_batch([b"key"], [b"value"], int(time.time() * 1000))
    behind = {}
    for name in TOPICS:
        while error := (answer := client.produce(name, good, version=PRODUCE_VERSION)).error_code:
            # Kafka leads a new topic a moment after it has said that it is there.
            assert error in (
                ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
                ErrorCode.NOT_LEADER_OR_FOLLOWER,
            )
        behind[name] = answer.base_offset + 1
    return behind


def difference(client: Wire, kafka: Wire, case: Case, walked_max: int) -> str | None:
    """How the answers to a case differ, if not on purpose."""
    theirs = kafka.produce(case.topic, case.records, version=PRODUCE_VERSION)
    ours = client.produce(case.topic, case.records, version=PRODUCE_VERSION)
    expected, found = ErrorCode(theirs.error_code), ErrorCode(ours.error_code)
    told = f"{case.topic}, {case.label}: Kafka {expected.name}, ours {found.name}"
    if case.is_believed and case.count > walked_max and not (case.is_counted and walked_max):
        return None if found is ErrorCode.NONE else told
    if case.is_kept_by_kafka:
        is_known = (expected, found) == (ErrorCode.NONE, ErrorCode.INVALID_RECORD)
        return None if is_known else told
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


def kept(client: Wire, topic: str, offset: int) -> list[tuple[int, ...]]:
    """What the headers of the batches from an offset on say, as far as they are to be the same."""
    found: list[tuple[int, ...]] = []
    while True:
        wanted = FetchPartition(0, fetch_offset=offset, partition_max_bytes=1 << 20)
        request = FetchRequest(
            max_wait_ms=0, min_bytes=0, topics=[FetchTopic(topic, partitions=[wanted])]
        )
        data = client.ask(request, 11).responses[0].partitions[0]
        assert not data.error_code
        if not data.records:
            return found
        for header, _ in split_batches(data.records, tolerate_partial=True):
            told = [header.attributes, header.last_offset_delta, header.record_count]
            if header.timestamp_type is TimestampType.CREATE_TIME:
                told += [header.base_timestamp, header.max_timestamp]
            found.append(tuple(told))
            offset = header.next_offset


@pytest.mark.parametrize(("validation", "walked_max"), [("all", 1 << 31), ("few", 10), ("none", 0)])
def test_the_same_answers_to_bad_batches(
    kafka: ApacheKafka, validation: str, walked_max: int
) -> None:
    now_ms = int(time.time() * 1000)
    setting = f"record.validation={validation}"
    with Up("-c", setting) as broker, broker.connect() as ours, Wire(kafka.port) as theirs:
        prepare(ours)
        starts = prepare(theirs)
        # What Kafka alone stores comes last, so that the logs are the same up to there.
        every = sorted(cases(now_ms), key=lambda case: case.is_kept_by_kafka)
        found = [difference(ours, theirs, case, walked_max) for case in every]
        broker.assert_healthy()
        if validation == "all":
            for name, start in starts.items():
                stored = kept(ours, name, 1)
                assert stored == kept(theirs, name, start)[: len(stored)], name
    wrong = [each for each in found if each is not None]
    assert not wrong, "\n".join([f"{len(wrong)} of {len(every)} differ:", *wrong])


def values_of_repeated_partitions(client: Wire, topic: str) -> list[object]:
    """What is answered where a request names partitions twice, and which records are there then."""
    batches = [bytes(build_batch(None, [each], 1_700_000_000_000)) for each in (b"first", b"last")]
    first, last = (PartitionProduceData(0, each) for each in batches)
    other = PartitionProduceData(1, batches[1])
    for number in (0, 1):
        while client.produce(topic, batches[0], number, version=PRODUCE_VERSION).error_code:
            pass  # Kafka leads a new topic a moment after it has said that it is there.
    told: list[object] = []
    for forms in (
        [[first, last]], [[first], [last]], [[first, other, last]], [[], [first]], [[last], []],
    ):  # fmt: skip
        sent = [TopicProduceData(topic, partition_data=entries) for entries in forms]
        answer = client.ask(ProduceRequest(None, -1, 5000, sent), PRODUCE_VERSION)
        told.append(
            [
                (found.name, each.index, each.error_code, each.base_offset)
                for found in answer.responses
                for each in sorted(found.partition_responses, key=lambda one: one.index)
            ]
        )
    return [*told, *([bytes(each.value or b"") for each in client.fetch(topic, n)] for n in (0, 1))]


def test_the_last_batch_of_a_partition_that_is_named_twice_is_appended(kafka: ApacheKafka) -> None:
    topic = f"twice-{time.time_ns()}"
    found = []
    with Up() as broker, broker.connect() as ours, Wire(kafka.port) as theirs:
        for client in (ours, theirs):
            client.create(topic, 2)
            found.append(values_of_repeated_partitions(client, topic))
    assert found[0] == found[1]
    assert found[0][-1] == [b"first", b"last"]
