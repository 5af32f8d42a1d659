"""Counters: histograms that lie by an eighth at most, and errors wherever responses have them."""

from __future__ import annotations

import pytest
from fencepost_broker.observability.metrics import TIMED_EVERY, TIMED_MASK, Histogram, Metrics
from fencepost_protocol.apis import Message
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.create_topics import CreatableTopicResult, CreateTopicsResponse
from fencepost_protocol.generated.fetch import (
    FetchableTopicResponse,
    FetchResponse,
    PartitionData,
)
from fencepost_protocol.generated.init_producer_id import InitProducerIdResponse
from fencepost_protocol.generated.metadata import (
    MetadataResponse,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from fencepost_protocol.generated.sasl_handshake import SaslHandshakeResponse
from hypothesis import given
from hypothesis import strategies as st

NANOSECONDS = st.integers(0, 1 << 50)


@given(NANOSECONDS)
def test_a_bucket_is_an_eighth_wide(ns: int) -> None:
    histogram = Histogram()
    histogram.add(ns)
    ((end, count),) = histogram.buckets()
    assert count == 1
    if ns < 1 << 42:
        assert ns <= end <= ns + ns // 8


@given(st.lists(NANOSECONDS, min_size=1), st.floats(0.01, 1))
def test_a_quantile_is_what_that_part_stays_below(values: list[int], part: float) -> None:
    values = [min(value, (1 << 42) - 1) for value in values]
    histogram = Histogram()
    for value in values:
        histogram.add(value)
    assert (histogram.count, histogram.sum_ns) == (len(values), sum(values))
    assert sum(count for _, count in histogram.buckets()) == len(values)
    found = histogram.quantile_ns(part)
    below = sum(value <= found for value in values)
    assert below >= part * len(values)
    smaller = found * 8 // 9 - 1
    assert sum(value <= smaller for value in values) < part * len(values)


def test_an_empty_histogram() -> None:
    assert list(Histogram().buckets()) == []
    assert Histogram().quantile_ns(0.99) == 0


def test_the_first_of_sixteen_is_timed() -> None:
    timed = [number for number in range(1, 40) if number & TIMED_MASK == 1]
    assert timed == [1, 1 + TIMED_EVERY, 1 + 2 * TIMED_EVERY]


@pytest.mark.parametrize(
    ("response", "errors"),
    [
        (InitProducerIdResponse(), {}),
        (InitProducerIdResponse(error_code=51), {"CONCURRENT_TRANSACTIONS": 1}),
        (InitProducerIdResponse(error_code=-1), {"UNKNOWN_SERVER_ERROR": 1}),
        (SaslHandshakeResponse(error_code=33), {"UNSUPPORTED_SASL_MECHANISM": 1}),
        (
            CreateTopicsResponse(
                topics=[
                    CreatableTopicResult("a", error_code=36),
                    CreatableTopicResult("b"),
                    CreatableTopicResult("c", error_code=36),
                ]
            ),
            {"TOPIC_ALREADY_EXISTS": 2},
        ),
        (
            MetadataResponse(
                topics=[
                    MetadataResponseTopic(
                        3,
                        "a",
                        partitions=[MetadataResponsePartition(5), MetadataResponsePartition(0)],
                    )
                ]
            ),
            {"UNKNOWN_TOPIC_OR_PARTITION": 1, "LEADER_NOT_AVAILABLE": 1},
        ),
        (
            FetchResponse(
                responses=[FetchableTopicResponse("a", partitions=[PartitionData(0, 1, -1)])]
            ),
            {"OFFSET_OUT_OF_RANGE": 1},
        ),
    ],
    ids=lambda value: type(value).__name__,
)
def test_errors_are_found_where_responses_have_them(
    response: Message, errors: dict[str, int]
) -> None:
    metrics = Metrics()
    metrics.note_errors(response)
    assert metrics.snapshot()["errors"] == errors
    metrics.note_errors(response)
    assert metrics.snapshot()["errors"] == {name: 2 * count for name, count in errors.items()}


def test_every_error_has_a_place() -> None:
    metrics = Metrics()
    for code in ErrorCode:
        metrics.errors[code] += 1
    assert metrics.snapshot()["errors"] == {code.name: 1 for code in ErrorCode}
